/* Checks of a parsed statement file: its header, its sections for each engine, and its correctness
 * for all of them.
 */
#include "program_raw.h"

const char *lb_file_text(const struct lb_file *file)
{
    return file->text;
}

const char *lb_file_strategy(const struct lb_file *file)
{
    return file->strategy != NULL ? file->strategy : "";
}

const char *lb_file_summary(const struct lb_file *file)
{
    return file->summary;
}

const char *lb_file_origin(const struct lb_file *file)
{
    return file->origin_text;
}

enum lb_isolation lb_file_isolation(const struct lb_file *file)
{
    return file->isolation;
}

bool lb_file_is_pipelined(const struct lb_file *file)
{
    return file->is_pipelined;
}

enum lb_shape lb_file_shape(const struct lb_file *file)
{
    return file->shape;
}

unsigned lb_file_claims(const struct lb_file *file)
{
    return file->claims;
}

uint64_t lb_file_needs(const struct lb_file *file)
{
    return file->needs;
}

const struct lb_option *lb_file_options(const struct lb_file *file)
{
    return file->options;
}

bool lb_file_uses(const struct lb_file *file, enum lb_slot slot)
{
    for (size_t i = 0; i < file->n_statements; i++) {
        struct lb_lexer lexer;
        struct lb_token token;
        lb_lexer_init(&lexer, file->statements[i].text, file->statements[i].length, 0);
        while ((token = lb_lexer_next(&lexer)).kind != LB_T_END)
            if (token.kind == LB_T_PARAM &&
                lb_fixed_slot(token.text + 1, token.length - 1) == (int)slot)
                return true;
    }
    return false;
}

bool lb_file_supports(const struct lb_file *file, const struct lb_db *db, struct lb_error *err)
{
    size_t n;
    const enum lb_section_name *required = lb_required_sections(file->shape, &n);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < file->n_sections; k++)
            found = found || (file->sections[k].name == required[i] &&
                              lb_raw_section_for(&file->sections[k], db));
        if (!found) {
            char version[32];
            lb_fail(err, LB_E_UNSUPPORTED, "%s: has no section %s for %s%s", file->origin,
                    lb_section_text(required[i]), db->name,
                    lb_raw_version(db, version, sizeof version));
            return false;
        }
    }
    return true;
}

/* --- validation without a server --- */

static int check_with(const struct lb_file *file, const struct lb_db *db,
                      const struct lb_option *options, const struct lb_setting *setting,
                      struct lb_error *err)
{
    struct lb_program *program = NULL;
    int r = lb_program_new(file, db, options, setting, setting != NULL ? 1 : 0, &program, err);
    lb_program_free(program);
    /* A combination that has no section is a SKIP, and no mistake. */
    return r == LB_E_UNSUPPORTED && setting != NULL ? 0 : r;
}

static int check_choices(const struct lb_file *file, const struct lb_db *db,
                         const struct lb_option *all, const struct lb_option *options,
                         struct lb_error *err)
{
    for (; options != NULL && options->name != NULL; options++)
        for (size_t i = 0; options->choices != NULL && options->choices[i] != NULL; i++) {
            struct lb_setting setting = {options->name, options->choices[i]};
            int r = check_with(file, db, all, &setting, err);
            if (r != 0)
                return r;
        }
    return 0;
}

int lb_file_check(const struct lb_file *file, const struct lb_option *options, struct lb_error *err)
{
    struct lb_error reason;
    bool any = false;
    for (size_t i = 0; lb_engines[i] != NULL; i++) {
        const struct lb_db *db = lb_engines[i];
        if (!lb_file_supports(file, db, &reason))
            continue;
        any = true;
        int r = check_with(file, db, options, NULL, err);
        if (r == 0)
            r = check_choices(file, db, options, options, err);
        if (r == 0)
            r = check_choices(file, db, options, file->options, err);
        if (r != 0)
            return r;
    }
    if (!any)
        return lb_fail(err, LB_E_FILE, "%s: no engine has all of its required sections",
                       file->origin);
    return 0;
}
