/* --series: the intervals of all runs as comma-separated values, a row for each. Figures that are
 * unknown are empty. */
#include "series.h"

#include "text_clean.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "strategy",        "engine",         "scenario",  "run",    "phase",  "start_s", "length_s",
    "successes_per_s", "refusals_per_s", "due_per_s", "p50_ms", "p99_ms", "overlaps"};

static void text(FILE *file, const char *value)
{
    fputc('"', file);
    lb_print_clean(file, value, "\"", (const char *const[]){"\"\""});
    fputc('"', file);
}

static void number(FILE *file, double value, bool is_known)
{
    fputc(',', file);
    if (is_known)
        fprintf(file, "%.10g", value);
}

static void write_row(FILE *file, const struct lb_cell *cell, size_t run, size_t k)
{
    const struct lb_outcome *outcome = cell->runs[run];
    const struct lb_interval *interval = &outcome->intervals[k];
    const double seconds = (double)interval->length_ns / 1e9;
    const double counts[] = {(double)interval->n_successes, (double)interval->n_refusals,
                             (double)interval->n_due};
    text(file, cell->name);
    fputc(',', file);
    text(file, cell->engine);
    fputc(',', file);
    text(file, cell->scenario.name);
    fprintf(file, ",%zu,", run + 1);
    fputs(lb_interval_stage(outcome, interval), file);
    number(file, (double)interval->start_ns / 1e9, true);
    number(file, seconds, true);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        number(file, seconds > 0 ? counts[i] / seconds : 0,
               i < 2 || outcome->config.rate[0] != '\0');
    number(file, (double)interval->p50_ns / 1e6, interval->p50_ns > 0);
    number(file, (double)interval->p99_ns / 1e6, interval->p99_ns > 0);
    number(file, (double)interval->n_overlaps, true);
    for (int g = 0; g < LB_GAUGES; g++)
        number(file, interval->gauges[g], !isnan(interval->gauges[g]));
    fputc(',', file);
    if (interval->wait[0] != '\0')
        text(file, interval->wait);
    fputc('\n', file);
}

int lb_series_write(const struct lb_report *report, FILE *file, struct lb_error *err)
{
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        fprintf(file, "%s%s", i > 0 ? "," : "", columns[i]);
    for (int g = 0; g < LB_GAUGES; g++)
        fprintf(file, ",%s", lb_gauge_name((enum lb_gauge)g));
    fputs(",wait\n", file);
    for (size_t i = 0; i < report->n_cells; i++)
        for (size_t r = 0; r < report->cells[i].n_runs; r++)
            for (size_t k = 0; k < report->cells[i].runs[r]->n_intervals; k++)
                write_row(file, &report->cells[i], r, k);
    return ferror(file) ? lb_fail(err, LB_E_ENV, "%s", strerror(errno)) : 0;
}
