/* Kolmogorov-Smirnov, Student's t, trends. */
#include "distribution.h"
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kolmogorov.h"
#include "property.h"

static void quantiles_agree_with_the_tables(void **state)
{
    (void)state;
    assert_near(lb_normal_quantile(0.975), 1.959963985, 1e-8);
    assert_near(lb_normal_quantile(0.05), -1.644853627, 1e-8);
    assert_near(lb_t_quantile(0.975, 1), 12.7062, 1e-4);
    assert_near(lb_t_quantile(0.975, 5), 2.5706, 1e-4);
    assert_near(lb_t_quantile(0.975, 10), 2.2281, 1e-4);
    assert_near(lb_t_quantile(0.95, 30), 1.6973, 1e-4);
    assert_near(lb_t_quantile(0.025, 120), -1.9799, 1e-4);
    assert_near(lb_t_quantile(0.975, 1e7), 1.95996, 1e-4);
}

/* Marsaglia, Tsang and Wang (2003) give K(10, 0.274) = 0.6284796154565; critical values at 5 %
 * from Miller (1956); for n = 1 P(D < d) is 2d - 1, and for n = 3 the integral
 * over u1 < 0.4, 0.267 < u2 < 0.733, u3 > 0.6 in order is done by hand. */
static void kolmogorov_agrees_with_the_tables(void **state)
{
    (void)state;
    assert_near(lb_test_kolmogorov_cdf(0.274, 10), 0.6284796154565, 1e-12);
    assert_near(lb_test_kolmogorov_cdf(0.7, 1), 0.4, 1e-12);
    assert_near(lb_test_kolmogorov_cdf(0.4, 3), 0.192 + 0.64 / 3, 1e-12);
    assert_near(lb_test_kolmogorov_cdf(0.56328, 5), 0.95, 1e-5);
    assert_near(lb_test_kolmogorov_cdf(0.40925, 10), 0.95, 1e-5);
    assert_near(lb_test_kolmogorov_cdf(0.29408, 20), 0.95, 1e-5);
    assert_near(lb_test_kolmogorov_cdf(0.13403, 100), 0.95, 1e-5);
    /* The exact and the asymptotic form meet at n = 1000. */
    for (double t = 0.5; t < 1.9; t += 0.1)
        assert_near(lb_test_kolmogorov_cdf(t / sqrt(1000), 1000),
                    lb_test_kolmogorov_cdf(t / sqrt(1001), 1001), 1e-3);
    assert_near(lb_test_kolmogorov_cdf(0.001, 100), 0, 0);
    assert_near(lb_test_kolmogorov_cdf(1, 100), 1, 0);
}

static struct lb_test_ks exponential_test(struct lb_random *random, size_t n, int which)
{
    double *v = malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        double x = lb_test_exponential(random, 5);
        v[i] = which == 1 ? 10 * lb_random_unit(random) : which == 2 ? 1.5 * x : x;
    }
    lb_stats_sort(v, n);
    struct lb_test_ks ks;
    struct lb_error err;
    assert_int_equal(lb_test_ks_exponential(v, n, 5, &ks, &err), 0);
    free(v);
    return ks;
}

/* The p-values of true exponentials are uniform (tested by the same test, one level up); a uniform
 * distribution of the same mean, and an exponential one of another mean, are found. */
static void exponentials_are_told_from_others(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    double p[400];
    for (int i = 0; i < 400; i++)
        p[i] = exponential_test(&random, i % 2 == 0 ? 30 : 200, 0).p;
    lb_stats_sort(p, 400);
    struct lb_test_ks ks;
    struct lb_error err;
    assert_int_equal(lb_test_ks_uniform(p, 400, &ks, &err), 0);
    assert_true(ks.p > 1e-5);
    assert_true(exponential_test(&random, 2000, 1).p < 1e-6);
    assert_true(exponential_test(&random, 2000, 2).p < 1e-6);
}

/* Anscombe, "Graphs in statistical analysis" (1973), first set: slope 0.500, intercept 3.00,
 * standard error of the slope 0.118. */
static void line_agrees_with_the_published_example(void **state)
{
    (void)state;
    static const double x[] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    static const double y[] = {4.26, 5.68, 7.24, 4.82, 6.95, 8.81, 8.04, 8.33, 10.84, 7.58, 9.96};
    struct lb_trend t;
    assert_int_equal(lb_stats_trend(x, y, 11, 0.95, &t), 0);
    assert_near(t.slope, 0.5000909, 1e-7);
    assert_near(t.intercept, 3.0000909, 1e-7);
    assert_near(t.slope_error, 0.1179055, 1e-7);
    /* Neighbouring residuals alternate here, so the interval is the textbook's, t(9) = 2.262157. */
    assert_true(t.autocorrelation < 0);
    double scale = 10 / 7.500909;
    assert_near(t.change, 0.5000909 * scale, 1e-6);
    assert_near(t.change_interval.low, (0.5000909 - 2.262157 * 0.1179055) * scale, 1e-6);
    assert_int_equal(lb_stats_steady(&t, 0.1), LB_DRIFTING);
    assert_int_equal(lb_stats_trend(x, y, 3, 0.95, &t), -1);
    static const double zero[11];
    assert_int_equal(lb_stats_trend(zero, y, 11, 0.95, &t), -1);
    assert_int_equal(lb_stats_trend(x, zero, 11, 0.95, &t), -1);
}

enum { INTERVALS = 30, TRIALS = 500 };

/* The trend of 30 intervals of 1000/s with a total drift, 3 % noise, and autocorrelation rho. */
static struct lb_trend simulate_trend(struct lb_random *random, double drift, double rho)
{
    double x[INTERVALS], y[INTERVALS], noise = 0;
    for (int i = -20; i < INTERVALS; i++) { /* the first 20 let the recursion settle */
        noise = rho * noise + sqrt(1 - rho * rho) * lb_test_normal(random);
        if (i < 0)
            continue;
        x[i] = i;
        y[i] = 1000 * (1 + drift * (double)i / (INTERVALS - 1) + 0.03 * noise);
    }
    struct lb_trend t;
    assert_int_equal(lb_stats_trend(x, y, INTERVALS, 0.95, &t), 0);
    return t;
}

static double share_judged(struct lb_random *random, double drift, double rho,
                           enum lb_steady wanted)
{
    int count = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct lb_trend t = simulate_trend(random, drift, rho);
        count += lb_stats_steady(&t, 0.1) == wanted;
    }
    return (double)count / TRIALS;
}

/* Intervals that are alike carry less information: without that, 95 % intervals would cover a
 * change of zero in about 70 % here. */
static void autocorrelation_widens_the_interval(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    int covered[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        for (int trial = 0; trial < TRIALS; trial++) {
            struct lb_trend t = simulate_trend(&random, 0, k == 0 ? 0 : 0.6);
            covered[k] += t.change_interval.low <= 0 && t.change_interval.high >= 0;
        }
    }
    assert_true(covered[0] >= TRIALS * 92 / 100 && covered[1] >= TRIALS * 83 / 100);
}

static void drift_is_told_from_noise(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    assert_true(share_judged(&random, 0, 0, LB_STEADY) >= 0.95);
    assert_true(share_judged(&random, 0, 0, LB_DRIFTING) <= 0.02);
    assert_true(share_judged(&random, 0, 0.6, LB_DRIFTING) <= 0.08);
    assert_true(share_judged(&random, -0.2, 0, LB_DRIFTING) >= 0.98);
    assert_true(share_judged(&random, 0.2, 0.3, LB_DRIFTING) >= 0.9);
    assert_true(share_judged(&random, 0.3, 0, LB_STEADY) <= 0.02);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_agree_with_the_tables),
        cmocka_unit_test(kolmogorov_agrees_with_the_tables),
        cmocka_unit_test(exponentials_are_told_from_others),
        cmocka_unit_test(line_agrees_with_the_published_example),
        cmocka_unit_test(autocorrelation_widens_the_interval),
        cmocka_unit_test(drift_is_told_from_noise),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
