/* Choices between values, and statements about a row that exists already: CASE, IF, INSERT IGNORE,
 * ON CONFLICT, ON DUPLICATE KEY. See mutants.h. */
#include "making.h"

#include "memory.h"

#include <stdlib.h>

/* The value of tokens [from, to) in place of the whole choice, tokens [head, end). */
static void choose(struct lb_making *m, size_t head, size_t end, size_t from, size_t to)
{
    if (from >= to)
        return;
    size_t begin = lb_making_begin(m, from), length = lb_making_end(m, to - 1) - begin;
    bool is_single = lb_making_skip(m, from) == to;
    char *value = lb_format(is_single ? "%.*s" : "(%.*s)", (int)length, m->file->text + begin);
    lb_making_replace(m, LB_MUTANT_CHOICE, head, end, value);
    free(value);
}

/* CASE ... END from token i on. */
static void take_case(struct lb_making *m, size_t i)
{
    size_t end = lb_making_skip(m, i), word = i;
    bool has_else = false;
    for (size_t k = i + 1; k < end;) {
        bool is_last = k + 1 == end;
        if (is_last || lb_making_is(m, k, "when") || lb_making_is(m, k, "then") ||
            lb_making_is(m, k, "else")) {
            has_else |= lb_making_is(m, word, "else");
            if (lb_making_is(m, word, "when"))
                lb_making_parts(m, word + 1, k);
            else if (word > i)
                choose(m, i, end, word + 1, k);
            word = k;
        }
        k = is_last ? end : lb_making_skip(m, k);
    }
    if (!has_else)
        lb_making_replace(m, LB_MUTANT_CHOICE, i, end, "NULL");
}

/* IF(condition, value, other) from token i on. */
static void take_if(struct lb_making *m, size_t i)
{
    size_t end = lb_making_skip(m, i + 1), from = i + 2;
    bool is_condition = true;
    for (size_t k = from; k < end; k = k + 1 == end ? end : lb_making_skip(m, k)) {
        if (k + 1 < end && !lb_making_is_sign(m, k, ","))
            continue;
        if (is_condition)
            lb_making_parts(m, from, k);
        else
            choose(m, i, end, from, k);
        is_condition = false;
        from = k + 1;
    }
}

void lb_making_choice(struct lb_making *m, size_t i)
{
    if (lb_making_is(m, i, "case"))
        take_case(m, i);
    else if ((lb_making_is(m, i, "if") || lb_making_is(m, i, "iif")) &&
             lb_making_is_sign(m, i + 1, "("))
        take_if(m, i);
}

void lb_making_conflict(struct lb_making *m, size_t i)
{
    bool is_on = lb_making_is(m, i, "on") &&
                 (lb_making_is(m, i + 1, "conflict") || lb_making_is(m, i + 1, "duplicate"));
    if (is_on) {
        size_t end = i;
        while (end < m->tokens.n && !lb_making_is(m, end, "returning") &&
               !lb_making_is_sign(m, end, ")"))
            end = lb_making_skip(m, end);
        lb_making_cut(m, LB_MUTANT_CONFLICT, i, end);
    } else if (i == 1 && lb_making_is(m, 0, "insert")) {
        bool is_or = lb_making_is(m, 1, "or");
        if (is_or || lb_making_is(m, 1, "ignore"))
            lb_making_cut(m, LB_MUTANT_CONFLICT, 1, is_or ? 3 : 2);
    }
}
