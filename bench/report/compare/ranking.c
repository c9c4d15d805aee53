/* Which strategy is the fastest, and how sure is that? See ranking.h.
 *
 * Strategies of one engine under one scenario are compared, or one strategy on several servers of
 * one engine (compare with several -d), never both at once, and never engines. A table is one
 * question, and one family of intervals. The
 * reference is picked by the same numbers that are then compared with it, so all pairs of a table
 * are in the family. Hsu's comparisons with the best have shorter intervals, but their error of 5 %
 * is that the best is called "not the best". If several are equally good, they call one of the
 * others that much more often: with eleven equal strategies in 31 % of the tables, with three in
 * 13 % (simulated; docs/design/compare.md). A user would read that as "slower". A reference that
 * was named beforehand is compared with each: Dunnett.
 */
#include "ranking.h"

#include "append.h"
#include "memory.h"
#include "ranking_pooled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lb_measured_name(enum lb_measured measured)
{
    static const char *const names[] = {"rate", "p99", "cpu"};
    return names[measured];
}

const char *lb_measured_title(enum lb_measured measured)
{
    static const char *const names[] = {"success/s", "p99 of the wait", "CPU per success"};
    return names[measured];
}

/* --- values of runs --- */

/* The rate of a run in which nothing succeeded is not known to be 0: half a success. */
static double rate_of(const struct lb_outcome *run)
{
    double half = run->elapsed_ns > 0 ? 0.5e9 / (double)run->elapsed_ns : 0.5;
    return run->successes_per_s > 0 ? run->successes_per_s : half;
}

/* Of one run, on the log scale, and so that more is better; NAN: the run has none. */
static double value_of(const struct lb_cell *cell, size_t run, enum lb_measured measured)
{
    struct lb_cell one = *cell;
    struct lb_summary summary;
    if (run >= cell->n_runs || !lb_rank_uses(cell->runs[run], measured))
        return NAN;
    if (measured == LB_RANK_RATE)
        return log(rate_of(cell->runs[run]));
    one.runs = cell->runs + run;
    one.n_runs = 1;
    lb_cell_summarise(&one, &summary);
    if (measured == LB_RANK_CPU)
        return summary.cpu_us_per_success > 0 ? -log(summary.cpu_us_per_success) : NAN;
    return summary.quantile_ns[3] != UINT64_MAX ? -log((double)summary.quantile_ns[3] + 1) : NAN;
}

/* In the measured unit. */
static double natural(double value, enum lb_measured measured)
{
    return measured == LB_RANK_RATE ? exp(value) : exp(-value);
}

static size_t values_of(const struct lb_cell *cell, enum lb_measured measured, double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        double value = value_of(cell, i, measured);
        if (!isnan(value))
            values[n++] = natural(value, measured);
    }
    return n;
}

bool lb_cell_rate(const struct lb_cell *cell, struct lb_estimate *ret)
{
    double *rates = lb_malloc((cell->n_runs + 1) * sizeof *rates);
    size_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        if (cell->runs[i]->state == LB_RUN_COMPLETE)
            rates[n++] = cell->runs[i]->successes_per_s;
    if (n >= 2) {
        lb_stats_sort(rates, n);
        *ret = lb_stats_median(rates, n, LB_RANKING_LEVEL);
    }
    free(rates);
    return n >= 2;
}

bool lb_ranking_is_without(const struct lb_cell *cell)
{
    size_t n_complete = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        n_complete += cell->runs[i]->state == LB_RUN_COMPLETE;
        if (cell->runs[i]->successes_per_s > 0)
            return false;
    }
    return n_complete > 0;
}

/* A lease, or a pipeline, that only the file says is the protocol's own, like its statements: it
 * does not change the question, as a --ttl does. */
static bool is_asked_alike(const struct lb_key *key, const struct lb_cell *a,
                           const struct lb_cell *b)
{
    bool is_own =
        (strcmp(key->name, "ttl") == 0 && (a->has_own_ttl || b->has_own_ttl)) ||
        (strcmp(key->name, "pipeline") == 0 && (a->has_own_pipeline || b->has_own_pipeline));
    return is_own && a->strategy != b->strategy;
}

bool lb_ranking_same_table(const struct lb_cell *a, const struct lb_cell *b)
{
    char x[300], y[300];
    if (a->is_explored || b->is_explored || a->compares_servers != b->compares_servers)
        return false;
    if (a->compares_servers
            ? a->target->db->name != b->target->db->name || strcmp(a->name, b->name) != 0
            : strcmp(a->engine, b->engine) != 0)
        return false;
    if (strcmp(a->scenario.name, b->scenario.name) != 0)
        return false;
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        lb_scenario_get(&a->scenario, key, x, sizeof x);
        lb_scenario_get(&b->scenario, key, y, sizeof y);
        if (strcmp(x, y) != 0 && !is_asked_alike(key, a, b))
            return false;
    }
    return true;
}

const char *lb_rank_name(const struct lb_rank *rank)
{
    return rank->cell->compares_servers ? rank->cell->engine : rank->cell->name;
}

/* --- a table --- */

static bool may_be_ranked(const struct lb_cell *cell, enum lb_measured measured, double *room)
{
    char lacks[100];
    if (lb_ranking_is_without(cell))
        return false;
    return measured == LB_RANK_RATE ? values_of(cell, measured, room) >= 2
                                    : lb_pooled_lacks(cell, measured, lacks, sizeof lacks) == NULL;
}

static bool is_known_broken(const struct lb_cell *cell)
{
    bool is = false;
    for (int g = 0; g < LB_GUARANTEES; g++)
        is |= lb_cell_known_break(cell, (enum lb_guarantee)g) != NULL;
    return is;
}

/* True if nothing speaks against the cell but a generator that was late in some of its rounds. */
static bool held_when_late(const struct lb_cell *cell)
{
    bool is_tested = false;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        if (lb_ranks_are_near(&run->ranks) || !lb_rank_uses(run, LB_RANK_RATE))
            return false;
        for (int g = 0; g < LB_GUARANTEES; g++)
            is_tested |= run->judgement.findings[g].verdict == LB_V_HELD;
    }
    return is_tested;
}

static double served_of(const struct lb_cell *cell)
{
    double served = 0, due = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        if (!lb_rank_uses(run, LB_RANK_RATE) || run->n_due == 0)
            continue;
        served += lb_trial_served(run) * (double)run->n_due;
        due += (double)run->n_due;
    }
    return cell->scenario.rate[0] != '\0' && due > 0 ? served / due : NAN;
}

/* May it be chosen? */
static void judge(struct lb_rank *rank)
{
    const struct lb_cell *cell = rank->cell;
    enum lb_standing standing = lb_cell_standing(cell);
    rank->served = served_of(cell);
    rank->held =
        standing == LB_STANDS_HELD || (standing == LB_STANDS_INCONCLUSIVE && held_when_late(cell));
    rank->is_undecided =
        !rank->held && standing != LB_STANDS_VIOLATED && standing != LB_STANDS_FAILED;
    if (!rank->held) {
        snprintf(rank->why, sizeof rank->why, "%s", lb_standing_name(standing));
    } else if (is_known_broken(cell)) {
        snprintf(rank->why, sizeof rank->why, "known to be broken");
        rank->held = false;
    } else if (rank->served < LB_TRIAL_SERVED) {
        snprintf(rank->why, sizeof rank->why, "falls behind: served %.1f %%", rank->served * 100);
        rank->held = false;
        rank->is_behind = true;
    }
}

/* The cells of the table that first opens. room: as many values as any cell has runs. */
static void collect(const struct lb_report *report, const struct lb_cell *first,
                    enum lb_measured measured, double *room, struct lb_rank_table *table)
{
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (!lb_ranking_same_table(cell, first))
            continue;
        if (lb_ranking_is_without(cell))
            table->without[table->n_without++] = cell;
        if (!may_be_ranked(cell, measured, room))
            continue;
        size_t n = values_of(cell, measured, room);
        lb_stats_sort(room, n);
        struct lb_estimate none = {NAN, {NAN, NAN, 0}};
        table->ranks[table->n++] =
            (struct lb_rank){.cell = cell,
                             .median = n > 0 ? lb_stats_median(room, n, LB_RANKING_LEVEL) : none,
                             .pooled = NAN};
        judge(&table->ranks[table->n - 1]);
        if (cell->n_runs > table->n_rounds)
            table->n_rounds = cell->n_runs;
    }
}

/* Numbers of a table while it is being made. */
struct making {
    double *values; /* by rank and round */
    double *level;  /* of each rank, without the common effects of its rounds */
    struct lb_block_result *results;
    bool *differ;
    struct lb_rank *sorted;
};

static void begin(struct making *making, const struct lb_rank_table *table)
{
    size_t n = table->n, r = table->n_rounds;
    *making = (struct making){.values = lb_malloc((n * r + 1) * sizeof *making->values),
                              .level = lb_calloc(n + 1, sizeof *making->level),
                              .results = lb_calloc(n * n + 1, sizeof *making->results),
                              .differ = lb_calloc(n * n + 1, sizeof *making->differ),
                              .sorted = lb_calloc(n + 1, sizeof *making->sorted)};
}

static void end(struct making *making)
{
    free(making->values);
    free(making->level);
    free(making->results);
    free(making->differ);
    free(making->sorted);
}

static void take_values(const struct lb_rank_table *table, enum lb_measured measured,
                        struct making *making)
{
    for (size_t i = 0; i < table->n; i++)
        for (size_t j = 0; j < table->n_rounds; j++)
            making->values[i * table->n_rounds + j] = value_of(table->ranks[i].cell, j, measured);
}

/* The order of the ranks: the mean of each one's difference to the others. */
static void take_levels(const struct lb_rank_table *table, struct making *making)
{
    size_t n = table->n;
    for (size_t i = 0; i < n; i++) {
        double sum = 0, count = 0;
        for (size_t j = 0; j < n; j++) {
            double value = making->results[j * n + i].pair.value;
            if (i != j && !isnan(value))
                sum += value, count++;
        }
        making->level[i] = count > 0 ? sum / count : 0;
    }
}

/* Sorts the ranks, the best first. */
static void sort(struct lb_rank_table *table, struct making *making)
{
    size_t n = table->n;
    for (size_t i = 0; i < n; i++) {
        size_t place = 0;
        for (size_t j = 0; j < n; j++)
            place += making->level[j] > making->level[i] ||
                     (j < i && making->level[j] >= making->level[i]);
        making->sorted[place] = table->ranks[i];
    }
    memcpy(table->ranks, making->sorted, n * sizeof *table->ranks);
}

/* Of servers the first that was given, unless one is named. */
static void pick_reference(const struct lb_report *report, struct lb_rank_table *table)
{
    for (size_t i = 0; i < table->n && report->reference != NULL; i++)
        if (strcmp(lb_rank_name(&table->ranks[i]), report->reference) == 0) {
            table->reference = i;
            table->is_named = true;
            return;
        }
    if (table->n > 0 && table->ranks[0].cell->compares_servers) {
        for (size_t i = 1; i < table->n; i++)
            if (table->ranks[i].cell < table->ranks[table->reference].cell)
                table->reference = i;
        table->is_named = true;
        return;
    }
    while (table->reference < table->n && !table->ranks[table->reference].held)
        table->reference++;
    if (table->reference == table->n)
        table->reference = 0;
}

/* The looks that were taken, or one at the end. */
static size_t looks_of(const struct lb_rank_table *table, struct lb_look *looks)
{
    const struct lb_looks *taken = table->ranks[0].cell->looks;
    size_t n = taken != NULL ? taken->n : 0;
    for (size_t i = 0; i < n; i++)
        looks[i] = (struct lb_look){.n_rounds = taken->at[i].n_rounds, .alpha = taken->at[i].alpha};
    if (n == 0)
        looks[n++] = (struct lb_look){.n_rounds = table->n_rounds, .alpha = 1 - LB_RANKING_LEVEL};
    return n;
}

static void replay(struct lb_rank_table *table, enum lb_measured measured, size_t reference,
                   uint64_t seed, struct making *making)
{
    if (measured != LB_RANK_RATE) {
        lb_pooled_compare(table, measured, reference, seed, making->results);
        return;
    }
    struct lb_look looks[LB_MOST_LOOKS];
    struct lb_blocks blocks = {making->values, table->n, table->n_rounds};
    table->n_looks = looks_of(table, looks);
    table->alpha = looks[table->n_looks - 1].alpha;
    lb_blocks_replay(&blocks, looks, table->n_looks, reference, LB_RANKING_BAND, &table->noise,
                     making->results);
}

/* A decision of an earlier look stays, so the best by all rounds may be one that was found slower
 * than another: then that one is it. */
static void heed_decisions(struct lb_rank_table *table, const struct making *making)
{
    for (size_t step = 0; step < table->n && !table->is_named; step++)
        for (size_t i = 0; i < table->n; i++)
            if (i != table->reference && table->ranks[i].held &&
                making->results[table->reference * table->n + i].verdict == LB_STATS_FASTER) {
                table->reference = i;
                break;
            }
}

static void take_results(struct lb_rank_table *table, enum lb_measured measured,
                         const struct making *making)
{
    size_t n = table->n;
    for (size_t i = 0; i < n; i++) {
        struct lb_rank *rank = &table->ranks[i];
        const struct lb_block_result *result = &making->results[table->reference * n + i];
        if (i == table->reference) {
            rank->ratio = (struct lb_estimate){1, {1, 1, LB_RANKING_LEVEL}};
            rank->n_rounds = rank->cell->n_runs;
            rank->verdict = LB_STATS_EQUIVALENT;
            continue;
        }
        double low = natural(result->pair.low, measured),
               high = natural(result->pair.high, measured);
        rank->ratio = (struct lb_estimate){natural(result->pair.value, measured),
                                           {fmin(low, high), fmax(low, high), LB_RANKING_LEVEL}};
        rank->n_rounds = result->pair.n;
        rank->look = result->look;
        rank->verdict = result->verdict;
    }
    for (size_t i = 0; i < n * n; i++) {
        enum lb_stats_verdict verdict = making->results[i].verdict;
        bool is_pair = i % n != i / n && !isnan(making->results[i].pair.low);
        making->differ[i] = is_pair && (verdict == LB_STATS_FASTER || verdict == LB_STATS_SLOWER);
        table->is_open[i] = is_pair && verdict == LB_STATS_INCONCLUSIVE;
        table->n_open += table->is_open[i] && i % n < i / n;
    }
}

static void give_letters(struct lb_rank_table *table, const struct making *making)
{
    char(*letters)[LB_LETTERS_TEXT] = lb_calloc(table->n, sizeof *letters);
    struct lb_error ignored;
    if (!table->is_named && lb_stats_letters(making->differ, table->n, letters, &ignored) == 0)
        for (size_t i = 0; i < table->n; i++)
            memcpy(table->ranks[i].letters, letters[i], LB_LETTERS_TEXT);
    free(letters);
}

static void take_power(struct lb_rank_table *table, enum lb_measured measured)
{
    const double alpha = 1 - LB_RANKING_LEVEL, sd = table->noise.sd;
    bool is_mean = measured == LB_RANK_RATE;
    table->shows = is_mean ? lb_blocks_power(table->n, table->n_rounds, sd, alpha)
                           : lb_resample_power(table->n, table->n_rounds, sd, alpha);
    table->band_rounds = is_mean ? lb_blocks_rounds(table->n, LB_RANKING_BAND, sd, alpha)
                                 : lb_resample_rounds(table->n, LB_RANKING_BAND, sd, alpha);
}

static void fill(const struct lb_report *report, struct lb_rank_table *table,
                 enum lb_measured measured)
{
    struct making making;
    begin(&making, table);
    table->is_open = lb_calloc(table->n * table->n + 1, sizeof *table->is_open);
    take_values(table, measured, &making);
    /* Once for the order, and again in it. */
    replay(table, measured, SIZE_MAX, report->seed, &making);
    take_levels(table, &making);
    sort(table, &making);
    take_values(table, measured, &making);
    pick_reference(report, table);
    replay(table, measured, table->is_named ? table->reference : SIZE_MAX, report->seed, &making);
    heed_decisions(table, &making);
    take_results(table, measured, &making);
    take_power(table, measured);
    give_letters(table, &making);
    end(&making);
}

static void release_table(struct lb_rank_table *table)
{
    free(table->ranks);
    free(table->without);
    free(table->is_open);
}

static void add_table(struct lb_ranking *ranking, const struct lb_report *report,
                      const struct lb_cell *first, double *room)
{
    struct lb_rank_table table = {.ranks = lb_calloc(report->n_cells + 1, sizeof *table.ranks),
                                  .without = lb_calloc(report->n_cells + 1, sizeof *table.without)};
    collect(report, first, ranking->measured, room, &table);
    if (table.n < 2) {
        release_table(&table);
        return;
    }
    fill(report, &table, ranking->measured);
    ranking->tables[ranking->n_tables++] = table;
}

void lb_ranking_make(const struct lb_report *report, enum lb_measured measured,
                     struct lb_ranking *ret)
{
    *ret = (struct lb_ranking){.measured = measured,
                               .tables = lb_calloc(report->n_cells + 1, sizeof *ret->tables)};
    size_t most = 0;
    for (size_t i = 0; i < report->n_cells; i++)
        most = report->cells[i].n_runs > most ? report->cells[i].n_runs : most;
    double *room = lb_malloc((most + 1) * sizeof *room);
    for (size_t i = 0; i < report->n_cells && most >= 2; i++)
        if (lb_cell_is_first(report, i, lb_ranking_same_table))
            add_table(ret, report, &report->cells[i], room);
    free(room);
}

const struct lb_rank *lb_ranking_find(const struct lb_ranking *ranking, const struct lb_cell *cell,
                                      const struct lb_rank_table **ret_table)
{
    for (size_t t = 0; t < ranking->n_tables; t++)
        for (size_t i = 0; i < ranking->tables[t].n; i++)
            if (ranking->tables[t].ranks[i].cell == cell) {
                *ret_table = &ranking->tables[t];
                return &ranking->tables[t].ranks[i];
            }
    return NULL;
}

bool lb_ranking_lacks_runs(const struct lb_report *report)
{
    for (size_t i = 0; i < report->n_cells && report->n_repeat == 1; i++)
        for (size_t j = 0; j < i; j++)
            if (report->cells[i].n_runs > 0 && report->cells[j].n_runs > 0 &&
                lb_ranking_same_table(&report->cells[j], &report->cells[i]))
                return true;
    return false;
}

char *lb_p_text(double p, char *buf, size_t size)
{
    if (p < 0.001)
        snprintf(buf, size, "<0.001");
    else
        snprintf(buf, size, "%.3f", p);
    return buf;
}

void lb_coverage_take(struct lb_coverage *coverage, const struct lb_comparison *comparison)
{
    coverage->least = fmin(coverage->least, comparison->base.interval.coverage);
    coverage->least = fmin(coverage->least, comparison->new.interval.coverage);
    coverage->least = fmin(coverage->least, comparison->ratio.interval.coverage);
}

char *lb_coverage_text(const struct lb_coverage *coverage, double level, char *buf, size_t size)
{
    snprintf(buf, size, "%.0f %% intervals", 100 * level);
    if (coverage->least < level)
        lb_append(buf, size, " (with these few runs some intervals cover only %.3g %%)",
                  100 * coverage->least);
    return buf;
}

void lb_ranking_release(struct lb_ranking *ranking)
{
    for (size_t i = 0; i < ranking->n_tables; i++)
        release_table(&ranking->tables[i]);
    free(ranking->tables);
    *ranking = (struct lb_ranking){0};
}

void lb_rankings_make(const struct lb_report *report, struct lb_ranking *ret)
{
    for (int m = 0; m < LB_RANK_MEASURES; m++)
        lb_ranking_make(report, (enum lb_measured)m, &ret[m]);
}

void lb_rankings_release(struct lb_ranking *rankings)
{
    for (int m = 0; m < LB_RANK_MEASURES; m++)
        lb_ranking_release(&rankings[m]);
}
