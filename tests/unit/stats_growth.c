/* The law by which a cost grows: exact laws are named, steps of an index are not growth. */
#include "growth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double sizes[] = {1000, 4000, 16000, 64000};
enum { N = sizeof sizes / sizeof sizes[0] };

static struct lb_growth fit(double (*cost)(double x))
{
    struct lb_growth growth;
    double y[N];
    for (int i = 0; i < N; i++)
        y[i] = round(cost(sizes[i]));
    lb_growth_fit(sizes, y, N, &growth);
    return growth;
}

static double constant(double x)
{
    (void)x;
    return 17;
}
/* An index with 300 entries a page: one more level at 27,000 rows, for each of three descents. */
static double levels(double x)
{
    return 9 + 3 * (x > 300 * 90);
}
static double logarithm(double x)
{
    return 40 * log(x) - 250;
}
static double walk(double x)
{
    return 5 + x / 136;
}
static double entries(double x)
{
    return 22 + x / 370;
}
static double sorts(double x)
{
    return x * log(x);
}
static double square(double x)
{
    return 10 + x * x / 1000;
}

static void laws_are_named(void **state)
{
    (void)state;
    assert_int_equal(fit(constant).law, LB_GROWTH_FLAT);
    assert_int_equal(fit(levels).law, LB_GROWTH_FLAT);
    assert_int_equal(fit(logarithm).law, LB_GROWTH_LOG);
    assert_int_equal(fit(walk).law, LB_GROWTH_LINEAR);
    assert_int_equal(fit(entries).law, LB_GROWTH_LINEAR);
    assert_int_equal(fit(sorts).law, LB_GROWTH_LINEAR);
    assert_int_equal(fit(square).law, LB_GROWTH_WORSE);
}

static void the_interval_has_the_exponent(void **state)
{
    (void)state;
    struct lb_growth growth = fit(walk);
    assert_true(growth.p_least <= 1 && growth.p_most >= 1);
    assert_true(growth.p_most - growth.p_least < 0.3);
    growth = fit(square);
    assert_true(growth.p_least <= 2 && growth.p_most >= 2);
}

/* Within 1.3 times at 1,000,000. */
static void costs_are_predicted(void **state)
{
    (void)state;
    double (*const costs[])(double) = {constant, levels, logarithm, walk, entries, sorts, square};
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        struct lb_growth growth = fit(costs[i]);
        double ratio = lb_growth_at(&growth, 1e6) / costs[i](1e6);
        assert_true(ratio < 1.3 && ratio > 1 / 1.3);
    }
}

static void a_cost_is_reached(void **state)
{
    (void)state;
    struct lb_growth growth = fit(walk);
    double x = lb_growth_reaches(&growth, 5 + 500000 / 136.0, 1e9);
    assert_true(x > 490000 && x < 510000);
    growth = fit(constant);
    assert_true(lb_growth_reaches(&growth, 100, 1e9) > 1e9);
}

/* Seen on a busy server: a step, and no growth behind it. A true walk is still one. */
static void scatter_is_no_growth(void **state)
{
    (void)state;
    const double x[] = {248, 1000, 4000}, step[] = {8, 19, 18}, walked[] = {8, 19, 60};
    struct lb_growth growth;
    lb_growth_fit(x, step, 3, &growth);
    assert_int_equal(growth.law, LB_GROWTH_FLAT);
    lb_growth_fit(x, walked, 3, &growth);
    assert_int_not_equal(growth.law, LB_GROWTH_FLAT);
}

static void few_sizes_are_enough(void **state)
{
    (void)state;
    struct lb_growth growth;
    const double x[] = {250, 1000, 4000}, y[] = {9, 14, 36};
    lb_growth_fit(x, y, 3, &growth);
    assert_int_equal(growth.law, LB_GROWTH_LINEAR);
    lb_growth_fit(x, y, 2, &growth);
    assert_int_equal(growth.law, LB_GROWTH_FLAT); /* five pages more say nothing */
    const double late_x[] = {1000, 4000}, late_y[] = {24, 35};
    lb_growth_fit(late_x, late_y, 2, &growth); /* a short lever */
    assert_int_equal(growth.law, LB_GROWTH_LINEAR);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_named),       cmocka_unit_test(the_interval_has_the_exponent),
        cmocka_unit_test(costs_are_predicted),  cmocka_unit_test(a_cost_is_reached),
        cmocka_unit_test(scatter_is_no_growth), cmocka_unit_test(few_sizes_are_enough),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
