/* The clauses of a statement that workers run: see mutants.h. */
#include "making.h"

#include <string.h>

/* FOR UPDATE [OF ...] [NOWAIT | SKIP LOCKED], from token i on. */
static void row_lock(struct lb_making *m, size_t i)
{
    bool is_mariadb = m->program->db->dialect == LB_SQL_MARIADB;
    size_t mode = i + 1;
    while (lb_making_is(m, mode, "no") || lb_making_is(m, mode, "key"))
        mode++;
    bool is_update = lb_making_is(m, mode, "update");
    if (!is_update && !lb_making_is(m, mode, "share"))
        return;
    size_t end = mode + 1;
    if (lb_making_is(m, end, "of"))
        for (end += 2; lb_making_is_sign(m, end, ","); end += 2)
            ;
    size_t tail = end;
    if (lb_making_is(m, tail, "nowait"))
        end = tail + 1;
    else if (lb_making_is(m, tail, "skip") || lb_making_is(m, tail, "wait"))
        end = tail + 2;
    lb_making_cut(m, LB_MUTANT_LOCK, i, end);
    if (end > tail)
        lb_making_cut(m, LB_MUTANT_LOCK, tail, end);
    if (is_update)
        lb_making_replace(m, LB_MUTANT_LOCK, is_mariadb ? i : i + 1, mode + 1,
                          is_mariadb ? "LOCK IN SHARE MODE" : "SHARE");
}

/* The keys of ORDER BY, tokens [from, to), each the other way round: without them the engine may
 * choose any row, also the last one. */
static void turn_round(struct lb_making *m, size_t from, size_t to)
{
    struct lb_edit edits[LB_EDITS];
    size_t n = 0;
    for (size_t i = from, end; i < to && n < LB_EDITS; i = end + 1) {
        size_t way = i; /* the end of the key, before its NULLS FIRST */
        bool has_nulls = false;
        for (end = i; end < to && !lb_making_is_sign(m, end, ","); end = lb_making_skip(m, end)) {
            has_nulls |= lb_making_is(m, end, "nulls");
            way = has_nulls ? way : lb_making_skip(m, end);
        }
        bool is_down = lb_making_is(m, way - 1, "desc");
        bool is_said = is_down || lb_making_is(m, way - 1, "asc");
        edits[n].at = is_said ? lb_making_begin(m, way - 1) : lb_making_end(m, way - 1);
        edits[n].length = is_said ? m->tokens.at[way - 1].length : 0;
        edits[n++].with = is_down ? "ASC" : is_said ? "DESC" : " DESC";
    }
    lb_making_change(m, LB_MUTANT_ORDER, edits, n, from - 2, to); /* with ORDER BY */
}

/* ORDER BY, or LIMIT: up to the next clause of the query. */
static void ordering(struct lb_making *m, size_t i, enum lb_mutant_kind kind)
{
    static const char *const ends[] = {"limit", "offset", "fetch",     "for",    "lock",
                                       "union", "window", "returning", "except", NULL};
    size_t end = i + 1;
    while (end < m->tokens.n && !lb_token_is_any(&m->tokens.at[end], ends) &&
           !lb_making_is_sign(m, end, ")"))
        end = lb_making_skip(m, end);
    if (kind == LB_MUTANT_ORDER)
        turn_round(m, i + 2, end);
    else
        lb_making_cut(m, kind, i, end);
}

/* c = f(c + 1), from token i on: a function that keeps what it returns. */
static void counting_call(struct lb_making *m, size_t i)
{
    const struct lb_token *a = &m->tokens.at[i], *b = &m->tokens.at[i + 4];
    bool counts = lb_making_is_sign(m, i + 3, "(") && i + 8 <= m->tokens.n &&
                  b->kind == LB_T_WORD && b->length == a->length &&
                  memcmp(a->text, b->text, a->length) == 0 && lb_making_is_sign(m, i + 5, "+") &&
                  lb_making_is_sign(m, i + 6, "1") && lb_making_is_sign(m, i + 7, ")");
    struct lb_mutant *mutant = counts ? lb_making_cut(m, LB_MUTANT_COUNT, i + 5, i + 7) : NULL;
    if (mutant == NULL)
        return;
    mutant->at = lb_making_end(m, i + 4);
    mutant->length = lb_making_end(m, i + 6) - mutant->at;
}

/* c = c + 1, or c = t.c + 1, in a list that SET begins. */
static void counting(struct lb_making *m, size_t i)
{
    counting_call(m, i);
    size_t end = i + 2;
    if (lb_making_is_sign(m, end + 1, "."))
        end += 2;
    const struct lb_token *a = &m->tokens.at[i], *b = &m->tokens.at[end];
    bool counts = b->kind == LB_T_WORD && b->length == a->length &&
                  memcmp(a->text, b->text, a->length) == 0 && lb_making_is_sign(m, end + 1, "+") &&
                  lb_making_is_sign(m, end + 2, "1");
    if (!counts)
        return;
    end += 3;
    size_t begin = lb_making_begin(m, i), length = lb_making_end(m, end - 1) - begin;
    struct lb_edit edit = {begin, length, ""};
    if (lb_making_is_sign(m, i - 1, ",")) {
        edit.at = lb_making_end(m, i - 2);
        edit.length = begin + length - edit.at;
    } else if (lb_making_is_sign(m, end, ",")) {
        edit.length = lb_making_begin(m, end + 1) - begin;
    } else {
        return;
    }
    struct lb_mutant *mutant = lb_making_change(m, LB_MUTANT_COUNT, &edit, 1, i, end);
    if (mutant != NULL) {
        mutant->at = edit.at;
        mutant->length = edit.length;
    }
}

/* A server's clock as it is written, and its replacements. */
struct clock {
    enum lb_dialect dialect;
    const char *words[5]; /* tokens; "#": any one */
    size_t n;
    const char *by_transaction, *by_worker; /* NULL: there is none */
};

static const struct clock all_clocks[] = {
    {LB_SQL_POSTGRES, {"clock_timestamp", "(", ")"}, 3, "now()", "to_timestamp(:now / 1000.0)"},
    {LB_SQL_MARIADB, {"sysdate", "(", "#", ")"}, 4, "NOW(6)", "FROM_UNIXTIME(:now / 1000.0)"},
    {LB_SQL_MARIADB, {"sysdate", "(", ")"}, 3, "NOW()", "FROM_UNIXTIME(:now / 1000.0)"},
    {LB_SQL_SQLITE, {"julianday", "(", "'now'", ")"}, 4, NULL, "(:now / 86400000.0 + 2440587.5)"},
    {LB_SQL_SQLITE, {"unixepoch", "(", ")"}, 3, NULL, "(:now / 1000)"}};

/* The number of its tokens from token i on; 0: it is another engine's, or not there. */
static size_t clock_at(const struct lb_making *m, size_t i, const struct clock *clock)
{
    if (clock->dialect != m->program->db->dialect)
        return 0;
    for (size_t k = 0; k < clock->n; k++) {
        const struct lb_token *token = &m->tokens.at[i + k];
        if (i + k >= m->tokens.n || (strcmp(clock->words[k], "#") != 0 &&
                                     !lb_slice_is(token->text, token->length, clock->words[k])))
            return 0;
    }
    return clock->n;
}

/* The statement's clock, wherever it asks for it: one change. */
static void clocks(struct lb_making *m, bool by_worker)
{
    struct lb_edit edits[LB_EDITS];
    size_t n = 0;
    for (size_t i = 0; i < m->tokens.n && n < LB_EDITS; i++)
        for (size_t k = 0; k < sizeof all_clocks / sizeof all_clocks[0]; k++) {
            const struct clock *clock = &all_clocks[k];
            size_t length = clock_at(m, i, clock);
            const char *with = by_worker ? clock->by_worker : clock->by_transaction;
            if (length == 0 || with == NULL)
                continue;
            size_t at = lb_making_begin(m, i);
            edits[n++] = (struct lb_edit){at, lb_making_end(m, i + length - 1) - at, with};
            break;
        }
    if (n > 0)
        lb_making_add(m, LB_MUTANT_CLOCK, edits, n, edits[0].at, edits[0].length);
}

/* UPDATE t SET ... WHERE: DELETE FROM t WHERE. */
static void deletion(struct lb_making *m)
{
    if ((m->section->name != LB_S_COMPLETE && m->section->name != LB_S_RELEASE) ||
        !lb_making_is(m, 0, "update") || !lb_making_is(m, 2, "set"))
        return;
    size_t where = 3;
    while (where < m->tokens.n && !lb_making_is(m, where, "where") &&
           !lb_making_is(m, where, "from"))
        where = lb_making_skip(m, where);
    if (!lb_making_is(m, where, "where"))
        return;
    struct lb_edit edits[] = {
        {lb_making_begin(m, 0), strlen("UPDATE"), "DELETE FROM"},
        {lb_making_end(m, 1), lb_making_begin(m, where) - lb_making_end(m, 1), " "}};
    size_t at = lb_making_begin(m, 0);
    lb_making_add(m, LB_MUTANT_DELETE, edits, 2, at, lb_making_begin(m, where) - at);
}

/* SET TRANSACTION ISOLATION LEVEL: the one below it. */
static void level(struct lb_making *m, size_t i)
{
    if (lb_making_is(m, i, "serializable"))
        lb_making_replace(m, LB_MUTANT_ISOLATION, i, i + 1, "REPEATABLE READ");
    else if (lb_making_is(m, i, "repeatable"))
        lb_making_replace(m, LB_MUTANT_ISOLATION, i, i + 2, "READ COMMITTED");
}

/* What begins with a word at token i. is_query: outside of a function's parentheses. */
static void clause(struct lb_making *m, size_t i, bool is_query)
{
    static const char *const no_join[] = {"conflict", "duplicate", "delete", "update", NULL};
    const struct lb_token *token = &m->tokens.at[i], *next = token + 1;
    lb_making_choice(m, i);
    lb_making_conflict(m, i);
    bool is_join = i > 0 && lb_token_is(token, "on") && !lb_token_is_any(next, no_join) &&
                   !lb_making_is(m, i - 1, "distinct");
    bool is_matched = i > 0 && lb_token_is(token, "and") && lb_making_is(m, i - 1, "matched");
    if (lb_token_is(token, "where") || lb_token_is(token, "having") || is_join || is_matched)
        lb_making_conditions(m, i, i + 1, lb_making_condition_end(m, i + 1));
    else if (is_query && lb_token_is(token, "for"))
        row_lock(m, i);
    else if (lb_token_is(token, "level") && i > 0 && lb_making_is(m, i - 1, "isolation"))
        level(m, i + 1);
    else if (is_query && lb_token_is(token, "lock") && lb_token_is(next, "in"))
        lb_making_cut(m, LB_MUTANT_LOCK, i, i + 4);
    else if (is_query && lb_token_is(token, "order") && lb_token_is(next, "by"))
        ordering(m, i, LB_MUTANT_ORDER);
    else if (is_query && lb_token_is(token, "limit"))
        ordering(m, i, LB_MUTANT_LIMIT);
    else if (i > 0 && i + 1 < m->tokens.n && lb_token_is_sign(next, "=") &&
             (lb_making_is(m, i - 1, "set") || lb_making_is_sign(m, i - 1, ",")))
        counting(m, i);
}

void lb_making_clauses(struct lb_making *m)
{
    enum { DEEPEST = 32 };
    bool is_query[DEEPEST] = {true};
    size_t depth = 0;
    for (size_t i = 0; i < m->tokens.n; i++) {
        if (lb_making_is_sign(m, i, "(")) {
            if (++depth == DEEPEST)
                return;
            is_query[depth] = lb_making_is(m, i + 1, "select") || lb_making_is(m, i + 1, "with");
        } else if (lb_making_is_sign(m, i, ")")) {
            depth -= depth > 0;
        } else if (m->tokens.at[i].kind == LB_T_WORD) {
            clause(m, i, is_query[depth]);
        }
    }
    clocks(m, false);
    clocks(m, true);
    deletion(m);
}
