/* A comparison finds the difference that it claims to find: by simulation, printed seed. */
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { MOST_RUNS = 40, FAMILY = 4 };

static const struct lb_compare_options gate = {
    .level = 0.90, .band = 0.05, .higher_is_better = true};

/* LB_TEST_TABLES for a soak. */
static unsigned n_tables(void)
{
    const char *text = getenv("LB_TEST_TABLES");
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 120;
}

struct setting {
    size_t n, n_family;
    bool is_paired;
    double sd;
    double minutes; /* how much more they scatter than runs */
};

/* One comparison of a family whose others are of equal runs. Pairs share a minute that scatters
 * five times as much as a run. */
static struct lb_comparison simulate(struct lb_random *random, const struct setting *s,
                                     double factor)
{
    double base[MOST_RUNS], new[MOST_RUNS];
    int64_t base_ms[MOST_RUNS], new_ms[MOST_RUNS];
    struct lb_comparison family[FAMILY];
    struct lb_error err;
    for (size_t c = 0; c < s->n_family; c++) {
        for (size_t i = 0; i < s->n; i++) {
            double minute = s->is_paired ? s->minutes * s->sd * lb_test_normal(random) : 0;
            bool first = lb_random_below(random, 2) == 0;
            base[i] = 1000 * exp(minute + s->sd * lb_test_normal(random));
            new[i] = 1000 * exp(minute + s->sd * lb_test_normal(random)) * (c == 0 ? factor : 1);
            base_ms[i] = (int64_t)(10 * i + (first ? 1 : 2));
            new_ms[i] = (int64_t)(10 * i + (first ? 2 : 1));
        }
        const struct lb_runs a = {base, s->is_paired ? base_ms : NULL, s->n},
                             b = {new, s->is_paired ? new_ms : NULL, s->n};
        assert_int_equal(lb_stats_compare(&a, &b, &gate, &family[c], &err), 0);
    }
    lb_stats_decide(family, s->n_family, &gate);
    assert_int_equal(family[0].is_paired, s->is_paired);
    return family[0];
}

static struct lb_power_of power_of(const struct setting *s, double sd)
{
    return (struct lb_power_of){.sd = sd,
                                .n_base = s->n,
                                .n_new = s->n,
                                .n_family = s->n_family,
                                .is_paired = s->is_paired,
                                .level = gate.level,
                                .band = gate.band};
}

/* The noise that a comparison says its runs have is theirs, and the difference that is said to be
 * shown with it is found in about 80 of 100. */
static void a_difference_that_is_shown_is_found(void **state)
{
    (void)state;
    static const struct setting settings[] = {
        {5, 1, false, 0.03, 0}, {6, 1, false, 0.1, 0},  {10, 1, false, 0.03, 0},
        {20, 1, false, 0.1, 0}, {8, 4, false, 0.05, 0}, {20, 4, false, 0.01, 0},
        {10, 1, true, 0.03, 1}, {20, 1, true, 0.1, 1},  {14, 4, true, 0.05, 1},
        {10, 1, true, 0.03, 5}, {20, 1, true, 0.1, 5},  {14, 4, true, 0.05, 5}};
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct setting *s = &settings[i];
        struct lb_power_of of = power_of(s, s->sd);
        double shown = lb_stats_shows(&of), variance = 0, n = n_tables();
        unsigned found = 0;
        for (unsigned t = 0; t < n_tables(); t++) {
            struct lb_comparison c = simulate(&random, s, 1 / (1 + shown));
            found += c.verdict == LB_STATS_SLOWER;
            variance += c.sd * c.sd / n;
        }
        printf("# %zu runs, %zu comparisons%s, %.0f %% noise: %.1f %% are found in %.2f\n", s->n,
               s->n_family, s->is_paired ? ", paired" : "", 100 * s->sd, 100 * shown, found / n);
        assert_near(found / n, 0.8, 0.07 + 4.3 * sqrt(0.16 / n));
        assert_near(sqrt(variance) / s->sd, 1, 0.15);
    }
}

/* As many runs as the threshold is said to need make a difference of it significant in 80 of 100.
 */
static void the_runs_that_the_threshold_needs_are_enough(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 1);
    for (int paired = 0; paired < 2; paired++) {
        struct setting s = {2, 1, paired == 1, 0.04, 3};
        struct lb_power_of of = power_of(&s, s.sd);
        unsigned found = 0;
        double n = n_tables();
        s.n = lb_stats_runs_for(&of);
        assert_in_range(s.n, 5, MOST_RUNS);
        for (unsigned t = 0; t < n_tables(); t++)
            found += simulate(&random, &s, 1 / (1 + gate.band)).p_adjusted <= 1 - gate.level;
        printf("# 4 %% noise: 5 %% need %zu runs%s: significant in %.2f\n", s.n,
               paired == 1 ? ", paired" : "", found / n);
        assert_near(found / n, 0.8, 0.07 + 4.3 * sqrt(0.16 / n));
    }
}

static void what_cannot_be_shown_is_said(void **state)
{
    (void)state;
    const struct setting few = {3, 4, false, 0.01, 0}, pairs = {4, 1, true, 0.01, 0},
                         noisy = {5, 1, false, 3, 0};
    struct lb_power_of of = power_of(&few, 0.01);
    assert_true(isinf(lb_stats_shows(&of))); /* of 3 and 3 runs no p is below 0.1 / 4 */
    assert_true(lb_stats_runs_for(&of) > 3);
    of = power_of(&pairs, 0.01);
    assert_true(isinf(lb_stats_shows(&of)));
    of = power_of(&noisy, NAN);
    assert_true(isinf(lb_stats_shows(&of)));
    assert_int_equal(lb_stats_runs_for(&of), 0);
    of.sd = 3;
    assert_int_equal(lb_stats_runs_for(&of), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_that_is_shown_is_found),
        cmocka_unit_test(the_runs_that_the_threshold_needs_are_enough),
        cmocka_unit_test(what_cannot_be_shown_is_said),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
