/* Waits by tenant and priority: see cell_waits.h. */
#include "cell_waits.h"

#include "json_object.h"

#include <string.h>

enum { MOST_RUNS = 32 }; /* the runs of one cell count together */
#define LEVEL 0.95

/* What a tenant got of its fair share, with its 95 % interval; NAN: it had no work. */
static struct lb_estimate served_of(const struct lb_wait_row *const *rows, size_t n)
{
    double served[MOST_RUNS * LB_WAIT_BLOCKS], due[MOST_RUNS * LB_WAIT_BLOCKS];
    size_t n_blocks = 0;
    for (size_t r = 0; r < n && r < MOST_RUNS; r++)
        for (size_t b = 0; b < LB_WAIT_BLOCKS; b++)
            if (rows[r]->due[b] > 0 || rows[r]->served[b] > 0) {
                served[n_blocks] = rows[r]->served[b];
                due[n_blocks++] = rows[r]->due[b];
            }
    return lb_stats_ratio_of_sums(served, due, n_blocks, LEVEL);
}

static json_t *row_json(const struct lb_wait_row *row, enum lb_waits_by by)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "name", row->name);
    lb_put_count(&object, "claimed", row->n_claimed);
    lb_put_count(&object, "left", row->n_left);
    lb_put_count(&object, "wait_p50_ns", row->p50_ns);
    lb_put_count(&object, "wait_p95_ns", row->p95_ns);
    lb_put_count(&object, "wait_max_ns", row->max_ns);
    if (by == LB_BY_TENANT) {
        struct lb_estimate served = served_of(&row, 1);
        lb_put(&object, "served", lb_estimate_json(&served));
    }
    return lb_object_end(&object);
}

struct json_t *lb_waits_json(const struct lb_waits waits[LB_WAITS_BY])
{
    static const char *const names[LB_WAITS_BY] = {"tenant", "priority"};
    struct lb_object object = lb_object_new();
    for (enum lb_waits_by by = 0; by < LB_WAITS_BY; by++) {
        struct lb_object rows = lb_list_new();
        for (size_t i = 0; i < waits[by].n; i++)
            lb_add(&rows, row_json(&waits[by].rows[i], by));
        lb_put(&object, names[by], lb_object_end(&rows));
    }
    return lb_object_end(&object);
}

/* --- of a cell --- */

/* The first run of the cell with such a row, in which a later one cannot be new. */
static const struct lb_wait_row *row_of(const struct lb_outcome *run, enum lb_waits_by by,
                                        const char *name)
{
    const struct lb_waits *waits = &run->judgement.measures.waits[by];
    for (size_t i = 0; i < waits->n; i++)
        if (strcmp(waits->rows[i].name, name) == 0)
            return &waits->rows[i];
    return NULL;
}

static const struct lb_wait_row *find(const struct lb_cell *cell, enum lb_waits_by by, size_t place)
{
    for (size_t r = 0; r < cell->n_runs; r++) {
        const struct lb_waits *waits = &cell->runs[r]->judgement.measures.waits[by];
        for (size_t i = 0; i < waits->n; i++) {
            bool is_new = true;
            for (size_t before = 0; before < r && is_new; before++)
                is_new = row_of(cell->runs[before], by, waits->rows[i].name) == NULL;
            if (is_new && place-- == 0)
                return &waits->rows[i];
        }
    }
    return NULL;
}

bool lb_waits_of(const struct lb_cell *cell, enum lb_waits_by by, size_t place,
                 struct lb_cell_waits *ret_waits)
{
    const struct lb_wait_row *rows[MOST_RUNS];
    double p50[MOST_RUNS], p95[MOST_RUNS], seconds = 0;
    size_t n = 0;
    struct lb_cell_waits waits = {.first = find(cell, by, place)};
    if (waits.first == NULL)
        return false;
    for (size_t r = 0; r < cell->n_runs && n < MOST_RUNS; r++) {
        const struct lb_wait_row *row = row_of(cell->runs[r], by, waits.first->name);
        if (row == NULL)
            continue;
        waits.n_claimed += row->n_claimed;
        waits.n_left += row->n_left;
        waits.max_ns = row->max_ns > waits.max_ns ? row->max_ns : waits.max_ns;
        p50[n] = (double)row->p50_ns;
        p95[n] = (double)row->p95_ns;
        rows[n++] = row;
        seconds += (double)cell->runs[r]->elapsed_ns / 1e9;
    }
    lb_stats_sort(p50, n);
    lb_stats_sort(p95, n);
    waits.p50_ns = (uint64_t)lb_stats_quantile(p50, n, 0.5);
    waits.p95_ns = (uint64_t)lb_stats_quantile(p95, n, 0.5);
    waits.rate = seconds > 0 ? (double)waits.n_claimed / seconds : 0;
    waits.served = served_of(rows, n);
    *ret_waits = waits;
    return true;
}
