/* Verdicts: Holm, A/A and a real slowdown by simulation; runs in pairs.
 *
 * The model of a run's throughput in these simulations, per pair of base and new:
 *   - 1000/s times a run's own noise: log-normal, 3 % (what repeated runs on one quiet machine
 * show);
 *   - one run in 20 is disturbed (a checkpoint, a neighbour) and 5 to 20 % slower;
 *   - the machine drifts by up to +-5 % over the session, but the runs are interleaved in random
 *     order, so that the drift meets both sides alike;
 *   - a noise band of 5 %, the default; 5 and 8 runs a side.
 */
#include "stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

static const struct lb_compare_options throughput = {
    .level = 0.95, .band = 0.05, .higher_is_better = true};
/* The options of a regression gate: it acts on slower alone. */
static const struct lb_compare_options gate = {
    .level = 0.90, .band = 0.05, .higher_is_better = true};

/* n runs a side in random order, by the model above; new is base times factor. */
static void simulate(struct lb_random *random, size_t n, double factor, double *base, double *new)
{
    double drift = 0.1 * (lb_random_unit(random) - 0.5);
    size_t left[2] = {n, n};
    for (size_t i = 0; i < 2 * n; i++) {
        size_t side = lb_random_below(random, left[0] + left[1]) < left[0] ? 0 : 1;
        double x = 1000 * exp(0.03 * lb_test_normal(random));
        if (lb_random_below(random, 20) == 0)
            x *= 0.95 - 0.15 * lb_random_unit(random);
        x *= 1 + drift * (2.0 * (double)i / (double)(2 * n - 1) - 1);
        double *into = side == 0 ? base : new;
        into[--left[side]] = side == 0 ? x : x * factor;
    }
}

static struct lb_comparison compare_one(const double *base, const double *new, size_t n)
{
    struct lb_comparison c;
    struct lb_error err;
    const struct lb_runs a = {base, NULL, n}, b = {new, NULL, n};
    assert_int_equal(lb_stats_compare(&a, &b, &throughput, &c, &err), 0);
    return c;
}

static void holm_has_known_values(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005}, wide[] = {0.9, 0.8}, one[] = {0.03};
    lb_stats_holm(p, 4, 4);
    assert_near(p[0], 0.03, 1e-12);
    assert_near(p[1], 0.06, 1e-12);
    assert_near(p[2], 0.06, 1e-12);
    assert_near(p[3], 0.02, 1e-12);
    lb_stats_holm(wide, 2, 2);
    assert_near(wide[0], 1, 0);
    assert_near(wide[1], 1, 0);
    lb_stats_holm(one, 1, 1);
    assert_near(one[0], 0.03, 0);
    lb_stats_holm(NULL, 0, 0);
    double among[] = {0.01, 0.002};
    lb_stats_holm(among, 2, 6);
    assert_near(among[1], 0.012, 1e-12);
    assert_near(among[0], 0.05, 1e-12);
}

static enum lb_stats_verdict verdict_of(const double *base, const double *new, size_t n,
                                        bool higher_is_better, char *reason)
{
    struct lb_compare_options options = throughput;
    options.higher_is_better = higher_is_better;
    struct lb_comparison c = compare_one(base, new, n);
    lb_stats_decide(&c, 1, &options);
    snprintf(reason, 160, "%s", c.reason);
    return c.verdict;
}

static void verdicts_follow_the_band_and_the_direction(void **state)
{
    (void)state;
    static const double base[] = {100, 101, 102, 103, 104}, more[] = {120, 121, 122, 123, 124};
    static const double same[] = {100.5, 101.5, 102.5, 102.8, 103},
                        wild[] = {60, 90, 101, 140, 190};
    static const double bit[] = {105, 105.5, 106, 106.5, 107};
    char reason[160];
    assert_int_equal(verdict_of(base, more, 5, true, reason), LB_STATS_FASTER);
    assert_int_equal(verdict_of(more, base, 5, true, reason), LB_STATS_SLOWER);
    assert_int_equal(verdict_of(base, more, 5, false, reason), LB_STATS_SLOWER);
    assert_int_equal(verdict_of(base, same, 5, true, reason), LB_STATS_EQUIVALENT);
    assert_string_equal(reason, "");
    assert_int_equal(verdict_of(base, wild, 5, true, reason), LB_STATS_INCONCLUSIVE);
    assert_non_null(strstr(reason, "too much noise"));
    assert_int_equal(verdict_of(base, bit, 5, true, reason), LB_STATS_INCONCLUSIVE);
    assert_non_null(strstr(reason, "within the noise band"));
    /* Three runs a side can neither differ nor be equal at 95 %. */
    assert_int_equal(verdict_of(base, more, 3, true, reason), LB_STATS_INCONCLUSIVE);
    assert_non_null(strstr(reason, "at least 4 runs"));
    assert_int_equal(verdict_of(base, base, 3, true, reason), LB_STATS_INCONCLUSIVE);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    static const double good[] = {1, 2}, negative[] = {1, -2}, infinite[] = {1, INFINITY};
    struct lb_comparison c;
    struct lb_error err;
    const struct lb_runs fine = {good, NULL, 2}, below = {negative, NULL, 2},
                         beyond = {infinite, NULL, 2}, none = {good, NULL, 0};
    assert_int_equal(lb_stats_compare(&fine, &below, &throughput, &c, &err), LB_E_USAGE);
    assert_int_equal(lb_stats_compare(&beyond, &fine, &throughput, &c, &err), LB_E_USAGE);
    assert_int_equal(lb_stats_compare(&none, &fine, &throughput, &c, &err), LB_E_USAGE);
    assert_non_null(strstr(err.message, "the baseline has no runs"));
}

/* Share of 1000 simulated pairs whose verdict is slower. */
static double share_slower(struct lb_random *random, const struct lb_compare_options *options,
                           size_t n, double factor)
{
    enum { PAIRS = 1000 };
    int slower = 0;
    for (int i = 0; i < PAIRS; i++) {
        double base[16], new[16];
        simulate(random, n, factor, base, new);
        struct lb_comparison c = compare_one(base, new, n);
        lb_stats_decide(&c, 1, options);
        slower += c.verdict == LB_STATS_SLOWER;
    }
    return (double)slower / PAIRS;
}

/* At most 5 % are allowed; by construction it is at most 2.5 %, for the gate 5 %, and the noise
 * band takes off more. A rule without the test ("median is 5 % worse") has about 5 % here, and more
 * as the noise grows. */
static void equal_pairs_raise_no_alarm(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    static const size_t runs[] = {5, 8};
    for (int k = 0; k < 2; k++) {
        double plain = share_slower(&random, &throughput, runs[k], 1);
        double gated = share_slower(&random, &gate, runs[k], 1);
        printf("# %zu runs: false alarms %.1f %%, of the gate %.1f %%\n", runs[k], 100 * plain,
               100 * gated);
        assert_true(plain <= 0.05 && gated <= 0.05);
    }
}

/* The same without a noise band, where the rank test stands alone: still at most 5 %. */
static void the_test_alone_keeps_its_level(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    int significant = 0;
    enum { PAIRS = 4000 };
    for (int i = 0; i < PAIRS; i++) {
        double base[8], new[8];
        simulate(&random, 8, 1, base, new);
        significant += compare_one(base, new, 8).p <= 0.05;
    }
    double share = (double)significant / PAIRS;
    printf("# significant without a difference: %.1f %%\n", 100 * share);
    assert_true(share <= 0.05 + 4 * sqrt(0.05 * 0.95 / PAIRS));
    assert_true(share >= 0.02); /* and it is not simply blind */
}

static void a_real_slowdown_is_found(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    static const size_t runs[] = {5, 8};
    for (int k = 0; k < 2; k++) {
        double plain = share_slower(&random, &throughput, runs[k], 0.9);
        double gated = share_slower(&random, &gate, runs[k], 0.9);
        printf("# %zu runs: 10 %% slower is found in %.1f %%, by the gate in %.1f %%\n", runs[k],
               100 * plain, 100 * gated);
        assert_true(gated >= (runs[k] < 8 ? 0.85 : 0.9));
        assert_true(plain >= (runs[k] < 8 ? 0.7 : 0.9));
    }
}

/* A matrix of 10 equal cells: the chance of any alarm in it stays at 5 %. */
static void a_matrix_raises_no_alarm(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    enum { MATRICES = 400, CELLS = 10 };
    struct lb_compare_options tight = throughput;
    tight.band = 0;
    int alarmed = 0, uncorrected = 0;
    for (int m = 0; m < MATRICES; m++) {
        struct lb_comparison cells[CELLS];
        bool any = false, raw = false;
        for (int i = 0; i < CELLS; i++) {
            double base[8], new[8];
            simulate(&random, 8, 1, base, new);
            cells[i] = compare_one(base, new, 8);
        }
        lb_stats_decide(cells, CELLS, &tight);
        for (int i = 0; i < CELLS; i++) {
            any |= cells[i].verdict == LB_STATS_FASTER || cells[i].verdict == LB_STATS_SLOWER;
            raw |= cells[i].p <= 0.05;
        }
        alarmed += any;
        uncorrected += raw;
    }
    printf("# matrices with an alarm: %d of %d, uncorrected %d\n", alarmed, MATRICES, uncorrected);
    assert_true((double)alarmed / MATRICES <= 0.05 + 4 * sqrt(0.05 * 0.95 / MATRICES));
    assert_true(uncorrected > MATRICES / 5);
}

/* ---- pairs ---- */

/* Both sides of one comparison, and when their runs began. */
struct session {
    size_t n;
    double base[32], new[32];
    int64_t base_ms[32], new_ms[32];
};

/* A machine that others use. BUSY: every few seconds it is up to 40 % slower, or not, for whoever
 * runs just then. DISTURBED: a quarter of the runs, each by itself, are up to half slower. One of
 * either side by turns, in random order, 3 % of noise of its own. */
enum noise { BUSY, DISTURBED };

static void simulate_turns(struct lb_random *random, enum noise noise, size_t n, double factor,
                           struct session *ret)
{
    double busy = 0;
    ret->n = n;
    for (size_t i = 0; i < n; i++) {
        size_t first = lb_random_below(random, 2);
        for (size_t k = 0; k < 2; k++) {
            bool is_new = (first + k) % 2 == 1;
            if (noise == BUSY && lb_random_below(random, 6) == 0)
                busy = 0.4 * lb_random_unit(random);
            if (noise == DISTURBED)
                busy = lb_random_below(random, 4) == 0 ? 0.5 * lb_random_unit(random) : 0;
            double x = 1000 * exp(0.03 * lb_test_normal(random)) * (1 - busy);
            *(is_new ? &ret->new[i] : &ret->base[i]) = is_new ? x * factor : x;
            *(is_new ? &ret->new_ms[i] : &ret->base_ms[i]) = (int64_t)(2 * i + k);
        }
    }
}

static struct lb_comparison decide_one(const struct session *s, bool with_times,
                                       const struct lb_compare_options *options)
{
    const struct lb_runs a = {s->base, with_times ? s->base_ms : NULL, s->n};
    const struct lb_runs b = {s->new, with_times ? s->new_ms : NULL, s->n};
    struct lb_comparison c;
    struct lb_error err;
    assert_int_equal(lb_stats_compare(&a, &b, options, &c, &err), 0);
    lb_stats_decide(&c, 1, options);
    return c;
}

struct counts {
    int alarms, found, heaps, covered;
};

enum { TIMES = 500 };

static struct counts count_turns(struct lb_random *random, enum noise noise, size_t n)
{
    struct counts counts = {0};
    for (int i = 0; i < TIMES; i++) {
        struct session s;
        simulate_turns(random, noise, n, 1, &s);
        counts.alarms += decide_one(&s, true, &gate).verdict == LB_STATS_SLOWER;
        simulate_turns(random, noise, n, 0.9, &s);
        struct lb_comparison c = decide_one(&s, true, &gate);
        assert_true(c.is_paired);
        counts.found += c.verdict == LB_STATS_SLOWER;
        counts.covered += c.ratio.interval.low <= 0.9 && 0.9 <= c.ratio.interval.high;
        counts.heaps += decide_one(&s, false, &gate).verdict == LB_STATS_SLOWER;
    }
    return counts;
}

/* A/A and 10 % less on a machine that others use: at most 5 % false alarms, and 15 runs a side find
 * it in at least 90 %. With noise that lasts minutes, heaps find far less; with noise in single
 * runs, pairs find no less. */
static void pairs_find_what_heaps_do_not(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    static const size_t runs[] = {7, 10, 15, 20};
    for (size_t k = 0; k < 2 * sizeof runs / sizeof runs[0]; k++) {
        size_t n = runs[k / 2];
        enum noise noise = k % 2 == 0 ? BUSY : DISTURBED;
        struct counts c = count_turns(&random, noise, n);
        printf(
            "# %zu runs in turn, %s: false alarms %.1f %%, 10 %% slower found in %.1f %% (as heaps "
            "%.1f %%), interval covers %.1f %%\n",
            n, noise == BUSY ? "busy minutes" : "disturbed runs", 100.0 * c.alarms / TIMES,
            100.0 * c.found / TIMES, 100.0 * c.heaps / TIMES, 100.0 * c.covered / TIMES);
        /* 5 % and 90 % by construction, and by chance 4 standard errors off. */
        assert_true(c.alarms <= TIMES * (0.05 + 4 * sqrt(0.05 * 0.95 / TIMES)));
        assert_true(c.covered >= TIMES * (0.9 - 4 * sqrt(0.1 * 0.9 / TIMES)));
        assert_true(n < 15 || c.found >= 0.9 * TIMES);
        assert_true(c.found >= (noise == BUSY ? c.heaps : c.heaps - 0.08 * TIMES));
    }
}

static void the_number_of_runs_decides_whether_pairs_count(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    struct session s;
    simulate_turns(&random, BUSY, 6, 1, &s);
    assert_false(decide_one(&s, true, &gate).is_paired); /* 64 ways to swap */
    simulate_turns(&random, BUSY, 7, 1, &s);
    assert_true(decide_one(&s, true, &gate).is_paired);
    assert_false(decide_one(&s, true, &throughput).is_paired);
    assert_false(decide_one(&s, false, &gate).is_paired);
}

/* Runs that do not alternate are not paired: one side after the other, two that began together, a
 * run that is missing. */
static void only_runs_in_turn_are_pairs(void **state)
{
    (void)state;
    enum { N = 3 };
    static const double base[N] = {1, 2, 3}, new[N] = {10, 20, 30};
    static const struct {
        int64_t base_ms[N], new_ms[N];
        size_t n_new;
        bool alternate;
        double first_new; /* that belongs to the base's first */
    } cases[] = {
        {{10, 30, 50}, {20, 40, 60}, N, true, 10},
        {{10, 40, 50}, {20, 30, 60}, N, true, 10}, /* ABBAAB */
        {{50, 10, 30}, {20, 40, 60}, N, true, 10}, /* in any order of the list */
        {{10, 20, 30}, {40, 50, 60}, N, false, 0},
        {{10, 30, 40}, {20, 50, 60}, N, false, 0},
        {{10, 30, 50}, {10, 40, 60}, N, false, 0},
        {{10, 30, 50}, {20, 40, 60}, N - 1, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct lb_runs a = {base, cases[i].base_ms, N};
        const struct lb_runs b = {new, cases[i].new_ms, cases[i].n_new};
        double x[N], y[N];
        assert_int_equal(lb_stats_pair(&a, &b, x, y), cases[i].alternate);
        if (cases[i].alternate)
            assert_near(y[0], cases[i].first_new, 0);
    }
    const struct lb_runs unknown = {base, NULL, N};
    double x[N], y[N];
    assert_false(lb_stats_pair(&unknown, &unknown, x, y));
}

static struct lb_paired pairs_of(const double *a, const double *b, size_t n, double level)
{
    struct lb_estimate ratio;
    struct lb_paired pairs;
    double x[128], y[128];
    memcpy(x, a, n * sizeof *x);
    memcpy(y, b, n * sizeof *y);
    lb_stats_sort(x, n);
    lb_stats_sort(y, n);
    ratio = lb_stats_ratio(x, n, y, n, level);
    pairs = lb_stats_pairs(a, b, n, ratio.value, level);
    assert_int_equal(pairs.n, n);
    return pairs;
}

static void pairs_have_known_values(void **state)
{
    (void)state;
    /* Ranks 1 2 4 of a and 3 5 6 of b, differences 2 3 2; a pair swapped has another sign: 7 and -7
     * are 2 of 8. With the second pair turned around it is 2 - 3 + 2 = 1: all of 8. */
    static const double a[] = {10, 11, 13}, b[] = {12, 14, 15};
    assert_near(pairs_of(a, b, 3, 0.7).p, 2.0 / 8, 1e-12);
    static const double c[] = {10, 14, 13}, d[] = {12, 11, 15};
    assert_near(pairs_of(c, d, 3, 0.7).p, 1, 1e-12);
    struct lb_paired r = pairs_of(a, b, 3, 0.7);
    assert_true(r.interval.low > 1 && r.interval.high < 1.5);
    r = pairs_of(a, b, 3, 0.9); /* 3 pairs refuse nothing at 0.9 */
    assert_true(r.interval.low <= 0 && isinf(r.interval.high));
    /* Nothing against something, both ways; all alike; more than are counted exactly. */
    static const double some[] = {0, 1, 0, 5}, none[] = {1, 0, 0, 5};
    assert_near(pairs_of(some, none, 4, 0.9).p, 1, 0);
    assert_near(pairs_of(some, some, 4, 0.9).p, 1, 0);
    double many[100], more[100];
    for (int i = 0; i < 100; i++) {
        many[i] = 100 + i % 7;
        more[i] = 103 + i % 5;
    }
    r = pairs_of(many, more, 100, 0.9);
    assert_true(r.p < 1e-6 && r.interval.low > 1 && r.interval.high < 1.05);
    assert_near(pairs_of(many, many, 100, 0.9).p, 1, 0);
}

/* p against all 2^n swaps, one by one. */
static void p_is_that_of_all_swaps(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int trial = 0; trial < 30; trial++) {
        enum { N = 7 };
        double a[N], b[N];
        for (int i = 0; i < N; i++) {
            a[i] = (double)lb_random_below(&random, 12);
            b[i] = (double)lb_random_below(&random, 14);
        }
        int extreme = 0;
        double observed = 0;
        for (unsigned swaps = 0; swaps < 1u << N; swaps++) {
            double u = 0; /* of those called b, less half of all */
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    double x = (swaps >> i & 1) != 0 ? b[i] : a[i];
                    double y = (swaps >> j & 1) != 0 ? a[j] : b[j];
                    u += y > x ? 0.5 : y < x ? -0.5 : 0;
                }
            observed = swaps == 0 ? fabs(u) : observed;
            extreme += fabs(u) >= observed;
        }
        assert_near(pairs_of(a, b, N, 0.9).p, extreme / (double)(1 << N), 1e-12);
    }
}

/* Turned around, the ratio is its inverse. */
static void pairs_can_be_turned_around(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int i = 0; i < 100; i++) {
        struct session s;
        simulate_turns(&random, BUSY, 7 + lb_random_below(&random, 20), 0.8, &s);
        struct lb_paired there = pairs_of(s.base, s.new, s.n, 0.9);
        struct lb_paired back = pairs_of(s.new, s.base, s.n, 0.9);
        assert_near(there.p, back.p, 1e-9);
        assert_near(there.interval.low * back.interval.high, 1, 1e-9);
        assert_near(there.interval.high * back.interval.low, 1, 1e-9);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(holm_has_known_values),
        cmocka_unit_test(verdicts_follow_the_band_and_the_direction),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(equal_pairs_raise_no_alarm),
        cmocka_unit_test(the_test_alone_keeps_its_level),
        cmocka_unit_test(a_real_slowdown_is_found),
        cmocka_unit_test(a_matrix_raises_no_alarm),
        cmocka_unit_test(pairs_find_what_heaps_do_not),
        cmocka_unit_test(the_number_of_runs_decides_whether_pairs_count),
        cmocka_unit_test(only_runs_in_turn_are_pairs),
        cmocka_unit_test(pairs_have_known_values),
        cmocka_unit_test(p_is_that_of_all_swaps),
        cmocka_unit_test(pairs_can_be_turned_around),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
