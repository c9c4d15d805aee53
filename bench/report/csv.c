/* Results as comma-separated values: one row per run, a header first (RFC 4180). A cell that did
 * not run has one row, with its reason. */
#include "report.h"

#include <string.h>

static void field(FILE *out, const char *text, bool first)
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

static void number(FILE *out, uint64_t value)
{
    char text[32] = "";
    if (value != UINT64_MAX)
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    field(out, text, false);
}

static void real(FILE *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    field(out, text, false);
}

static const char *const numbers[] = {"run",
                                      "seed",
                                      "elapsed_ns",
                                      "successes",
                                      "successes_per_s",
                                      "attempts_per_success",
                                      "cpu_us_per_success",
                                      "jain"};

static void csv_begin(struct lb_sink_state *state)
{
    FILE *out = state->out;
    char name[64];
    static const char *const texts[] = {"strategy", "engine",   "target", "scenario", "options",
                                        "verdict",  "violated", "reason", "proof",    "proven"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        field(out, texts[i], i == 0);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        field(out, numbers[i], false);
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        snprintf(name, sizeof name, "%s_ns", lb_quantile_names[q]);
        field(out, name, false);
    }
    field(out, "max_ns", false);
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++)
        field(out, key->name, false);
    fputs("\r\n", out);
}

/* One run on its own: a cell with that run only, so that verdict and numbers are the run's. */
static void row(FILE *out, const struct lb_cell *cell, size_t run)
{
    struct lb_cell one = *cell;
    struct lb_summary summary;
    char text[300], *violated;
    if (cell->n_runs > 0) {
        one.runs = cell->runs + run;
        one.n_runs = 1;
    }
    lb_cell_verdict(&one, text, sizeof text);
    violated = strchr(text, ' ');
    bool is_violated = lb_cell_standing(&one) == LB_STANDS_VIOLATED && violated != NULL;
    if (is_violated)
        *violated++ = '\0';
    field(out, cell->name, true);
    field(out, cell->engine, false);
    field(out, cell->target != NULL ? cell->target->label : "", false);
    field(out, cell->scenario.name, false);
    field(out, one.n_runs > 0 ? one.runs[0]->options : "", false);
    field(out, is_violated ? "violated" : text, false);
    field(out, is_violated ? violated : "", false);
    field(out,
          cell->state == LB_CELL_FAILED ? cell->error.message
          : one.n_runs > 0              ? one.runs[0]->reason
                                        : cell->reason,
          false);
    bool has_proof = one.n_runs > 0 && one.runs[0]->proof.name[0] != '\0';
    field(out, has_proof ? one.runs[0]->proof.name : "", false);
    field(out, has_proof ? lb_verdict_name(one.runs[0]->proof.verdict) : "", false);
    if (one.n_runs == 0) {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] + LB_QUANTILES + 1; i++)
            fputc(',', out);
    } else {
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
    }
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        lb_scenario_get(&cell->scenario, key, text, sizeof text);
        field(out, text, false);
    }
    fputs("\r\n", out);
}

static void csv_cell(struct lb_sink_state *state, const struct lb_cell *cell)
{
    for (size_t run = 0; run == 0 || run < cell->n_runs; run++)
        row(state->out, cell, run);
    fflush(state->out);
}

const struct lb_sink lb_sink_csv = {.name = "csv", .begin = csv_begin, .cell = csv_cell};
