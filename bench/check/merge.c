/* Merges the logs' holds, each already in order, into one sequence: a tournament of losers (Knuth,
 * The Art of Computer Programming 3, 5.4.1), log2(number of logs) comparisons a hold. The order is
 * kept as positions, 4 bytes a hold, because several judgements need it.
 */
#include "judges.h"

#include <stdlib.h>

/* A log in the tournament. */
struct player {
    uint64_t key; /* start of its next hold; LB_NEVER: none left */
    uint32_t log;
};

struct merge {
    const struct lb_hold *holds;
    uint32_t k;
    uint32_t *next, *end;
    struct player *tree; /* [0]: the winner; inner nodes: their losers */
};

static struct player player_of(const struct merge *merge, uint32_t log)
{
    uint32_t next = merge->next[log];
    return (struct player){.key = next < merge->end[log] ? merge->holds[next].start : LB_NEVER,
                           .log = log};
}

/* Plays the tournament below node; returns the winner, leaves the losers in the tree. */
static struct player play(struct merge *merge, uint32_t node)
{
    if (node >= merge->k)
        return player_of(merge, node - merge->k);
    struct player a = play(merge, 2 * node), b = play(merge, 2 * node + 1);
    bool a_wins = a.key <= b.key;
    merge->tree[node] = a_wins ? b : a;
    return a_wins ? a : b;
}

static void merge_release(struct merge *merge)
{
    free(merge->next);
    free(merge->end);
    free(merge->tree);
}

static int merge_init(struct merge *merge, const struct lb_case *c)
{
    size_t n = c->history->n_logs;
    *merge = (struct merge){.holds = lb_holds(c)};
    merge->next = malloc((n + 1) * sizeof *merge->next);
    merge->end = malloc((n + 1) * sizeof *merge->end);
    merge->tree = calloc(n + 1, sizeof *merge->tree);
    if (merge->next == NULL || merge->end == NULL || merge->tree == NULL)
        return LB_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (c->logs[i].n_holds == 0)
            continue;
        merge->next[merge->k] = (uint32_t)c->logs[i].first_hold;
        merge->end[merge->k] = (uint32_t)(c->logs[i].first_hold + c->logs[i].n_holds);
        merge->k++;
    }
    if (merge->k > 0)
        merge->tree[0] = play(merge, 1);
    return 0;
}

static uint32_t merge_next(struct merge *merge)
{
    struct player *tree = merge->tree, winner = tree[0];
    uint32_t hold = merge->next[winner.log]++;
    winner = player_of(merge, winner.log);
    for (uint32_t node = (winner.log + merge->k) / 2; node > 0; node /= 2) {
        struct player loser = tree[node];
        /* Which of the two wins is a coin toss, so it is chosen without a branch. */
        uint64_t swap = loser.key < winner.key ? UINT64_MAX : 0;
        uint64_t key = (loser.key ^ winner.key) & swap;
        uint32_t log = (loser.log ^ winner.log) & (uint32_t)swap;
        tree[node] = (struct player){.key = loser.key ^ key, .log = loser.log ^ log};
        winner.key ^= key;
        winner.log ^= log;
    }
    tree[0] = winner;
    return hold;
}

int lb_merge_holds(struct lb_case *c)
{
    struct merge merge = {0};
    c->order = malloc((c->holds.n + 1) * sizeof *c->order);
    int rc = c->order == NULL || merge_init(&merge, c) != 0 ? lb_out_of_memory(c) : 0;
    for (size_t i = 0; i < c->holds.n && rc == 0; i++)
        c->order[i] = merge_next(&merge);
    merge_release(&merge);
    return rc;
}
