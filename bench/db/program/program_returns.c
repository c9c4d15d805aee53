/* What becomes of an item that was given back, or has failed: when is it due again, and how often
 * is it tried? And does who claims look past what is hidden by others' transactions? What has not
 * come for such a reason is not lost. */
#include "exploring.h"
#include "program_building.h"

#include <string.h>

/* Has somebody set one of these options, or left it at a default, that is not 0? */
static bool is_any_set(const struct lb_building *b, unsigned options)
{
    for (size_t i = 0; i < b->file->n_options; i++) {
        const char *name = b->file->options[i].name;
        int k = lb_building_option(b, name, strlen(name));
        if ((options >> i & 1) != 0 && k >= 0 && strcmp(b->resolved[k].value, "0") != 0)
            return true;
    }
    return false;
}

int lb_put_off_line(const struct lb_file *file, const struct lb_program *program)
{
    const struct lb_section *claim = &program->sections[LB_S_CLAIM];
    const struct lb_section *put = &program->sections[LB_S_PUT];
    return lb_section_constant(file, claim).looks_older ? lb_section_constant(file, put).later_line
                                                        : 0;
}

/* Is an item that is put, was given back, or failed, due at a time that only the statement, or an
 * option that somebody has set, knows? What put adds to a time is when the item is due only if
 * claim asks whether a time is over: it may also be when the item is dropped. */
bool lb_building_comes_late(const struct lb_building *b)
{
    static const enum lb_section_name ends[] = {LB_S_FREE, LB_S_RETRY, LB_S_ERROR};
    const struct lb_section *sections = b->program->sections;
    if (is_any_set(b, b->file->delays) || lb_put_off_line(b->file, b->program) != 0)
        return true;
    if (lb_section_constant(b->file, &sections[LB_S_CLAIM]).looks_older &&
        is_any_set(b, b->file->put_delays))
        return true;
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++)
        if (lb_section_constant(b->file, &sections[ends[e]]).later_line != 0)
            return true;
    return false;
}

/* What was tried so often that nobody tries it again is not lost. Of several limits the least. */
uint32_t lb_building_attempts(const struct lb_building *b)
{
    double least = 0;
    for (int s = 0; s < LB_SECTIONS; s++) {
        const struct lb_raw_section *raw = lb_raw_of(b->file, &b->program->sections[s]);
        for (size_t i = 0; raw != NULL && s != LB_S_SETUP && i < raw->n_statements; i++) {
            double limit = lb_attempts_limit(b->file, &b->file->statements[raw->first + i],
                                             b->resolved, b->n_options);
            least = limit >= 1 && (least == 0 || limit < least) ? limit : least;
        }
    }
    return least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
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
