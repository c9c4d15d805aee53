/* The table of the faults' effects: deaths and recoveries, the three verdicts of a lease, harm at
 * the guarded row. Printed where a cell had faults, or a guarded row.
 */
#include "text.h"

#include "table.h"

#include <stdio.h>

static const struct lb_column columns[] = {
    {"strategy", false},      {"engine", false}, {"fault", false},      {"faults", true},
    {"lost conn", true},      {"deaths", true},  {"recovered", true},   {"stuck", true},
    {"median", true},         {"longest", true}, {"protocol", true},    {"belief", true},
    {"stale accepted", true}, {"refused", true}, {"lost writes", true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static bool is_wanted(const struct lb_cell *cell)
{
    return cell->n_runs > 0 && (cell->scenario.fault != LB_FAULT_NONE || cell->scenario.guard);
}

static void add_count(struct lb_table *table, uint64_t n, enum lb_ink ink)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    lb_table_add(table, text, n > 0 ? ink : LB_INK_PLAIN);
}

static void add_row(struct lb_table *table, const struct lb_cell *cell)
{
    uint64_t n_faults = 0, n_lost = 0, n_guard_lost = 0;
    const struct lb_measures sum = lb_cell_measures(cell);
    for (size_t i = 0; i < cell->n_runs; i++) {
        n_faults += cell->runs[i]->n_faults;
        n_lost += cell->runs[i]->n_lost;
        n_guard_lost += cell->runs[i]->n_guard_lost;
    }
    lb_table_add(table, cell->name, LB_INK_PLAIN);
    lb_table_add(table, cell->engine, LB_INK_PLAIN);
    lb_table_add(table, lb_fault_name(cell->scenario.fault), LB_INK_PLAIN);
    add_count(table, n_faults, LB_INK_PLAIN);
    add_count(table, n_lost, LB_INK_PLAIN);
    add_count(table, sum.n_deaths, LB_INK_PLAIN);
    if (sum.n_deaths > 0 && sum.n_deaths == sum.n_deaths_beside)
        lb_table_add(table, "n/a", LB_INK_PLAIN);
    else
        add_count(table, sum.n_recovered, LB_INK_PLAIN);
    add_count(table, sum.n_stuck, LB_INK_BAD);
    lb_table_add_time(table, sum.n_recovered > 0 ? sum.p50_recovery_ns : UINT64_MAX);
    lb_table_add_time(table, sum.n_recovered > 0 ? sum.max_recovery_ns : UINT64_MAX);
    add_count(table, sum.n_cut_violations, LB_INK_BAD);
    add_count(table, sum.n_uncut_violations, LB_INK_WARN);
    add_count(table, sum.n_stale_writes_accepted, LB_INK_BAD);
    add_count(table, sum.n_stale_writes_refused, LB_INK_PLAIN);
    add_count(table, n_guard_lost, LB_INK_BAD);
}

static void print_migrations(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    char text[400];
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_migration *migration = &cell->runs[i]->migration;
        if (migration->took_ns > 0)
            lb_text_say(state, 0, "%s on %s: %s.", cell->name, cell->engine,
                        lb_migration_text(migration, text, sizeof text));
    }
}

void lb_text_faults(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    for (size_t i = 0; i < report->n_cells; i++)
        if (is_wanted(&report->cells[i]))
            add_row(table, &report->cells[i]);
    if (lb_table_is_empty(table)) {
        lb_table_free(table);
    } else {
        fputs("\nfaults\n", state->out);
        lb_table_show(table, 0, NULL, state->out, state->color);
        lb_text_say(
            state, 0,
            "deaths: holds, and items in hand, of workers that died; stuck: items that no worker "
            "could claim again when the queue was drained. median, longest: from a death to the "
            "next grant. protocol: overlaps of holds cut "
            "where the database ended them; belief: overlaps of what holders believed; "
            "stale: writes to the guarded row (--guard) with a token that a later "
            "holder's had passed; lost writes: accepted ones that another "
            "holder wrote over.");
    }
    for (size_t i = 0; i < report->n_cells; i++)
        print_migrations(state, &report->cells[i]);
}
