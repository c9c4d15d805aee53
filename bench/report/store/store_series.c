/* The files of a stored result beside run.json: the seconds of each run and its histograms.
 *
 *   intervals.jsonl  one JSON object per second of each run's measured part
 *   latency.hlog     HdrHistogram log, one tag per run and operation:
 *                    strategy/engine/scenario/run/operation, "-response" for the open loop
 */
#include "store_series.h"
#include "hdr.h"
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static void tag_of(const struct lb_cell *cell, size_t run, const char *operation,
                   const char *suffix, char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s/%s/%zu/%s%s", cell->name, cell->engine, cell->scenario.name, run + 1,
             operation, suffix);
    for (char *c = buf; *c != '\0'; c++)
        if (*c == ',' || isspace((unsigned char)*c))
            *c = '_';
}

static int write_run(FILE *file, const struct lb_cell *cell, size_t run, uint64_t zero_unix_ns,
                     struct lb_error *err)
{
    const struct lb_outcome *outcome = cell->runs[run];
    uint64_t at_ns = (uint64_t)outcome->start_unix_ms * 1000000u;
    uint64_t start_ns = at_ns > zero_unix_ns ? at_ns - zero_unix_ns : 0;
    char tag[400];
    int rc = 0;
    for (int m = 0; m < LB_MEASURES && rc == 0; m++) {
        const char *name = lb_measure_name((enum lb_measure)m);
        tag_of(cell, run, name, "", tag, sizeof tag);
        rc = lb_hdr_log_write(file, tag, start_ns, outcome->elapsed_ns, outcome->service[m], err);
        if (rc != 0 || outcome->response[m] == NULL)
            continue;
        tag_of(cell, run, name, "-response", tag, sizeof tag);
        rc = lb_hdr_log_write(file, tag, start_ns, outcome->elapsed_ns, outcome->response[m], err);
    }
    return rc;
}

int lb_store_histograms(const struct lb_report *report, FILE *file, struct lb_error *err)
{
    uint64_t zero_unix_ns = 0;
    bool has_begun = false;
    int rc = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        for (size_t r = 0; r < cell->n_runs && rc == 0; r++) {
            if (!has_begun) {
                zero_unix_ns = (uint64_t)cell->runs[r]->start_unix_ms * 1000000u;
                lb_hdr_log_begin(file, "lockbench " LB_VERSION, zero_unix_ns);
                has_begun = true;
            }
            rc = write_run(file, cell, r, zero_unix_ns, err);
        }
    }
    return rc;
}

/* null: too few samples. */
static json_t *known_ns(uint64_t ns)
{
    return ns > 0 ? json_integer((json_int_t)ns) : json_null();
}

/* Adds what is known of the server, its tables and this program. */
static int put_gauges(json_t *line, const struct lb_interval *interval)
{
    int rc = 0;
    for (int g = 0; g < LB_GAUGES && rc == 0; g++)
        if (!isnan(interval->gauges[g]))
            rc = json_object_set_new(line, lb_gauge_name((enum lb_gauge)g),
                                     json_real(interval->gauges[g]));
    return rc == 0 && interval->wait[0] != '\0'
               ? json_object_set_new(line, "wait", json_string(interval->wait))
               : rc;
}

int lb_store_intervals(const struct lb_report *report, FILE *file, struct lb_error *err)
{
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        for (size_t r = 0; r < cell->n_runs; r++) {
            const struct lb_outcome *run = cell->runs[r];
            for (size_t k = 0; k < run->n_intervals; k++) {
                const struct lb_interval *interval = &run->intervals[k];
                json_t *line = json_pack(
                    "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I}", "strategy",
                    cell->name, "engine", cell->engine, "scenario", cell->scenario.name, "run",
                    (json_int_t)r + 1, "start_ns", (json_int_t)interval->start_ns, "length_ns",
                    (json_int_t)interval->length_ns, "successes", (json_int_t)interval->n_successes,
                    "refusals", (json_int_t)interval->n_refusals, "p50_ns",
                    known_ns(interval->p50_ns), "p99_ns", known_ns(interval->p99_ns), "overlaps",
                    (json_int_t)interval->n_overlaps);
                bool written = line != NULL && put_gauges(line, interval) == 0 &&
                               json_dumpf(line, file, JSON_COMPACT) == 0 &&
                               fputc('\n', file) != EOF;
                json_decref(line);
                if (!written)
                    return lb_fail(err, LB_E_ENV, "intervals.jsonl: %s", strerror(errno));
            }
        }
    }
    return 0;
}
