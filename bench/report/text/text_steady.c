/* What the runs' steadiness comes to, in words: one line for all, and one for each that drifted. */
#include "append.h"
#include "run_course.h"
#include "steady.h"
#include "table.h"
#include "text.h"
#include "units.h"

#include <math.h>
#include <string.h>

static void print_drift(const struct lb_sink_state *state, const struct lb_cell *cell, size_t run,
                        const struct lb_steadiness *steady)
{
    char of[40] = "", from[32], to[32], share[60] = "";
    const struct lb_confidence *interval = &steady->change.interval;
    double mean = cell->runs[run]->successes_per_s, change = steady->change.value;
    double low = 100 * fmin(fabs(interval->low), fabs(interval->high));
    double high = 100 * fmax(fabs(interval->low), fabs(interval->high));
    if (cell->n_runs > 1)
        snprintf(of, sizeof of, ", run %zu of %zu", run + 1, cell->n_runs);
    /* Both ends of the line; a steep one ends below nothing. */
    lb_format_count(fmax(0, mean * (1 - change / 2)), from, sizeof from);
    lb_format_count(fmax(0, mean * (1 + change / 2)), to, sizeof to);
    /* More than all of it is a slope, and no share that means something to a reader. */
    if (high <= 100)
        snprintf(share, sizeof share, " (by %.0f to %.0f %% of its mean)", low, high);
    lb_text_say(state, 0,
                "not steady: %s on %s, %s%s: the rate %s from %s/s to %s/s over the measured "
                "part%s, so its mean describes no steady state: use a longer --warmup or "
                "--duration.",
                cell->name, cell->engine, cell->scenario.name, of, change < 0 ? "fell" : "rose",
                from, to, share);
}

/* For one strategy every drifting run is reported. In a comparison it matters only if most runs of
 * a strategy drifted: the rest is in the JSON. */
static void print_drifts(const struct lb_sink_state *state, const struct lb_cell *cell, bool alone)
{
    struct lb_steadiness steady;
    size_t n = 0, first = 0;
    for (size_t r = 0; r < cell->n_runs; r++) {
        lb_run_steadiness(cell->runs[r], &steady);
        if (steady.verdict != LB_RUN_DRIFTING)
            continue;
        first = n++ == 0 ? r : first;
        if (alone)
            print_drift(state, cell, r, &steady);
    }
    if (alone || 2 * n <= cell->n_runs)
        return;
    fputc('\n', state->out);
    lb_run_steadiness(cell->runs[first], &steady);
    print_drift(state, cell, first, &steady);
}

/* Of runs that are long enough: what became of the rate. */
static void print_courses(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    char words[400];
    struct lb_course course;
    double dead_rows;
    for (size_t r = 0; r < cell->n_runs; r++) {
        if (!lb_run_course(cell->runs[r], &course, &dead_rows))
            continue;
        fputc('\n', state->out);
        lb_text_say(state, 0, "rate over time: %s on %s, %s, run %zu: %s.", cell->name,
                    cell->engine, cell->scenario.name, r + 1,
                    lb_run_course_text(cell->runs[r], &course, dead_rows, words, sizeof words));
    }
}

void lb_text_steady(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    size_t counts[LB_RUN_NOT_JUDGED + 1] = {0}, n = 0;
    const char *reason = "";
    struct lb_steadiness steady;
    for (size_t i = 0; i < report->n_cells; i++)
        for (size_t r = 0; r < report->cells[i].n_runs; r++, n++) {
            lb_run_steadiness(report->cells[i].runs[r], &steady);
            counts[steady.verdict]++;
            if (steady.reason[0] != '\0')
                reason = counts[LB_RUN_NOT_JUDGED] == 1 || strcmp(reason, steady.reason) == 0
                             ? steady.reason
                             : "see the JSON for each reason";
        }
    bool alone = report->n_cells == 1 || report->n_plans > 0;
    for (size_t i = 0; i < report->n_cells && report->n_plans == 0; i++)
        print_courses(state, &report->cells[i]);
    for (size_t i = 0; i < report->n_cells && !alone; i++)
        print_drifts(state, &report->cells[i], false);
    if (n == 0 || !alone)
        return;
    char text[500];
    snprintf(text, sizeof text, "steady state: %zu of %zu run%s", counts[LB_RUN_STEADY], n,
             n == 1 ? "" : "s");
    if (counts[LB_RUN_DRIFTING] > 0)
        lb_append(text, sizeof text, ", %zu drifted", counts[LB_RUN_DRIFTING]);
    if (counts[LB_RUN_UNCLEAR] > 0)
        lb_append(text, sizeof text, ", %zu too noisy to say", counts[LB_RUN_UNCLEAR]);
    if (counts[LB_RUN_NOT_JUDGED] > 0)
        lb_append(text, sizeof text, ", %zu not judged (%s)", counts[LB_RUN_NOT_JUDGED], reason);
    fputc('\n', state->out);
    lb_print_wrapped(state->out, text, 0, state->width);
    for (size_t i = 0; i < report->n_cells; i++)
        print_drifts(state, &report->cells[i], true);
}
