/* Comparisons within rounds: quantiles against tables, and how often a family of
 * intervals misses, by simulation, where the means are equal and the noise is of every kind that
 * runs have.
 */
#include "blocks.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { MOST = 12, MOST_ROUNDS = 13 };

/* Simulated tables of each kind; LB_TEST_TABLES for a soak. */
static unsigned n_tables(void)
{
    const char *text = getenv("LB_TEST_TABLES");
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 1000;
}
#define TABLES n_tables()

/* Checked twice, not only against this program. R 4.2's qtukey() gives the same to 0.0005; except
 * for k = 2 and df = 2, where it gives 6.0796 and Student's t, times the root of 2, gives 6.0849.
 * The tables are those of Harter 1960, "Tables of range and studentized range", Annals of
 * Mathematical Statistics 31. */
static void the_studentized_range_is_as_tabulated(void **state)
{
    (void)state;
    static const struct {
        double p;
        size_t k;
        double df, q;
    } table[] = {{.95, 2, 2, 6.085},       {.95, 3, 2, 8.331},       {.95, 2, 5, 3.635},
                 {.95, 10, 5, 6.995},      {.95, 3, 10, 3.877},      {.99, 3, 10, 5.270},
                 {.95, 20, 10, 6.467},     {.95, 4, 20, 3.958},      {.95, 10, 20, 5.008},
                 {.95, 5, 60, 3.977},      {.95, 5, DBL_MAX, 3.858}, {.95, 10, DBL_MAX, 4.474},
                 {.95, 20, DBL_MAX, 5.012}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_near(lb_range_quantile(table[i].p, table[i].k, table[i].df), table[i].q, 6e-4);
        assert_near(lb_range_cdf(table[i].q, table[i].k, table[i].df), table[i].p, 2e-4);
    }
}

/* Two-sided, of correlation one half; to two decimals as in Dunnett 1964, "New tables for multiple
 * comparisons with a control", Biometrics 20. Checked by two other routes: R 4.2's adaptive
 * integrate() over its own pnorm() and dchisq() gives the same to 0.005, half a unit of the last
 * decimal; 4,000,000 draws from R's rnorm() and rchisq(), set.seed(20240611), gave 3.027 for k = 2
 * and df = 5, 2.760 for 3 and 10, 3.243 for 9 and 10. */
static void dunnett_is_as_tabulated(void **state)
{
    (void)state;
    static const struct {
        size_t k;
        double df, d;
    } table[] = {{1, 5, 2.57},  {2, 5, 3.03},       {5, 5, 3.62},      {2, 10, 2.57}, {3, 10, 2.76},
                 {4, 10, 2.89}, {5, 10, 2.99},      {9, 10, 3.24},     {3, 20, 2.54}, {5, 20, 2.73},
                 {4, 60, 2.51}, {2, DBL_MAX, 2.21}, {5, DBL_MAX, 2.51}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_near(lb_dunnett_quantile(0.95, table[i].k, table[i].df), table[i].d, 6e-3);
}

/* Two strategies: Student's t of the differences, nothing else. */
static void two_are_a_paired_t(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3, 4, 5, /* */ 1.1, 2.3, 3.2, 4.5, 5.4};
    const struct lb_blocks blocks = {values, 2, 5};
    struct lb_family family = {.n_strategies = 2, .alpha = 0.05};
    struct lb_block_noise noise;
    struct lb_block_pair pairs[4];
    lb_blocks_compare(&blocks, &family, &noise, pairs);
    /* differences .1 .3 .2 .5 .4: mean .3, sd sqrt(.025), t(4, .975) = 2.776445 */
    assert_near(pairs[1].value, 0.3, 1e-12);
    assert_near(pairs[1].error, sqrt(0.025 / 5), 1e-12);
    assert_near(pairs[1].df, 4, 1e-9);
    assert_near(pairs[1].low, 0.3 - 2.776445 * sqrt(0.005), 1e-5);
    assert_near(pairs[2].high, -pairs[1].low, 1e-12);
    assert_true(isnan(pairs[0].value));
    assert_near(noise.sd, sqrt(0.025 / 2), 1e-12);
}

/* The common effect of a round is in no interval, and is estimated. */
static void a_round_cancels(void **state)
{
    (void)state;
    struct lb_random random;
    double values[4 * 8], shifted[4 * 8];
    struct lb_family family = {.n_strategies = 4, .alpha = 0.05};
    struct lb_block_noise noise, other;
    struct lb_block_pair a[16], b[16];
    lb_random_init(&random, lb_test_seed(), 0);
    for (size_t i = 0; i < 32; i++) {
        values[i] = (double)(i / 8) + 0.01 * lb_test_normal(&random);
        shifted[i] = values[i] + (double)(i % 8 * (i % 8));
    }
    const struct lb_blocks first = {values, 4, 8}, second = {shifted, 4, 8};
    lb_blocks_compare(&first, &family, &noise, a);
    lb_blocks_compare(&second, &family, &other, b);
    for (size_t i = 0; i < 16; i++)
        if (!isnan(a[i].value)) {
            assert_near(a[i].value, b[i].value, 1e-9);
            assert_near(a[i].low, b[i].low, 1e-9);
            assert_near(a[i].high, b[i].high, 1e-9);
        }
    assert_true(other.round_sd > 10);
    assert_near(noise.sd, other.sd, 1e-9);
}

static void who_stopped_early_keeps_its_rounds(void **state)
{
    (void)state;
    double values[3 * 6];
    struct lb_random random;
    struct lb_family family = {.n_strategies = 3, .alpha = 0.05};
    struct lb_block_noise noise;
    struct lb_block_pair pairs[9];
    lb_random_init(&random, lb_test_seed(), 0);
    for (size_t i = 0; i < 18; i++)
        values[i] = 0.01 * lb_test_normal(&random) + (double)(i / 6);
    for (size_t r = 3; r < 6; r++) /* the first stops after three, when the rest becomes slower */
        values[r] = NAN, values[6 + r] -= 5, values[12 + r] -= 5;
    const struct lb_blocks blocks = {values, 3, 6};
    lb_blocks_compare(&blocks, &family, &noise, pairs);
    assert_int_equal(pairs[1].n, 3);
    assert_int_equal(pairs[5].n, 6);
    assert_near(pairs[1].value, 1, 0.1);
    assert_near(pairs[5].value, 1, 0.1);
    assert_true(pairs[1].low > 0 && pairs[5].low > 0);
    assert_true(noise.sd < 0.1);
    values[1] = values[2] = NAN; /* one round is none */
    lb_blocks_compare(&blocks, &family, &noise, pairs);
    assert_int_equal(pairs[1].n, 1);
    assert_true(isinf(pairs[1].low) && isinf(pairs[1].high));
}

/* --- simulation --- */

enum kind { LOGNORMAL, ONE_WIDE, HALF_WIDE, DRIFT, SLOW_ROUND, SLOW_RUN, T3 };
static const char *const kinds[] = {"lognormal",
                                    "one with 4 times the variance",
                                    "half with 4 times the variance",
                                    "drift",
                                    "one slow round",
                                    "one slow run",
                                    "t of 3 degrees of freedom"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double t3(struct lb_random *random)
{
    double squares = 0, z = lb_test_normal(random);
    for (int i = 0; i < 3; i++) {
        double x = lb_test_normal(random);
        squares += x * x;
    }
    return z / sqrt(squares); /* variance 1 */
}

static void simulate(struct lb_random *random, enum kind kind, size_t k, size_t r, double sd,
                     double *values)
{
    double drift = 6 * sd * (lb_random_unit(random) - 0.5);
    size_t bad_round = lb_random_below(random, r), bad = lb_random_below(random, k);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < r; j++) {
            bool wide = (kind == ONE_WIDE && i == 0) || (kind == HALF_WIDE && i < k / 2);
            double e = sd * (wide ? 2 : 1) * (kind == T3 ? t3(random) : lb_test_normal(random));
            if (kind == DRIFT)
                e += drift * (double)j / (double)r;
            if (j == bad_round && (kind == SLOW_ROUND || (kind == SLOW_RUN && i == bad)))
                e -= 0.7;
            values[i * r + j] = e;
        }
}

static bool any_differs(const double *values, size_t k, size_t r, struct lb_family *family)
{
    struct lb_block_pair pairs[MOST * MOST];
    struct lb_block_noise noise;
    const struct lb_blocks blocks = {values, k, r};
    bool found = false;
    lb_blocks_compare(&blocks, family, &noise, pairs);
    for (size_t i = 0; i < k * k; i++)
        found |= pairs[i].low > 0;
    return found;
}

/* A share of n that is right at p exceeds this once in about 100,000. */
static double at_most(double p, double n)
{
    return p + 4.3 * sqrt(p * (1 - p) / n);
}

/* Equal means: no more than one family in twenty says that any differ. */
static void equal_means_are_told_apart_in_one_of_twenty(void **state)
{
    (void)state;
    static const double sds[] = {0.03, 0.1, 0.3};
    static const size_t sizes[] = {2, 3, 4, 6, 12}, rounds[] = {3, 5, 8};
    struct lb_random random;
    double values[MOST * MOST_ROUNDS];
    lb_random_init(&random, lb_test_seed(), 0);
    for (size_t s = 0; s < 5; s++)
        for (size_t n = 0; n < 3; n++) {
            struct lb_family family = {.n_strategies = sizes[s], .alpha = 0.05};
            for (size_t kind = 0; kind < KINDS; kind++) {
                unsigned wrong = 0;
                for (unsigned i = 0; i < TABLES; i++) {
                    simulate(&random, (enum kind)kind, sizes[s], rounds[n], sds[i % 3], values);
                    wrong += any_differs(values, sizes[s], rounds[n], &family);
                }
                double share = wrong / (double)TABLES;
                if (share > at_most(0.05, TABLES))
                    print_error("%zu strategies, %zu rounds, %s: %.3f\n", sizes[s], rounds[n],
                                kinds[kind], share);
                assert_true(share <= at_most(0.05, TABLES));
            }
        }
}

/* The simulation finds a family that is not corrected: else it would show nothing. */
static void without_the_family_it_is_more(void **state)
{
    (void)state;
    struct lb_random random;
    double values[MOST * MOST_ROUNDS];
    unsigned wrong = 0;
    struct lb_family pair = {.n_strategies = 2, .alpha = 0.05};
    lb_random_init(&random, lb_test_seed(), 1);
    for (unsigned i = 0; i < TABLES; i++) {
        simulate(&random, LOGNORMAL, 6, 5, 0.1, values);
        wrong += any_differs(values, 6, 5, &pair); /* as if each pair were the only one */
    }
    assert_true(wrong / (double)TABLES > at_most(0.05, TABLES));
}

static double power_of(size_t k, size_t r, double sd, double difference, struct lb_random *random)
{
    double values[MOST * MOST_ROUNDS];
    struct lb_block_pair pairs[MOST * MOST];
    struct lb_block_noise noise;
    struct lb_family family = {.n_strategies = k, .alpha = 0.05};
    unsigned found = 0;
    for (unsigned i = 0; i < TABLES; i++) {
        simulate(random, LOGNORMAL, k, r, sd, values);
        for (size_t j = 0; j < r; j++)
            values[j] += log1p(difference);
        const struct lb_blocks blocks = {values, k, r};
        lb_blocks_compare(&blocks, &family, &noise, pairs);
        found += pairs[1].high < 0; /* the second is slower than the first */
    }
    return found / (double)TABLES;
}

/* The reported power is correct; and 10 % are found if runs scatter by 3 % beyond their round's
 * effect. (Runs that scatter by 5 % each on their own cannot show 10 % in 5 rounds more often than
 * in 85 of 100, with any test: docs/design/compare.md.) */
static void power_is_as_said(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 2);
    static const size_t sizes[] = {2, 4, 11}, rounds[] = {5, 8, 12};
    for (size_t s = 0; s < 3; s++)
        for (size_t n = 0; n < 3; n++) {
            double shown = lb_blocks_power(sizes[s], rounds[n], 0.05, 0.05);
            double power = power_of(sizes[s], rounds[n], 0.05, shown, &random);
            if (fabs(power - 0.8) >= 0.12)
                print_error("%zu strategies, %zu rounds show %.3f in %.3f\n", sizes[s], rounds[n],
                            shown, power);
            assert_true(fabs(power - 0.8) < 0.12);
        }
    assert_true(power_of(2, 5, 0.03, 0.10, &random) > 0.9);
    assert_true(power_of(11, 5, 0.025, 0.10, &random) > 0.9);
    assert_int_equal(lb_blocks_rounds(11, lb_blocks_power(11, 9, 0.05, 0.05), 0.05, 0.05), 9);
    assert_int_equal(lb_blocks_rounds(11, 1e-6, 0.5, 0.05), 0);
}

/* --- looks --- */

/* Looks as a budgeted compare takes them: a strategy without an open pair is not run any more, and
 * the looks end when none is left. True: a pair is declared different. */
static bool any_differs_at_a_look(double *values, size_t k, size_t r, struct lb_look *looks,
                                  size_t n_looks)
{
    struct lb_block_result results[MOST * MOST];
    struct lb_block_noise noise;
    const struct lb_blocks blocks = {values, k, r};
    bool found = false;
    for (size_t l = 0; l < n_looks; l++) {
        found = false;
        lb_blocks_replay(&blocks, looks, l + 1, SIZE_MAX, 0.05, &noise, results);
        for (size_t i = 0; i < k; i++) {
            bool is_open = false;
            for (size_t j = 0; j < k; j++) {
                found |= i != j && results[i * k + j].verdict == LB_STATS_FASTER;
                is_open |= i != j && results[i * k + j].verdict == LB_STATS_INCONCLUSIVE;
            }
            for (size_t j = looks[l].n_rounds; j < r && !is_open; j++)
                values[i * r + j] = NAN;
        }
    }
    return found;
}

static double share_with_looks(struct lb_random *random, enum kind kind, size_t k,
                               const struct lb_look *plan, size_t n_looks)
{
    double values[MOST * MOST_ROUNDS];
    struct lb_look looks[4];
    size_t r = plan[n_looks - 1].n_rounds;
    unsigned wrong = 0;
    memcpy(looks, plan, n_looks * sizeof *looks);
    for (unsigned i = 0; i < TABLES; i++) {
        simulate(random, kind, k, r, 0.1, values);
        wrong += any_differs_at_a_look(values, k, r, looks, n_looks);
    }
    return wrong / (double)TABLES;
}

/* All looks together miss in one of twenty, the first after three rounds, whether it has a large or
 * a small share of the error. */
static void looks_share_the_error(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        struct lb_look looks[4];
    } plans[] = {{4, {{3, 0.0115, {0}}, {5, 0.0077, {0}}, {8, 0.0115, {0}}, {13, 0.0193, {0}}}},
                 {3, {{3, 0.04, {0}}, {5, 0.005, {0}}, {8, 0.005, {0}}}}};
    static const size_t sizes[] = {2, 4, 12};
    static const enum kind noises[] = {LOGNORMAL, ONE_WIDE, HALF_WIDE, T3};
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 3);
    for (size_t p = 0; p < 2; p++)
        for (size_t s = 0; s < 3; s++)
            for (size_t i = 0; i < 4; i++) {
                double share =
                    share_with_looks(&random, noises[i], sizes[s], plans[p].looks, plans[p].n);
                if (share > at_most(0.05, TABLES))
                    print_error("plan %zu, %zu strategies, %s: %.3f\n", p, sizes[s],
                                kinds[noises[i]], share);
                assert_true(share <= at_most(0.05, TABLES));
            }
}

/* The simulation finds looks that each spend the whole error. */
static void looks_that_do_not_share_miss_more(void **state)
{
    (void)state;
    static const struct lb_look plan[4] = {
        {3, 0.05, {0}}, {5, 0.05, {0}}, {8, 0.05, {0}}, {13, 0.05, {0}}};
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 6);
    assert_true(share_with_looks(&random, LOGNORMAL, 4, plan, 4) > at_most(0.05, TABLES));
}

/* A look's decision stays, reported from that look, if a later one is not sure any more. */
static void a_decision_stays(void **state)
{
    (void)state;
    double values[2 * 6] = {0, 0, 0, 0, 3, -4, /* */ 1, 1.01, 0.99, 1, 1, 1};
    const struct lb_blocks blocks = {values, 2, 6};
    struct lb_look looks[2] = {{3, 0.02, {0}}, {6, 0.03, {0}}};
    struct lb_block_noise noise;
    struct lb_block_result results[4];
    lb_blocks_replay(&blocks, looks, 2, SIZE_MAX, 0.05, &noise, results);
    assert_int_equal(results[1].verdict, LB_STATS_FASTER);
    assert_int_equal(results[2].verdict, LB_STATS_SLOWER);
    assert_int_equal(results[1].look, 0);
    assert_int_equal(results[1].pair.n, 3);
    values[4] = values[5] = 0; /* both looks are sure: told by the later one */
    lb_blocks_replay(&blocks, looks, 2, SIZE_MAX, 0.05, &noise, results);
    assert_int_equal(results[1].look, 1);
    assert_int_equal(results[1].pair.n, 6);
}

/* With a reference the others are not compared with each other, and the intervals are shorter. */
static void a_named_reference_is_compared_with_all(void **state)
{
    (void)state;
    struct lb_random random;
    double values[6 * 5];
    struct lb_family all = {.n_strategies = 6, .alpha = 0.05};
    struct lb_family named = {
        .has_reference = true, .reference = 2, .n_strategies = 6, .alpha = 0.05};
    struct lb_block_noise noise;
    struct lb_block_pair a[36], b[36];
    lb_random_init(&random, lb_test_seed(), 4);
    simulate(&random, LOGNORMAL, 6, 5, 0.1, values);
    const struct lb_blocks blocks = {values, 6, 5};
    lb_blocks_compare(&blocks, &all, &noise, a);
    lb_blocks_compare(&blocks, &named, &noise, b);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            if (i != j && (i == 2 || j == 2)) {
                assert_near(a[i * 6 + j].value, b[i * 6 + j].value, 1e-12);
                assert_true(b[i * 6 + j].high < a[i * 6 + j].high);
            } else {
                assert_true(isnan(b[i * 6 + j].low));
            }
}

/* --- letters --- */

static void letters_have_a_known_example(void **state)
{
    (void)state;
    /* 0 differs from 2 and 3, 1 from 3: a line of overlapping groups */
    bool differ[16] = {0};
    char letters[4][LB_LETTERS_TEXT];
    struct lb_error err;
    differ[0 * 4 + 2] = differ[2 * 4 + 0] = differ[0 * 4 + 3] = differ[3 * 4 + 0] = true;
    differ[1 * 4 + 3] = differ[3 * 4 + 1] = true;
    assert_int_equal(lb_stats_letters(differ, 4, letters, &err), 0);
    assert_string_equal(letters[0], "a");
    assert_string_equal(letters[1], "ab");
    assert_string_equal(letters[2], "bc");
    assert_string_equal(letters[3], "c");
}

static bool share(const char *a, const char *b)
{
    return strpbrk(a, b) != NULL;
}

static void letters_are_shared_by_those_that_do_not_differ(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 5);
    for (int round = 0; round < 500; round++) {
        size_t n = 2 + lb_random_below(&random, 9);
        double chance = lb_random_unit(&random);
        bool differ[11 * 11] = {0};
        char letters[11][LB_LETTERS_TEXT];
        struct lb_error err;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                differ[i * n + j] = differ[j * n + i] = lb_random_unit(&random) < chance;
        assert_int_equal(lb_stats_letters(differ, n, letters, &err), 0);
        for (size_t i = 0; i < n; i++) {
            assert_true(letters[i][0] != '\0');
            for (size_t j = 0; j < i; j++)
                assert_int_equal(share(letters[i], letters[j]), !differ[i * n + j]);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_studentized_range_is_as_tabulated),
        cmocka_unit_test(dunnett_is_as_tabulated),
        cmocka_unit_test(two_are_a_paired_t),
        cmocka_unit_test(a_round_cancels),
        cmocka_unit_test(who_stopped_early_keeps_its_rounds),
        cmocka_unit_test(equal_means_are_told_apart_in_one_of_twenty),
        cmocka_unit_test(without_the_family_it_is_more),
        cmocka_unit_test(power_is_as_said),
        cmocka_unit_test(looks_share_the_error),
        cmocka_unit_test(looks_that_do_not_share_miss_more),
        cmocka_unit_test(a_decision_stays),
        cmocka_unit_test(a_named_reference_is_compared_with_all),
        cmocka_unit_test(letters_have_a_known_example),
        cmocka_unit_test(letters_are_shared_by_those_that_do_not_differ),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
