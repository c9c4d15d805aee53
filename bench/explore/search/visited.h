/* The states that a search has met, by their digests. */
#ifndef LB_VISITED_H
#define LB_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lb_visited_state {
    uint64_t digest[2];
    uint32_t asleep; /* moves that were not explored from it: others stand for them */
    bool is_used;
};

struct lb_visited {
    struct lb_visited_state *states;
    size_t n, room; /* room: a power of two */
};

/* Was the state met before? *ret_asleep is its entry's, new or old (until the next call); a new
 * one is given `asleep`. Where there is no memory the state is forgotten: false. */
bool lb_visited_find(struct lb_visited *visited, const uint64_t digest[2], uint32_t asleep,
                     uint32_t **ret_asleep);
void lb_visited_free(struct lb_visited *visited);
void lb_visited_mix(uint64_t digest[2], uint64_t value);

#endif
