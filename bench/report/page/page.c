/* The report page: see page.h.
 *
 * The page is a template (bench/report/page/html/page.html) with {{name}} where another embedded
 * file, or the data, goes. The data is one JSON document in a <script> of a type that is not run;
 * every
 * "<" in it is written as an escape, so that no text of a result can end that element. What the
 * script then shows of it, it sets as text and never as markup.
 */
#include "page.h"

#include "strategy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* --- data --- */

/* Answers that were not given, and operations that were not asked for, of a run. */
static void drop_empty(json_t *run)
{
    json_t *operations = json_object_get(run, "operations"), *operation, *count;
    const char *name, *answer;
    void *next, *next_answer;
    json_object_foreach_safe(operations, next, name, operation)
    {
        json_t *answers = json_object_get(operation, "answers");
        json_object_foreach_safe(answers, next_answer, answer, count)
        {
            if (json_is_integer(count) && json_integer_value(count) == 0)
                json_object_del(answers, answer);
        }
        if (json_object_size(answers) == 0 &&
            json_integer_value(json_object_get(operation, "attempts")) == 0 &&
            json_integer_value(json_object_get(json_object_get(operation, "service"), "count")) ==
                0)
            json_object_del(operations, name);
    }
}

/* Server settings are those of the cell's first run unless they differ. */
static void drop_repeated(json_t *runs)
{
    const json_t *first = json_object_get(json_array_get(runs, 0), "server_settings");
    json_t *run;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        drop_empty(run);
        if (i > 0 && json_equal(first, json_object_get(run, "server_settings")))
            json_object_del(run, "server_settings");
    }
}

static bool has_zoom(const json_t *history)
{
    return json_array_size(json_object_get(history, "zooms")) > 0;
}

static bool has_witness(json_t *cell)
{
    const char *name;
    json_t *guarantee;
    json_object_foreach(json_object_get(cell, "guarantees"), name, guarantee)
    {
        if (json_array_size(json_object_get(guarantee, "witnesses")) > 0)
            return true;
    }
    return false;
}

/* The history of one run of the cell: of the one whose violation run.json shows, else of the first
 * that was kept. */
static int add_history(const char *directory, json_t *cell, struct lb_error *err)
{
    json_t *run, *chosen = NULL, *digest;
    bool looks_on = has_witness(cell);
    size_t i;
    int rc = 0;
    json_array_foreach(json_object_get(cell, "runs"), i, run)
    {
        const char *name = json_string_value(json_object_get(run, "history"));
        char path[1200];
        struct stat st;
        if (name == NULL || has_zoom(chosen) || (chosen != NULL && !looks_on))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, name);
        if (strchr(name, '/') != NULL) {
            rc = lb_fail(err, LB_E_FILE, "%s/run.json: '%.100s' is not a history beside it",
                         directory, name);
            break;
        }
        if (stat(path, &st) != 0 && errno == ENOENT)
            continue; /* histories are large: the user may have removed them */
        rc = lb_page_history(path, cell, &digest, err);
        if (rc != 0)
            break;
        json_object_set_new(digest, "run", json_integer((json_int_t)i + 1));
        if (chosen == NULL || has_zoom(digest)) {
            json_decref(chosen);
            chosen = digest;
        } else {
            json_decref(digest);
        }
    }
    if (rc == 0 && chosen != NULL)
        json_object_set(cell, "history", chosen);
    json_decref(chosen);
    return rc;
}

/* Where the files beside run.json are, and what people call the result. */
static void directory_of(const struct lb_stored *result, char *directory, size_t size,
                         const char **ret_name)
{
    snprintf(directory, size, "%s", result->path);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        *slash = '\0';
    else
        snprintf(directory, size, ".");
    slash = strrchr(directory, '/');
    *ret_name = slash != NULL && slash[1] != '\0' ? slash + 1 : directory;
}

/* The statements of the built-in strategies of a result, as they are embedded: they may have
 * options and forms, which "lockbench show" fills in. */
static json_t *statements_of(const json_t *cells)
{
    json_t *all = json_object(), *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        const char *strategy = json_string_value(json_object_get(cell, "strategy"));
        const char *engine = json_string_value(json_object_get(cell, "engine"));
        char name[96], server[32], key[140];
        if (strategy == NULL || engine == NULL)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(strategy, "["), strategy);
        snprintf(server, sizeof server, "%.*s", (int)strcspn(engine, ":"), engine);
        snprintf(key, sizeof key, "%s on %s", name, server);
        const struct lb_embedded *embedded = lb_embedded_find(name, server);
        if (embedded != NULL)
            json_object_set_new(all, key, json_string((const char *)embedded->text));
    }
    return all;
}

/* age.json of `lockbench age --format json`, where it is there. */
static int add_ages(const char *directory, json_t *entry, struct lb_error *err)
{
    char path[1200];
    json_t *ages;
    if (!lb_page_has_file(directory, "age.json", path, sizeof path))
        return 0;
    int rc = lb_page_ages(path, &ages, err);
    if (rc == 0)
        json_object_set_new(entry, "aged", ages);
    return rc;
}

/* mutants.json of `lockbench mutate --format json`, where it is there. */
static int add_mutants(const char *directory, json_t *entry, struct lb_error *err)
{
    char path[1200];
    json_error_t problem;
    if (!lb_page_has_file(directory, "mutants.json", path, sizeof path))
        return 0;
    json_t *mutants = json_load_file(path, 0, &problem);
    if (mutants == NULL || !json_is_array(json_object_get(mutants, "mutants"))) {
        int rc = lb_fail(err, LB_E_FILE, "%s: %s", path,
                         mutants == NULL ? problem.text : "it has no list of mutants");
        json_decref(mutants);
        return rc;
    }
    json_object_set_new(entry, "mutants", mutants);
    return 0;
}

static int add_result(struct lb_stored *result, json_t *results, struct lb_error *err)
{
    char directory[sizeof result->path];
    const char *name;
    json_t *cells = json_object_get(result->json, "cells"), *cell;
    size_t i;
    directory_of(result, directory, sizeof directory, &name);
    if (json_object_get(result->json, "aged") != NULL) {
        const char *slash = strrchr(result->path, '/');
        json_array_append_new(
            results, json_pack("{s:s, s:O, s:O}", "name", slash != NULL ? slash + 1 : result->path,
                               "run", result->json, "aged", json_object_get(result->json, "aged")));
        return 0;
    }
    int rc = lb_page_intervals(directory, cells, err);
    json_array_foreach(cells, i, cell)
    {
        if (rc == 0)
            rc = add_history(directory, cell, err);
        drop_repeated(json_object_get(cell, "runs"));
    }
    if (rc != 0)
        return rc;
    if (json_object_get(result->json, "plans") == NULL) /* which has its own */
        lb_page_fits(result->json);
    json_t *entry = json_pack("{s:s, s:O, s:o}", "name", name, "run", result->json, "statements",
                              statements_of(cells));
    if (entry == NULL || json_array_append_new(results, entry) != 0)
        return lb_fail(err, LB_E_ENV, "the name of %s is not UTF-8", directory);
    rc = add_ages(directory, entry, err);
    return rc == 0 ? add_mutants(directory, entry, err) : rc;
}

/* --- the file --- */

static int put_escaped(const char *bytes, size_t n, void *arg)
{
    FILE *out = arg;
    while (n > 0) {
        const char *at = memchr(bytes, '<', n);
        size_t plain = at != NULL ? (size_t)(at - bytes) : n;
        if (fwrite(bytes, 1, plain, out) != plain || (at != NULL && fputs("\\u003c", out) < 0))
            return -1;
        bytes += plain + (at != NULL);
        n -= plain + (at != NULL);
    }
    return 0;
}

static const struct lb_page_part *part_of(const char *name, size_t length)
{
    for (const struct lb_page_part *part = lb_page_parts; part->name != NULL; part++)
        if (strlen(part->name) == length && memcmp(part->name, name, length) == 0)
            return part;
    return NULL;
}

/* The template, with everything in its place. */
static int put_page(const json_t *data, FILE *out)
{
    const struct lb_page_part *page = part_of("page.html", strlen("page.html"));
    const char *at = (const char *)page->bytes, *open;
    while ((open = strstr(at, "{{")) != NULL) { /* an embedded file ends with a NUL */
        const char *name = open + 2, *close = strstr(name, "}}");
        size_t length = (size_t)(close - name);
        const struct lb_page_part *part = part_of(name, length);
        fwrite(at, 1, (size_t)(open - at), out);
        if (part != NULL)
            fwrite(part->bytes, 1, *part->length, out);
        else if (json_dump_callback(data, put_escaped, out,
                                    JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0)
            return -1;
        at = close + 2;
    }
    fputs(at, out);
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}

int lb_page_write(struct lb_stored *results, size_t n, FILE *out, struct lb_error *err)
{
    if (*part_of("d3.js", strlen("d3.js"))->length == 0)
        return lb_fail(err, LB_E_ENV,
                       "this lockbench was built without the charts' library: install libjs-d3 and "
                       "build again");
    json_t *array = json_array();
    json_t *data = json_pack("{s:s, s:o}", "lockbench", LB_VERSION, "results", array);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_result(&results[i], array, err);
    if (rc == 0 && put_page(data, out) != 0)
        rc = lb_fail(err, LB_E_ENV, "cannot write the page: %s", strerror(errno));
    json_decref(data);
    return rc;
}
