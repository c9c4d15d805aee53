/* How much of a search is done: see extent.h. */
#include "extent.h"

#include <math.h>
#include <stdio.h>

void lb_extent_branch(struct lb_extent *extent, struct lb_extent_node *node, uint64_t now)
{
    double size = (double)(now - node->begun);
    unsigned n = node->n++;
    if (n == 0) {
        node->first = size;
    } else if (n < LB_EXTENT_BRANCHES) {
        extent->first[n] += node->first;
        extent->later[n] += size;
    }
}

double lb_extent_left(const struct lb_extent *extent, const struct lb_extent_node *node,
                      unsigned n_left, uint64_t now, double below)
{
    static const double doubt = 20; /* fewer moves teach nothing */
    double present = (double)(now - node->begun) + below, left = below;
    double first = node->n > 0 ? node->first : present;
    for (unsigned i = 0; i < n_left; i++) {
        unsigned n = node->n + 1 + i;
        n = n < LB_EXTENT_BRANCHES ? n : LB_EXTENT_BRANCHES - 1;
        left += first * (extent->later[n] + doubt) / (extent->first[n] + doubt);
    }
    return left;
}

char *lb_extent_words(double share, char *buf, size_t size)
{
    if (share < 0.001)
        snprintf(buf, size, "less than 0.1 %%");
    else
        snprintf(buf, size, "roughly %.*f %%", share < 0.1, share * 100);
    return buf;
}

/* --- steadiness --- */

void lb_steadiness_note(struct lb_steadiness *steady, uint64_t passed_ns, double whole)
{
    if (passed_ns >= steady->ends_ns) {
        steady->ends_ns = 2 * passed_ns;
        steady->least[0] = steady->least[1];
        steady->most[0] = steady->most[1];
        steady->least[1] = steady->most[1] = whole;
    }
    steady->least[1] = whole < steady->least[1] ? whole : steady->least[1];
    steady->most[1] = whole > steady->most[1] ? whole : steady->most[1];
}

double lb_steadiness_whole(const struct lb_steadiness *steady, bool *ret_is_least)
{
    static const double far = 3;
    bool is_new = steady->least[0] <= 0; /* there is no span before */
    double least = is_new ? steady->least[1] : fmin(steady->least[0], steady->least[1]);
    double most = fmax(steady->most[0], steady->most[1]);
    *ret_is_least = most > far * least;
    return *ret_is_least ? least / 2 : sqrt(least * most);
}
