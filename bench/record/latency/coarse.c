/* Small histograms for live figures: see coarse.h. */
#include "coarse.h"

#include <math.h>
#include <stddef.h>

void lb_coarse_add(const struct lb_coarse *coarse, uint64_t sums[LB_COARSE_BUCKETS])
{
    for (size_t i = 0; i < LB_COARSE_BUCKETS; i++)
        sums[i] += atomic_load_explicit(&coarse->buckets[i], memory_order_relaxed);
}

/* The middle of a bucket. */
static uint64_t middle(size_t index)
{
    return lb_bucket_low(index, LB_COARSE_BITS) +
           (UINT64_C(1) << lb_bucket_shift(index, LB_COARSE_BITS)) / 2;
}

uint64_t lb_coarse_quantile(const uint64_t later[LB_COARSE_BUCKETS],
                            const uint64_t earlier[LB_COARSE_BUCKETS], double q)
{
    uint64_t total = 0;
    for (size_t i = 0; i < LB_COARSE_BUCKETS; i++)
        total += later[i] - (earlier != NULL ? earlier[i] : 0);
    if ((double)total * (1 - q) < 10 * (1 - 1e-9))
        return 0;
    uint64_t rank = (uint64_t)ceil(q * (double)total);
    uint64_t seen = 0;
    for (size_t i = 0; i < LB_COARSE_BUCKETS; i++) {
        seen += later[i] - (earlier != NULL ? earlier[i] : 0);
        if (seen >= rank && seen > 0)
            return middle(i);
    }
    return middle(LB_COARSE_BUCKETS - 1);
}
