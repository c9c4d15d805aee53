/* Two versions of a protocol on one set of tables, as during a deploy. */
#include "program_raw.h"

#include "memory.h"
#include "nearest.h"

#include <stdlib.h>
#include <string.h>

const struct lb_file *lb_file_before(const struct lb_file *file)
{
    return file != NULL ? file->before : NULL;
}

const char *lb_file_path(const struct lb_file *file)
{
    return file->origin;
}

bool lb_options_have(const struct lb_option *options, const char *name, const char *value)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (strcmp(options->name, name) != 0)
            continue;
        if (value == NULL || (options->choices != NULL && lb_is_one_of(value, options->choices)))
            return true;
    }
    return false;
}

static int differ(const struct lb_file *file, const struct lb_file *before, const char *what,
                  struct lb_error *err)
{
    return lb_fail(err, LB_E_USAGE, "%s and %s cannot share their tables: %s", file->origin,
                   before->origin, what);
}

int lb_file_take_before(struct lb_file *file, struct lb_file *before, struct lb_error *err)
{
    const unsigned both = file->claims & before->claims;
    if (file->shape != before->shape)
        return differ(file, before, "one is a lock, and the other a queue", err);
    if ((file->lease.name == NULL) != (before->lease.name == NULL) ||
        file->lease.is_fixed != before->lease.is_fixed)
        return differ(file, before, "they differ in -- lease:, and one judge sees both", err);
    if (file->isolation != before->isolation)
        return differ(file, before, "they differ in -- isolation:, which all sessions get", err);
    static const enum lb_section_name alone[] = {LB_S_REGISTER, LB_S_HEARTBEAT, LB_S_UNREGISTER,
                                                 LB_S_SWEEP};
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        if (lb_file_has(file, alone[i]) || lb_file_has(before, alone[i]))
            return differ(file, before, "processes with heartbeats are of one version", err);
    if (lb_file_has(file, LB_S_ENQUEUE) != lb_file_has(before, LB_S_ENQUEUE))
        return differ(file, before, "only one has a section enqueue", err);
    if (both == 0)
        return differ(file, before, "there is no guarantee that both claim", err);
    file->claims = both;
    file->needs |= before->needs;
    file->before = before;
    return 0;
}

int lb_program_agree(struct lb_program *program, const struct lb_program *before,
                     struct lb_error *err)
{
    const char *what = program->attempts != before->attempts     ? "attempts"
                       : program->own_rows != before->own_rows   ? "rows"
                       : program->due_later != before->due_later ? "due"
                       : program->tick_ms != before->tick_ms     ? "precision"
                       : program->key_limit != before->key_limit ? "key-limit"
                       : program->rate != before->rate || program->rate_ms != before->rate_ms
                           ? "rate"
                       : program->share_milli != before->share_milli ? "share"
                       : program->unique != before->unique           ? "unique"
                       : program->priority != before->priority       ? "priority"
                                                                     : NULL;
    if (what != NULL)
        return lb_fail(err, LB_E_USAGE,
                       "%s and %s cannot share their tables: they differ in -- %s:, and one judge "
                       "sees both",
                       program->origin, before->origin, what);
    if (program->attributes != before->attributes)
        return lb_fail(err, LB_E_USAGE,
                       "%s and %s cannot share their tables: section put of one has an attribute "
                       "(:key, :tenant, :priority, :due, :unique_key) that the other has not",
                       program->origin, before->origin);
    for (int g = 0; g < LB_GUESSES; g++)
        if (program->guesses[g].line == 0)
            program->guesses[g] = before->guesses[g];
    if (program->strangers_line == 0)
        program->strangers_line = before->strangers_line;
    program->recovers_by_time &= before->recovers_by_time;
    return 0;
}

void lb_program_append(struct lb_program *program, struct lb_program *before)
{
    size_t n = program->n_statements + before->n_statements;
    struct lb_statement *all = lb_calloc(n + 1, sizeof *all);
    memcpy(all, program->statements, program->n_statements * sizeof *all);
    memcpy(all + program->n_statements, before->statements, before->n_statements * sizeof *all);
    for (int s = 0; s < LB_SECTIONS; s++) {
        struct lb_section *own = &program->sections[s], *other = &before->sections[s];
        if (own->n_statements > 0)
            own->statements = all + (own->statements - program->statements);
        if (other->n_statements > 0)
            other->statements =
                all + program->n_statements + (other->statements - before->statements);
    }
    program->statements = before->statements = program->appended = all;
    program->n_statements = before->n_statements = n;
}
