/* The histogram of durations: see histogram.h. */
#include "histogram.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lb_histogram *lb_histogram_new(void)
{
    /* 70 KiB: more than malloc's threshold would be mapped; either way calloc's zeros are lazy. */
    return lb_calloc(1, sizeof(struct lb_histogram));
}

void lb_histogram_free(struct lb_histogram *histogram)
{
    free(histogram);
}

void lb_histogram_reset(struct lb_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void lb_histogram_add(struct lb_histogram *into, const struct lb_histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->overflow += from->overflow;
    into->sum_low += from->sum_low;
    into->sum_high += from->sum_high + (into->sum_low < from->sum_low);
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

uint64_t lb_histogram_low(size_t index)
{
    return lb_bucket_low(index, LB_HISTOGRAM_BITS);
}

uint64_t lb_histogram_high(size_t index)
{
    return lb_histogram_low(index) + (UINT64_C(1) << lb_bucket_shift(index, LB_HISTOGRAM_BITS)) - 1;
}

/* ceil(q * count), at least 1. In long double, with 64 bits of mantissa, which hold every count;
 * the product is reduced by a relative 2^-50, more than the error of a decimal fraction such as
 * 0.99 in binary: the 99th of 100 values is meant, not the 100th. */
static uint64_t rank_of(double q, uint64_t count)
{
    long double rank = ceill((long double)q * (long double)count * (1 - 0x1p-50L));
    if (!(rank >= 1))
        return 1;
    return rank >= (long double)count ? count : (uint64_t)rank;
}

uint64_t lb_histogram_quantile(const struct lb_histogram *histogram, double q)
{
    if (histogram->count == 0)
        return 0;
    uint64_t rank = rank_of(q, histogram->count);
    uint64_t seen = 0;
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen < rank)
            continue;
        uint64_t low = lb_histogram_low(i);
        uint64_t value = low + (lb_histogram_high(i) - low) / 2;
        if (value < histogram->min)
            return histogram->min;
        return value > histogram->max ? histogram->max : value;
    }
    return histogram->max;
}

bool lb_histogram_enough(const struct lb_histogram *histogram, double q)
{
    if (q >= 1)
        return histogram->count > 0;
    /* The same care as in rank_of: 1 - 0.99 is a little more than 0.01. */
    return (double)histogram->count * (1 - q) >= 10 * (1 - 1e-9);
}

double lb_histogram_mean(const struct lb_histogram *histogram)
{
    if (histogram->count == 0)
        return 0;
    long double sum = (long double)histogram->sum_high * 0x1p64L + (long double)histogram->sum_low;
    return (double)(sum / (long double)histogram->count);
}
