/* Order statistics. */
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

static void quantiles_lie_between_neighbours(void **state)
{
    (void)state;
    double v[] = {4, 1, 3, 2};
    lb_stats_sort(v, 4);
    for (int i = 0; i < 4; i++)
        assert_near(v[i], i + 1, 0);
    assert_near(lb_stats_quantile(v, 4, 0), 1, 0);
    assert_near(lb_stats_quantile(v, 4, 1), 4, 0);
    assert_near(lb_stats_quantile(v, 4, 0.5), 2.5, 1e-12);
    assert_near(lb_stats_quantile(v, 4, 0.25), 1.75, 1e-12);
    assert_near(lb_stats_quantile(v, 1, 0.7), 1, 0);
    double infinite[] = {1, INFINITY, INFINITY};
    assert_true(isinf(lb_stats_quantile(infinite, 3, 0.75)));
}

/* Ranks of the 95 % interval of a median: the table in Conover, Practical Nonparametric Statistics
 * (binomial, p = 1/2), as printed in many textbooks; coverages are sums of binomial terms. */
static void median_has_the_tabulated_interval(void **state)
{
    (void)state;
    static const struct {
        size_t n, low, high;
        double coverage;
    } table[] = {
        {1, 1, 1, 0},          {2, 1, 2, 0.5},        {3, 1, 3, 0.75},       {4, 1, 4, 0.875},
        {5, 1, 5, 0.9375},     {6, 1, 6, 0.96875},    {7, 1, 7, 0.984375},   {8, 1, 8, 0.9921875},
        {9, 2, 8, 0.9609375},  {10, 2, 9, 0.9785156}, {15, 4, 12, 0.96484},  {20, 6, 15, 0.95861},
        {25, 8, 18, 0.956715}, {50, 18, 33, 0.96716}, {100, 40, 61, 0.9648},
    };
    double v[100];
    for (int i = 0; i < 100; i++)
        v[i] = i + 1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct lb_estimate m = lb_stats_median(v, table[i].n, 0.95);
        assert_near(m.value, ((double)table[i].n + 1) / 2, 1e-12);
        assert_near(m.interval.low, (double)table[i].low, 0);
        assert_near(m.interval.high, (double)table[i].high, 0);
        assert_near(m.interval.coverage, table[i].coverage, 1e-4);
    }
}

/* The interval covers the true median as often as it says, for a skewed distribution. */
static void median_interval_covers(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    static const size_t sizes[] = {5, 8, 13, 40};
    enum { TRIALS = 4000 };
    for (size_t k = 0; k < 4; k++) {
        double v[40], coverage = 0;
        int covered = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            for (size_t i = 0; i < sizes[k]; i++)
                v[i] = lb_test_exponential(&random, 1);
            lb_stats_sort(v, sizes[k]);
            struct lb_estimate m = lb_stats_median(v, sizes[k], 0.95);
            covered += m.interval.low <= log(2) && log(2) <= m.interval.high;
            coverage = m.interval.coverage;
        }
        double error = 4.5 * sqrt(coverage * (1 - coverage) / TRIALS);
        assert_near((double)covered / TRIALS, coverage, error);
    }
}

/* Counts of 20 parts: the true ratio is in the interval in 95 % of trials, nearly. */
static void ratio_of_sums_covers(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 1);
    enum { TRIALS = 4000, PARTS = 20 };
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double parts[PARTS], of[PARTS];
        for (size_t i = 0; i < PARTS; i++) {
            of[i] = 5 + lb_random_unit(&random);
            parts[i] = of[i] * (0.5 + lb_random_unit(&random)) * 0.7;
        }
        struct lb_estimate ratio = lb_stats_ratio_of_sums(parts, of, PARTS, 0.95);
        covered += ratio.interval.low <= 0.7 && 0.7 <= ratio.interval.high;
    }
    assert_near((double)covered / TRIALS, 0.95, 0.02);
    const double one[] = {1, 2}, two[] = {2, 4};
    assert_near(lb_stats_ratio_of_sums(one, two, 2, 0.95).value, 0.5, 1e-12);
    assert_true(isinf(lb_stats_ratio_of_sums(one, two, 2, 0.95).interval.high));
    assert_true(isnan(lb_stats_ratio_of_sums(one, two, 0, 0.95).value));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_lie_between_neighbours),
        cmocka_unit_test(median_has_the_tabulated_interval),
        cmocka_unit_test(median_interval_covers),
        cmocka_unit_test(ratio_of_sums_covers),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
