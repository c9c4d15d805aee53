/* Merges the logs' holds, each already in order, into one sequence. The order is kept as positions,
 * 4 bytes a hold, because several judgements need it.
 */
#include "merge.h"

#include "judges.h"

#include <stdlib.h>

/* Plays the tournament below node; returns the winner, leaves the losers in the tree. */
static struct lb_player play(struct lb_merge *merge, const uint64_t *keys, uint32_t node)
{
    if (node >= merge->k)
        return (struct lb_player){.key = keys[node - merge->k], .number = node - merge->k};
    struct lb_player a = play(merge, keys, 2 * node), b = play(merge, keys, 2 * node + 1);
    bool a_wins = a.key <= b.key;
    merge->tree[node] = a_wins ? b : a;
    return a_wins ? a : b;
}

void lb_merge_init(struct lb_merge *merge, const uint64_t *keys, uint32_t k)
{
    *merge = (struct lb_merge){.k = k, .tree = lb_calloc((size_t)k + 1, sizeof *merge->tree)};
    merge->tree[0].key = UINT64_MAX;
    if (k > 0)
        merge->tree[0] = play(merge, keys, 1);
}

/* The holds of a log that are still to come. */
struct rest {
    uint32_t next, end;
};

static uint64_t start_of(const struct lb_case *c, const struct rest *rest)
{
    return rest->next < rest->end ? lb_holds(c)[rest->next].start : LB_NEVER;
}

void lb_merge_holds(struct lb_case *c)
{
    size_t n = c->history->n_logs;
    uint32_t k = 0;
    struct lb_merge merge = {.tree = NULL};
    struct rest *rests = lb_malloc((n + 1) * sizeof *rests);
    uint64_t *starts = lb_malloc((n + 1) * sizeof *starts);
    c->order = lb_malloc((c->holds.n + 1) * sizeof *c->order);
    for (size_t i = 0; i < n; i++) {
        size_t first = c->logs[i].first_hold, n_holds = c->logs[i].n_holds;
        if (n_holds == 0)
            continue;
        rests[k] = (struct rest){.next = (uint32_t)first, .end = (uint32_t)(first + n_holds)};
        starts[k] = start_of(c, &rests[k]);
        k++;
    }
    lb_merge_init(&merge, starts, k);
    for (size_t i = 0; i < c->holds.n; i++) {
        struct rest *rest = &rests[lb_merge_first(&merge).number];
        c->order[i] = rest->next++;
        lb_merge_next(&merge, start_of(c, rest));
    }
    free(rests);
    free(starts);
    free(merge.tree);
}
