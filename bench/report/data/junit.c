/* Results as JUnit XML, for servers that run tests: a test suite per cell, a test case per
 * guarantee and one for what the scenario proves itself.
 *
 * There is no standard; this is the common part of what Jenkins, GitLab and GitHub read: counts at
 * the suites, and in an unsuccessful case one of failure (a guarantee), error (it could not be run)
 * and skipped. An "ok" of TAP is a case without any of them. All verdicts of a suite come from the
 * same runs: its first case carries their time, so that the sum is right.
 */
#include "append.h"
#include "report.h"
#include "text_clean.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of XML's characters the ones that need no care. */
static void print_text(FILE *out, const char *text)
{
    lb_print_clean(out, text, "&<>\"", (const char *const[]){"&amp;", "&lt;", "&gt;", "&quot;"});
}

/* Its lines stay apart. */
static void print_lines(FILE *out, char *text)
{
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        print_text(out, line);
        if (rest != NULL)
            fputc('\n', out);
    }
}

static void attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    print_text(out, value);
    fputc('"', out);
}

enum { MOST_TEXT = 12000 }; /* of a failure */
enum kind { WELL, FAILURE, ERROR, SKIPPED, KINDS };

struct counts {
    size_t n[KINDS];
};

/* Without out it is only counted. */
struct writer {
    FILE *out;
    const struct lb_cell *cell;
    struct counts counts;
    double time_s; /* not told by a case yet */
};

static void test_case(struct writer *writer, const char *name, enum kind kind, const char *message,
                      char *more)
{
    static const char *const elements[] = {
        [FAILURE] = "failure", [ERROR] = "error", [SKIPPED] = "skipped"};
    const struct lb_cell *cell = writer->cell;
    FILE *out = writer->out;
    char class[300];
    writer->counts.n[kind]++;
    if (out == NULL)
        return;
    snprintf(class, sizeof class, "%s.%s.%s", cell->engine, cell->scenario.name, cell->name);
    fputs("    <testcase", out);
    attribute(out, "classname", class);
    attribute(out, "name", name);
    fprintf(out, " time=\"%.3f\"", writer->time_s);
    writer->time_s = 0;
    if (kind == WELL) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", elements[kind]);
    attribute(out, "message", message);
    if (more != NULL) {
        fputc('>', out);
        print_lines(out, more);
        fprintf(out, "</%s>\n    </testcase>\n", elements[kind]);
    } else {
        fputs("/>\n    </testcase>\n", out);
    }
}

/* A case that failed: its meaning, the witness, the command that repeats it, and the lines of the
 * file that allow it. */
static void failure(struct writer *writer, const char *name, enum lb_expectation expectation,
                    const struct lb_outcome *run, const char *witness, const char *why,
                    const struct lb_hint *hint)
{
    char again[1200], message[1400], more[MOST_TEXT];
    /* What a page shows without a click: name, meaning and witness. */
    snprintf(message, sizeof message, "%s: %s%s%s", name, lb_expectation_meaning(expectation),
             witness[0] != '\0' ? ": " : "", witness);
    snprintf(more, sizeof more, "%s%s%s. Again: %s", witness, why[0] != '\0' ? ". Known: " : "",
             why, lb_reproduce(writer->cell, run, NULL, again, sizeof again));
    for (size_t i = 0; hint != NULL && i < hint->n_lines; i++)
        lb_append(more, sizeof more, "\n%s:%d: %s", hint->path, hint->lines[i].line,
                  hint->lines[i].text);
    if (hint != NULL && hint->fix[0] != '\0')
        lb_append(more, sizeof more, "\nThe fix: %s", hint->fix);
    test_case(writer, name, FAILURE, message, more);
}

static void guarantee_case(struct writer *writer, enum lb_guarantee guarantee)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(writer->cell, guarantee, &run);
    enum lb_expectation expectation = lb_cell_expectation(writer->cell, guarantee);
    const char *name = lb_guarantee_name(guarantee);
    if (expectation == LB_EXPECT_NOTHING)
        return;
    if (expectation == LB_EXPECT_UNTESTED)
        test_case(writer, name, SKIPPED,
                  finding->verdict == LB_V_NOT_TESTED ? finding->reason : run->reason, NULL);
    else if (expectation == LB_EXPECT_KEPT || expectation == LB_EXPECT_CAUGHT)
        test_case(writer, name, WELL, "", NULL);
    else
        failure(writer, name, expectation, run,
                finding->n_witnesses > 0 ? finding->witness[0].text : "",
                lb_cell_why_broken(writer->cell, guarantee), lb_cell_hint(writer->cell, guarantee));
}

static void proof_case(struct writer *writer)
{
    const struct lb_outcome *run;
    enum lb_expectation expectation = lb_cell_proof(writer->cell, &run);
    if (expectation == LB_EXPECT_NOTHING)
        return;
    if (expectation == LB_EXPECT_UNTESTED)
        test_case(writer, run->proof.name, SKIPPED, run->proof.text, NULL);
    else if (expectation == LB_EXPECT_BROKEN)
        failure(writer, run->proof.name, expectation, run, run->proof.text, "", NULL);
    else
        test_case(writer, run->proof.name, WELL, "", NULL);
}

static void cell_cases(struct writer *writer)
{
    const struct lb_cell *cell = writer->cell;
    switch (cell->state) {
    case LB_CELL_SKIPPED:
        test_case(writer, "all", SKIPPED, cell->reason, NULL);
        return;
    case LB_CELL_FAILED:
        test_case(writer, "all", ERROR, cell->error.message, NULL);
        return;
    case LB_CELL_NOT_RUN:
        test_case(writer, "all", ERROR, cell->reason, NULL);
        return;
    case LB_CELL_PENDING:
        test_case(writer, "all", SKIPPED, "interrupted before its turn", NULL);
        return;
    case LB_CELL_DONE:
    default:
        break;
    }
    for (int g = 0; g < LB_GUARANTEES; g++)
        guarantee_case(writer, (enum lb_guarantee)g);
    proof_case(writer);
    for (size_t i = 0; i < cell->n_runs; i++)
        if (cell->runs[i]->state == LB_RUN_SERVER_GONE || cell->runs[i]->state == LB_RUN_INVALID)
            test_case(writer, "run", ERROR, cell->runs[i]->reason, NULL);
}

static struct counts count(const struct lb_cell *cell)
{
    struct writer writer = {.cell = cell};
    cell_cases(&writer);
    return writer.counts;
}

static void print_counts(FILE *out, const struct counts *counts)
{
    const size_t *n = counts->n;
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
            n[WELL] + n[FAILURE] + n[ERROR] + n[SKIPPED], n[FAILURE], n[ERROR], n[SKIPPED]);
}

static void print_suite(FILE *out, const struct lb_cell *cell)
{
    struct counts counts = count(cell);
    char name[400], stamp[32];
    uint64_t elapsed_ns = 0;
    snprintf(name, sizeof name, "%s %s %s", cell->name, cell->engine, cell->scenario.name);
    for (size_t i = 0; i < cell->n_runs; i++)
        elapsed_ns += cell->runs[i]->elapsed_ns;
    struct writer writer = {.out = out, .cell = cell, .time_s = (double)elapsed_ns / 1e9};
    fputs("  <testsuite", out);
    attribute(out, "name", name);
    print_counts(out, &counts);
    fprintf(out, " time=\"%.3f\"", (double)elapsed_ns / 1e9);
    if (cell->n_runs > 0) {
        struct tm tm;
        time_t seconds = (time_t)(cell->runs[0]->start_unix_ms / 1000);
        gmtime_r(&seconds, &tm);
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
        attribute(out, "timestamp", stamp);
    }
    fputs(">\n", out);
    cell_cases(&writer);
    fputs("  </testsuite>\n", out);
}

static void junit_end(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    struct counts all = {0};
    for (size_t i = 0; i < report->n_cells; i++) {
        struct counts one = count(&report->cells[i]);
        for (int kind = 0; kind < KINDS; kind++)
            all.n[kind] += one.n[kind];
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", state->out);
    attribute(state->out, "name", report->invocation);
    print_counts(state->out, &all);
    fputs(">\n", state->out);
    for (size_t i = 0; i < report->n_cells; i++)
        print_suite(state->out, &report->cells[i]);
    fputs("</testsuites>\n", state->out);
}

/* The file gives the reason why it is empty. */
static void junit_fail(struct lb_sink_state *state)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"1\" failures=\"0\" "
          "errors=\"1\" skipped=\"0\">\n  <testsuite name=\"lockbench\" tests=\"1\" failures=\"0\" "
          "errors=\"1\" skipped=\"0\">\n    <testcase classname=\"lockbench\" name=\"start\">\n"
          "      <error",
          state->out);
    attribute(state->out, "message", state->err->message);
    fputs("/>\n    </testcase>\n  </testsuite>\n</testsuites>\n", state->out);
}

const struct lb_sink lb_sink_junit = {.name = "junit",
                                      .summary = "test cases, for CI systems",
                                      .of = LB_OF_RUNS,
                                      .file = "report.xml",
                                      .end = junit_end,
                                      .fail = junit_fail};
