/* Results on disk: DIR/<UTC time>-<name>/, written under a temporary name and renamed once all of
 * it is there, so that whoever finds a directory without the leading dot finds a whole result.
 *
 *   run.json         the report
 *   intervals.jsonl  one JSON object per second of each run's measured part
 *   latency.hlog     HdrHistogram log, one tag per run and operation:
 *                    strategy/engine/scenario/run/operation, "-response" for the open loop
 *   *.hgrm           the waits of all runs of a cell
 *   report.*         the other formats
 */
#include "hdr.h"
#include "output.h"
#include "report.h"
#include "views.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int lb_store_open(struct lb_store *store, const char *dir, const char *name, bool is_named,
                  int64_t unix_ms, struct lb_error *err)
{
    char stamp[32] = "";
    struct stat st;
    struct tm tm;
    time_t seconds = (time_t)(unix_ms / 1000);
    gmtime_r(&seconds, &tm);
    if (!is_named)
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ-", &tm);
    store->is_named = is_named;
    if (strlen(dir) + strlen(name) + 64 > sizeof store->final)
        return lb_fail(err, LB_E_USAGE, "%s: the name is too long", dir);
    int rc = lb_make_folders(dir, err);
    if (rc != 0)
        return rc;
    snprintf(store->final, sizeof store->final, "%s/%s%s", dir, stamp, name);
    if (is_named && stat(store->final, &st) == 0)
        return lb_fail(err, LB_E_USAGE, "%s exists: remove it, or choose another name",
                       store->final);
    snprintf(store->temporary, sizeof store->temporary, "%s/.%s%s.%ld", dir, stamp, name,
             (long)getpid());
    if (mkdir(store->temporary, 0777) != 0)
        return lb_fail(err, LB_E_ENV, "%s: %s", store->temporary, strerror(errno));
    return 0;
}

/* "dir/.20260101T000000Z-compare.4711" -> "dir/20260101T000000Z-compare" */
int lb_store_resume(struct lb_store *store, const char *directory, struct lb_error *err)
{
    size_t n = strlen(directory);
    while (n > 1 && directory[n - 1] == '/')
        n--;
    if (n + 8 > sizeof store->final)
        return lb_fail(err, LB_E_USAGE, "%s: the name is too long", directory);
    snprintf(store->temporary, sizeof store->temporary, "%.*s", (int)n, directory);
    snprintf(store->final, sizeof store->final, "%s", store->temporary);
    char *slash = strrchr(store->final, '/');
    char *name = slash != NULL ? slash + 1 : store->final;
    char *dot = strrchr(name, '.');
    if (name[0] == '.' && dot > name && dot[1] != '\0' &&
        strspn(dot + 1, "0123456789") == strlen(dot + 1)) {
        *dot = '\0';
        memmove(name, name + 1, strlen(name));
    }
    return 0;
}

/* One file of the result while it is written; an older one is replaced. */
struct lb_stored_file {
    FILE *file;
    char path[800], final[800];
};

static int begin_file(const struct lb_store *store, const char *name, struct lb_stored_file *ret,
                      struct lb_error *err)
{
    snprintf(ret->final, sizeof ret->final, "%s/%s", store->temporary, name);
    snprintf(ret->path, sizeof ret->path, "%s/%s.new", store->temporary, name);
    ret->file = fopen(ret->path, "we");
    return ret->file != NULL ? 0 : lb_fail(err, LB_E_ENV, "%s: %s", ret->final, strerror(errno));
}

/* Brings it to the disk. rc: the result of writing it. */
static int end_file(struct lb_stored_file *file, int rc, struct lb_error *err)
{
    if (rc == LB_E_ENV)
        lb_fail_prefix(err, "%s", file->final);
    if (rc == 0 && (fflush(file->file) != 0 || fsync(fileno(file->file)) != 0))
        rc = lb_fail(err, LB_E_ENV, "%s: %s", file->final, strerror(errno));
    if (fclose(file->file) != 0 && rc == 0)
        rc = lb_fail(err, LB_E_ENV, "%s: %s", file->final, strerror(errno));
    if (rc == 0 && rename(file->path, file->final) != 0)
        rc = lb_fail(err, LB_E_ENV, "%s: %s", file->final, strerror(errno));
    return rc;
}

static int store_file(const struct lb_store *store, const char *name,
                      int (*write)(const struct lb_report *report, FILE *file,
                                   struct lb_error *err),
                      const struct lb_report *report, struct lb_error *err)
{
    struct lb_stored_file file = {0};
    int rc = begin_file(store, name, &file, err);
    return rc == 0 ? end_file(&file, write(report, file.file, err), err) : rc;
}

/* ---- the files beside run.json ---- */

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

static int write_histograms(const struct lb_report *report, FILE *file, struct lb_error *err)
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

static int write_intervals(const struct lb_report *report, FILE *file, struct lb_error *err)
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

/* "acquire.hgrm", of several cells "acquire-2-row-lock-postgres-mutex-hot.hgrm": the number tells
 * apart what has the same names, such as two servers, or names that are too long for a file. */
static void distribution_name(const struct lb_report *report, size_t i, const char *operation,
                              char *buf, size_t size)
{
    const struct lb_cell *cell = &report->cells[i];
    char text[200] = "";
    if (report->n_cells > 1)
        snprintf(text, sizeof text, "-%zu-%s-%s-%s", i + 1, cell->name, cell->engine,
                 cell->scenario.name);
    for (char *c = text; *c != '\0'; c++)
        if (strchr("/:[]= ", *c) != NULL)
            *c = '_';
    snprintf(buf, size, "%s%s.hgrm", operation, text);
}

/* What all runs of a cell waited for the lock, or an item: from the actual start, and in an open
 * loop from the intended one. */
static int store_distributions(const struct lb_store *store, const struct lb_report *report,
                               struct lb_error *err)
{
    static const char *const names[] = {"acquire", "acquire-response"};
    struct lb_histogram *sum = lb_histogram_new();
    int rc = 0;
    for (size_t i = 0; i < 2 * report->n_cells && rc == 0; i++) {
        const struct lb_cell *cell = &report->cells[i / 2];
        bool from_intended = i % 2 != 0;
        lb_cell_histogram(cell, from_intended, sum);
        if (sum->count == 0)
            continue;
        char name[300];
        struct lb_stored_file file = {0};
        distribution_name(report, i / 2, names[from_intended], name, sizeof name);
        rc = begin_file(store, name, &file, err);
        if (rc == 0)
            rc = end_file(&file, lb_hgrm_write(file.file, sum, err), err);
    }
    lb_histogram_free(sum);
    return rc;
}

/* The other formats of it. */
static int store_views(const struct lb_store *store, const struct lb_report *report,
                       struct lb_error *err)
{
    int rc = 0;
    const struct lb_sink *view;
    for (size_t i = 0; rc == 0 && (view = lb_sink_at(i, LB_OF_RUNS | LB_OF_PLANS)) != NULL; i++) {
        struct lb_stored_file file = {0};
        if (!lb_view_fits(view, report))
            continue;
        rc = begin_file(store, view->file, &file, err);
        if (rc == 0)
            rc = end_file(&file, lb_view_write(view, report, file.file, err), err);
    }
    return rc;
}

void lb_store_discard(const struct lb_store *store)
{
    DIR *dir = opendir(store->temporary);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), entry->d_name, 0); /* directories stay: they are not ours */
    if (dir != NULL)
        closedir(dir);
    rmdir(store->temporary);
}

int lb_store_close(struct lb_store *store, const struct lb_report *report, struct lb_error *err)
{
    int rc = store_file(store, "run.json", lb_json_write, report, err);
    if (rc == 0)
        rc = store_file(store, "intervals.jsonl", write_intervals, report, err);
    if (rc == 0)
        rc = store_file(store, "latency.hlog", write_histograms, report, err);
    if (rc == 0)
        rc = store_distributions(store, report, err);
    if (rc == 0)
        rc = store_views(store, report, err);
    if (rc != 0 || strcmp(store->temporary, store->final) == 0)
        return rc;
    /* rename() refuses a directory that is not empty: a result of the same second stays. */
    size_t length = strlen(store->final);
    for (int i = 2; rename(store->temporary, store->final) != 0; i++) {
        if ((errno != EEXIST && errno != ENOTEMPTY) || i > 99 || store->is_named)
            return lb_fail(err, LB_E_ENV, "%s: %s", store->final, strerror(errno));
        snprintf(store->final + length, sizeof store->final - length, "-%d", i);
    }
    return 0;
}

void lb_store_history_path(const struct lb_store *store, const struct lb_report *report,
                           const struct lb_cell *cell, size_t run, char *buf, size_t size)
{
    char name[400];
    lb_store_history_name(report, cell, run, name, sizeof name);
    snprintf(buf, size, "%s/%s", store->temporary, name);
}
