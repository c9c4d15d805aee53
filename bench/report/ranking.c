/* How sure is the order of the table? See ranking.h.
 *
 * The reference is picked by the same numbers that are then compared with it, so every pair has
 * been looked at: Holm's correction counts all pairs of each table, not only those that are shown.
 * Strategies of one engine under one scenario are compared, never across engines: that would
 * compare servers, and their settings.
 */
#include "ranking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lb_compare_options lb_ranking_options = {
    .level = 0.95, .band = 0.05, .higher_is_better = true};

struct rates {
    double *values;
    int64_t *start_ms;
    size_t n;
};

static void release_rates(struct rates *rates)
{
    free(rates->values);
    free(rates->start_ms);
}

/* Of the complete runs. Release in any case. */
static int take_rates(const struct lb_cell *cell, struct rates *ret, struct lb_error *err)
{
    *ret = (struct rates){.values = malloc((cell->n_runs + 1) * sizeof *ret->values),
                          .start_ms = malloc((cell->n_runs + 1) * sizeof *ret->start_ms)};
    if (ret->values == NULL || ret->start_ms == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    for (size_t i = 0; i < cell->n_runs; i++) {
        if (cell->runs[i]->state != LB_RUN_COMPLETE)
            continue;
        ret->start_ms[ret->n] = cell->runs[i]->start_unix_ms;
        ret->values[ret->n++] = cell->runs[i]->successes_per_s;
    }
    return 0;
}

bool lb_cell_rate(const struct lb_cell *cell, struct lb_estimate *ret)
{
    struct rates rates;
    struct lb_error err;
    bool enough = take_rates(cell, &rates, &err) == 0 && rates.n >= 2;
    if (enough) {
        lb_stats_sort(rates.values, rates.n);
        *ret = lb_stats_median(rates.values, rates.n, lb_ranking_options.level);
    }
    release_rates(&rates);
    return enough;
}

static bool same_table(const struct lb_cell *a, const struct lb_cell *b)
{
    char x[300], y[300];
    if (strcmp(a->engine, b->engine) != 0 || strcmp(a->scenario.name, b->scenario.name) != 0)
        return false;
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        lb_scenario_get(&a->scenario, key, x, sizeof x);
        lb_scenario_get(&b->scenario, key, y, sizeof y);
        if (strcmp(x, y) != 0)
            return false;
    }
    return true;
}

struct entry {
    const struct lb_cell *cell;
    double median;
    bool held;
};

static int fastest_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->median > y->median || x->median < y->median)
        return x->median > y->median ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* The cells of the table that first opens, fastest first. */
static size_t collect(const struct lb_report *report, const struct lb_cell *first,
                      struct entry *entries)
{
    size_t n = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        struct lb_estimate rate;
        if (same_table(cell, first) && lb_cell_rate(cell, &rate))
            entries[n++] =
                (struct entry){cell, rate.value, lb_cell_standing(cell) == LB_STANDS_HELD};
    }
    qsort(entries, n, sizeof *entries, fastest_first);
    return n;
}

static int add_row(struct lb_ranking *ranking, const struct lb_cell *reference,
                   const struct lb_cell *cell, struct lb_error *err)
{
    struct lb_ranking_row *row = &ranking->rows[ranking->n_rows];
    struct rates base = {0}, new = {0};
    int rc = take_rates(reference, &base, err);
    if (rc == 0)
        rc = take_rates(cell, &new, err);
    if (rc == 0) {
        const struct lb_runs a = {base.values, base.start_ms, base.n};
        const struct lb_runs b = {new.values, new.start_ms, new.n};
        rc = lb_stats_compare(&a, &b, &lb_ranking_options, &row->comparison, err);
    }
    release_rates(&base);
    release_rates(&new);
    if (rc != 0)
        return rc;
    row->cell = cell;
    row->reference = reference;
    ranking->n_rows++;
    return 0;
}

static int add_table(struct lb_ranking *ranking, const struct entry *entries, size_t n,
                     struct lb_error *err)
{
    size_t best = 0;
    while (best < n && !entries[best].held)
        best++;
    if (n < 2)
        return 0;
    if (best == n)
        best = 0;
    ranking->n_family += n * (n - 1) / 2;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        if (i != best)
            rc = add_row(ranking, entries[best].cell, entries[i].cell, err);
    return rc;
}

static int decide(struct lb_ranking *ranking, struct lb_error *err)
{
    struct lb_comparison *family = malloc((ranking->n_rows + 1) * sizeof *family);
    if (family == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    for (size_t i = 0; i < ranking->n_rows; i++)
        family[i] = ranking->rows[i].comparison;
    struct lb_compare_options options = lb_ranking_options;
    options.n_implied = ranking->n_family - ranking->n_rows;
    int rc = lb_stats_decide(family, ranking->n_rows, &options, err);
    for (size_t i = 0; i < ranking->n_rows && rc == 0; i++)
        ranking->rows[i].comparison = family[i];
    free(family);
    return rc;
}

int lb_ranking_make(const struct lb_report *report, struct lb_ranking *ret, struct lb_error *err)
{
    struct lb_ranking ranking = {.rows = calloc(report->n_cells + 1, sizeof *ranking.rows)};
    struct entry *entries = calloc(report->n_cells + 1, sizeof *entries);
    int rc =
        ranking.rows == NULL || entries == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : 0;
    for (size_t i = 0; i < report->n_cells && rc == 0; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = !same_table(&report->cells[j], &report->cells[i]);
        if (is_first)
            rc = add_table(&ranking, entries, collect(report, &report->cells[i], entries), err);
    }
    if (rc == 0)
        rc = decide(&ranking, err);
    free(entries);
    if (rc != 0)
        lb_ranking_release(&ranking);
    else
        *ret = ranking;
    return rc;
}

bool lb_ranking_lacks_runs(const struct lb_report *report)
{
    for (size_t i = 0; i < report->n_cells && report->n_repeat == 1; i++)
        for (size_t j = 0; j < i; j++)
            if (report->cells[i].n_runs > 0 && report->cells[j].n_runs > 0 &&
                same_table(&report->cells[j], &report->cells[i]))
                return true;
    return false;
}

const char *lb_ranking_test(const struct lb_ranking *ranking)
{
    size_t n_paired = 0;
    for (size_t i = 0; i < ranking->n_rows; i++)
        n_paired += ranking->rows[i].comparison.is_paired;
    return n_paired == 0 ? "exact Mann-Whitney"
           : n_paired == ranking->n_rows
               ? "exact rank sums of pairs of runs"
               : "exact rank sums, of pairs of runs where they are paired";
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
    int n = snprintf(buf, size, "%.0f %% intervals", 100 * level);
    if (coverage->least < level && n > 0 && (size_t)n < size)
        snprintf(buf + n, size - (size_t)n, " (from so few runs the least cover %.3g %%)",
                 100 * coverage->least);
    return buf;
}

void lb_ranking_release(struct lb_ranking *ranking)
{
    free(ranking->rows);
    *ranking = (struct lb_ranking){0};
}
