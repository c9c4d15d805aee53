/* A strategy's statements for one engine as a file: see show_parts.h. */
#include "show_parts.h"

#include "report.h"

static void print_claims(unsigned claims, FILE *out)
{
    const char *separator = "-- claims: ";
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (claims & LB_G_BIT(g)) {
            fprintf(out, "%s%s", separator, lb_guarantee_name((enum lb_guarantee)g));
            separator = ", ";
        }
    if (claims != 0)
        fputc('\n', out);
}

static void print_needs(uint64_t needs, FILE *out)
{
    const char *separator = "-- needs: ";
    for (unsigned bit = 0; bit < 64; bit++)
        if (needs & UINT64_C(1) << bit) {
            fprintf(out, "%s%s", separator, lb_cap_name(UINT64_C(1) << bit));
            separator = ", ";
        }
    if (needs != 0)
        fputc('\n', out);
}

/* Options that stand in statements as parameters; those that only chose among sections, or became
 * part of a text, have been used up. */
static void print_options(const struct lb_program *program, FILE *out)
{
    for (size_t i = 0; i < program->n_settings; i++) {
        int slot = lb_program_slot(program, program->settings[i].name);
        if (slot >= LB_SLOT_FIXED && lb_client_uses(program, (size_t)slot))
            fprintf(out, "-- option: %s = %s\n", program->settings[i].name,
                    program->settings[i].value);
    }
}

/* Inferred values are not printed: they are inferred again from the output. */
static void print_timing(const char *directive, const struct lb_timing *timing, FILE *out)
{
    if (timing != NULL && timing->is_said)
        fprintf(out, "-- %s: %s%s\n", directive, timing->name,
                timing->unit_ms == 1000    ? " in s"
                : timing->unit_ms == 60000 ? " in min"
                                           : "");
}

void lb_show_header(const struct lb_strategy *strategy, const struct lb_file *file,
                    const struct lb_program *program, FILE *out)
{
    enum lb_isolation level =
        program->isolation != LB_ISO_DEFAULT ? program->isolation : strategy->isolation;
    fprintf(out, "-- strategy: %s\n-- shape: %s\n", strategy->name, lb_shape_name(strategy->shape));
    if (strategy->summary != NULL && strategy->summary[0] != '\0')
        fprintf(out, "-- summary: %s\n", strategy->summary);
    if (strategy->origin != NULL && strategy->origin[0] != '\0')
        fprintf(out, "-- origin: %s\n", strategy->origin);
    print_claims(strategy->claims, out);
    print_needs(strategy->needs | program->needs, out);
    if (level != LB_ISO_DEFAULT)
        fprintf(out, "-- isolation: %s\n", lb_isolation_name(level));
    print_options(program, out);
    const struct lb_timing *lease = lb_file_lease(file);
    print_timing(lease != NULL && lease->by_recover ? "limit" : "lease", lease, out);
    print_timing("limit", lb_file_limit(file), out);
    if (program->attempts_text != NULL)
        fprintf(out, "-- attempts: %s\n", program->attempts_text);
    for (size_t i = 0; i < program->n_settings; i++)
        fprintf(out, "%s%s=%s", i == 0 ? "--\n-- For " : ", ", program->settings[i].name,
                program->settings[i].value);
    if (program->n_settings > 0)
        fprintf(out, ", on %s.\n", program->db->product);
    if (strategy->flow != &lb_ordinary_flow)
        fprintf(
            out,
            "-- lockbench runs these statements by code of its own, which adds to their order: see "
            "the strategy's source.\n");
}

static void print_section_line(enum lb_section_name name, const struct lb_section *section,
                               const char *engine, FILE *out)
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
    fprintf(out, "-- name: %s [%s]%s%s%s%s\n", lb_section_text(name), engine, tx[section->tx],
            begin[section->begin], section->commits_always ? " commit=always" : "",
            section->keeps_session ? " session=keep" : "");
    if (on_error[section->on_error] != NULL)
        fprintf(out, "-- on-error: %s\n", on_error[section->on_error]);
    if (section->tx == LB_TX_HOLD)
        fputs("-- BEGIN before it. The transaction stays open during the work; COMMIT after the "
              "section "
              "that ends it.\n",
              out);
    if (section->keeps_session)
        fputs("-- The section that ends it needs the same connection.\n", out);
    if (section->n_statements == 0)
        fputs("-- No statement.\n", out);
}

/* Each with the engine's mark: the statements are for that one. */
void lb_show_sections(const struct lb_program *program, FILE *out)
{
    for (int name = 0; name < LB_SECTIONS; name++) {
        const struct lb_section *section = &program->sections[name];
        if (!section->present)
            continue;
        fputc('\n', out);
        if (name == LB_S_RECOVER)
            lb_client_warn_recover(program, out);
        print_section_line((enum lb_section_name)name, section, program->db->name, out);
        for (size_t i = 0; i < section->n_statements; i++) {
            const struct lb_statement *statement = &section->statements[i];
            if (statement->when == LB_WHEN_ROW)
                fputs("-- if: row\n", out);
            if (statement->when == LB_WHEN_NO_ROW)
                fputs("-- else\n", out);
            if (statement->on_replica)
                fputs("-- on: replica\n", out);
            if (statement->require_row)
                fputs("-- require: row\n", out);
            if (i == section->answer && i + 1 < section->n_statements)
                fputs("-- answer: row\n", out);
            fprintf(out, "%s;\n", statement->sql);
        }
    }
}
