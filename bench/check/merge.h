/* A tournament of losers (Knuth, The Art of Computer Programming 3, 5.4.1): which of k sequences,
 * each in order, has the smallest next key? log2(k) comparisons a step. */
#ifndef LB_MERGE_H
#define LB_MERGE_H

#include <stdint.h>

/* A sequence in the tournament. */
struct lb_player {
    uint64_t key; /* of its next element; UINT64_MAX: none is left */
    uint32_t number;
};

struct lb_merge {
    uint32_t k;
    struct lb_player *tree; /* [0]: the winner; inner nodes: their losers */
};

/* Of k sequences with these first keys. The caller frees the tree. */
void lb_merge_init(struct lb_merge *merge, const uint64_t *keys, uint32_t k);

/* The sequence that comes first. */
static inline struct lb_player lb_merge_first(const struct lb_merge *merge)
{
    return merge->tree[0];
}

/* It goes on with another key. */
static inline void lb_merge_next(struct lb_merge *merge, uint64_t key)
{
    struct lb_player *tree = merge->tree, winner = {.key = key, .number = tree[0].number};
    for (uint32_t node = (winner.number + merge->k) / 2; node > 0; node /= 2) {
        struct lb_player loser = tree[node];
        /* Which of the two wins is a coin toss, so it is chosen without a branch. */
        uint64_t swap = loser.key < winner.key ? UINT64_MAX : 0;
        uint64_t keys = (loser.key ^ winner.key) & swap;
        uint32_t numbers = (loser.number ^ winner.number) & (uint32_t)swap;
        tree[node] = (struct lb_player){.key = loser.key ^ keys, .number = loser.number ^ numbers};
        winner.key ^= keys;
        winner.number ^= numbers;
    }
    tree[0] = winner;
}

#endif
