/* Processes that a file speaks of, and that nothing says are there: see program_features.h.
 *
 * A heartbeat that only changes rows needs a statement that inserts them. This is checked by the
 * names of tables after UPDATE and INSERT INTO; a file that inserts by its own function is not
 * warned either, as the table is named there.
 */
#include "program_features.h"
#include "program_raw.h"

#include <string.h>

/* The word behind `word`, which is the first one or follows `before`; false: there is none. */
static bool name_behind(const char *sql, const char *word, struct lb_token *ret)
{
    struct lb_lexer lexer;
    struct lb_token token;
    bool is_next = false;
    lb_lexer_init(&lexer, sql, strlen(sql), 0);
    while ((token = lb_lexer_next_word(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        if (is_next && (token.kind == LB_T_WORD || token.kind == LB_T_QUOTED)) {
            *ret = token;
            return true;
        }
        is_next = lb_token_is(&token, word);
    }
    return false;
}

/* Is something inserted into the table, by any section? */
static bool is_filled(const struct lb_program *program, const struct lb_token *table)
{
    struct lb_token into;
    for (size_t i = 0; i < program->n_statements; i++)
        if (name_behind(program->statements[i].sql, "into", &into) && lb_token_equals(&into, table))
            return true;
    return false;
}

static bool inserts(const struct lb_section *section)
{
    struct lb_token ignored;
    for (size_t i = 0; i < section->n_statements; i++)
        if (name_behind(section->statements[i].sql, "into", &ignored))
            return true;
    return false;
}

int lb_process_unknown(const struct lb_program *program, const struct lb_features *features,
                       bool *ret_is_beat)
{
    const struct lb_section *sections = program->sections, *beat = &sections[LB_S_HEARTBEAT];
    struct lb_token table;
    *ret_is_beat = beat->present;
    if (sections[LB_S_REGISTER].present)
        return 0;
    if (beat->present) {
        for (size_t i = 0; i < beat->n_statements && !inserts(beat); i++)
            if (name_behind(beat->statements[i].sql, "update", &table) &&
                !is_filled(program, &table))
                return beat->statements[i].line;
        return 0;
    }
    if (features->lease != NULL || (features->has_recover && features->recovers_by_time))
        return 0;
    const struct lb_section *claim = &sections[LB_S_CLAIM];
    for (size_t i = 0; i < claim->n_statements; i++)
        if (lb_statement_has_param(&claim->statements[i], LB_SLOT_PROCESS))
            return claim->statements[i].line;
    return 0;
}
