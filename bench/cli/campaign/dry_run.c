/* --dry-run: see dry_run.h. */
#include "dry_run.h"

#include "append.h"
#include "forecast.h"
#include "progress.h"
#include "table.h"
#include "units.h"

static bool ends_by_itself(const struct lb_cell *cell)
{
    uint64_t ignored;
    return !lb_forecast_length(cell, &ignored);
}

uint64_t lb_dry_run_ns(const struct lb_report *report)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        uint64_t length_ns;
        if (cell->state == LB_CELL_SKIPPED)
            continue;
        lb_forecast_length(cell, &length_ns);
        sum_ns = sum_ns > UINT64_MAX - length_ns ? UINT64_MAX : sum_ns + length_ns;
    }
    return sum_ns > UINT64_MAX / report->n_repeat ? UINT64_MAX : sum_ns * report->n_repeat;
}

bool lb_dry_run_is_open(const struct lb_report *report)
{
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].state != LB_CELL_SKIPPED && ends_by_itself(&report->cells[i]))
            return true;
    return false;
}

/* "10 s after 1 s of warm-up", "until 1000 items are done", "all interleavings" */
static void describe_run(const struct lb_cell *cell, char *buf, size_t size)
{
    const struct lb_scenario *scenario = &cell->scenario;
    char length[32], warmup[32];
    if (cell->is_explored) {
        snprintf(buf, size, "interleavings%s%s",
                 cell->explored.time_ns > 0 ? ", at most " : " until all are tried",
                 cell->explored.time_ns > 0
                     ? lb_format_ns(cell->explored.time_ns, length, sizeof length)
                     : "");
        return;
    }
    lb_format_ns(scenario->duration_ns, length, sizeof length);
    if (scenario->drain)
        snprintf(buf, size, "until %llu items are done", (unsigned long long)scenario->backlog);
    else if (scenario->count > 0)
        snprintf(buf, size, "%llu operations of each worker", (unsigned long long)scenario->count);
    else
        snprintf(buf, size, "%s", length);
    if (scenario->warmup_ns > 0)
        lb_append(buf, size, " after %s of warm-up",
                  lb_format_ns(scenario->warmup_ns, warmup, sizeof warmup));
}

static void print_cells(const struct lb_report *report, bool by_budget, FILE *out)
{
    static const struct lb_column columns[] = {{"strategy", false}, {"engine", false},
                                               {"scenario", false}, {"workers", true},
                                               {"runs", true},      {"each", false}};
    struct lb_table *table = lb_table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        char workers[32] = "", runs[32], each[400];
        bool is_skipped = cell->state == LB_CELL_SKIPPED;
        if (!cell->is_explored)
            snprintf(workers, sizeof workers, "%llu", (unsigned long long)cell->scenario.workers);
        snprintf(runs, sizeof runs, by_budget ? ">=%llu" : "%llu",
                 (unsigned long long)(is_skipped ? 0 : report->n_repeat));
        if (is_skipped)
            snprintf(each, sizeof each, "SKIP %s", cell->reason);
        else
            describe_run(cell, each, sizeof each);
        lb_table_add(table, cell->name, LB_INK_PLAIN);
        lb_table_add(table, cell->engine, LB_INK_PLAIN);
        lb_table_add(table, cell->scenario.name, LB_INK_PLAIN);
        lb_table_add(table, workers, LB_INK_PLAIN);
        lb_table_add(table, is_skipped ? "0" : runs, LB_INK_PLAIN);
        lb_table_add(table, each, LB_INK_PLAIN);
    }
    lb_table_show(table, 0, NULL, out, false);
}

/* "about 2 min 5 s", "at least 2 min 5 s, and until the backlogs are empty", ... Returns buf. */
static const char *describe_time(const struct lb_report *report, char *buf, size_t size)
{
    char span[32];
    uint64_t ns = lb_dry_run_ns(report);
    lb_format_span(ns, span, sizeof span);
    if (!lb_dry_run_is_open(report))
        snprintf(buf, size, "about %s", span);
    else if (ns >= UINT64_C(1000000000))
        snprintf(buf, size, "at least %s: some of them end when their work is done", span);
    else
        snprintf(buf, size, "as long as the work takes");
    return buf;
}

void lb_dry_run_print(const struct lb_report *report, uint64_t budget_ns, bool grows, FILE *out)
{
    size_t n_cells = 0, n_targets = 0;
    char text[120];
    print_cells(report, budget_ns > 0, out);
    for (size_t i = 0; i < report->n_cells; i++) {
        n_cells += report->cells[i].state != LB_CELL_SKIPPED;
        n_targets += report->cells[i].target != NULL;
    }
    if (budget_ns > 0)
        fprintf(out, "\n%zu cell%s, in rounds until all is decided: about %s at most\n", n_cells,
                n_cells == 1 ? "" : "s", lb_format_span(budget_ns, text, sizeof text));
    else {
        uint64_t n_runs = n_cells * report->n_repeat;
        fprintf(out, "\n%zu cell%s, %llu run%s, which take%s %s%s\n", n_cells,
                n_cells == 1 ? "" : "s", (unsigned long long)n_runs, n_runs == 1 ? "" : "s",
                n_runs == 1 ? "s" : "", describe_time(report, text, sizeof text),
                grows ? "; more runs may follow from the results" : "");
    }
    fprintf(out, "Nothing was run.%s\n",
            n_targets > 0 ? " No server was asked: missing features are skipped in a run." : "");
}

void lb_dry_run_tell_plan(const struct lb_report *report, size_t n_plans, size_t n_levels,
                          bool has_slo, uint64_t most_ns)
{
    size_t n_cells = 0;
    char text[120], most[120] = "", span[40], plans[40] = "";
    if (most_ns > lb_dry_run_ns(report))
        snprintf(most, sizeof most,
                 "; those that differ are run again, for about %s in all at most",
                 lb_format_span(most_ns, span, sizeof span));
    for (size_t i = 0; i < report->n_cells; i++)
        n_cells += report->cells[i].state != LB_CELL_SKIPPED;
    uint64_t n_runs = n_cells * report->n_repeat;
    char times[40] = "once each";
    if (report->n_repeat > 1)
        snprintf(times, sizeof times, "%llu times each", (unsigned long long)report->n_repeat);
    if (n_plans > 1)
        snprintf(plans, sizeof plans, "%zu plans, each of ", n_plans);
    fprintf(stderr, "lockbench: %llu runs (%s%zu numbers of workers, %s) take %s%s%s\n",
            (unsigned long long)n_runs, plans, n_levels, times,
            describe_time(report, text, sizeof text), most,
            has_slo ? "; the trials for --slo come on top of that" : "");
}
