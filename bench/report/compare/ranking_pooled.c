/* Statistics that are not a mean of rounds: the 99th percentile of the waits of all runs together,
 * and the CPU of all their successes. Compared by a block bootstrap over rounds: see blocks.h and
 * ranking.h.
 */
#include "ranking_pooled.h"

#include "memory.h"
#include "tail.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>

#define P99 0.99
/* As many as a percentile needs anywhere here (lb_histogram_enough): 10/(1-q). */
#define LEAST_SAMPLES 1000
enum { CUT_SHARE = 10 };

bool lb_rank_uses(const struct lb_outcome *run, enum lb_measured measured)
{
    return run->state == LB_RUN_COMPLETE || (measured != LB_RANK_P99 && lb_run_is_late(run));
}

static bool has_run(const struct lb_cell *cell, size_t run, enum lb_measured measured)
{
    if (run >= cell->n_runs || !lb_rank_uses(cell->runs[run], measured))
        return false;
    const struct lb_outcome *r = cell->runs[run];
    return measured == LB_RANK_P99 ? lb_run_wait(r) != NULL && lb_run_wait(r)->count > 0
                                   : r->has_cpu && r->successes_per_s > 0;
}

/* The number of rounds in which a cell has a measurement. */
static size_t rounds_of(const struct lb_cell *cell, enum lb_measured measured)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        n += has_run(cell, i, measured);
    return n;
}

static uint64_t samples_of(const struct lb_cell *cell)
{
    uint64_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        if (has_run(cell, i, LB_RANK_P99))
            n += lb_run_wait(cell->runs[i])->count;
    return n;
}

/* A run that ends by the clock cuts off waits, and the longer one is the likelier. Where the
 * percentile is as long as a tenth of the run, a tenth of the values near it is missing, and the
 * percentile is too low. 0: nothing is cut off. */
static uint64_t cutting_ns(const struct lb_cell *cell, uint64_t *ret_p99_ns)
{
    uint64_t shortest_ns = UINT64_MAX;
    struct lb_summary summary;
    if (cell->scenario.drain || cell->scenario.count > 0)
        return 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        if (has_run(cell, i, LB_RANK_P99) && cell->runs[i]->elapsed_ns < shortest_ns)
            shortest_ns = cell->runs[i]->elapsed_ns;
    lb_cell_summarise(cell, &summary);
    *ret_p99_ns = summary.quantile_ns[3];
    return *ret_p99_ns != UINT64_MAX && *ret_p99_ns > shortest_ns / CUT_SHARE ? shortest_ns : 0;
}

static const char *lacks_length(const struct lb_cell *cell, char *buf, size_t size)
{
    uint64_t p99_ns, run_ns = cutting_ns(cell, &p99_ns);
    char p99[32], run[32];
    if (run_ns == 0)
        return NULL;
    snprintf(buf, size, "%s, in runs of %s", lb_format_ns(p99_ns, p99, sizeof p99),
             lb_format_ns(run_ns, run, sizeof run));
    return buf;
}

const char *lb_pooled_lacks(const struct lb_cell *cell, enum lb_measured measured, char *buf,
                            size_t size)
{
    size_t rounds = rounds_of(cell, measured);
    uint64_t samples = measured == LB_RANK_P99 ? samples_of(cell) : LEAST_SAMPLES;
    if (rounds < LB_RESAMPLE_MIN_ROUNDS)
        snprintf(buf, size, "%zu of at least %d rounds", rounds, LB_RESAMPLE_MIN_ROUNDS);
    else if (samples < LEAST_SAMPLES)
        snprintf(buf, size, "%llu of at least %d waits", (unsigned long long)samples,
                 LEAST_SAMPLES);
    else
        return measured == LB_RANK_P99 ? lacks_length(cell, buf, size) : NULL;
    return buf;
}

/* The data behind a table's values. */
struct pool {
    const struct lb_rank_table *table;
    enum lb_measured measured;
    struct lb_tail **tails; /* p99: one for each rank */
};

static double cpu_of(const struct lb_cell *cell, const double *weight)
{
    double cpu_us = 0, successes = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        if (!has_run(cell, i, LB_RANK_CPU))
            continue;
        const struct lb_outcome *run = cell->runs[i];
        cpu_us += weight[i] * (double)(run->cpu_user_ns + run->cpu_system_ns) / 1e3;
        successes += weight[i] * run->successes_per_s * (double)run->elapsed_ns / 1e9;
    }
    return cpu_us > 0 && successes > 0 ? cpu_us / successes : NAN;
}

/* In ns or us; NAN: there is none. */
static double value_of(const struct pool *pool, size_t rank, const double *weight)
{
    if (pool->measured == LB_RANK_CPU)
        return cpu_of(pool->table->ranks[rank].cell, weight);
    return lb_tail_quantile(pool->tails[rank], weight, P99);
}

/* More is better: the logarithm of one over it. 1 ns more, as 0 ns has no logarithm. */
static double log_of(void *arg, size_t rank, const double *weight)
{
    const struct pool *pool = arg;
    return -log(value_of(pool, rank, weight) + (pool->measured == LB_RANK_P99 ? 1 : 0));
}

static bool is_enough(void *arg, size_t rank, const double *weight)
{
    const struct pool *pool = arg;
    return pool->measured == LB_RANK_CPU ||
           lb_tail_count(pool->tails[rank], weight) >= LEAST_SAMPLES;
}

static void close_pool(struct pool *pool)
{
    for (size_t i = 0; i < pool->table->n; i++)
        lb_tail_free(pool->tails[i]);
    free(pool->tails);
}

static void open_pool(struct pool *pool)
{
    size_t n = pool->table->n, r = pool->table->n_rounds;
    const struct lb_histogram **runs = lb_calloc(r + 1, sizeof *runs);
    pool->tails = lb_calloc(n + 1, sizeof(struct lb_tail *));
    for (size_t i = 0; i < n && pool->measured == LB_RANK_P99; i++) {
        const struct lb_cell *cell = pool->table->ranks[i].cell;
        for (size_t k = 0; k < r; k++)
            runs[k] = has_run(cell, k, LB_RANK_P99) ? lb_run_wait(cell->runs[k]) : NULL;
        pool->tails[i] = lb_tail_new(runs, r);
    }
    free(runs);
}

static void compare(struct lb_rank_table *table, struct pool *pool, size_t reference, uint64_t seed,
                    bool *has, double *weight, struct lb_block_pair *pairs)
{
    size_t n = table->n, r = table->n_rounds;
    for (size_t k = 0; k < r; k++)
        weight[k] = 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < r; k++)
            has[i * r + k] = has_run(table->ranks[i].cell, k, pool->measured);
        table->ranks[i].pooled = value_of(pool, i, weight);
    }
    struct lb_family family = {.has_reference = reference < n,
                               .reference = reference,
                               .n_strategies = n,
                               .alpha = 1 - LB_RANKING_LEVEL};
    const struct lb_resampled what = {.n_strategies = n,
                                      .n_rounds = r,
                                      .has = has,
                                      .of = log_of,
                                      .is_enough = is_enough,
                                      .arg = pool,
                                      .resolution =
                                          pool->measured == LB_RANK_P99 ? LB_TAIL_RESOLUTION : 0,
                                      .seed = seed};
    lb_blocks_resample(&what, &family, &table->noise, pairs);
}

void lb_pooled_compare(struct lb_rank_table *table, enum lb_measured measured, size_t reference,
                       uint64_t seed, struct lb_block_result *results)
{
    size_t n = table->n, r = table->n_rounds;
    struct pool pool = {.table = table, .measured = measured};
    bool *has = lb_malloc(n * r + 1);
    double *weight = lb_malloc((r + 1) * sizeof *weight);
    struct lb_block_pair *pairs = lb_malloc((n * n + 1) * sizeof *pairs);
    open_pool(&pool);
    compare(table, &pool, reference, seed, has, weight, pairs);
    for (size_t i = 0; i < n * n; i++)
        results[i] = (struct lb_block_result){
            pairs[i],
            isnan(pairs[i].low) ? LB_STATS_INCONCLUSIVE
                                : lb_block_verdict(pairs[i].low, pairs[i].high, LB_RANKING_BAND),
            0};
    table->n_looks = 1;
    table->alpha = 1 - LB_RANKING_LEVEL;
    close_pool(&pool);
    free(has);
    free(weight);
    free(pairs);
}
