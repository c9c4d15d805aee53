/* A small histogram that another thread may read while it is written: for live figures.
 *
 * Eight buckets per power of two: a quantile read from it is within 7 % of the value. One writer,
 * any readers; counts only grow, so that an interval is the difference of two readings. The final
 * report uses histogram.h.
 */
#ifndef LB_COARSE_H
#define LB_COARSE_H

#include "histogram.h"

#include <stdatomic.h>

enum { LB_COARSE_BITS = 3, LB_COARSE_BUCKETS = (44 - LB_COARSE_BITS) << LB_COARSE_BITS };

struct lb_coarse {
    _Atomic uint64_t buckets[LB_COARSE_BUCKETS];
};

static inline void lb_coarse_record(struct lb_coarse *coarse, uint64_t ns)
{
    size_t index = lb_bucket_of(ns, LB_COARSE_BITS);
    if (index >= LB_COARSE_BUCKETS)
        index = LB_COARSE_BUCKETS - 1;
    /* Not an atomic addition: there is one writer. Relaxed: a reader may be late by some. */
    _Atomic uint64_t *bucket = &coarse->buckets[index];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* Adds coarse to the sums. */
void lb_coarse_add(const struct lb_coarse *coarse, uint64_t sums[LB_COARSE_BUCKETS]);
/* The value at quantile q of later minus earlier sums (earlier may be NULL); 0 if there are fewer
 * than 10/(1-q) values, as in histogram.h. */
uint64_t lb_coarse_quantile(const uint64_t later[LB_COARSE_BUCKETS],
                            const uint64_t earlier[LB_COARSE_BUCKETS], double q);

#endif
