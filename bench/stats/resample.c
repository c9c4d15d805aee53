/* Comparisons by a bootstrap over rounds: see blocks.h.
 *
 * Block bootstrap: Efron and Tibshirani, An Introduction to the Bootstrap, 8.6; its variance from n
 * blocks is (n - 1)/n of what it should be. Intervals by its standard error and Student's t (their
 * 12.2): five rounds have only 126 different draws, too few for percentiles to keep their level.
 *
 * The rates of the same runs may have decided when the rounds ended, and a slow run makes both
 * worse. Two equal strategies are then declared different in 5.9 % of the tables instead of 5 %
 * (8,000 simulated; tests/unit/stats_resample.c), so two strategies get the same correction as more
 * of them.
 */
#include "blocks.h"

#include "distribution.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct drawing {
    const struct lb_resampled *what;
    size_t base, new, *rounds, n; /* the rounds that both were run in */
    double *weight;
    struct lb_random random;
};

static double difference(const struct drawing *d)
{
    return d->what->of(d->what->arg, d->new, d->weight) -
           d->what->of(d->what->arg, d->base, d->weight);
}

static bool is_enough(const struct drawing *d)
{
    return d->what->is_enough == NULL || (d->what->is_enough(d->what->arg, d->base, d->weight) &&
                                          d->what->is_enough(d->what->arg, d->new, d->weight));
}

static void take_rounds(struct drawing *d)
{
    const struct lb_resampled *what = d->what;
    d->n = 0;
    memset(d->weight, 0, what->n_rounds * sizeof *d->weight);
    for (size_t r = 0; r < what->n_rounds; r++)
        if (what->has[d->base * what->n_rounds + r] && what->has[d->new * what->n_rounds + r]) {
            d->rounds[d->n++] = r;
            d->weight[r] = 1;
        }
}

/* Of the differences of LB_RESAMPLE_DRAWS draws. NAN: a draw has no value. */
static double standard_error(struct drawing *d)
{
    double sum = 0, squares = 0, n = (double)d->n, first = difference(d);
    for (size_t i = 0; i < LB_RESAMPLE_DRAWS; i++) {
        memset(d->weight, 0, d->what->n_rounds * sizeof *d->weight);
        for (size_t k = 0; k < d->n; k++)
            d->weight[d->rounds[lb_random_below(&d->random, d->n)]]++;
        double off = difference(d) - first; /* from the first: no digits are lost in the squares */
        sum += off, squares += off * off;
    }
    double mean = sum / LB_RESAMPLE_DRAWS, variance = squares / LB_RESAMPLE_DRAWS - mean * mean;
    return sqrt(fmax(0, variance) * n / (n - 1) + 2 * d->what->resolution * d->what->resolution);
}

static void resample_pair(struct drawing *d, struct lb_family *family, struct lb_block_pair *pair)
{
    *pair = (struct lb_block_pair){.value = NAN, .low = -INFINITY, .high = INFINITY};
    take_rounds(d);
    pair->n = d->n;
    if (d->n > 0 && is_enough(d))
        pair->value = difference(d);
    if (d->n < LB_RESAMPLE_MIN_ROUNDS || isnan(pair->value))
        return;
    pair->df = (double)(d->n - 1);
    pair->error = standard_error(d);
    double reach = pair->error * lb_family_quantile(family, pair->df);
    if (!isnan(reach)) {
        pair->low = pair->value - reach;
        pair->high = pair->value + reach;
    }
}

static struct lb_block_pair turned(struct lb_block_pair pair)
{
    double low = pair.low;
    pair.value = -pair.value;
    pair.low = -pair.high;
    pair.high = -low;
    return pair;
}

void lb_blocks_resample(const struct lb_resampled *what, struct lb_family *family,
                        struct lb_block_noise *ret_noise, struct lb_block_pair *ret_pairs)
{
    size_t k = what->n_strategies, n_pairs = 0;
    struct drawing d = {.what = what,
                        .rounds = lb_malloc((what->n_rounds + 1) * sizeof *d.rounds),
                        .weight = lb_malloc((what->n_rounds + 1) * sizeof *d.weight)};
    double variance = 0;
    family->guards_two = true;
    for (size_t i = 0; i < k; i++) {
        ret_pairs[i * k + i] = (struct lb_block_pair){.value = NAN, .low = NAN, .high = NAN};
        for (size_t j = i + 1; j < k; j++) {
            struct lb_block_pair *pair = &ret_pairs[i * k + j];
            *pair = ret_pairs[i * k + i];
            if (!family->has_reference || i == family->reference || j == family->reference) {
                d.base = i, d.new = j;
                lb_random_init(&d.random, what->seed, i * k + j);
                resample_pair(&d, family, pair);
            }
            ret_pairs[j * k + i] = turned(*pair);
            if (isfinite(pair->low)) {
                variance += pair->error * pair->error * (double)pair->n / 2;
                n_pairs++;
            }
        }
    }
    free(d.rounds);
    free(d.weight);
    *ret_noise = (struct lb_block_noise){.sd = n_pairs > 0 ? sqrt(variance / (double)n_pairs) : 0};
}

double lb_resample_power(size_t n_strategies, size_t n_rounds, double sd, double alpha)
{
    struct lb_family family = {.n_strategies = n_strategies, .alpha = alpha, .guards_two = true};
    double r = (double)n_rounds;
    if (n_rounds < LB_RESAMPLE_MIN_ROUNDS || n_strategies < 2)
        return INFINITY;
    return expm1(sd * sqrt(2 / r) *
                 (lb_family_quantile(&family, r - 1) + lb_t_quantile(0.8, r - 1)));
}

size_t lb_resample_rounds(size_t n_strategies, double difference, double sd, double alpha)
{
    return lb_rounds_that_show(lb_resample_power, LB_RESAMPLE_MIN_ROUNDS, n_strategies, difference,
                               sd, alpha);
}
