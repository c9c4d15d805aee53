/* The histogram: error bound, merging, quantiles against a sorted array. */
#include "histogram.h"
#include "property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Durations of every magnitude, as latencies are. */
static uint64_t any_value(struct lb_random *random)
{
    return lb_random_next(random) >> (64 - LB_HISTOGRAM_MAX_BITS + lb_random_below(random, 42));
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void buckets_cover_all_values_without_gaps(void **state)
{
    (void)state;
    uint64_t next = 0;
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++) {
        assert_int_equal(lb_histogram_low(i), next);
        assert_true(lb_histogram_high(i) >= next);
        next = lb_histogram_high(i) + 1;
        assert_int_equal(lb_histogram_index(lb_histogram_low(i)), i);
        assert_int_equal(lb_histogram_index(lb_histogram_high(i)), i);
        /* At most 1/256 of its lower bound wide. */
        assert_true((lb_histogram_high(i) - lb_histogram_low(i)) * 256 <= lb_histogram_low(i));
    }
    assert_int_equal(next - 1, LB_HISTOGRAM_MAX_NS);
}

static void values_read_back_are_within_the_bound(void **state)
{
    struct lb_random *random = *state;
    struct lb_histogram *histogram = lb_histogram_new();
    for (int i = 0; i < 20000; i++) {
        uint64_t value = any_value(random);
        lb_histogram_reset(histogram);
        lb_histogram_record(histogram, 0); /* so that min and max do not help */
        lb_histogram_record(histogram, value);
        lb_histogram_record(histogram, LB_HISTOGRAM_MAX_NS);
        uint64_t read = lb_histogram_quantile(histogram, 0.5);
        uint64_t off = read > value ? read - value : value - read;
        assert_true(off * 500 <= value);
        assert_int_equal(histogram->max, LB_HISTOGRAM_MAX_NS);
    }
    lb_histogram_free(histogram);
}

static void merging_is_recording_together(void **state)
{
    struct lb_random *random = *state;
    struct lb_histogram *parts[4], *all = lb_histogram_new(), *merged = lb_histogram_new();
    for (int i = 0; i < 4; i++)
        parts[i] = lb_histogram_new();
    for (int i = 0; i < 50000; i++) {
        /* Now and then an overflow, and sums beyond 64 bits. */
        uint64_t value = lb_random_below(random, 100) == 0 ? UINT64_MAX - lb_random_below(random, 9)
                                                           : any_value(random);
        lb_histogram_record(all, value);
        lb_histogram_record(parts[lb_random_below(random, 3)], value); /* parts[3] stays empty */
    }
    for (int i = 0; i < 4; i++) {
        lb_histogram_add(merged, parts[i]);
        lb_histogram_free(parts[i]);
    }
    assert_true(all->overflow > 0 && all->sum_high > 0);
    assert_memory_equal(merged, all, sizeof *all);
    lb_histogram_free(all);
    lb_histogram_free(merged);
}

static void quantiles_agree_with_a_sorted_array(void **state)
{
    struct lb_random *random = *state;
    static const double quantiles[] = {0,   0.01, 0.1,  0.25,  0.5,    0.57, 0.75,
                                       0.9, 0.95, 0.99, 0.999, 0.9999, 1};
    static uint64_t values[5000];
    for (int round = 0; round < 200; round++) {
        struct lb_histogram *histogram = lb_histogram_new();
        size_t n = 1 + (size_t)lb_random_below(random, round < 100 ? 101 : 5000);
        long double sum = 0;
        for (size_t i = 0; i < n; i++) {
            values[i] = any_value(random);
            sum += (long double)values[i];
            lb_histogram_record(histogram, values[i]);
        }
        qsort(values, n, sizeof values[0], compare);
        for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
            /* The rank in whole numbers: quantiles are multiples of 1/10000. */
            size_t rank = ((size_t)(quantiles[i] * 10000 + 0.5) * n + 9999) / 10000;
            uint64_t exact = values[rank > 0 ? rank - 1 : 0];
            uint64_t read = lb_histogram_quantile(histogram, quantiles[i]);
            assert_true((read > exact ? read - exact : exact - read) * 500 <= exact);
            assert_true(read >= values[0] && read <= values[n - 1]);
        }
        assert_int_equal(histogram->min, values[0]);
        assert_int_equal(histogram->max, values[n - 1]);
        double mean = (double)(sum / (long double)n);
        assert_true(lb_histogram_mean(histogram) >= mean * 0.999999);
        assert_true(lb_histogram_mean(histogram) <= mean * 1.000001);
        lb_histogram_free(histogram);
    }
}

static void overflow_answers_with_the_maximum(void **state)
{
    (void)state;
    struct lb_histogram *histogram = lb_histogram_new();
    assert_int_equal(lb_histogram_quantile(histogram, 0.5), 0);
    lb_histogram_record(histogram, 5);
    lb_histogram_record(histogram, LB_HISTOGRAM_MAX_NS + 1);
    assert_int_equal(lb_histogram_quantile(histogram, 0.5), 5);
    assert_int_equal(lb_histogram_quantile(histogram, 0.51), LB_HISTOGRAM_MAX_NS + 1);
    assert_int_equal(histogram->count, 2);
    assert_int_equal(histogram->overflow, 1);
    lb_histogram_free(histogram);
}

static void a_percentile_needs_enough_values(void **state)
{
    (void)state;
    static const struct {
        double q;
        int n;
    } needed[] = {{0.5, 20}, {0.9, 100}, {0.99, 1000}, {0.999, 10000}, {0.9999, 100000}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        struct lb_histogram *histogram = lb_histogram_new();
        for (int k = 1; k < needed[i].n; k++)
            lb_histogram_record(histogram, 1);
        assert_false(lb_histogram_enough(histogram, needed[i].q));
        lb_histogram_record(histogram, 1);
        assert_true(lb_histogram_enough(histogram, needed[i].q));
        lb_histogram_free(histogram);
    }
}

int main(void)
{
    uint64_t seed = lb_test_seed();
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_cover_all_values_without_gaps),
        cmocka_unit_test_prestate(values_read_back_are_within_the_bound, &random),
        cmocka_unit_test_prestate(merging_is_recording_together, &random),
        cmocka_unit_test_prestate(quantiles_agree_with_a_sorted_array, &random),
        cmocka_unit_test(overflow_answers_with_the_maximum),
        cmocka_unit_test(a_percentile_needs_enough_values),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
