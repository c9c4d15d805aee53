/* Results as comma-separated values: one row per run, a header first (RFC 4180). A cell that did
 * not run has one row, with its reason. The comparison with the reference is the cell's, and stands
 * in each of its rows; it needs all cells, so nothing is written before the end. */
#include "memory.h"
#include "ranking.h"
#include "report.h"
#include "steady.h"
#include "text_clean.h"
#include "untested.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

static void plain(FILE *out, const char *text, bool first)
{
    if (!first)
        fputc(',', out);
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* Foreign text: a field that a spreadsheet would take for a formula is marked as text. */
static void field(FILE *out, const char *text, bool first)
{
    char *shown = lb_format("'%s", text), *clean = lb_clean_text(shown + 1);
    bool is_formula = clean[0] != '\0' && strchr("=+-@", clean[0]) != NULL;
    plain(out, is_formula ? shown : clean, first);
    free(shown);
}

static void number(FILE *out, uint64_t value)
{
    char text[32] = "";
    if (value != UINT64_MAX)
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    plain(out, text, false);
}

static void real(FILE *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    plain(out, text, false);
}

static const char *const numbers[] = {"run",
                                      "seed",
                                      "elapsed_ns",
                                      "successes",
                                      "successes_per_s",
                                      "attempts_per_success",
                                      "cpu_us_per_success",
                                      "jain"};

/* Of the rate, of the p99 of the waits and of the CPU per success. */
static const char *const comparisons[] = {
    "steady_state",   "reference",      "ratio",          "ratio_low",     "ratio_high",
    "letters",        "comparison",     "p99_reference",  "p99_ratio",     "p99_ratio_low",
    "p99_ratio_high", "p99_letters",    "p99_comparison", "cpu_reference", "cpu_ratio",
    "cpu_ratio_low",  "cpu_ratio_high", "cpu_letters",    "cpu_comparison"};

static const char *const reads[] = {"reads", "read_p50_ns", "read_p99_ns"};

static void header(FILE *out)
{
    char name[64];
    static const char *const texts[] = {"strategy", "engine",  "target",    "scenario",
                                        "options",  "verdict", "violated",  "reason",
                                        "proof",    "proven",  "not_tested"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        field(out, texts[i], i == 0);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        field(out, numbers[i], false);
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        snprintf(name, sizeof name, "%s_ns", lb_quantile_names[q]);
        field(out, name, false);
    }
    field(out, "max_ns", false);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        field(out, reads[i], false);
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
        field(out, comparisons[i], false);
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++)
        field(out, key->name, false);
    fputs("\r\n", out);
}

static void ratio(FILE *out, double value)
{
    if (isfinite(value))
        real(out, value);
    else
        field(out, "", false);
}

/* The cell in its table; empty fields where there were too few runs. */
static void comparison(FILE *out, const struct lb_ranking *ranking, const struct lb_cell *cell)
{
    const struct lb_rank_table *table;
    const struct lb_rank *rank = lb_ranking_find(ranking, cell, &table);
    if (rank == NULL) {
        fputs(",,,,,,", out);
        return;
    }
    field(out, table->ranks[table->reference].cell->name, false);
    ratio(out, rank->ratio.value);
    ratio(out, rank->ratio.interval.low);
    ratio(out, rank->ratio.interval.high);
    field(out, rank->letters, false);
    field(out, lb_rank_is(table, rank, ranking->measured), false);
}

/* The words about a run: one is a cell with that run only, or with none. */
static void words(FILE *out, const struct lb_cell *one)
{
    char text[300], missed[1000], *violated;
    const struct lb_outcome *run = one->n_runs > 0 ? one->runs[0] : NULL;
    lb_cell_verdict(one, text, sizeof text);
    violated = strchr(text, ' ');
    bool is_violated = lb_cell_standing(one) == LB_STANDS_VIOLATED && violated != NULL;
    if (is_violated)
        *violated++ = '\0';
    field(out, one->name, true);
    field(out, one->engine, false);
    field(out, one->target != NULL ? one->target->label : "", false);
    field(out, one->scenario.name, false);
    field(out, run != NULL ? run->options : "", false);
    field(out, is_violated ? "violated" : text, false);
    field(out, is_violated ? violated : "", false);
    field(out,
          one->state == LB_CELL_FAILED ? one->error.message
          : run == NULL                ? one->reason
          : run->reason[0] != '\0'     ? run->reason
                                       : lb_cell_missed(one, missed, sizeof missed),
          false);
    bool has_proof = run != NULL && run->proof.name[0] != '\0';
    field(out, has_proof ? run->proof.name : "", false);
    field(out, has_proof ? lb_verdict_name(run->proof.verdict) : "", false);
    field(out, lb_untested_names(one, missed, sizeof missed), false);
}

/* One run on its own: a cell with that run only, so that verdict and numbers are the run's. */
static void row(FILE *out, const struct lb_ranking *rankings, const struct lb_cell *cell,
                size_t run)
{
    struct lb_cell one = *cell;
    struct lb_summary summary;
    char text[300];
    if (cell->n_runs > 0) {
        one.runs = cell->runs + run;
        one.n_runs = 1;
    }
    words(out, &one);
    if (one.n_runs == 0) {
        for (size_t i = 0;
             i < sizeof numbers / sizeof numbers[0] + LB_QUANTILES + 1 +
                     sizeof reads / sizeof reads[0] + sizeof comparisons / sizeof comparisons[0];
             i++)
            fputc(',', out);
    } else {
        struct lb_steadiness steady;
        lb_run_steadiness(one.runs[0], &steady);
        lb_cell_summarise(&one, &summary);
        number(out, run + 1);
        number(out, one.runs[0]->seed);
        number(out, one.runs[0]->elapsed_ns);
        number(out, summary.n_successes);
        real(out, summary.successes_per_s);
        real(out, summary.attempts_per_success);
        real(out, summary.cpu_us_per_success);
        real(out, summary.jain);
        for (size_t q = 0; q < LB_QUANTILES; q++)
            number(out, summary.quantile_ns[q]);
        number(out, summary.has_latency ? summary.max_ns : UINT64_MAX);
        const struct lb_histogram *read = one.runs[0]->service[LB_M_READ];
        bool has_reads = cell->scenario.readers > 0 && read != NULL && read->count > 0;
        number(out, cell->scenario.readers > 0 && read != NULL ? read->count : UINT64_MAX);
        number(out, has_reads ? lb_histogram_quantile(read, 0.5) : UINT64_MAX);
        number(out, has_reads ? lb_histogram_quantile(read, 0.99) : UINT64_MAX);
        field(out, lb_steadiness_name(steady.verdict), false);
        for (int m = 0; m < LB_RANK_MEASURES; m++)
            comparison(out, &rankings[m], cell);
    }
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        lb_scenario_get(&cell->scenario, key, text, sizeof text);
        field(out, text, false);
    }
    fputs("\r\n", out);
}

static void csv_end(struct lb_sink_state *state)
{
    struct lb_ranking rankings[LB_RANK_MEASURES];
    lb_rankings_make(state->report, rankings);
    header(state->out);
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        for (size_t run = 0; run == 0 || run < cell->n_runs; run++)
            row(state->out, rankings, cell, run);
    }
    lb_rankings_release(rankings);
}

const struct lb_sink lb_sink_csv = {.name = "csv",
                                    .summary = "a line for each run",
                                    .of = LB_OF_RUNS | LB_OF_PLANS,
                                    .file = "report.csv",
                                    .end = csv_end};
