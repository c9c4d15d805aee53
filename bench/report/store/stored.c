/* Stored results, read back: see stored.h.
 *
 * A result may come from another version, another machine, or a person's editor: everything that is
 * used is checked, and a missing part is named with the file. Unknown keys are ignored, so that a
 * newer lockbench's results can be read as long as the schema's version is ours.
 */
#include "stored.h"
#include "memory.h"
#include "report.h"

#include "regular_file.h"
#include "text_clean.h"
#include "units.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const metric_names[LB_METRICS] = {"rate", "p50", "p95", "p99", "cpu"};

const char *lb_metric_name(enum lb_metric metric)
{
    return metric_names[metric];
}

int lb_metric_parse(const char *name)
{
    for (int i = 0; i < LB_METRICS; i++)
        if (strcmp(name, metric_names[i]) == 0)
            return i;
    return -1;
}

char *lb_metric_format(enum lb_metric metric, double value, char *buf, size_t size)
{
    if (!isfinite(value)) {
        snprintf(buf, size, "inf");
    } else if (metric == LB_METRIC_RATE) {
        lb_format_count(value, buf, size);
        snprintf(buf + strlen(buf), size - strlen(buf), "/s");
    } else {
        lb_format_ns((uint64_t)llround(value), buf, size);
    }
    return buf;
}

/* ---- reading ---- */

const char *lb_stored_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* A number that is not negative, or NAN. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    return number >= 0 ? number : (double)NAN;
}

static double metric_of(const json_t *run, enum lb_metric metric)
{
    static const char *const keys[LB_METRICS] = {
        [LB_METRIC_P50] = "p50_ns", [LB_METRIC_P95] = "p95_ns", [LB_METRIC_P99] = "p99_ns"};
    double rate = number_of(run, "successes_per_s");
    if (metric == LB_METRIC_RATE)
        return rate;
    if (metric == LB_METRIC_CPU) {
        double n = rate * number_of(run, "elapsed_ns") / 1e9;
        double cpu = number_of(run, "cpu_user_ns") + number_of(run, "cpu_system_ns");
        return n > 0 ? cpu / n : (double)NAN;
    }
    const json_t *acquire = json_object_get(json_object_get(run, "operations"), "acquire");
    const json_t *latency = json_object_get(acquire, "response");
    if (!json_is_object(latency))
        latency = json_object_get(acquire, "service");
    return number_of(latency, keys[metric]);
}

/* All values of a metric, or NULL if any is missing. */
static void take_metric(struct lb_stored_cell *cell, const json_t *runs, enum lb_metric metric)
{
    double *values = lb_malloc((cell->n_runs + 1) * sizeof *values);
    size_t n = 0, index;
    json_t *run;
    json_array_foreach(runs, index, run)
    {
        if (strcmp(lb_stored_text(run, "state"), "complete") != 0)
            continue;
        values[n] = metric_of(run, metric);
        if (isnan(values[n])) {
            free(values);
            return;
        }
        n++;
    }
    cell->values[metric] = values;
}

/* When each complete run began. */
static void take_starts(struct lb_stored_cell *cell, const json_t *runs)
{
    cell->start_ms = lb_malloc((cell->n_runs + 1) * sizeof *cell->start_ms);
    size_t n = 0, index;
    json_t *run;
    json_array_foreach(runs, index, run) if (strcmp(lb_stored_text(run, "state"), "complete") == 0)
        cell->start_ms[n++] = json_integer_value(json_object_get(run, "start_unix_ms"));
}

static int take_cell(const char *path, size_t index, const json_t *json,
                     struct lb_stored_cell *cell, struct lb_error *err)
{
    const json_t *runs = json_object_get(json, "runs"), *run;
    *cell = (struct lb_stored_cell){.strategy = lb_stored_text(json, "strategy"),
                                    .engine = lb_stored_text(json, "engine"),
                                    .scenario = lb_stored_text(json, "scenario"),
                                    .verdict = lb_stored_text(json, "verdict"),
                                    .reason = lb_stored_text(json, "reason"),
                                    .json = json};
    if (cell->strategy[0] == '\0' || cell->engine[0] == '\0' || cell->scenario[0] == '\0' ||
        !json_is_array(runs))
        return lb_fail(err, LB_E_FILE, "%s: cell %zu lacks its strategy, engine, scenario or runs",
                       path, index);
    size_t i;
    json_array_foreach(runs, i, run)
    {
        bool complete = strcmp(lb_stored_text(run, "state"), "complete") == 0;
        cell->n_runs += complete;
        if (complete && isnan(metric_of(run, LB_METRIC_RATE)))
            return lb_fail(err, LB_E_FILE, "%s: run %zu of cell %zu has no successes_per_s", path,
                           i, index);
    }
    take_starts(cell, runs);
    for (int m = 0; m < LB_METRICS; m++)
        take_metric(cell, runs, (enum lb_metric)m);
    return 0;
}

static int take_cells(struct lb_stored *result, struct lb_error *err)
{
    const json_t *cells = json_object_get(result->json, "cells");
    if (strcmp(lb_stored_text(result->json, "schema"), "lockbench-result") != 0 ||
        !json_is_array(cells))
        return lb_fail(err, LB_E_FILE, "%s: not a result of lockbench", result->path);
    json_int_t version = json_integer_value(json_object_get(result->json, "schema_version"));
    if (version < 1 || version > LB_RESULT_SCHEMA)
        return lb_fail(err, LB_E_FILE, "%s: has schema version %lld, this lockbench reads 1 to %d",
                       result->path, (long long)version, LB_RESULT_SCHEMA);
    result->version = lb_stored_text(result->json, "lockbench");
    result->started = lb_stored_text(result->json, "started");
    size_t n = json_array_size(cells);
    result->cells = lb_calloc(n + 1, sizeof *result->cells);
    int rc = 0;
    for (; result->n_cells < n && rc == 0; result->n_cells++)
        rc = take_cell(result->path, result->n_cells, json_array_get(cells, result->n_cells),
                       &result->cells[result->n_cells], err);
    return rc;
}

/* The file that path stands for, into buf. */
static void locate(const char *path, char *buf, size_t size)
{
    struct stat st;
    bool is_there = stat(path, &st) == 0;
    if (is_there && S_ISDIR(st.st_mode))
        snprintf(buf, size, "%s/run.json", path);
    else if (!is_there && strchr(path, '/') == NULL)
        snprintf(buf, size, "results/%s/run.json", path);
    else
        snprintf(buf, size, "%s", path);
}

/* A result may come from anywhere: its texts are made safe to print as they come in. */
static void clean(json_t *value)
{
    size_t i;
    const char *key;
    json_t *item;
    if (json_is_string(value)) {
        char *text = lb_clean_copy(json_string_value(value), SIZE_MAX);
        if (json_string_set(value, text) != 0)
            json_string_set(value, "");
        free(text);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            clean(item);
        }
    } else if (json_is_object(value)) {
        json_object_foreach(value, key, item)
        {
            clean(item);
        }
    }
}

/* A file from another program may be endless. */
enum { LARGEST = 128 << 20 };

struct bounded {
    FILE *file;
    size_t n;
};

static size_t read_some(void *buf, size_t size, void *arg)
{
    struct bounded *input = arg;
    size_t n = input->n < LARGEST ? fread(buf, 1, size, input->file) : 0;
    input->n += n;
    return n;
}

/* A directory without a result's file is foreign, or a folder of results. */
static int fail_to_open(const char *path, int code, struct lb_error *err)
{
    const char *name = strrchr(path, '/');
    if (code == ENOENT && name != NULL && strcmp(name, "/run.json") == 0) {
        char directory[sizeof((struct lb_stored *)0)->path];
        snprintf(directory, sizeof directory, "%.*s", (int)(name - path), path);
        if (access(directory, F_OK) == 0)
            return lb_fail(err, LB_E_FILE,
                           "%s: is no result of lockbench: no run.json is in it; name the "
                           "directory of one result, such as those of lockbench list results",
                           directory);
    }
    return lb_fail(err, LB_E_FILE, "%s: %s", path, lb_regular_file_reason(code));
}

static int read_json(struct lb_stored *result, struct lb_error *err)
{
    json_error_t why;
    FILE *file = lb_regular_file_open(result->path);
    if (file == NULL)
        return fail_to_open(result->path, errno, err);
    struct bounded input = {.file = file};
    result->json = json_load_callback(read_some, &input, JSON_REJECT_DUPLICATES, &why);
    int failure = ferror(file) ? errno : 0;
    fclose(file);
    if (failure != 0)
        return lb_fail(err, LB_E_FILE, "%s: %s", result->path, strerror(failure));
    if (input.n >= LARGEST)
        return lb_fail(err, LB_E_FILE, "%s: larger than a result can be (%d MiB)", result->path,
                       LARGEST >> 20);
    if (result->json == NULL)
        return lb_fail(err, LB_E_FILE, "%s:%d: this is no result of lockbench: %s", result->path,
                       why.line > 0 ? why.line : 1, why.text);
    clean(result->json);
    return 0;
}

int lb_stored_load(const char *path, struct lb_stored *ret, struct lb_error *err)
{
    struct lb_stored result = {0};
    if (strlen(path) + 32 > sizeof result.path)
        return lb_fail(err, LB_E_FILE, "%s: the name is too long", path);
    locate(path, result.path, sizeof result.path);
    int rc = read_json(&result, err);
    if (rc == 0)
        rc = take_cells(&result, err);
    if (rc != 0) {
        lb_stored_release(&result);
        return rc;
    }
    *ret = result;
    return 0;
}

int lb_stored_of_json(struct json_t *json, struct lb_stored *ret, struct lb_error *err)
{
    struct lb_stored result = {.path = "this run", .json = json};
    int rc =
        result.json == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : take_cells(&result, err);
    if (rc != 0)
        lb_stored_release(&result);
    else
        *ret = result;
    return rc;
}

void lb_stored_release(struct lb_stored *result)
{
    for (size_t i = 0; i < result->n_cells; i++) {
        free(result->cells[i].start_ms);
        for (int m = 0; m < LB_METRICS; m++)
            free(result->cells[i].values[m]);
    }
    free(result->cells);
    json_decref(result->json);
    *result = (struct lb_stored){0};
}

/* ---- differences ---- */

struct collector {
    struct lb_difference *into;
    size_t room, n;
};

static void value_text(const json_t *value, char *buf, size_t size)
{
    if (value == NULL) {
        snprintf(buf, size, "not set");
    } else if (json_is_string(value)) {
        snprintf(buf, size, "%s", json_string_value(value));
    } else {
        size_t n = json_dumpb(value, buf, size - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        buf[n < size ? n : size - 1] = '\0';
    }
}

/* Numbers by their value: files have 9 digits, and a tool may have rewritten 0.0 as 0. */
static bool equal(const json_t *base, const json_t *new)
{
    if (!json_is_number(base) || !json_is_number(new))
        return json_equal(base, new);
    double x = json_number_value(base), y = json_number_value(new);
    return fabs(x - y) <= 1e-8 * fmax(fabs(x), fabs(y));
}

static void collect(struct collector *c, const char *kind, const char *key, const json_t *base,
                    const json_t *new)
{
    if (base == new || (base != NULL && new != NULL &&equal(base, new)))
        return;
    if (c->n < c->room) {
        struct lb_difference *d = &c->into[c->n];
        snprintf(d->key, sizeof d->key, "%s%s%s", kind, kind[0] != '\0' ? " " : "", key);
        value_text(base, d->base, sizeof d->base);
        value_text(new, d->new, sizeof d->new);
    }
    c->n++;
}

/* Every key of either object. */
static void collect_objects(struct collector *c, const char *kind, json_t *base, json_t *new)
{
    for (void *at = json_object_iter(base); at != NULL; at = json_object_iter_next(base, at)) {
        const char *key = json_object_iter_key(at);
        collect(c, kind, key, json_object_iter_value(at), json_object_get(new, key));
    }
    for (void *at = json_object_iter(new); at != NULL; at = json_object_iter_next(new, at)) {
        const char *key = json_object_iter_key(at);
        if (json_object_get(base, key) == NULL)
            collect(c, kind, key, NULL, json_object_iter_value(at));
    }
}

static const json_t *first_run(const struct lb_stored_cell *cell)
{
    return json_array_get(json_object_get(cell->json, "runs"), 0);
}

static const char *const machine_keys[] = {"machine", "cores"};

static void each_key(json_t *object, const char *kind, void (*each)(void *arg, const char *key),
                     void *arg)
{
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct lb_difference named;
        snprintf(named.key, sizeof named.key, "%s%s%s", kind, kind[0] != '\0' ? " " : "",
                 json_object_iter_key(at));
        each(arg, named.key);
    }
}

void lb_stored_keys(const struct lb_stored *result, void (*each)(void *arg, const char *key),
                    void *arg)
{
    each(arg, "after-setup");
    for (size_t i = 0; i < sizeof machine_keys / sizeof machine_keys[0]; i++)
        each(arg, machine_keys[i]);
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct lb_stored_cell *cell = &result->cells[i];
        each_key(json_object_get(cell->json, "config"), "", each, arg);
        each_key(json_object_get(cell->json, "options"), "opt", each, arg);
        each_key(json_object_get(first_run(cell), "server_settings"), "setting", each, arg);
    }
}

size_t lb_stored_differences(const struct lb_stored *base_result, const struct lb_stored_cell *base,
                             const struct lb_stored *new_result, const struct lb_stored_cell *new,
                             struct lb_difference *ret, size_t room)
{
    struct collector c = {.into = ret, .room = room};
    collect_objects(&c, "", json_object_get(base->json, "config"),
                    json_object_get(new->json, "config"));
    collect_objects(&c, "opt", json_object_get(base->json, "options"),
                    json_object_get(new->json, "options"));
    const json_t *before = json_object_get(base->json, "after_setup");
    const json_t *now = json_object_get(new->json, "after_setup");
    collect(&c, "", "after-setup", json_is_null(before) ? NULL : before,
            json_is_null(now) ? NULL : now);
    if (base->n_runs > 0 && new->n_runs > 0) /* only a run knows them */
        collect_objects(&c, "setting", json_object_get(first_run(base), "server_settings"),
                        json_object_get(first_run(new), "server_settings"));
    const json_t *old_machine = json_object_get(base_result->json, "environment");
    const json_t *new_machine = json_object_get(new_result->json, "environment");
    for (size_t i = 0; i < sizeof machine_keys / sizeof machine_keys[0]; i++)
        collect(&c, "", machine_keys[i], json_object_get(old_machine, machine_keys[i]),
                json_object_get(new_machine, machine_keys[i]));
    return c.n;
}
