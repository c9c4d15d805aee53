/* Rows of a run that several ranks did together, one a rank. */
#ifndef LB_RANKS_H
#define LB_RANKS_H

#include "guarantee.h"

#include <stdbool.h>
#include <stdint.h>

struct lb_rank_row {
    char host[64];
    uint32_t n_workers;
    uint64_t n_successes;    /* measured */
    uint64_t cpu_ns;         /* of its process, in the measured part */
    int64_t offset_ns;       /* its clock minus rank 0's, at the end: the middle of the bounds */
    uint64_t uncertainty_ns; /* most that a time of its history can be off */
    uint64_t n_exchanges;    /* of clocks */
    uint64_t late_ns;        /* open loop: how late free workers began, p99 */
    bool is_lost;
};

/* A violation by the middle of the clocks' bounds that is not certain. */
struct lb_near_miss {
    uint64_t n_violations;
    uint64_t settles_ns; /* certain if no clock could be off by more than this */
};

struct lb_ranks {
    struct lb_rank_row *rows;
    uint32_t n; /* 0: one rank did it all */
    uint64_t uncertainty_ns;
    struct lb_near_miss near[LB_GUARANTEE_ROOM];
};

/* Is a violation possible, and do the clocks not tell? */
static inline bool lb_ranks_are_near(const struct lb_ranks *ranks)
{
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (ranks->near[g].n_violations > 0)
            return true;
    return false;
}

#endif
