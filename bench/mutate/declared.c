/* What a table or an index promises: its keys, and the choices in columns that are generated. */
#include "making.h"

/* The end of a column's REFERENCES ... from token i on. */
static size_t reference_end(const struct lb_making *m, size_t i)
{
    i += 2;
    if (lb_making_is_sign(m, i, "("))
        i = lb_making_skip(m, i);
    while (lb_making_is(m, i, "on")) {
        bool is_two = lb_making_is(m, i + 2, "set") || lb_making_is(m, i + 2, "no");
        i += is_two ? 4 : 3;
    }
    return i;
}

/* A column's own: tokens [from, to) of the list. */
static void column(struct lb_making *m, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i = lb_making_skip(m, i)) {
        if (lb_making_is(m, i, "primary")) {
            bool grows = lb_making_is(m, i + 2, "autoincrement");
            lb_making_cut(m, LB_MUTANT_KEY, i, i + (grows ? 3 : 2));
        } else if (lb_making_is(m, i, "unique")) {
            lb_making_cut(m, LB_MUTANT_KEY, i, i + (lb_making_is(m, i + 1, "key") ? 2 : 1));
        } else if (lb_making_is(m, i, "references")) {
            lb_making_cut(m, LB_MUTANT_KEY, i, reference_end(m, i));
        } else if (lb_making_is(m, i, "check")) {
            lb_making_cut(m, LB_MUTANT_KEY, i, lb_making_skip(m, i + 1));
        }
    }
}

/* The list of columns and keys that token i opens. */
static void list(struct lb_making *m, size_t i)
{
    static const char *const keys[] = {"primary", "unique",  "foreign", "constraint",
                                       "check",   "exclude", NULL};
    size_t end = lb_making_skip(m, i) - 1, before = i;
    for (size_t from = i + 1; from < end;) {
        size_t to = from;
        while (to < end && !lb_making_is_sign(m, to, ","))
            to = lb_making_skip(m, to);
        for (size_t k = from; k < to; k++)
            lb_making_choice(m, k);
        if (!lb_token_is_any(&m->tokens.at[from], keys))
            column(m, from, to);
        else if (before > i)
            lb_making_cut(m, LB_MUTANT_KEY, before, to);
        before = to;
        from = to + 1;
    }
}

void lb_making_keys(struct lb_making *m)
{
    if (!lb_making_is(m, 0, "create"))
        return;
    bool is_unique = lb_making_is(m, 1, "unique");
    if (is_unique)
        lb_making_cut(m, LB_MUTANT_KEY, 1, 2);
    bool is_table = false;
    for (size_t i = 1; i < m->tokens.n; i = lb_making_skip(m, i)) {
        is_table |= i < 4 && lb_making_is(m, i, "table");
        if (is_table && lb_making_is_sign(m, i, "(")) {
            list(m, i);
            return;
        }
        if (is_unique && lb_making_is(m, i, "where"))
            lb_making_cut(m, LB_MUTANT_KEY, i, m->tokens.n);
    }
}
