/* Letters for groups: see blocks.h.
 *
 * Insert and absorb (Piepho 2004): begin with one group of all; for each pair that differs, split
 * each group that holds both into one without the one and one without the other; drop groups that
 * are a part of another. This leaves the largest groups in which no two members differ.
 */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 4 * LB_LETTERS_MOST };

struct groups {
    uint64_t of[MOST_GROUPS]; /* a bit for each strategy */
    size_t n;
};

static void absorb(struct groups *groups)
{
    size_t kept = 0;
    for (size_t i = 0; i < groups->n; i++) {
        bool is_part = false;
        for (size_t j = 0; j < groups->n && !is_part; j++)
            is_part = i != j && (groups->of[i] & ~groups->of[j]) == 0 &&
                      (groups->of[i] != groups->of[j] || j < i);
        if (!is_part)
            groups->of[kept++] = groups->of[i];
    }
    groups->n = kept;
}

/* False: more groups than there is room for. */
static bool split(struct groups *groups, size_t a, size_t b)
{
    uint64_t bit_a = UINT64_C(1) << a, bit_b = UINT64_C(1) << b;
    size_t n = groups->n;
    for (size_t i = 0; i < n; i++) {
        if ((groups->of[i] & bit_a) == 0 || (groups->of[i] & bit_b) == 0)
            continue;
        if (groups->n == MOST_GROUPS)
            return false;
        groups->of[groups->n++] = groups->of[i] & ~bit_a;
        groups->of[i] &= ~bit_b;
    }
    absorb(groups);
    return true;
}

static int by_first(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    while (x != 0 && y != 0) { /* the one with the earlier member comes first */
        uint64_t p = x & (~x + 1), q = y & (~y + 1);
        if (p != q)
            return p < q ? -1 : 1;
        x -= p, y -= q;
    }
    return (x == 0) - (y == 0);
}

int lb_stats_letters(const bool *differ, size_t n, char (*ret)[LB_LETTERS_TEXT],
                     struct lb_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct groups groups = {.n = 1};
    bool fits = n <= LB_LETTERS_MOST;
    groups.of[0] = n < 64 ? (UINT64_C(1) << n) - 1 : 0;
    for (size_t i = 0; i < n && fits; i++)
        for (size_t j = i + 1; j < n && fits; j++)
            if (differ[i * n + j])
                fits = split(&groups, i, j);
    if (!fits || groups.n > LB_LETTERS_MOST)
        return lb_fail(err, LB_E_USAGE, "more than %d groups of strategies", LB_LETTERS_MOST);
    qsort(groups.of, groups.n, sizeof groups.of[0], by_first);
    for (size_t i = 0; i < n; i++) {
        size_t used = 0;
        for (size_t g = 0; g < groups.n; g++)
            if ((groups.of[g] >> i & 1) != 0)
                ret[i][used++] = letters[g];
        ret[i][used] = '\0';
    }
    return 0;
}
