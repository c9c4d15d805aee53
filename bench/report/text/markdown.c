/* Results as Markdown, for a pull request: one table per scenario, claims of several sizes beside
 * each other, the differences to the fastest, a line for every violation and for every cell without
 * numbers, and the baseline's comparison. */
#include "batches.h"
#include "cell_waits.h"
#include "diff.h"
#include "ranking.h"
#include "report.h"
#include "servers.h"
#include "steady.h"
#include "table.h"
#include "text.h"
#include "units.h"

static const struct lb_column columns[] = {
    {"strategy", false}, {"engine", false}, {"scenario", false}, {"verdict", false},
    {"success/s", true}, {"tries", true},   {"p50", true},       {"p99", true},
    {"max", true},       {"cpu", true}};
enum { COLUMNS = sizeof columns / sizeof columns[0], FIGURES = 6 };

static void add_row(struct lb_table *table, const struct lb_cell *cell)
{
    struct lb_summary s;
    struct lb_estimate rate;
    char text[300], value[32], low[32], high[32];
    lb_text_add_cell(table, cell);
    lb_table_add(table, lb_cell_verdict(cell, text, sizeof text), LB_INK_PLAIN);
    if (cell->n_runs == 0) {
        for (int i = 0; i < FIGURES; i++)
            lb_table_add(table, "", LB_INK_PLAIN);
        return;
    }
    lb_cell_summarise(cell, &s);
    lb_format_count(s.successes_per_s, value, sizeof value);
    if (lb_cell_rate(cell, &rate))
        lb_table_addf(table, "%s [%s, %s]", value,
                      lb_format_count(rate.interval.low, low, sizeof low),
                      lb_format_count(rate.interval.high, high, sizeof high));
    else
        lb_table_add(table, value, LB_INK_PLAIN);
    lb_table_addf(table, s.n_successes > 0 ? "%.2f" : "n/a", s.attempts_per_success);
    lb_table_add_time(table, s.quantile_ns[0]);
    lb_table_add_time(table, s.quantile_ns[3]);
    lb_table_add_time(table, s.has_latency ? s.max_ns : UINT64_MAX);
    lb_table_add_time(table, lb_summary_cpu_ns(&s));
}

static void print_scenario(const struct lb_sink_state *state, const struct lb_cell *first)
{
    FILE *out = state->out;
    const struct lb_report *report = state->report;
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    fprintf(out, "\n### %.*s\n\n", (int)lb_scenario_base(first->scenario.name),
            first->scenario.name);
    lb_markdown_text(out, first->scenario.question);
    fputs(first->scenario.question[0] != '\0' ? "\n\n" : "", out);
    for (size_t i = 0; i < report->n_cells; i++)
        if (lb_cell_same_question(&report->cells[i], first))
            add_row(table, &report->cells[i]);
    lb_table_markdown(table, out);
}

static void print_batches(const struct lb_sink_state *state)
{
    struct lb_batches batches;
    lb_batches_make(state->report, &batches);
    if (batches.n == 0)
        return;
    fputs("\n### By items per claim\n\n", state->out);
    lb_table_markdown(lb_text_batch_table(&batches), state->out);
    lb_batches_release(&batches);
    fputs("\n" LB_BATCHES_READING "\n", state->out);
}

static void print_waits(const struct lb_sink_state *state)
{
    struct lb_table *table = lb_text_wait_table(state->report);
    if (lb_table_is_empty(table)) {
        lb_table_free(table);
        return;
    }
    fputs("\n### Waits of items\n\n", state->out);
    lb_table_markdown(table, state->out);
    fputs("\n" LB_WAITS_READING "\n", state->out);
}

static void print_rank_table(const struct lb_sink_state *state, const struct lb_rank_table *table,
                             const struct lb_ranking *rankings)
{
    FILE *out = state->out;
    char text[LB_RANK_TEXT];
    const struct lb_cell *first = table->ranks[0].cell;
    fputs("\n### ", out);
    lb_markdown_text(out, lb_rank_question(table, text, sizeof text));
    snprintf(text, sizeof text, " %s on %s, %zu rounds", first->scenario.name, first->engine,
             table->n_rounds);
    lb_markdown_text(out, text);
    fputs("\n\n", out);
    lb_markdown_text(out, lb_rank_answer(table, LB_RANK_RATE, text, sizeof text));
    fputs("\n\n", out);
    lb_markdown_text(out, lb_servers_or_choice(table, rankings, text, sizeof text));
    fputs("\n\n", out);
    struct lb_table *ranks = lb_text_rank_table(table);
    lb_table_hide(ranks, "success/s"); /* it stands in the scenario's table */
    lb_table_markdown(ranks, out);
    fputc('\n', out);
    lb_markdown_text(out, lb_rank_power(table, LB_RANK_RATE, text, sizeof text));
    fputc('\n', out);
    for (int m = LB_RANK_RATE + 1; m < LB_RANK_MEASURES; m++) {
        fputc('\n', out);
        lb_markdown_text(out,
                         lb_rank_beside(state->report, table, &rankings[m], text, sizeof text));
        fputc('\n', out);
    }
}

static void print_ranking(const struct lb_sink_state *state)
{
    struct lb_ranking rankings[LB_RANK_MEASURES];
    const struct lb_ranking *rates = &rankings[LB_RANK_RATE];
    lb_rankings_make(state->report, rankings);
    for (size_t i = 0; i < rates->n_tables; i++)
        print_rank_table(state, &rates->tables[i], rankings);
    if (rates->n_tables > 0)
        fputs("\n" LB_RANK_READING "\n", state->out);
    if (lb_ranking_lacks_runs(state->report))
        fputs("\n" LB_ONE_RUN "\n", state->out);
    lb_rankings_release(rankings);
}

/* "- strategy on engine, scenario" and the rest of the sentence. */
static void print_note(FILE *out, const struct lb_cell *cell, const char *rest)
{
    char text[1200];
    snprintf(text, sizeof text, "%s on %s, %s%s", cell->name, cell->engine, cell->scenario.name,
             rest);
    fputs("\n- ", out);
    lb_markdown_text(out, text);
    fputc('\n', out);
}

/* Important notes: violations with the command that repeats them, and cells that did not run or do
 * not count. */
static void print_notes(FILE *out, const struct lb_cell *cell)
{
    char text[1200];
    const struct lb_outcome *run = NULL;
    const char *why = cell->state == LB_CELL_FAILED ? cell->error.message : cell->reason;
    for (size_t i = 0; i < cell->n_runs && why[0] == '\0'; i++)
        why = cell->runs[i]->reason;
    size_t n_drifted = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        struct lb_steadiness steady;
        lb_run_steadiness(cell->runs[i], &steady);
        n_drifted += steady.verdict == LB_RUN_DRIFTING;
    }
    if (n_drifted > 0) {
        snprintf(text, sizeof text, ": %zu of %zu runs had not reached a steady state", n_drifted,
                 cell->n_runs);
        print_note(out, cell, text);
    }
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *f = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (f == NULL || f->verdict != LB_V_VIOLATED)
            continue;
        snprintf(text, sizeof text, "%s on %s, %s violated %s: %s", cell->name, cell->engine,
                 cell->scenario.name, lb_guarantee_name((enum lb_guarantee)g),
                 f->n_witnesses > 0 ? f->witness[0].text : "");
        fputs("\n- **VIOLATED** ", out);
        lb_markdown_text(out, text);
        fprintf(out, " Again: `%s`\n", lb_reproduce(cell, run, NULL, text, sizeof text));
    }
    for (int g = 0; g < LB_GUARANTEES && cell->state == LB_CELL_DONE; g++) {
        const struct lb_finding *f = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (f == NULL || f->verdict != LB_V_NOT_TESTED)
            continue;
        snprintf(text, sizeof text, ": %s is not tested: %s",
                 lb_guarantee_name((enum lb_guarantee)g), f->reason);
        print_note(out, cell, text);
    }
    if (why[0] == '\0')
        return;
    snprintf(text, sizeof text, ": %s", why);
    print_note(out, cell, text);
}

static void markdown_end(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    FILE *out = state->out;
    fprintf(out, "**lockbench %s** %s: seed %llu, %llu run%s per cell, %ld cores (", LB_VERSION,
            report->command, (unsigned long long)report->seed, (unsigned long long)report->n_repeat,
            report->n_repeat == 1 ? "" : "s", report->environment.n_cores);
    lb_markdown_text(out, report->environment.machine);
    fprintf(out, "), %s\n", report->environment.system);
    if (report->diff != NULL) {
        fputc('\n', out);
        state->rc = lb_diff_markdown(report->diff, out, state->err);
    }
    for (size_t i = 0; i < report->n_cells && state->rc == 0; i++) {
        if (lb_cell_is_first(report, i, lb_cell_same_question))
            print_scenario(state, &report->cells[i]);
    }
    if (state->rc == 0) {
        print_batches(state);
        print_waits(state);
        print_ranking(state);
    }
    for (size_t i = 0; i < report->n_cells; i++)
        print_notes(out, &report->cells[i]);
}

const struct lb_sink lb_sink_markdown = {.name = "markdown",
                                         .summary = "a table for a comment or a page",
                                         .of = LB_OF_RUNS,
                                         .file = "report.md",
                                         .end = markdown_end};
