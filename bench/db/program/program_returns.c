/* What becomes of an item that was given back, or has failed: when is it due again, and how often
 * is it tried? And does who claims look past what is hidden by others' transactions? What has not
 * come for such a reason is not lost. */
#include "exploring.h"
#include "program_building.h"

#include <string.h>

/* Is an item that was given back, or failed, due again at a time that only the statement, or an
 * option that somebody has set, knows? */
bool lb_building_returns_late(const struct lb_building *b)
{
    static const enum lb_section_name ends[] = {LB_S_FREE, LB_S_RETRY, LB_S_ERROR};
    for (size_t i = 0; i < b->file->n_options; i++) {
        const char *name = b->file->options[i].name;
        int k = lb_building_option(b, name, strlen(name));
        if ((b->file->delays >> i & 1) != 0 && k >= 0 && strcmp(b->resolved[k].value, "0") != 0)
            return true;
    }
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++)
        if (lb_section_constant(b->file, &b->program->sections[ends[e]]).later_line != 0)
            return true;
    return false;
}

/* What was tried so often that nobody tries it again is not lost. A run seldom tries an item as
 * often as twenty times. */
bool lb_building_gives_up(const struct lb_building *b)
{
    enum { FEW_ATTEMPTS = 20 };
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; i < b->program->sections[s].n_statements; i++)
            for (size_t k = 0; k < b->file->n_statements; k++) {
                const struct lb_raw_statement *raw = &b->file->statements[k];
                if (raw->line != b->program->sections[s].statements[i].line)
                    continue;
                double limit = lb_attempts_limit(raw, b->resolved, b->n_options);
                if (limit > 0 && limit < FEW_ATTEMPTS)
                    return true;
            }
    return false;
}

bool lb_sql_sees_strangers(const struct lb_db *db, const char *sql)
{
    const char *const *word = lb_exploring(db)->tells_under_way;
    for (; word != NULL && *word != NULL; word++)
        if (strcasestr(sql, *word) != NULL)
            return true;
    return false;
}

/* Also by a function that set-up makes. */
bool lb_building_sees_strangers(const struct lb_building *b)
{
    for (size_t i = 0; i < b->program->n_statements; i++)
        if (lb_sql_sees_strangers(b->db, b->program->statements[i].sql))
            return true;
    return false;
}
