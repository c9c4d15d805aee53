/* Conditions: each part of AND and of OR left out, each comparison changed. */
#include "making.h"

#include <string.h>

/* Removes the condition [from, to) of several that AND or OR joins; the first of them begins at
 * token first. */
static void leave_out(struct lb_making *m, size_t first, size_t from, size_t to)
{
    struct lb_edit edit = {.with = ""};
    if (from > first) { /* with the AND before it */
        edit.at = lb_making_end(m, from - 2);
        edit.length = lb_making_end(m, to - 1) - edit.at;
    } else { /* with the one behind it */
        edit.at = lb_making_begin(m, from);
        edit.length = lb_making_begin(m, to + 1) - edit.at;
    }
    lb_making_change(m, LB_MUTANT_CONDITION, &edit, 1, from, to);
}

static void compare(struct lb_making *m, size_t from, size_t to)
{
    static const char *const others[][2] = {{"<=", "<"}, {"<", "<="}, {">=", ">"}, {">", ">="}};
    for (size_t i = from; i < to; i = lb_making_skip(m, i))
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            if (lb_making_is_sign(m, i, others[k][0])) {
                struct lb_edit edit = {lb_making_begin(m, i), strlen(others[k][0]), others[k][1]};
                lb_making_change(m, LB_MUTANT_COMPARISON, &edit, 1, from, to);
                return;
            }
}

/* The end of the part that begins at token i, of parts that `word` joins. The AND of a BETWEEN
 * joins none. */
static size_t part_end(const struct lb_making *m, size_t i, size_t to, const char *word)
{
    bool between = false;
    for (; i < to; i = lb_making_skip(m, i)) {
        if (lb_making_is(m, i, word) && !between)
            return i;
        between = lb_making_is(m, i, "between") || (between && !lb_making_is(m, i, "and"));
    }
    return to;
}

static bool is_query(const struct lb_making *m, size_t i)
{
    return lb_making_is(m, i, "select") || lb_making_is(m, i, "with") ||
           lb_making_is(m, i, "values");
}

/* Returns how many parts it has. */
static size_t take_parts(struct lb_making *m, size_t from, size_t to)
{
    while (to > from + 2 && lb_making_is_sign(m, from, "(") && lb_making_skip(m, from) == to &&
           !is_query(m, from + 1)) {
        from++;
        to--;
    }
    const char *word = part_end(m, from, to, "or") < to ? "or" : "and";
    if (part_end(m, from, to, word) == to) {
        compare(m, from, to);
        return 1;
    }
    size_t n = 0;
    for (size_t i = from; i < to; n++) {
        size_t end = part_end(m, i, to, word);
        leave_out(m, from, i, end);
        take_parts(m, i, end);
        i = end + 1;
    }
    return n;
}

void lb_making_parts(struct lb_making *m, size_t from, size_t to)
{
    if (from < to)
        take_parts(m, from, to);
}

size_t lb_making_condition_end(const struct lb_making *m, size_t i)
{
    static const char *const ends[] = {
        "group", "order",     "limit", "returning", "having", "window", "union",
        "for",   "intersect", "on",    "where",     "set",    "fetch",  "offset",
        "do",    "join",      "inner", "cross",     "full",   "then",   "straight_join",
        "lock",  "except",    "when",  "natural",   NULL};
    for (; i < m->tokens.n; i = lb_making_skip(m, i)) {
        const struct lb_token *token = &m->tokens.at[i];
        bool is_side = lb_token_is(token, "left") || lb_token_is(token, "right");
        if (lb_token_is_any(token, ends) || token->kind == LB_T_SEMICOLON ||
            lb_token_is_sign(token, ")") || lb_token_is_sign(token, ",") ||
            (is_side && !lb_making_is_sign(m, i + 1, "(")))
            return i;
    }
    return i;
}

void lb_making_conditions(struct lb_making *m, size_t head, size_t from, size_t to)
{
    if (from >= to)
        return;
    bool is_join = lb_making_is(m, head, "on");
    size_t n = take_parts(m, from, to);
    bool has_or = part_end(m, from, to, "or") < to;
    bool is_upsert = false;
    for (size_t i = 0; i < head; i++)
        is_upsert |= lb_making_is(m, i, "conflict");
    if (n > 1 && !has_or && !is_upsert)
        return; /* each part is left out alone */
    struct lb_edit edit = {.with = is_join ? "1 = 1" : ""};
    edit.at = is_join ? lb_making_begin(m, from) : lb_making_end(m, head - 1);
    edit.length = lb_making_end(m, to - 1) - edit.at;
    lb_making_change(m, LB_MUTANT_CONDITION, &edit, 1, from, to);
}
