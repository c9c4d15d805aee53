/* Percentiles of all rounds together, by a bootstrap over rounds: their values, how often a family
 * of their intervals misses, and its power, by simulation.
 */
#include "blocks.h"
#include "tail.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { MOST = 12, MOST_ROUNDS = 13, SAMPLES = 400, TOP = 120 };

/* Simulated tables of each kind; LB_TEST_TABLES for a soak. */
static unsigned n_tables(void)
{
    const char *text = getenv("LB_TEST_TABLES");
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 100;
}

static double at_most(double p, double n)
{
    return p + 4.3 * sqrt(p * (1 - p) / n);
}

/* --- the percentile of runs together --- */

static void weights_are_runs_counted_several_times(void **state)
{
    (void)state;
    enum { RUNS = 5 };
    struct lb_random random;
    struct lb_histogram *runs[RUNS + 1] = {NULL}, *sum = lb_histogram_new();
    lb_random_init(&random, lb_test_seed(), 0);
    for (size_t i = 0; i < RUNS; i++)
        runs[i] = lb_histogram_new();
    for (int step = 0; step < 50; step++) {
        double weight[RUNS + 1] = {0};
        weight[RUNS] = 7; /* that one is NULL */
        lb_histogram_reset(sum);
        for (size_t i = 0; i < RUNS; i++) {
            lb_histogram_reset(runs[i]);
            size_t n = lb_random_below(&random, 200);
            for (size_t k = 0; k < n; k++)
                lb_histogram_record(runs[i], (uint64_t)exp(10 + 3 * lb_test_normal(&random)));
            if (lb_random_below(&random, 3) == 0) /* longer than there are buckets */
                lb_histogram_record(runs[i], 2 * LB_HISTOGRAM_MAX_NS);
            weight[i] = (double)lb_random_below(&random, 4);
            for (int k = 0; k < (int)weight[i]; k++)
                lb_histogram_add(sum, runs[i]);
        }
        struct lb_tail *tail = lb_tail_new((const struct lb_histogram *const *)runs, RUNS + 1);
        static const double qs[] = {0, 0.5, 0.9, 0.99, 0.999, 1};
        for (size_t q = 0; q < sizeof qs / sizeof qs[0]; q++) {
            double value = lb_tail_quantile(tail, weight, qs[q]);
            double bounded = fmin((double)sum->max, fmax((double)sum->min, value));
            assert_near(bounded, (double)lb_histogram_quantile(sum, qs[q]), 1e-6);
        }
        lb_tail_free(tail);
    }
    for (size_t i = 0; i < RUNS; i++)
        lb_histogram_free(runs[i]);
    lb_histogram_free(sum);
}

/* --- simulated tables --- */

enum kind { ALIKE, DRIFT, SLOW_ROUND, SLOW_RUN, T3, KINDS };
static const char *const kinds[] = {"alike", "drift", "one slow round", "one slow run",
                                    "t of 3 degrees of freedom"};

struct table {
    size_t k, r;
    struct lb_histogram *scratch[MOST_ROUNDS];
    struct lb_tail *tails[MOST];
    double rates[MOST * MOST_ROUNDS]; /* logarithms, by strategy and round */
    bool has[MOST * MOST_ROUNDS];
};

static double t3(struct lb_random *random)
{
    double squares = 0, z = lb_test_normal(random);
    for (int i = 0; i < 3; i++) {
        double x = lb_test_normal(random);
        squares += x * x;
    }
    return z / sqrt(squares);
}

/* The largest TOP of SAMPLES latencies of an exponential distribution (by Renyi, from the top), the
 * others somewhere below. */
static void fill_run(struct lb_random *random, double scale, struct lb_histogram *run)
{
    double u = 1, value = 0;
    lb_histogram_reset(run);
    for (size_t i = 0; i < TOP; i++) {
        u *= pow(1 - lb_random_unit(random), 1.0 / (double)(SAMPLES - i));
        value = scale * 1e6 * -log1p(-u);
        lb_histogram_record(run, (uint64_t)value);
    }
    run->count += SAMPLES - TOP;
    run->buckets[lb_histogram_index((uint64_t)(value / 2))] += SAMPLES - TOP;
}

/* Each run scatters by sd as a whole; longer[i] is the logarithm of strategy i's slowdown.
 */
static void simulate(struct lb_random *random, enum kind kind, double sd, const double *longer,
                     struct table *table)
{
    double drift = 6 * sd * (lb_random_unit(random) - 0.5);
    double round[MOST_ROUNDS];
    memset(table->has, true, sizeof table->has);
    size_t bad_round = lb_random_below(random, table->r), bad = lb_random_below(random, table->k);
    for (size_t r = 0; r < table->r; r++)
        round[r] = 2 * sd * lb_test_normal(random);
    for (size_t i = 0; i < table->k; i++) {
        for (size_t r = 0; r < table->r; r++) {
            double e = round[r] + sd * (kind == T3 ? t3(random) : lb_test_normal(random));
            if (kind == DRIFT)
                e += drift * (double)r / (double)table->r;
            if (r == bad_round && (kind == SLOW_ROUND || (kind == SLOW_RUN && i == bad)))
                e += 0.7;
            e += longer != NULL ? longer[i] : 0;
            table->rates[i * table->r + r] = -e; /* longer waits mean fewer grants */
            fill_run(random, exp(e), table->scratch[r]);
        }
        table->tails[i] = lb_tail_new((const struct lb_histogram *const *)table->scratch, table->r);
        assert_non_null(table->tails[i]);
    }
}

static double p99_of(void *arg, size_t strategy, const double *weight)
{
    const struct table *table = arg;
    return -log(lb_tail_quantile(table->tails[strategy], weight, 0.99) + 1);
}

static void compare(struct table *table, struct lb_family *family, uint64_t seed,
                    struct lb_block_noise *noise, struct lb_block_pair *pairs)
{
    const struct lb_resampled what = {.n_strategies = table->k,
                                      .n_rounds = table->r,
                                      .has = table->has,
                                      .of = p99_of,
                                      .arg = table,
                                      .resolution = LB_TAIL_RESOLUTION,
                                      .seed = seed};
    lb_blocks_resample(&what, family, noise, pairs);
    for (size_t i = 0; i < table->k; i++)
        lb_tail_free(table->tails[i]);
}

static void open_table(struct table *table, size_t k, size_t r)
{
    *table = (struct table){.k = k, .r = r};
    for (size_t i = 0; i < r; i++)
        table->scratch[i] = lb_histogram_new();
}

static void close_table(struct table *table)
{
    for (size_t i = 0; i < table->r; i++)
        lb_histogram_free(table->scratch[i]);
}

/* Does an interval miss what is so? */
static bool any_misses(const struct lb_block_pair *pairs, size_t k, const double *longer)
{
    bool found = false;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            double truth = longer[i] - longer[j]; /* longer is worse */
            found |= i != j && (pairs[i * k + j].low > truth || pairs[i * k + j].high < truth);
        }
    return found;
}

static double share_wrong(struct lb_random *random, enum kind kind, size_t k, size_t r, double sd,
                          size_t k_family, struct lb_block_noise *ret_noise)
{
    struct lb_family family = {.n_strategies = k_family, .alpha = 0.05};
    struct lb_block_pair pairs[MOST * MOST];
    struct table table;
    unsigned wrong = 0;
    double variance = 0;
    open_table(&table, k, r);
    for (unsigned i = 0; i < n_tables(); i++) {
        double longer[MOST];
        for (size_t s = 0; s < k; s++)
            longer[s] = lb_random_unit(random);
        simulate(random, kind, sd, longer, &table);
        compare(&table, &family, i, ret_noise, pairs);
        variance += ret_noise->sd * ret_noise->sd / n_tables();
        wrong += any_misses(pairs, k, longer);
    }
    close_table(&table);
    ret_noise->sd = sqrt(variance);
    return wrong / (double)n_tables();
}

/* Of 100 tables no more than 5 have an interval that misses. */
static void intervals_of_tails_hold_together(void **state)
{
    (void)state;
    static const struct {
        size_t k, r;
        enum kind kind;
    } cases[] = {{2, 3, ALIKE},    {2, 5, DRIFT}, {2, 8, SLOW_RUN}, {3, 5, ALIKE},
                 {3, 8, SLOW_RUN}, {6, 3, T3},    {6, 5, T3},       {6, 8, SLOW_ROUND}};
    struct lb_random random;
    struct lb_block_noise noise;
    lb_random_init(&random, lb_test_seed(), 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double share =
            share_wrong(&random, cases[c].kind, cases[c].k, cases[c].r, 0.1, cases[c].k, &noise);
        printf("# %zu strategies, %zu rounds, %s: %.3f miss\n", cases[c].k, cases[c].r,
               kinds[cases[c].kind], share);
        assert_true(share <= at_most(0.05, n_tables()));
    }
}

/* --- rounds that end depending on the results --- */

/* As a budgeted compare looks: a strategy whose rate is decided against all others is not run any
 * more. Its last rounds are then those that told it apart. */
static void drop_decided(struct table *table, struct lb_look *looks, size_t n_looks)
{
    struct lb_block_result results[MOST * MOST];
    struct lb_block_noise noise;
    size_t k = table->k, r = table->r;
    const struct lb_blocks blocks = {table->rates, k, r};
    for (size_t l = 0; l < n_looks; l++) {
        lb_blocks_replay(&blocks, looks, l + 1, SIZE_MAX, 0.05, &noise, results);
        for (size_t i = 0; i < k; i++) {
            bool is_open = false;
            for (size_t j = 0; j < k; j++)
                is_open |= i != j && results[i * k + j].verdict == LB_STATS_INCONCLUSIVE;
            for (size_t j = looks[l].n_rounds; j < r && !is_open; j++) {
                table->rates[i * r + j] = NAN;
                table->has[i * r + j] = false;
            }
        }
    }
}

/* spread: of the logarithms of what the strategies differ by. */
static double share_wrong_when_stopped(struct lb_random *random, enum kind kind, size_t k,
                                       double spread)
{
    struct lb_look looks[] = {
        {3, 0.0115, {0}}, {5, 0.0077, {0}}, {8, 0.0115, {0}}, {13, 0.0193, {0}}};
    struct lb_family family = {.n_strategies = k, .alpha = 0.05};
    struct lb_block_pair pairs[MOST * MOST];
    struct lb_block_noise noise;
    struct table table;
    unsigned wrong = 0, shorter = 0;
    open_table(&table, k, 13);
    for (unsigned i = 0; i < n_tables(); i++) {
        double longer[MOST];
        for (size_t s = 0; s < k; s++)
            longer[s] = spread * lb_random_unit(random);
        simulate(random, kind, 0.1, longer, &table);
        drop_decided(&table, looks, 4);
        shorter += !table.has[12];
        compare(&table, &family, i, &noise, pairs);
        wrong += any_misses(pairs, k, longer);
    }
    close_table(&table);
    printf(
        "# %zu strategies, %s, apart by up to %.2f: %.3f miss, %u of %u tables ended their first "
        "strategy early\n",
        k, kinds[kind], spread, wrong / (double)n_tables(), shorter, n_tables());
    return wrong / (double)n_tables();
}

/* The rates decide when rounds end, and a slow round makes both lower: yet the intervals of the
 * waits hold. */
static void intervals_hold_when_the_rates_end_the_rounds(void **state)
{
    (void)state;
    static const struct {
        size_t k;
        enum kind kind;
        double spread;
    } cases[] = {{2, ALIKE, 0},      {2, ALIKE, 0.3}, {2, T3, 0.3},
                 {2, SLOW_RUN, 0.3}, {3, ALIKE, 0.3}, {6, ALIKE, 1}};
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 3);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        assert_true(share_wrong_when_stopped(&random, cases[c].kind, cases[c].k, cases[c].spread) <=
                    at_most(0.05, n_tables()));
}

/* The simulation finds intervals that do not hold together: else it would show nothing. */
static void without_the_family_more_miss(void **state)
{
    (void)state;
    struct lb_random random;
    struct lb_block_noise noise;
    lb_random_init(&random, lb_test_seed(), 1);
    double share = share_wrong(&random, ALIKE, 10, 8, 0.1, 2, &noise);
    assert_true(share > at_most(0.05, n_tables()));
}

/* The difference that is said to be shown is found in about 80 of 100. */
static void power_of_tails_is_as_said(void **state)
{
    (void)state;
    struct lb_random random;
    struct lb_block_noise noise;
    struct lb_block_pair pairs[4];
    struct table table;
    unsigned found = 0, n = n_tables();
    lb_random_init(&random, lb_test_seed(), 2);
    share_wrong(&random, ALIKE, 2, 8, 0.1, 2, &noise);
    double shown = lb_resample_power(2, 8, noise.sd, 0.05);
    const double longer[] = {0, log1p(shown)};
    struct lb_family family = {.n_strategies = 2, .alpha = 0.05}, plain = family;
    open_table(&table, 2, 8);
    for (unsigned i = 0; i < n; i++) {
        simulate(&random, ALIKE, 0.1, longer, &table);
        compare(&table, &family, i, &noise, pairs);
        found += pairs[1].high < 0;
    }
    close_table(&table);
    printf("# 8 rounds show %.1f %% in %.2f\n", 100 * shown, found / (double)n);
    assert_true(fabs(found / (double)n - 0.8) < 0.05 + 4.3 * sqrt(0.16 / n));
    /* Two are guarded too, as their rounds end by the rates: Student's t for 3.75 % in place of 5
     * %. */
    assert_near(lb_family_quantile(&plain, 2), 4.3027, 1e-3);
    assert_near(lb_family_quantile(&family, 2), 5.0178, 1e-3);
    assert_int_equal(lb_resample_rounds(6, lb_resample_power(6, 9, 0.05, 0.05), 0.05, 0.05), 9);
    assert_int_equal(lb_resample_rounds(6, 1e-9, 0.5, 0.05), 0);
    assert_true(isinf(lb_resample_power(6, 2, 0.05, 0.05)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_runs_counted_several_times),
        cmocka_unit_test(intervals_of_tails_hold_together),
        cmocka_unit_test(intervals_hold_when_the_rates_end_the_rounds),
        cmocka_unit_test(without_the_family_more_miss),
        cmocka_unit_test(power_of_tails_is_as_said),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
