/* Throughput against the size of a claim, and its price: how long a worker has the items of a claim
 * in hand, and their fate if it dies. Every format prints these rows.
 */
#include "batches.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lb_batch_fate(const struct lb_batch_row *row, char *buf, size_t size)
{
    const struct lb_cell *cell = row->cell;
    const unsigned claims = cell->strategy->claims;
    const char *fate = "wait for recover";
    if ((claims & LB_G_BIT(LB_G_NO_LOSS)) == 0)
        fate = (claims & LB_G_BIT(LB_G_ONCE)) != 0 ? "lost" : "not promised back";
    else if (cell->strategy->is_lease)
        fate = "wait for the lease";
    else if ((claims & LB_G_BIT(LB_G_RECOVERY)) != 0)
        fate = "back at once";
    snprintf(buf, size, "up to %llu %s", (unsigned long long)cell->scenario.batch, fate);
    return buf;
}

static bool is_told(const struct lb_cell *cell)
{
    return cell->n_runs > 0 && cell->scenario.shape == LB_QUEUE;
}

static bool is_same(const struct lb_cell *a, const struct lb_cell *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->engine, b->engine) == 0;
}

static double in_hand_ns(const struct lb_cell *cell)
{
    double cycles = 0, claims = 0, n_cycles = 0, n_claims = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_histogram *cycle = cell->runs[i]->service[LB_M_CYCLE];
        const struct lb_histogram *claim = cell->runs[i]->service[LB_M_ACQUIRE];
        if (cycle == NULL || claim == NULL || cycle->count == 0 || claim->count == 0)
            continue;
        cycles += lb_histogram_mean(cycle) * (double)cycle->count;
        claims += lb_histogram_mean(claim) * (double)claim->count;
        n_cycles += (double)cycle->count;
        n_claims += (double)claim->count;
    }
    double mean = n_cycles > 0 ? cycles / n_cycles - claims / n_claims : 0;
    return mean > 0 ? mean : 0;
}

static bool sizes_differ(const struct lb_report *report)
{
    const struct lb_cell *first = NULL;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (!is_told(cell))
            continue;
        first = first != NULL ? first : cell;
        if (cell->scenario.batch != first->scenario.batch)
            return true;
    }
    return false;
}

static void add(struct lb_batches *batches, const struct lb_cell *cell)
{
    struct lb_summary summary;
    lb_cell_summarise(cell, &summary);
    batches->rows[batches->n++] = (struct lb_batch_row){
        .cell = cell, .successes_per_s = summary.successes_per_s, .in_hand_ns = in_hand_ns(cell)};
}

void lb_batches_make(const struct lb_report *report, struct lb_batches *ret)
{
    *ret = (struct lb_batches){0};
    if (!sizes_differ(report))
        return;
    ret->rows = lb_calloc(report->n_cells, sizeof *ret->rows);
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *first = &report->cells[i];
        bool is_first = is_told(first);
        for (size_t j = 0; j < i && is_first; j++)
            is_first = !(is_told(&report->cells[j]) && is_same(&report->cells[j], first));
        for (size_t j = i; j < report->n_cells && is_first; j++)
            if (is_told(&report->cells[j]) && is_same(&report->cells[j], first))
                add(ret, &report->cells[j]);
    }
}

void lb_batches_release(struct lb_batches *batches)
{
    free(batches->rows);
    *batches = (struct lb_batches){0};
}
