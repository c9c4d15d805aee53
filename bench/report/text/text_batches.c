/* Throughput against the size of a claim, and what it is paid with: how long a worker has the items
 * of a claim in hand, and what becomes of them if it dies.
 */
#include "table.h"
#include "text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

static const struct lb_column columns[] = {{"strategy", false}, {"engine", false},
                                           {"scenario", false}, {"success/s", true},
                                           {"in hand", true},   {"at a death", false}};

/* What becomes of what the dead have. */
static const char *fate_of(const struct lb_cell *cell)
{
    const unsigned claims = cell->strategy->claims;
    if ((claims & LB_G_BIT(LB_G_NO_LOSS)) == 0)
        return (claims & LB_G_BIT(LB_G_ONCE)) != 0 ? "lost" : "not promised back";
    if (cell->strategy->is_lease)
        return "wait for the lease";
    return (claims & LB_G_BIT(LB_G_RECOVERY)) != 0 ? "back at once" : "wait for recover";
}

static bool is_told(const struct lb_cell *cell)
{
    return cell->n_runs > 0 && cell->scenario.shape == LB_QUEUE;
}

static bool is_same(const struct lb_cell *a, const struct lb_cell *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->engine, b->engine) == 0;
}

/* From a claim until the last of its items is ended, on average; 0: nothing was ended. */
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

static void add_row(struct lb_table *table, const struct lb_cell *cell)
{
    char text[80];
    double items = 0, seconds = 0, ns = in_hand_ns(cell);
    for (size_t i = 0; i < cell->n_runs; i++) {
        double run_s = (double)cell->runs[i]->elapsed_ns / 1e9;
        items += cell->runs[i]->successes_per_s * run_s;
        seconds += run_s;
    }
    lb_table_add(table, cell->name, LB_INK_PLAIN);
    lb_table_add(table, cell->engine, LB_INK_PLAIN);
    lb_table_add(table, cell->scenario.name, LB_INK_PLAIN);
    lb_table_add(table, lb_format_count(seconds > 0 ? items / seconds : 0, text, sizeof text),
                 LB_INK_PLAIN);
    lb_table_add(table, ns > 0 ? lb_format_ns((uint64_t)ns, text, sizeof text) : "n/a",
                 LB_INK_PLAIN);
    snprintf(text, sizeof text, "up to %llu %s", (unsigned long long)cell->scenario.batch,
             fate_of(cell));
    lb_table_add(table, text, LB_INK_PLAIN);
}

/* The rows of one strategy on one engine together, though they were run in another order. */
static void add_rows(struct lb_table *table, const struct lb_report *report)
{
    for (size_t i = 0; i < report->n_cells; i++) {
        bool is_first = is_told(&report->cells[i]);
        for (size_t j = 0; j < i && is_first; j++)
            is_first =
                !(is_told(&report->cells[j]) && is_same(&report->cells[j], &report->cells[i]));
        for (size_t j = i; j < report->n_cells && is_first; j++)
            if (is_told(&report->cells[j]) && is_same(&report->cells[j], &report->cells[i]))
                add_row(table, &report->cells[j]);
    }
}

int lb_text_batches(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    const struct lb_cell *first = NULL;
    bool differ = false;
    for (size_t i = 0; i < report->n_cells; i++) {
        if (!is_told(&report->cells[i]))
            continue;
        first = first != NULL ? first : &report->cells[i];
        differ = differ || report->cells[i].scenario.batch != first->scenario.batch;
    }
    if (!differ)
        return 0;
    struct lb_table *table = lb_table_new(columns, sizeof columns / sizeof columns[0]);
    if (table == NULL)
        return -1;
    add_rows(table, report);
    static const char *const order[] = {"engine", NULL};
    char hidden[40];
    lb_table_fit(table, state->width, order, hidden, sizeof hidden);
    fputs("\nBy items per claim\n", state->out);
    int rc = lb_table_print(table, state->out, state->color);
    lb_table_free(table);
    lb_print_hidden(state->out, hidden, state->width);
    lb_print_wrapped(state->out,
                     "in hand: from a claim until the last of its items is ended, on average: so "
                     "long a worker's death finds them with it. at a death: what becomes of these "
                     "items.",
                     0, state->width);
    return rc;
}
