/* lockbench show: a strategy's statements for one engine, with its options filled in; or a stored
 * result, in a format of choice.
 *
 * The output is a strategy file of lockbench-strategy(5): it can be pasted from, changed, and given
 * to -s. Sections that the chosen options leave out are not printed.
 */
#include "cli.h"
#include "guest.h"
#include "nearest.h"
#include "show_client.h"
#include "strategy.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

/* The shown strategy, and its source. */
struct shown {
    const struct lb_strategy *strategy;
    struct lb_strategy own; /* of a user's file */
    const struct lb_db *db;
    struct lb_file *file;
    struct lb_program *program;
};

/* -d takes an engine's name here as well as a URI. */
static int find_engine(struct shown *shown, const struct lb_args *args, struct lb_error *err)
{
    struct lb_target target;
    if (args->targets.n > 1)
        return lb_fail(err, LB_E_USAGE, "option --database: show takes one engine");
    if (args->targets.n == 0)
        return 0;
    const char *text = args->targets.words[0];
    shown->db = lb_engine_find(text, strlen(text));
    if (shown->db != NULL)
        return 0;
    if (text[strcspn(text, ":=?/")] == '\0') /* a word alone is no URI */
        return lb_fail(
            err, LB_E_USAGE,
            "option --database: '%s' is no engine: sqlite, postgres or mariadb, or a URI", text);
    int r = lb_target_parse(text, &target, err);
    if (r != 0)
        return r;
    shown->db = target.db;
    lb_target_release(&target);
    return 0;
}

static int open_own(struct shown *shown, const char *path, struct lb_error *err)
{
    if (lb_guest_is(path))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is a program, which has no statements to show; "
                       "lockbench lint %s shows its first line",
                       path, path);
    int r = lb_file_read(path, -1, &shown->file, err);
    if (r != 0)
        return r;
    lb_strategy_of_file(shown->file, &shown->own);
    shown->strategy = &shown->own;
    for (size_t e = 0; shown->db == NULL && lb_engines[e] != NULL; e++)
        if (lb_file_supports(shown->file, lb_engines[e], err))
            shown->db = lb_engines[e];
    if (shown->db == NULL)
        return LB_E_UNSUPPORTED;
    return lb_file_supports(shown->file, shown->db, err) ? 0 : LB_E_UNSUPPORTED;
}

/* Without -d: PostgreSQL, or the first engine that the strategy has statements for. */
static const struct lb_embedded *embedded(struct shown *shown)
{
    const struct lb_db *preferred = lb_engine_find("postgres", strlen("postgres"));
    const struct lb_embedded *found = NULL;
    if (shown->db != NULL)
        return lb_embedded_find(shown->strategy->name, shown->db->name);
    if (preferred != NULL)
        found = lb_embedded_find(shown->strategy->name, preferred->name);
    shown->db = found != NULL ? preferred : NULL;
    for (size_t e = 0; found == NULL && lb_engines[e] != NULL; e++) {
        found = lb_embedded_find(shown->strategy->name, lb_engines[e]->name);
        shown->db = lb_engines[e];
    }
    return found;
}

static int open_built_in(struct shown *shown, const char *name, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128], origin[80];
    shown->strategy = lb_strategy_find(name);
    if (shown->strategy == NULL) {
        lb_nearest_init(&nearest, name);
        for (size_t i = 0; lb_strategies[i] != NULL; i++)
            lb_nearest_offer(&nearest, lb_strategies[i]->name);
        lb_nearest_text(&nearest, text, sizeof text);
        return lb_fail(err, LB_E_USAGE, "unknown strategy '%s'%s", name,
                       text[0] != '\0' ? text : "; see lockbench list strategies");
    }
    if (shown->strategy->no_database)
        return lb_fail(err, LB_E_USAGE, "%s has no statements: it runs without a database", name);
    const struct lb_embedded *sql = embedded(shown);
    if (sql == NULL)
        return lb_fail(err, LB_E_USAGE, "%s has no statements for %s", name, shown->db->product);
    snprintf(origin, sizeof origin, "sql/%s/%s.sql", name, shown->db->name);
    return lb_file_parse(origin, (const char *)sql->text, *sql->length, (int)shown->strategy->shape,
                         &shown->file, err);
}

static int open_program(struct shown *shown, const struct lb_args *args, struct lb_error *err)
{
    enum { MOST = 32 };
    struct lb_setting settings[MOST];
    if (args->options.n > MOST)
        return lb_fail(err, LB_E_USAGE, "more than %d times --opt", MOST);
    for (size_t i = 0; i < args->options.n; i++) {
        char *equals = strchr(args->options.words[i], '=');
        if (equals == NULL)
            return lb_fail(err, LB_E_USAGE, "option --opt: '%s' is not NAME=VALUE",
                           args->options.words[i]);
        *equals = '\0';
        settings[i] = (struct lb_setting){args->options.words[i], equals + 1};
    }
    return lb_program_new(shown->file, shown->db, shown->strategy->options, settings,
                          args->options.n, &shown->program, err);
}

static void print_claims(unsigned claims)
{
    const char *separator = "-- claims: ";
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (claims & LB_G_BIT(g)) {
            printf("%s%s", separator, lb_guarantee_name((enum lb_guarantee)g));
            separator = ", ";
        }
    if (claims != 0)
        putchar('\n');
}

static void print_needs(uint64_t needs)
{
    const char *separator = "-- needs: ";
    for (unsigned bit = 0; bit < 64; bit++)
        if (needs & UINT64_C(1) << bit) {
            printf("%s%s", separator, lb_cap_name(UINT64_C(1) << bit));
            separator = ", ";
        }
    if (needs != 0)
        putchar('\n');
}

/* Options that stand in statements as parameters; those that only chose among sections, or became
 * part of a text, have been used up. */
static void print_options(const struct lb_program *program)
{
    for (size_t i = 0; i < program->n_settings; i++) {
        int slot = lb_program_slot(program, program->settings[i].name);
        bool is_used = false;
        for (size_t s = 0; slot >= LB_SLOT_FIXED && s < program->n_statements; s++)
            for (size_t p = 0; p < program->statements[s].n_params; p++)
                is_used |= program->statements[s].param_slot[p] == slot;
        if (is_used)
            printf("-- option: %s = %s\n", program->settings[i].name, program->settings[i].value);
    }
}

/* Inferred values are not printed: they are inferred again from the output. */
static void print_timing(const char *directive, const struct lb_timing *timing)
{
    if (timing != NULL && timing->is_said)
        printf("-- %s: %s%s\n", directive, timing->name,
               timing->unit_ms == 1000    ? " in s"
               : timing->unit_ms == 60000 ? " in min"
                                          : "");
}

static void print_header(const struct shown *shown)
{
    const struct lb_strategy *strategy = shown->strategy;
    enum lb_isolation level = shown->program->isolation != LB_ISO_DEFAULT
                                  ? shown->program->isolation
                                  : strategy->isolation;
    printf("-- strategy: %s\n-- shape: %s\n", strategy->name, lb_shape_name(strategy->shape));
    if (strategy->summary != NULL && strategy->summary[0] != '\0')
        printf("-- summary: %s\n", strategy->summary);
    if (strategy->origin != NULL && strategy->origin[0] != '\0')
        printf("-- origin: %s\n", strategy->origin);
    print_claims(strategy->claims);
    print_needs(strategy->needs | shown->program->needs);
    if (level != LB_ISO_DEFAULT)
        printf("-- isolation: %s\n", lb_isolation_name(level));
    print_options(shown->program);
    const struct lb_timing *lease = lb_file_lease(shown->file);
    print_timing(lease != NULL && lease->by_recover ? "limit" : "lease", lease);
    print_timing("limit", lb_file_limit(shown->file));
    for (size_t i = 0; i < shown->program->n_settings; i++)
        printf("%s%s=%s", i == 0 ? "--\n-- For " : ", ", shown->program->settings[i].name,
               shown->program->settings[i].value);
    if (shown->program->n_settings > 0)
        printf(", on %s.\n", shown->db->product);
    if (strategy->flow != &lb_ordinary_flow)
        printf(
            "-- lockbench runs these statements by code of its own, which adds to their order: see "
            "the strategy's source.\n");
}

static void print_section_line(enum lb_section_name name, const struct lb_section *section,
                               const char *engine)
{
    static const char *const tx[] = {
        [LB_TX_EACH] = "", [LB_TX_ONE] = " tx=one", [LB_TX_HOLD] = " tx=hold"};
    static const char *const begin[] = {[LB_BEGIN_DEFAULT] = "",
                                        [LB_BEGIN_DEFERRED] = " begin=deferred",
                                        [LB_BEGIN_IMMEDIATE] = " begin=immediate",
                                        [LB_BEGIN_EXCLUSIVE] = " begin=exclusive"};
    static const char *const on_error[] = {[LB_ON_ERROR_ANSWER] = NULL,
                                           [LB_ON_ERROR_BUSY] = "busy",
                                           [LB_ON_ERROR_RETRY] = "retry",
                                           [LB_ON_ERROR_FAIL] = "fail"};
    printf("-- name: %s [%s]%s%s%s%s\n", lb_section_text(name), engine, tx[section->tx],
           begin[section->begin], section->commits_always ? " commit=always" : "",
           section->keeps_session ? " session=keep" : "");
    if (on_error[section->on_error] != NULL)
        printf("-- on-error: %s\n", on_error[section->on_error]);
}

/* Each with the engine's mark: the statements are for that one. */
static void print_sections(const struct lb_program *program, const char *engine)
{
    for (int name = 0; name < LB_SECTIONS; name++) {
        const struct lb_section *section = &program->sections[name];
        if (!section->present)
            continue;
        putchar('\n');
        if (name == LB_S_RECOVER)
            lb_client_warn_recover(program);
        print_section_line((enum lb_section_name)name, section, engine);
        for (size_t i = 0; i < section->n_statements; i++) {
            const struct lb_statement *statement = &section->statements[i];
            if (statement->when == LB_WHEN_ROW)
                puts("-- if: row");
            if (statement->when == LB_WHEN_NO_ROW)
                puts("-- else");
            if (statement->on_replica)
                puts("-- on: replica");
            if (statement->require_row)
                puts("-- require: row");
            if (i == section->answer && i + 1 < section->n_statements)
                puts("-- answer: row");
            printf("%s;\n", statement->sql);
        }
    }
}

/* A strategy's name comes first: a result of the same name has a path. */
static bool is_result(const char *what)
{
    return lb_strategy_find(what) == NULL && lb_result_exists(what);
}

static enum lb_exit show_result(const struct lb_args *args)
{
    struct lb_error err;
    if (args->targets.n > 0 || args->options.n > 0 || args->as != NULL)
        lb_fail(&err, LB_E_USAGE, "option %s: is for a strategy, and %s is a stored result",
                args->targets.n > 0   ? "-d"
                : args->options.n > 0 ? "--opt"
                                      : "--as",
                args->positional.words[0]);
    else if (lb_result_print(args->positional.words[0], args->format, stdout, &err) == 0)
        return LB_EXIT_OK;
    return err.code == LB_E_ENV ? lb_cli_complain_of_output(&err) : lb_cli_complain(&err);
}

enum lb_exit lb_command_show(const struct lb_args *args)
{
    struct shown shown = {0};
    enum lb_client client = LB_CLIENT_FILE;
    struct lb_error err;
    if (args->positional.n == 1 && is_result(args->positional.words[0]))
        return show_result(args);
    int r = args->positional.n == 1
                ? find_engine(&shown, args, &err)
                : lb_fail(&err, LB_E_USAGE,
                          "show takes one thing: a strategy's name, a file ./my.sql, or the "
                          "directory of a stored result");
    if (r == 0 && args->format != NULL)
        r = lb_fail(&err, LB_E_USAGE, "option --format: is for stored results, and %s is none",
                    args->positional.words[0]);
    if (r == 0 && args->as != NULL)
        r = lb_client_find(args->as, &shown.db, &client, &err);
    if (r == 0) {
        const char *what = args->positional.words[0];
        size_t length = strlen(what);
        bool is_file =
            strchr(what, '/') != NULL || (length > 4 && strcmp(what + length - 4, ".sql") == 0);
        r = is_file ? open_own(&shown, what, &err) : open_built_in(&shown, what, &err);
    }
    if (r == 0)
        r = open_program(&shown, args, &err);
    if (r == 0) {
        print_header(&shown);
        lb_client_legend(shown.program, client);
        if (client == LB_CLIENT_FILE)
            print_sections(shown.program, shown.db->name);
        else
            lb_client_sections(shown.program, client);
    }
    lb_program_free(shown.program);
    lb_file_free(shown.file);
    return r == 0 ? LB_EXIT_OK : lb_cli_complain(&err);
}
