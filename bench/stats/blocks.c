/* Comparisons within rounds: see blocks.h. */
#include "blocks.h"

#include "distribution.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT_STEPS = 30 };
/* The largest weight of the table's variance in a strategy's. Without a bound, a strategy that
 * scatters twice as much as ten others gets nearly their variance, and five rounds do not show
 * it. */
#define MOST_WEIGHT 1.0
/* The smallest remainder after the subtraction in take_variances. */
#define LEAST_SHARE 0.25
/* Variances that are estimated, and drawn together, make quantiles that are a little too small:
 * with three to eleven strategies of which some scatter twice as much, 1.25 times as many families
 * miss as should (tests/unit/stats_blocks.c, scripts/soak-compare). Not with two: that is Student's
 * t. But it is needed for two by resampling, if rounds end by their rates: see resample.c. */
#define GUARD 0.75

static double at(const struct lb_blocks *blocks, size_t strategy, size_t round)
{
    return blocks->value[strategy * blocks->n_rounds + round];
}

/* --- noise --- */

/* Derivative of the digamma function, x > 0: upwards by its recurrence, then its expansion. */
static double trigamma(double x)
{
    double sum = 0;
    while (x < 8) {
        sum += 1 / (x * x);
        x += 1;
    }
    double y = 1 / (x * x);
    return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y / 30)));
}

static double trigamma_inverse(double value)
{
    double low = 1e-4, high = 1e6;
    for (int i = 0; i < 100; i++) {
        double middle = sqrt(low * high);
        if (trigamma(middle) > value)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

/* What strategies and rounds leave over, by alternating means: exact at once where nothing is
 * missing. */
static void fit(const struct lb_blocks *blocks, double *effect, double *round, double *residual)
{
    size_t k = blocks->n_strategies, r = blocks->n_rounds;
    memset(round, 0, r * sizeof *round);
    for (int step = 0; step < FIT_STEPS; step++) {
        for (size_t i = 0; i < k; i++) {
            double sum = 0, n = 0;
            for (size_t j = 0; j < r; j++)
                if (!isnan(at(blocks, i, j)))
                    sum += at(blocks, i, j) - round[j], n++;
            effect[i] = n > 0 ? sum / n : 0;
        }
        for (size_t j = 0; j < r; j++) {
            double sum = 0, n = 0;
            for (size_t i = 0; i < k; i++)
                if (!isnan(at(blocks, i, j)))
                    sum += at(blocks, i, j) - effect[i], n++;
            round[j] = n > 0 ? sum / n : 0;
        }
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < r; j++)
            residual[i * r + j] = at(blocks, i, j) - effect[i] - round[j];
}

struct work {
    double *effect, *round, *residual;
    double *variance; /* of a run of each strategy */
    double *df;       /* of its own residuals */
};

static void init(struct work *work, const struct lb_blocks *blocks)
{
    size_t k = blocks->n_strategies, r = blocks->n_rounds;
    double *memory = lb_calloc(3 * k + r + k * r + 1, sizeof *memory);
    *work = (struct work){memory, memory + k, memory + k + r, memory + k + r + k * r,
                          memory + 2 * k + r + k * r};
}

/* Variances from the residuals. A residual of one strategy holds a part of the others' noise, which
 * is in the round's mean: E[SS_i / (n_i - 1)] = v_i (1 - 2/k) + sum(v) / k^2. */
static void take_variances(const struct lb_blocks *blocks, struct work *work,
                           struct lb_block_noise *noise)
{
    size_t k = blocks->n_strategies, r = blocks->n_rounds, longest = 0, n_all = 0, n_used = 0;
    double squares = 0, sum = 0, sum2 = 0;
    for (size_t i = 0; i < k; i++) {
        size_t n = 0;
        double own = 0;
        for (size_t j = 0; j < r; j++)
            if (!isnan(at(blocks, i, j)))
                own += work->residual[i * r + j] * work->residual[i * r + j], n++;
        squares += own;
        longest = n > longest ? n : longest;
        n_all += n > 0 ? n - 1 : 0;
        work->variance[i] = n > 1 ? own / (double)(n - 1) : 0;
        work->df[i] = n > 1 ? (double)(n - 1) : 0;
        n_used += n > 1;
    }
    double m = (double)(n_used > 0 ? n_used : 1), part = n_used > 1 ? 1 - 1 / m : 1;
    noise->df = (double)n_all - (longest > 0 ? (double)(longest - 1) : 0);
    double table = noise->df > 0 ? squares / noise->df : 0, least_df = INFINITY;
    noise->sd = sqrt(table);
    for (size_t i = 0; i < k; i++) {
        if (work->df[i] <= 0)
            continue;
        double whole = work->variance[i] / part, y = log(whole + 1e-30);
        work->df[i] *= part;
        least_df = fmin(least_df, work->df[i]);
        sum += y, sum2 += y * y;
        work->variance[i] =
            n_used > 2 ? fmax(LEAST_SHARE * whole, (work->variance[i] - table / m) / (1 - 2 / m))
                       : table;
    }
    noise->weight = 0;
    if (n_used < 3)
        return;
    double excess = (sum2 - sum * sum / m) / (m - 1) - trigamma(least_df / 2);
    noise->weight = MOST_WEIGHT;
    if (excess > 0)
        noise->weight = fmin(noise->weight, 2 * trigamma_inverse(excess) / least_df);
    for (size_t i = 0; i < k; i++)
        work->variance[i] = work->df[i] > 0
                                ? (work->variance[i] + noise->weight * table) / (1 + noise->weight)
                                : table;
}

/* Of the means of rounds, less what the noise of their runs explains. */
static double round_sd(const struct lb_blocks *blocks, const struct work *work, double sd)
{
    double mean = 0, squares = 0, r = (double)blocks->n_rounds;
    for (size_t j = 0; j < blocks->n_rounds; j++)
        mean += work->round[j] / r;
    for (size_t j = 0; j < blocks->n_rounds; j++)
        squares += (work->round[j] - mean) * (work->round[j] - mean);
    double variance = r > 1 ? squares / (r - 1) - sd * sd / (double)blocks->n_strategies : 0;
    return variance > 0 ? sqrt(variance) : 0;
}

/* --- pairs --- */

static double node_quantile(struct lb_family *family, size_t node)
{
    static const double dfs[LB_FAMILY_NODES] = {1, 1.5, 2,  2.5, 3,  3.5, 4,  5,  6,
                                                7, 8,   10, 12,  16, 24,  40, 80, INFINITY};
    size_t k = family->n_strategies;
    if (family->node[node] > 0)
        return family->node[node];
    double p = 1 - family->alpha * (k > 2 || family->guards_two ? GUARD : 1), df = dfs[node];
    family->node[node] = family->has_reference ? lb_dunnett_quantile(p, k - 1, df)
                                               : lb_range_quantile(p, k, df) / sqrt(2);
    return family->node[node];
}

/* Between two nodes by a line over 1/df, which is a little above the curve. */
double lb_family_quantile(struct lb_family *family, double df)
{
    static const double inverse[LB_FAMILY_NODES] = {
        1,      1 / 1.5, 1. / 2,  1 / 2.5, 1. / 3,  1 / 3.5, 1. / 4,  1. / 5,  1. / 6,
        1. / 7, 1. / 8,  1. / 10, 1. / 12, 1. / 16, 1. / 24, 1. / 40, 1. / 80, 0};
    double x = fmin(1, 1 / df);
    size_t i = 0;
    while (i + 2 < LB_FAMILY_NODES && inverse[i + 1] >= x)
        i++;
    double share = (x - inverse[i + 1]) / (inverse[i] - inverse[i + 1]);
    double above = share > 0 ? node_quantile(family, i) : 0;
    return share >= 1 ? above : share * above + (1 - share) * node_quantile(family, i + 1);
}

static void compare_pair(const struct lb_blocks *blocks, const struct work *work, double most_df,
                         size_t base, size_t new, struct lb_family *family,
                         struct lb_block_pair *pair, double weight)
{
    double sum = 0, a = work->variance[base], b = work->variance[new];
    *pair = (struct lb_block_pair){.value = NAN, .low = -INFINITY, .high = INFINITY};
    for (size_t j = 0; j < blocks->n_rounds; j++)
        if (!isnan(at(blocks, base, j)) && !isnan(at(blocks, new, j))) {
            sum += at(blocks, new, j) - at(blocks, base, j);
            pair->n++;
        }
    if (pair->n > 0)
        pair->value = sum / (double)pair->n;
    if (pair->n < LB_BLOCKS_MIN_ROUNDS)
        return;
    double fa = work->df[base] * (1 + weight), fb = work->df[new] * (1 + weight);
    pair->error = sqrt((a + b) / (double)pair->n);
    /* Without any noise at all: as many as there can be. */
    pair->df = a + b > 0 ? (a + b) * (a + b) / (a * a / fa + b * b / fb) : most_df;
    pair->df = fmax(1, fmin(pair->df, most_df));
    double reach = pair->error * lb_family_quantile(family, pair->df);
    pair->low = pair->value - reach;
    pair->high = pair->value + reach;
}

void lb_blocks_compare(const struct lb_blocks *blocks, struct lb_family *family,
                       struct lb_block_noise *ret_noise, struct lb_block_pair *ret_pairs)
{
    size_t k = blocks->n_strategies;
    struct work work;
    init(&work, blocks);
    struct lb_block_noise noise = {0};
    fit(blocks, work.effect, work.round, work.residual);
    take_variances(blocks, &work, &noise);
    noise.round_sd = round_sd(blocks, &work, noise.sd);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            struct lb_block_pair *pair = &ret_pairs[i * k + j];
            *pair = (struct lb_block_pair){.value = NAN, .low = NAN, .high = NAN};
            if (i != j &&
                (!family->has_reference || i == family->reference || j == family->reference))
                compare_pair(blocks, &work, noise.df, i, j, family, pair, noise.weight);
        }
    free(work.effect);
    *ret_noise = noise;
}

enum lb_stats_verdict lb_block_verdict(double low, double high, double band)
{
    double edge = log1p(band);
    if (low >= -edge && high <= edge)
        return LB_STATS_EQUIVALENT;
    return low > 0 ? LB_STATS_FASTER : high < 0 ? LB_STATS_SLOWER : LB_STATS_INCONCLUSIVE;
}

/* --- looks --- */

static void take_look(const struct lb_block_pair *pair, size_t look, double band,
                      struct lb_block_result *result)
{
    enum lb_stats_verdict verdict =
        isnan(pair->low) ? LB_STATS_INCONCLUSIVE : lb_block_verdict(pair->low, pair->high, band);
    bool is_decided = look > 0 && result->verdict != LB_STATS_INCONCLUSIVE;
    if (!is_decided || verdict == result->verdict)
        *result = (struct lb_block_result){*pair, verdict, look};
}

void lb_blocks_replay(const struct lb_blocks *blocks, struct lb_look *looks, size_t n_looks,
                      size_t reference, double band, struct lb_block_noise *ret_noise,
                      struct lb_block_result *ret_results)
{
    size_t k = blocks->n_strategies, r = blocks->n_rounds;
    double *seen = lb_malloc((k * r + 1) * sizeof *seen);
    struct lb_block_pair *pairs = lb_malloc((k * k + 1) * sizeof *pairs);
    for (size_t l = 0; l < n_looks; l++) {
        struct lb_blocks part = {seen, k, looks[l].n_rounds < r ? looks[l].n_rounds : r};
        struct lb_family *family = &looks[l].family;
        for (size_t i = 0; i < k; i++)
            memcpy(seen + i * part.n_rounds, blocks->value + i * r, part.n_rounds * sizeof *seen);
        if (family->n_strategies == 0)
            *family = (struct lb_family){.has_reference = reference < k,
                                         .reference = reference,
                                         .n_strategies = k,
                                         .alpha = looks[l].alpha};
        lb_blocks_compare(&part, family, ret_noise, pairs);
        for (size_t i = 0; i < k * k; i++)
            take_look(&pairs[i], l, band, &ret_results[i]);
    }
    free(seen);
    free(pairs);
}

/* --- power --- */

double lb_blocks_power(size_t n_strategies, size_t n_rounds, double sd, double alpha)
{
    double k = (double)n_strategies, r = (double)n_rounds;
    if (n_rounds < LB_BLOCKS_MIN_ROUNDS || n_strategies < 2)
        return INFINITY;
    /* A pair's degrees of freedom where all scatter alike: see compare_pair. */
    double df = n_strategies == 2
                    ? r - 1
                    : fmin((k - 1) * (r - 1), 2 * (r - 1) * (1 - 1 / k) * (1 + MOST_WEIGHT));
    struct lb_family family = {.n_strategies = n_strategies, .alpha = alpha};
    return expm1(sd * sqrt(2 / r) * (lb_family_quantile(&family, df) + lb_t_quantile(0.8, df)));
}

size_t lb_rounds_that_show(lb_power_fn *power, size_t least, size_t n_strategies, double difference,
                           double sd, double alpha)
{
    enum { MOST = 1000 };
    size_t low = least - 1, high = MOST;
    if (!(power(n_strategies, high, sd, alpha) <= difference))
        return 0;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (power(n_strategies, middle, sd, alpha) <= difference)
            high = middle;
        else
            low = middle;
    }
    return high;
}

size_t lb_blocks_rounds(size_t n_strategies, double difference, double sd, double alpha)
{
    return lb_rounds_that_show(lb_blocks_power, LB_BLOCKS_MIN_ROUNDS, n_strategies, difference, sd,
                               alpha);
}
