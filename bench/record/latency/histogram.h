/* A histogram of durations in nanoseconds: log-linear, as HdrHistogram (Gil Tene) made it known.
 *
 * Values below 256 are exact. Above, each power of two is divided into 256 equal buckets, so that a
 * bucket is at most 1/256 of its lower bound wide: a value read back (a bucket's middle) is within
 * 0.2 %, and its bounds within 0.4 %, of the recorded value. Range: 0 .. LB_HISTOGRAM_MAX_NS (over
 * an hour: 2^42 ns); larger values are counted as overflow, and in count, sum, and max, which are
 * exact.
 *
 * One per operation and worker, or thread of workers: recording takes no lock. Merged by adding
 * buckets; percentiles are never averaged.
 */
#ifndef LB_HISTOGRAM_H
#define LB_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LB_HISTOGRAM_BITS = 8,      /* 256 buckets per power of two */
    LB_HISTOGRAM_MAX_BITS = 42, /* 2^42 ns = 73 minutes */
    LB_HISTOGRAM_BUCKETS = (LB_HISTOGRAM_MAX_BITS - LB_HISTOGRAM_BITS + 1) << LB_HISTOGRAM_BITS
};
#define LB_HISTOGRAM_MAX_NS ((UINT64_C(1) << LB_HISTOGRAM_MAX_BITS) - 1)

struct lb_histogram {
    uint64_t count, min, max, overflow;
    uint64_t sum_low, sum_high; /* 128 bits: a sum never wraps */
    uint64_t buckets[LB_HISTOGRAM_BUCKETS];
};

/* Zeroed memory; pages that no value touches cost nothing. */
struct lb_histogram *lb_histogram_new(void);
void lb_histogram_free(struct lb_histogram *histogram);
void lb_histogram_reset(struct lb_histogram *histogram);

/* The bucket of a value where each power of two has 1 << bits of them; below, each value has one.
 */
static inline size_t lb_bucket_of(uint64_t value, unsigned bits)
{
    if (value < (1u << bits))
        return (size_t)value;
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - bits;
    /* With 8 bits value >> shift lies in [256, 512): the power's number times 256, plus the
     * position in it. */
    return ((size_t)shift << bits) + (size_t)(value >> shift);
}

/* Such a bucket has 1 << shift values, ... */
static inline size_t lb_bucket_shift(size_t index, unsigned bits)
{
    return index >> bits > 0 ? (index >> bits) - 1 : 0;
}

/* ... from this one on. */
static inline uint64_t lb_bucket_low(size_t index, unsigned bits)
{
    size_t shift = lb_bucket_shift(index, bits);
    return (uint64_t)(index - (shift << bits)) << shift;
}

static inline size_t lb_histogram_index(uint64_t ns)
{
    return lb_bucket_of(ns, LB_HISTOGRAM_BITS);
}

static inline void lb_histogram_record(struct lb_histogram *histogram, uint64_t ns)
{
    if (ns > LB_HISTOGRAM_MAX_NS)
        histogram->overflow++;
    else
        histogram->buckets[lb_histogram_index(ns)]++;
    histogram->count++;
    histogram->sum_low += ns;
    histogram->sum_high += histogram->sum_low < ns;
    if (ns > histogram->max)
        histogram->max = ns;
    if (ns < histogram->min || histogram->count == 1)
        histogram->min = ns;
}

/* Adds from's values to into. */
void lb_histogram_add(struct lb_histogram *into, const struct lb_histogram *from);

/* Smallest and largest value that fall into bucket index. */
uint64_t lb_histogram_low(size_t index);
uint64_t lb_histogram_high(size_t index);

/* The value at quantile q in [0,1]: the middle of the bucket of the ceil(q*count)-th smallest
 * value, never outside of [min, max]; max when that value is in the overflow. 0 when empty. */
uint64_t lb_histogram_quantile(const struct lb_histogram *histogram, double q);
/* Are there enough values to speak of quantile q: at least 10/(1-q)? */
bool lb_histogram_enough(const struct lb_histogram *histogram, double q);
double lb_histogram_mean(const struct lb_histogram *histogram);

#endif
