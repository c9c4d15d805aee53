/* Results as TAP version 13: one line per strategy, engine, scenario and guarantee, and one for
 * what a scenario proves itself.
 *
 * Names are stable: numbers stand in the YAML block below a line. A guarantee that a strategy does
 * not claim has no line. A control that is known to be broken is ok when it is caught, and not ok
 * when it is not. An untested guarantee is a SKIP with its reason. The plan comes last, since a run
 * may end early; version 13 because that is what Debian 12's prove accepts.
 */
#include "memory.h"
#include "text.h"
#include "text_clean.h"
#include "untested.h"

#include <stdlib.h>
#include <string.h>

/* A description must not hold what TAP takes for a directive. */
static void print_name(FILE *out, const char *text)
{
    lb_print_clean(out, text, "#", (const char *const[]){"_"});
}

static void line(struct lb_sink_state *state, const struct lb_cell *cell, const char *guarantee,
                 bool ok)
{
    state->n_lines++;
    fprintf(state->out, "%s %zu - ", ok ? "ok" : "not ok", state->n_lines);
    print_name(state->out, cell->name);
    fprintf(state->out, " %s %s %s", cell->engine, cell->scenario.name, guarantee);
}

static void skip(struct lb_sink_state *state, const struct lb_cell *cell, const char *guarantee,
                 const char *reason)
{
    line(state, cell, guarantee, true);
    fputs(" # SKIP ", state->out);
    print_name(state->out, reason[0] != '\0' ? reason : "the history cannot tell");
    fputc('\n', state->out);
}

/* prove shows the lines "not ok" and their blocks with -v only, and standard error always: so a
 * failed line is explained there, like other producers of TAP do. A workflow of GitHub gets an
 * annotation. On a terminal the lines themselves are seen. */
static void diagnose(const struct lb_sink_state *state, const struct lb_cell *cell,
                     const char *name, const char *message, const char *again)
{
    const char *value = getenv("GITHUB_ACTIONS");
    bool workflow = value != NULL && strcmp(value, "true") == 0;
    const bool is_file = lb_strategy_find(cell->strategy->name) != cell->strategy;
    const char *path = cell->strategy_path;
    path += strncmp(path, "./", 2) == 0 ? 2 : 0; /* GitHub knows paths from the top */
    const char *parts[] = {!workflow ? "# not ok: "
                           : is_file ? "::error file="
                                     : "::error",
                           workflow && is_file ? path : "",
                           workflow ? "::" : "",
                           cell->name,
                           " ",
                           cell->engine,
                           " ",
                           cell->scenario.name,
                           " ",
                           name,
                           workflow ? ": " : "\n#   ",
                           message,
                           workflow ? "; again: " : "\n#   again: ",
                           again};
    char *text = NULL;
    size_t length = 0;
    if (!state->has_stderr && !(workflow && state->out == stdout))
        return;
    FILE *whole = lb_open_memory(&text, &length);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (i % 2 == 0)
            fputs(parts[i], whole);
        else /* a "%" begins an escape in a workflow command of GitHub's, and "," and ":" end a path
              */
            lb_print_clean(whole, parts[i],
                           !workflow ? ""
                           : i == 1  ? "%,:"
                                     : "%",
                           (const char *const[]){"%25", "%2C", "%3A"});
    fputc('\n', whole);
    lb_close_memory(whole);
    fflush(state->out);              /* a reader of both sees them in their order */
    fwrite(text, 1, length, stderr); /* in one piece: others write there too */
    free(text);
}

static void details(struct lb_sink_state *state, const struct lb_cell *cell,
                    enum lb_guarantee guarantee, const struct lb_finding *finding,
                    const struct lb_outcome *run, enum lb_expectation expectation)
{
    FILE *out = state->out;
    char text[1200];
    fputs("  ---\n", out);
    lb_print_yaml(out, "meaning", lb_expectation_meaning(expectation));
    if (finding->n_witnesses > 0)
        lb_print_yaml(out, "message", finding->witness[0].text);
    if (expectation == LB_EXPECT_CAUGHT || expectation == LB_EXPECT_MISSED)
        lb_print_yaml(out, "why", lb_cell_why_broken(cell, guarantee));
    fprintf(out, "  violations: %llu\n  tested: %llu\n", (unsigned long long)finding->n_violations,
            (unsigned long long)finding->n_tested);
    if (run->exploration != NULL)
        lb_print_yaml(out, "explored", run->exploration->covered);
    else
        fprintf(out, "  runs: %zu\n  successes_per_s: %.6g\n  seed: %llu\n", cell->n_runs,
                run->successes_per_s, (unsigned long long)run->seed);
    lb_reproduce(cell, run, finding, text, sizeof text);
    lb_print_yaml(out, "reproduce", text);
    fputs("  ...\n", out);
    fflush(out); /* whole lines: others write to the same pipe */
    if (expectation == LB_EXPECT_BROKEN || expectation == LB_EXPECT_MISSED)
        diagnose(state, cell, lb_guarantee_name(guarantee),
                 finding->n_witnesses > 0 ? finding->witness[0].text
                                          : lb_expectation_meaning(expectation),
                 text);
}

static void guarantee_line(struct lb_sink_state *state, const struct lb_cell *cell,
                           enum lb_guarantee guarantee)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
    enum lb_expectation expectation = lb_cell_expectation(cell, guarantee);
    const char *name = lb_guarantee_name(guarantee);
    switch (expectation) {
    case LB_EXPECT_NOTHING:
        return;
    case LB_EXPECT_UNTESTED:
        if (cell->outlook != NULL &&
            !finding->is_asked) /* another cell of its plan may: see untested_lines */
            return;
        skip(state, cell, name,
             finding->verdict == LB_V_NOT_TESTED ? finding->reason : run->reason);
        return;
    case LB_EXPECT_KEPT:
    case LB_EXPECT_CAUGHT:
    case LB_EXPECT_BROKEN:
    case LB_EXPECT_MISSED:
    default:
        line(state, cell, name, expectation == LB_EXPECT_KEPT || expectation == LB_EXPECT_CAUGHT);
        fputc('\n', state->out);
        details(state, cell, guarantee, finding, run, expectation);
    }
}

/* The scenario's own proof is a line as well. */
static void proof_line(struct lb_sink_state *state, const struct lb_cell *cell)
{
    const struct lb_outcome *run;
    enum lb_expectation expectation = lb_cell_proof(cell, &run);
    char text[1200];
    if (expectation == LB_EXPECT_NOTHING)
        return;
    if (expectation == LB_EXPECT_UNTESTED) {
        skip(state, cell, run->proof.name, run->proof.text);
        return;
    }
    line(state, cell, run->proof.name, expectation != LB_EXPECT_BROKEN);
    fputs("\n  ---\n", state->out);
    lb_print_yaml(state->out, "meaning", lb_expectation_meaning(expectation));
    lb_print_yaml(state->out, "message", run->proof.text);
    fprintf(state->out, "  runs: %zu\n  seed: %llu\n", cell->n_runs, (unsigned long long)run->seed);
    lb_reproduce(cell, run, NULL, text, sizeof text);
    lb_print_yaml(state->out, "reproduce", text);
    fputs("  ...\n", state->out);
    if (expectation == LB_EXPECT_BROKEN)
        diagnose(state, cell, run->proof.name, run->proof.text, text);
}

/* lockbench is wrong itself: no verdict of the run is to be believed. */
static void disagreement_line(struct lb_sink_state *state, const struct lb_cell *cell,
                              const struct lb_outcome *run)
{
    char text[1200];
    line(state, cell, "internal error", false);
    fputs("\n  ---\n", state->out);
    lb_print_yaml(state->out, "message", lb_disagreement);
    fprintf(state->out, "  seed: %llu\n", (unsigned long long)run->seed);
    lb_print_yaml(state->out, "reproduce", lb_reproduce(cell, run, NULL, text, sizeof text));
    fputs("  ...\n", state->out);
}

static void remark(struct lb_sink_state *state, const struct lb_cell *cell, const char *label,
                   const char *text)
{
    fputs("# ", state->out);
    print_name(state->out, cell->name);
    fprintf(state->out, " %s %s: %s", cell->engine, cell->scenario.name, label);
    print_name(state->out, text);
    fputc('\n', state->out);
}

static void warning_lines(struct lb_sink_state *state, const struct lb_cell *cell,
                          const struct lb_outcome *run)
{
    /* Another cell may have judged the same guarantees: the exit status needs its reason here. */
    if (run->state == LB_RUN_INVALID)
        remark(state, cell, "inconclusive: ", run->reason);
    for (size_t i = 0; i < run->n_warnings; i++)
        remark(state, cell, "", run->warnings[i]);
    char text[400];
    if (run->migration.took_ns > 0)
        remark(state, cell, "", lb_migration_text(&run->migration, text, sizeof text));
}

/* When it is known before the start that nothing can run, that is the whole plan. */
static void tap_begin(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    const char *reason = "nothing was selected";
    fputs("TAP version 13\n", state->out);
    for (size_t i = 0; i < report->n_cells; i++) {
        if (report->cells[i].state != LB_CELL_SKIPPED)
            return;
        reason = report->cells[i].reason;
    }
    fputs("1..0 # SKIP ", state->out);
    print_name(state->out, reason);
    fputc('\n', state->out);
    state->is_done = true;
}

static void bail_out(struct lb_sink_state *state, const struct lb_cell *cell, const char *reason)
{
    fprintf(state->out, "Bail out! %s: %s\n", cell->engine, reason);
    state->is_done = true;
}

static void tap_cell(struct lb_sink_state *state, const struct lb_cell *cell)
{
    if (state->is_done)
        return;
    switch (cell->state) {
    case LB_CELL_SKIPPED:
        skip(state, cell, "all", cell->reason);
        break;
    case LB_CELL_FAILED:
        if (lb_error_is_outside(cell->error.code)) {
            bail_out(state, cell, cell->error.message);
            break;
        }
        line(state, cell, "all", false);
        fputs("\n  ---\n", state->out);
        lb_print_yaml(state->out, "message", cell->error.message);
        fputs("  ...\n", state->out);
        break; /* the program says it on standard error, as any error */
    case LB_CELL_DONE:
        for (int g = 0; g < LB_GUARANTEES; g++)
            guarantee_line(state, cell, (enum lb_guarantee)g);
        proof_line(state, cell);
        for (size_t i = 0; i < cell->n_runs; i++)
            if (!cell->runs[i]->witnesses_agree)
                disagreement_line(state, cell, cell->runs[i]);
        for (size_t i = 0; i < cell->n_runs; i++)
            warning_lines(state, cell, cell->runs[i]);
        for (size_t i = 0; i < cell->n_runs && !state->is_done; i++)
            if (cell->runs[i]->state == LB_RUN_SERVER_GONE)
                bail_out(state, cell, cell->runs[i]->reason);
        break;
    case LB_CELL_PENDING:
    case LB_CELL_NOT_RUN:
    default:
        break; /* interrupted, or bailed out: the plan says how far it came */
    }
    fflush(state->out);
}

/* What a planned file claims, and no cell of its plan could test. */
static void untested_lines(struct lb_sink_state *state, const struct lb_cell *first)
{
    struct lb_untested one;
    for (size_t at = 0; lb_untested_next(state->report, first, &at, &one);)
        if (one.is_guarantee)
            skip(state, one.cell, lb_guarantee_name(one.guarantee), one.reason);
}

/* A plan has a last line of its own, which names this as well: see outlook_tell.c. */
static void untested_comment(struct lb_sink_state *state, const struct lb_cell *first)
{
    struct lb_untested one;
    size_t at = 0;
    if (!lb_untested_next(state->report, first, &at, &one))
        return;
    fputs("# ", state->out);
    print_name(state->out, first->name);
    fprintf(state->out, " on %s", first->engine);
    lb_untested_print(state->report, first, ": not tested: ", state->out);
    fputc('\n', state->out);
}

static void for_each_first(struct lb_sink_state *state, bool is_planned,
                           void (*tell)(struct lb_sink_state *state, const struct lb_cell *first))
{
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        if ((cell->outlook != NULL) == is_planned && lb_untested_begins(state->report, cell))
            tell(state, cell);
    }
}

static void tap_end(struct lb_sink_state *state)
{
    if (state->is_done)
        return;
    if (!state->report->interrupted)
        for_each_first(state, true, untested_lines);
    if (state->report->interrupted)
        fputs("Bail out! interrupted\n", state->out);
    else
        fprintf(state->out, "1..%zu\n", state->n_lines);
    lb_text_recovery(state->report, state->out);
    if (!state->report->interrupted)
        for_each_first(state, false, untested_comment);
}

/* A harness wants to know why there is no plan. */
static void tap_fail(struct lb_sink_state *state)
{
    fprintf(state->out, "TAP version 13\nBail out! %s\n", state->err->message);
}

const struct lb_sink lb_sink_tap = {.name = "tap",
                                    .summary = "a line for each guarantee, for test harnesses",
                                    .of = LB_OF_RUNS,
                                    .begin = tap_begin,
                                    .cell = tap_cell,
                                    .end = tap_end,
                                    .fail = tap_fail};
