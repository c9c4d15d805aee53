/* Traits for the advice beside a finding, by the words of the statements: the source of a grant's
 * token, the order of claims, comparisons with NULL. A hint, like all
 * features: see program_features.h.
 */
#include "program_features.h"

#include "program_raw.h"

#include <string.h>

static bool is_word(const struct lb_tokens *words, size_t i, const char *text)
{
    return i < words->n && lb_token_is(&words->at[i], text);
}

static bool is_sign(const struct lb_tokens *words, size_t i, char sign)
{
    return i < words->n && lb_token_begins(&words->at[i], sign);
}

/* Position of the word, from `from` on; words->n: it is not there. */
static size_t find(const struct lb_tokens *words, size_t from, const char *text)
{
    while (from < words->n && !is_word(words, from, text))
        from++;
    return from;
}

static bool has(const struct lb_tokens *words, const char *text)
{
    return find(words, 0, text) < words->n;
}

/* --- tokens --- */

/* SET fence = fence + 1, SET fence = held.fence + 1 */
static bool counts_up(const struct lb_tokens *words)
{
    for (size_t i = 0; i + 4 < words->n; i++) {
        if (words->at[i].kind != LB_T_WORD || !is_sign(words, i + 1, '='))
            continue;
        size_t at = is_sign(words, i + 3, '.') ? i + 4 : i + 2;
        const struct lb_token *left = &words->at[i], *right = &words->at[at];
        if (right->kind == LB_T_WORD && right->length == left->length &&
            strncmp(right->text, left->text, left->length) == 0 && is_sign(words, at + 1, '+'))
            return true;
    }
    return false;
}

/* Is a time among what the column is set to? Up to the next comma outside of parentheses. */
static bool is_set_to_time(const struct lb_tokens *words, const struct lb_token *column)
{
    for (size_t i = 0; i + 2 < words->n; i++) {
        const struct lb_token *word = &words->at[i];
        if (word->kind != LB_T_WORD || word->length != column->length ||
            strncmp(word->text, column->text, word->length) != 0 || !is_sign(words, i + 1, '='))
            continue;
        int depth = 0;
        for (size_t k = i + 2; k < words->n && !is_word(words, k, "where"); k++) {
            const struct lb_token *value = &words->at[k];
            depth += is_sign(words, k, '(') - is_sign(words, k, ')');
            if (depth <= 0 && is_sign(words, k, ','))
                break;
            if ((value->kind == LB_T_PARAM && value->length == 4 &&
                 strncmp(value->text, ":now", 4) == 0) ||
                (value->kind == LB_T_WORD && lb_sql_reads_time(value->text, value->length)))
                return true;
        }
    }
    return false;
}

/* Is what is returned as token, the words before `as_token`, a time, or set to one? */
static bool is_time(const struct lb_tokens *words, size_t as_token)
{
    for (size_t i = as_token; i-- > 0;) {
        const struct lb_token *word = &words->at[i];
        if (is_word(words, i, "returning") || is_word(words, i, "select") || is_sign(words, i, ','))
            return false;
        if ((word->kind == LB_T_PARAM && word->length == 4 &&
             strncmp(word->text, ":now", 4) == 0) ||
            (word->kind == LB_T_WORD &&
             (lb_sql_reads_time(word->text, word->length) || is_set_to_time(words, word))))
            return true;
    }
    return false;
}

static void find_token(const struct lb_section *begin, enum lb_dialect dialect,
                       struct lb_features *ret)
{
    struct lb_tokens words;
    const struct lb_statement *from = NULL, *last_write = NULL;
    for (size_t i = 0; i < begin->n_statements; i++) {
        lb_tokens_read(&words, begin->statements[i].sql, dialect);
        if (has(&words, "token"))
            from = &begin->statements[i];
        lb_tokens_free(&words);
        if (!begin->statements[i].is_write)
            continue;
        ret->begin_parted = last_write != NULL && begin->tx == LB_TX_EACH;
        last_write = &begin->statements[i];
    }
    ret->begin_writes = last_write != NULL;
    if (from == NULL)
        return;
    lb_tokens_read(&words, from->sql, dialect);
    bool is_drawn = has(&words, "nextval");
    ret->token_line = from->line;
    if (last_write != NULL && from < last_write)
        ret->token = is_drawn ? LB_TOKEN_DRAWN_BEFORE : LB_TOKEN_READ_BEFORE;
    else if (is_time(&words, find(&words, 0, "token")))
        ret->token = LB_TOKEN_TIME;
    else if (is_drawn || counts_up(&words) || from != last_write)
        ret->token = LB_TOKEN_COUNTED;
    else
        ret->token = LB_TOKEN_KEPT;
    lb_tokens_free(&words);
}

/* --- order and number of claimed items --- */

static void find_order(const struct lb_section *begin, enum lb_dialect dialect,
                       struct lb_features *ret)
{
    struct lb_tokens words;
    for (size_t i = 0; i < begin->n_statements; i++) {
        lb_tokens_read(&words, begin->statements[i].sql, dialect);
        size_t at = find(&words, 0, "order");
        ret->has_order = ret->has_order || is_word(&words, at + 1, "by");
        ret->skips_locked = ret->skips_locked || has(&words, "skip");
        ret->has_limit = ret->has_limit || has(&words, "limit") || has(&words, "fetch");
        lb_tokens_free(&words);
    }
}

/* --- NULL --- */

/* Ends of holds that write NULL, and no IS NULL (COALESCE, <=>) where the next one asks. */
static void find_null(const struct lb_section *begin, const struct lb_section *end,
                      enum lb_dialect dialect, struct lb_features *ret)
{
    struct lb_tokens words;
    bool writes = false, asks = false;
    for (size_t i = 0; i < end->n_statements; i++) {
        lb_tokens_read(&words, end->statements[i].sql, dialect);
        size_t where = find(&words, 0, "where");
        for (size_t k = 0; k + 1 < where; k++)
            writes = writes || (is_sign(&words, k, '=') && is_word(&words, k + 1, "null"));
        lb_tokens_free(&words);
    }
    for (size_t i = 0; i < begin->n_statements; i++) {
        lb_tokens_read(&words, begin->statements[i].sql, dialect);
        for (size_t k = 0; k < words.n; k++)
            asks = asks || (is_word(&words, k, "is") && is_word(&words, k + 1, "null")) ||
                   is_word(&words, k, "coalesce") || is_word(&words, k, "ifnull") ||
                   is_word(&words, k, "distinct") || is_word(&words, k, "not");
        lb_tokens_free(&words);
    }
    ret->compares_null = writes && !asks;
}

/* The line of the first statement of these sections that changes something; 0: there is none. */
static int first_write(const struct lb_section *sections, const enum lb_section_name *names,
                       size_t n_names)
{
    for (size_t n = 0; n < n_names; n++)
        for (size_t i = 0; i < sections[names[n]].n_statements; i++)
            if (sections[names[n]].statements[i].is_write)
                return sections[names[n]].statements[i].line;
    return 0;
}

/* Of an item: REPLACE INTO, INSERT OR REPLACE, ON CONFLICT ... DO UPDATE, ON DUPLICATE KEY UPDATE.
 */
static bool is_overwriting(const struct lb_statement *statement, enum lb_dialect dialect)
{
    struct lb_tokens words;
    lb_tokens_read(&words, statement->sql, dialect);
    bool replaces = is_word(&words, 0, "replace") || is_word(&words, 2, "replace");
    for (size_t i = 0; i + 2 < words.n && !replaces; i++)
        replaces = is_word(&words, i, "duplicate") && is_word(&words, i + 2, "update");
    for (size_t i = 0; i + 1 < words.n && !replaces; i++)
        replaces = is_word(&words, i, "do") && is_word(&words, i + 1, "update");
    lb_tokens_free(&words);
    return replaces && lb_statement_has_param(statement, LB_SLOT_ID);
}

void lb_features_read_traits(const struct lb_program *program, struct lb_features *ret)
{
    bool is_lock = program->shape == LB_LOCK;
    const struct lb_section *sections = program->sections;
    const struct lb_section *begin = &sections[is_lock ? LB_S_ACQUIRE : LB_S_CLAIM];
    static const enum lb_section_name backs[] = {LB_S_FREE, LB_S_RETRY, LB_S_ERROR};
    static const enum lb_section_name operators[] = {LB_S_CLEAR_ALL_ERRORS, LB_S_RESET_ALL,
                                                     LB_S_CLEAR_ERROR};
    static const char *const deletes[] = {"delete", NULL};
    const enum lb_dialect dialect = program->db->dialect;
    ret->ends_by_recover = program->ends_by_recover;
    find_token(begin, dialect, ret);
    find_order(begin, dialect, ret);
    if (is_lock)
        find_null(begin, &sections[LB_S_RELEASE], dialect, ret);
    for (size_t i = 0; i < sections[LB_S_RELEASE].n_statements; i++)
        ret->end_deletes |=
            lb_sql_begins(sections[LB_S_RELEASE].statements[i].sql, dialect, deletes);
    ret->back_line = first_write(sections, backs, sizeof backs / sizeof backs[0]);
    ret->operator_line = first_write(sections, operators, sizeof operators / sizeof operators[0]);
    for (size_t i = 0; i < sections[LB_S_ENQUEUE].n_statements; i++)
        if (sections[LB_S_ENQUEUE].statements[i].is_write)
            ret->enqueue_line = sections[LB_S_ENQUEUE].statements[i].line;
    for (size_t i = 0; i < sections[LB_S_PUT].n_statements; i++)
        if (sections[LB_S_PUT].statements[i].is_write)
            ret->put_line = sections[LB_S_PUT].statements[i].line;
    for (size_t i = 0; i < sections[LB_S_PUT].n_statements; i++)
        ret->put_overwrites |= is_overwriting(&sections[LB_S_PUT].statements[i], dialect);
    ret->end_parted =
        sections[LB_S_COMPLETE].n_statements > 1 && sections[LB_S_COMPLETE].tx == LB_TX_EACH;
    if (!is_lock && sections[LB_S_COMPLETE].n_statements > 0)
        ret->end_line = ret->end_last_line = sections[LB_S_COMPLETE].statements[0].line;
}
