/* Results as Markdown, for a pull request: one table per scenario, the differences to the fastest,
 * a line for every violation and for every cell without numbers, and the baseline's comparison. */
#include "diff.h"
#include "ranking.h"
#include "report.h"
#include "steady.h"
#include "table.h"
#include "units.h"

#include <string.h>

/* Cells under one question: a sweep's points stand in one table, by their full names. */
static bool same_question(const struct lb_cell *a, const struct lb_cell *b)
{
    size_t n = lb_scenario_base(a->scenario.name);
    return n == lb_scenario_base(b->scenario.name) &&
           strncmp(a->scenario.name, b->scenario.name, n) == 0;
}

static void cell_ns(FILE *out, uint64_t ns)
{
    char text[32] = "n/a";
    if (ns != UINT64_MAX)
        lb_format_ns(ns, text, sizeof text);
    lb_markdown_cell(out, text);
}

static void print_row(FILE *out, const struct lb_cell *cell)
{
    struct lb_summary s;
    struct lb_estimate rate;
    char text[300], value[32], low[32], high[32];
    lb_markdown_cell(out, cell->name);
    lb_markdown_cell(out, cell->engine);
    lb_markdown_cell(out, cell->scenario.name);
    lb_markdown_cell(out, lb_cell_verdict(cell, text, sizeof text));
    if (cell->n_runs == 0) {
        fputs("| | | | | | |\n", out);
        return;
    }
    lb_cell_summarise(cell, &s);
    lb_format_count(s.successes_per_s, value, sizeof value);
    if (lb_cell_rate(cell, &rate))
        snprintf(text, sizeof text, "%s [%s, %s]", value,
                 lb_format_count(rate.interval.low, low, sizeof low),
                 lb_format_count(rate.interval.high, high, sizeof high));
    else
        snprintf(text, sizeof text, "%s", value);
    lb_markdown_cell(out, text);
    snprintf(text, sizeof text, s.n_successes > 0 ? "%.2f" : "n/a", s.attempts_per_success);
    lb_markdown_cell(out, text);
    cell_ns(out, s.quantile_ns[0]);
    cell_ns(out, s.quantile_ns[3]);
    cell_ns(out, s.has_latency ? s.max_ns : UINT64_MAX);
    cell_ns(out, s.cpu_us_per_success > 0 ? (uint64_t)(s.cpu_us_per_success * 1e3) : UINT64_MAX);
    fputs("|\n", out);
}

static void print_scenario(FILE *out, const struct lb_report *report, const struct lb_cell *first)
{
    char name[200];
    snprintf(name, sizeof name, "%.*s", (int)lb_scenario_base(first->scenario.name),
             first->scenario.name);
    fprintf(out, "\n### %s\n\n", name);
    lb_markdown_text(out, first->scenario.question);
    fputs(first->scenario.question[0] != '\0' ? "\n\n" : "", out);
    fputs("| strategy | engine | scenario | verdict | success/s | tries | p50 | p99 | max | cpu |\n"
          "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
          out);
    for (size_t i = 0; i < report->n_cells; i++)
        if (same_question(&report->cells[i], first))
            print_row(out, &report->cells[i]);
}

static void print_rank_table(const struct lb_sink_state *state, const struct lb_rank_table *table,
                             const struct lb_ranking *rankings)
{
    FILE *out = state->out;
    char text[LB_RANK_TEXT], rounds[32], ratio[80];
    const struct lb_cell *first = table->ranks[0].cell;
    fputs("\n### Which is the fastest? ", out);
    snprintf(text, sizeof text, "%s on %s, %zu rounds", first->scenario.name, first->engine,
             table->n_rounds);
    lb_markdown_text(out, text);
    fputs("\n\n", out);
    lb_markdown_text(out, lb_rank_answer(table, LB_RANK_RATE, text, sizeof text));
    fputs("\n\n", out);
    lb_markdown_text(out, lb_rank_choice(table, text, sizeof text));
    fputs("\n\n| strategy | ratio | rounds | group | is |\n| --- | ---: | ---: | --- | --- |\n",
          out);
    for (size_t i = 0; i < table->n; i++) {
        const struct lb_rank *rank = &table->ranks[i];
        snprintf(rounds, sizeof rounds, "%zu", rank->n_rounds);
        const char *const cells[] = {
            rank->cell->name,
            i == table->reference ? "1" : lb_rank_ratio(rank, ratio, sizeof ratio), rounds,
            rank->letters, lb_rank_is(table, rank, LB_RANK_RATE)};
        for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++)
            lb_markdown_cell(out, cells[k]);
        fputs("|\n", out);
    }
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

static int print_ranking(const struct lb_sink_state *state)
{
    struct lb_ranking rankings[LB_RANK_MEASURES];
    const struct lb_ranking *rates = &rankings[LB_RANK_RATE];
    if (lb_rankings_make(state->report, rankings, state->err) != 0)
        return state->err->code;
    for (size_t i = 0; i < rates->n_tables; i++)
        print_rank_table(state, &rates->tables[i], rankings);
    if (rates->n_tables > 0)
        fputs("\n" LB_RANK_READING "\n", state->out);
    if (lb_ranking_lacks_runs(state->report))
        fputs("\n" LB_ONE_RUN "\n", state->out);
    lb_rankings_release(rankings);
    return 0;
}

/* What a reader must not miss: violations with the command that repeats them, and what did not run
 * or does not count. */
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
        snprintf(text, sizeof text, "%s on %s, %s: %zu of %zu runs had not reached a steady state",
                 cell->name, cell->engine, cell->scenario.name, n_drifted, cell->n_runs);
        fputs("\n- ", out);
        lb_markdown_text(out, text);
        fputc('\n', out);
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
    if (why[0] == '\0')
        return;
    snprintf(text, sizeof text, "%s on %s, %s: %s", cell->name, cell->engine, cell->scenario.name,
             why);
    fputs("\n- ", out);
    lb_markdown_text(out, text);
    fputc('\n', out);
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
    for (size_t i = 0; i < report->n_cells; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = !same_question(&report->cells[j], &report->cells[i]);
        if (is_first)
            print_scenario(out, report, &report->cells[i]);
    }
    if (state->rc == 0)
        state->rc = print_ranking(state);
    for (size_t i = 0; i < report->n_cells; i++)
        print_notes(out, &report->cells[i]);
}

const struct lb_sink lb_sink_markdown = {.name = "markdown",
                                         .summary = "a table for a comment or a page",
                                         .of = LB_OF_RUNS,
                                         .file = "report.md",
                                         .end = markdown_end};
