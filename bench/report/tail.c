/* Percentiles of runs together: see tail.h. All buckets that hold something stand in one list, the
 * slowest first, so that a high percentile is found after few of them. */
#include "tail.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

struct entry {
    double value, count;
    size_t run;
};

struct lb_tail {
    size_t n_runs, n_entries;
    double *counts; /* of each run */
    struct entry *entries;
};

static int slowest_first(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    return (a->value < b->value) - (a->value > b->value);
}

static void take_run(struct lb_tail *tail, const struct lb_histogram *run, size_t i)
{
    tail->counts[i] = (double)run->count;
    if (run->overflow > 0)
        tail->entries[tail->n_entries++] =
            (struct entry){(double)run->max, (double)run->overflow, i};
    for (size_t b = 0; b < LB_HISTOGRAM_BUCKETS; b++) {
        uint64_t low = lb_histogram_low(b), middle = low + (lb_histogram_high(b) - low) / 2;
        if (run->buckets[b] > 0)
            tail->entries[tail->n_entries++] =
                (struct entry){(double)middle, (double)run->buckets[b], i};
    }
}

struct lb_tail *lb_tail_new(const struct lb_histogram *const *runs, size_t n_runs)
{
    size_t room = 1;
    for (size_t i = 0; i < n_runs; i++) {
        room++;
        for (size_t b = 0; b < LB_HISTOGRAM_BUCKETS && runs[i] != NULL; b++)
            room += runs[i]->buckets[b] > 0;
    }
    struct lb_tail *tail = lb_calloc(1, sizeof *tail);
    tail->n_runs = n_runs;
    tail->counts = lb_calloc(n_runs + 1, sizeof *tail->counts);
    tail->entries = lb_malloc(room * sizeof *tail->entries);
    for (size_t i = 0; i < n_runs; i++)
        if (runs[i] != NULL)
            take_run(tail, runs[i], i);
    qsort(tail->entries, tail->n_entries, sizeof *tail->entries, slowest_first);
    return tail;
}

void lb_tail_free(struct lb_tail *tail)
{
    if (tail == NULL)
        return;
    free(tail->counts);
    free(tail->entries);
    free(tail);
}

double lb_tail_count(const struct lb_tail *tail, const double *weight)
{
    double all = 0;
    for (size_t i = 0; i < tail->n_runs; i++)
        all += weight[i] * tail->counts[i];
    return all;
}

double lb_tail_quantile(const struct lb_tail *tail, const double *weight, double q)
{
    double all = lb_tail_count(tail, weight), seen = 0;
    /* The ceil(q * all)-th smallest; with the same care as in histogram.c: 0.99 is not quite 0.99.
     */
    double rank = fmax(1, ceil(q * all * (1 - 1e-12))), from_above = all - rank + 1;
    for (size_t e = 0; e < tail->n_entries && all > 0; e++) {
        seen += weight[tail->entries[e].run] * tail->entries[e].count;
        if (seen >= from_above)
            return tail->entries[e].value;
    }
    return 0;
}
