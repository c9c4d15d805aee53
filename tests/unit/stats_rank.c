/* Mann-Whitney and Hodges-Lehmann, against published tables and against enumeration. */
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

static struct lb_mann_whitney test_of(const double *a, size_t na, const double *b, size_t nb)
{
    struct lb_mann_whitney test;
    test = lb_stats_mann_whitney(a, na, b, nb);
    return test;
}

static double pairs_greater(const double *a, size_t na, const double *b, size_t nb)
{
    double u = 0;
    for (size_t i = 0; i < na; i++)
        for (size_t j = 0; j < nb; j++)
            u += b[j] > a[i] ? 1 : b[j] < a[i] ? 0 : 0.5;
    return u;
}

/* Two samples of n distinct values each, with statistic u: b takes the lowest places, then each
 * value in turn moves up. */
static void with_statistic(size_t n, size_t u, double *a, double *b)
{
    size_t place[16], next_a = 0, next_b = 0;
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    for (size_t i = n; i-- > 0 && u > 0;) {
        size_t step = u < n ? u : n;
        place[i] += step;
        u -= step;
    }
    for (size_t rank = 0; rank < 2 * n; rank++) {
        if (next_b < n && place[next_b] == rank)
            b[next_b++] = (double)rank;
        else
            a[next_a++] = (double)rank;
    }
}

/* P(U <= u) for equal sizes: Mann and Whitney (1947), Table I, to its three digits. Two-sided here,
 * so twice that. */
static void small_samples_agree_with_the_published_table(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double p[14];
    } table[] = {
        {3, {.050, .100, .200, .350, .500}},
        {4, {.014, .029, .057, .100, .171, .243, .343, .443}},
        {5, {.004, .008, .016, .028, .048, .075, .111, .155, .210, .274, .345, .421, .500}},
        {6, {.001, .002, .004, .008, .013, .021, .032, .047, .066, .090, .120, .155, .197, .242}},
    };
    double a[8], b[8];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        for (size_t u = 0; u < 14 && table[i].p[u] > 0; u++) {
            with_statistic(table[i].n, u, a, b);
            struct lb_mann_whitney low = test_of(a, table[i].n, b, table[i].n);
            assert_near(low.u, (double)u, 0);
            assert_true(low.exact);
            assert_near(low.p, fmin(1, 2 * table[i].p[u]), 0.0011);
            struct lb_mann_whitney high = test_of(b, table[i].n, a, table[i].n);
            assert_near(high.u, (double)(table[i].n * table[i].n - u), 0);
            assert_near(high.p, low.p, 1e-12);
        }
    }
}

/* Critical values at 5 %, two-sided, as tabulated everywhere (e.g. Siegel, Nonparametric
 * Statistics, Table K): the largest u that is significant. */
static void critical_values_agree_with_the_published_table(void **state)
{
    (void)state;
    static const struct {
        size_t n, u;
    } table[] = {{5, 2}, {6, 5}, {7, 8}, {8, 13}, {9, 17}, {10, 23}, {12, 37}, {15, 64}};
    double a[16], b[16];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        with_statistic(table[i].n, table[i].u, a, b);
        assert_true(test_of(a, table[i].n, b, table[i].n).p <= 0.05);
        with_statistic(table[i].n, table[i].u + 1, a, b);
        assert_true(test_of(a, table[i].n, b, table[i].n).p > 0.05);
    }
}

/* Two-sided p by going through all choices of na of the pooled values. */
static double enumerated_p(const double *a, size_t na, const double *b, size_t nb)
{
    double pooled[12], x[12], y[12];
    size_t n = na + nb;
    memcpy(pooled, a, na * sizeof *a);
    memcpy(pooled + na, b, nb * sizeof *b);
    double middle = (double)(na * nb) / 2;
    double distance = fabs(pairs_greater(a, na, b, nb) - middle);
    unsigned total = 0, extreme = 0;
    for (unsigned choice = 0; choice < 1u << n; choice++) {
        if ((size_t)__builtin_popcount(choice) != na)
            continue;
        size_t i = 0, j = 0;
        for (size_t k = 0; k < n; k++) {
            if (choice >> k & 1)
                x[i++] = pooled[k];
            else
                y[j++] = pooled[k];
        }
        total++;
        extreme += fabs(pairs_greater(x, na, y, nb) - middle) >= distance;
    }
    return (double)extreme / total;
}

static void ties_agree_with_enumeration(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int trial = 0; trial < 300; trial++) {
        double a[6], b[6];
        size_t na = 1 + lb_random_below(&random, 6), nb = 1 + lb_random_below(&random, 6);
        uint64_t kinds = 1 + lb_random_below(&random, 8); /* few kinds, many ties */
        for (size_t i = 0; i < na; i++)
            a[i] = (double)lb_random_below(&random, kinds);
        for (size_t i = 0; i < nb; i++)
            b[i] = (double)lb_random_below(&random, kinds);
        lb_stats_sort(a, na);
        lb_stats_sort(b, nb);
        struct lb_mann_whitney test = test_of(a, na, b, nb);
        assert_near(test.u, pairs_greater(a, na, b, nb), 1e-9);
        assert_near(test.p, enumerated_p(a, na, b, nb), 1e-9);
    }
}

/* Where both are possible, the normal approximation is near the exact value: with 32 + 32 values
 * exact, with one more normal. */
static void large_samples_join_the_small_ones(void **state)
{
    (void)state;
    for (int shift = 0; shift <= 24; shift += 3) {
        double a[33], b[33];
        for (int i = 0; i < 33; i++) {
            a[i] = 2 * i;
            b[i] = 2 * i + shift + (i % 4 == 0 ? 0 : 1);
        }
        lb_stats_sort(b, 33);
        struct lb_mann_whitney exact = test_of(a, 32, b, 32), normal = test_of(a, 33, b, 33);
        assert_true(exact.exact);
        assert_false(normal.exact);
        assert_near(exact.p, normal.p, 0.02);
    }
    /* Only two values, so almost nothing but ties: of 33, 8 and 16 are 1. By hand U = 676.5, and
     * its variance 33*33/12 * (67 - (24^3 - 24 + 42^3 - 42) / (66*65)), so z = (132 - 0.5)
     * / 64.977. */
    double few[33] = {0}, many[33] = {0};
    for (int i = 0; i < 16; i++) {
        many[32 - i] = 1;
        if (i < 8)
            few[32 - i] = 1;
    }
    assert_near(test_of(few, 33, many, 33).u, 676.5, 0);
    assert_near(test_of(few, 33, many, 33).p, 0.04299, 1e-5);
    double same[40] = {0};
    assert_near(test_of(same, 40, same, 40).p, 1, 0);
    assert_near(test_of(same, 3, same, 3).p, 1, 0);
}

/* Hollander and Wolfe, Nonparametric Statistical Methods, examples 4.1-4.3: permeability of the
 * chorioamnion at term (x) and at 12-26 weeks (y). Their y - x: estimate -0.305, 96 % interval
 * (-0.76, 0.15); one-sided p 0.127 (W = 30 for y). Ratios of exponentials are these differences. */
static void ratio_agrees_with_the_published_example(void **state)
{
    (void)state;
    double x[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    double y[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    lb_stats_sort(x, 10);
    lb_stats_sort(y, 5);
    struct lb_mann_whitney test = test_of(x, 10, y, 5);
    assert_near(test.u, 15, 0); /* W = 30 = U + 5*6/2 */
    assert_near(test.p, 0.2544, 1e-4);
    for (int i = 0; i < 10; i++)
        x[i] = exp(x[i]);
    for (int i = 0; i < 5; i++)
        y[i] = exp(y[i]);
    struct lb_estimate ratio;
    ratio = lb_stats_ratio(x, 10, y, 5, 0.95);
    assert_near(log(ratio.value), -0.305, 1e-9);
    assert_near(log(ratio.interval.low), -0.76, 1e-9);
    assert_near(log(ratio.interval.high), 0.15, 1e-9);
    assert_near(ratio.interval.coverage, 0.96, 0.001);
}

static void ratio_turns_around_and_takes_zeros(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 3, 5, 8}, b[] = {2, 3, 4, 9, 11}, zero[] = {0, 0, 0, 0, 0};
    struct lb_estimate there, back;
    there = lb_stats_ratio(a, 5, b, 5, 0.95);
    back = lb_stats_ratio(b, 5, a, 5, 0.95);
    assert_near(there.value * back.value, 1, 1e-12);
    assert_near(there.interval.low * back.interval.high, 1, 1e-12);
    there = lb_stats_ratio(a, 5, zero, 5, 0.95);
    assert_near(there.value, 0, 0);
    there = lb_stats_ratio(zero, 5, b, 5, 0.95);
    assert_true(isinf(there.value));
    there = lb_stats_ratio(zero, 5, zero, 5, 0.95);
    assert_near(there.value, 1, 0);
}

/* The interval covers as often as it says, exactly where it is promised to: b = ratio times a. */
static void ratio_interval_covers(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    static const size_t sizes[][2] = {{3, 3}, {5, 5}, {5, 9}, {34, 33}};
    for (size_t k = 0; k < 4; k++) {
        int trials = k < 3 ? 3000 : 600, covered = 0;
        double a[40], b[40];
        struct lb_estimate ratio = {0};
        for (int trial = 0; trial < trials; trial++) {
            for (size_t i = 0; i < sizes[k][0]; i++)
                a[i] = lb_test_exponential(&random, 1);
            for (size_t i = 0; i < sizes[k][1]; i++)
                b[i] = lb_test_exponential(&random, 1.3);
            lb_stats_sort(a, sizes[k][0]);
            lb_stats_sort(b, sizes[k][1]);
            ratio = lb_stats_ratio(a, sizes[k][0], b, sizes[k][1], 0.95);
            covered += ratio.interval.low <= 1.3 && 1.3 <= ratio.interval.high;
        }
        double coverage = ratio.interval.coverage;
        double error = 4.5 * sqrt(coverage * (1 - coverage) / trials);
        assert_near((double)covered / trials, coverage, error + 0.003);
    }
}

static void too_few_runs_are_known(void **state)
{
    (void)state;
    assert_near(lb_stats_least_p(3, 3), 0.1, 1e-9);
    assert_near(lb_stats_least_p(5, 5), 2.0 / 252, 1e-9);
    assert_int_equal(lb_stats_runs_needed(1, 0.95), 4);
    assert_int_equal(lb_stats_runs_needed(6, 0.95), 5);
    assert_int_equal(lb_stats_runs_needed(7, 0.95), 6);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_samples_agree_with_the_published_table),
        cmocka_unit_test(critical_values_agree_with_the_published_table),
        cmocka_unit_test(ties_agree_with_enumeration),
        cmocka_unit_test(large_samples_join_the_small_ones),
        cmocka_unit_test(ratio_agrees_with_the_published_example),
        cmocka_unit_test(ratio_turns_around_and_takes_zeros),
        cmocka_unit_test(ratio_interval_covers),
        cmocka_unit_test(too_few_runs_are_known),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
