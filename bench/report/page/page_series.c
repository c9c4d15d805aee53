/* The file of a stored result beside run.json, reduced for the report page: the seconds of each
 * run.
 */
#include "lines.h"
#include "outcome.h"
#include "page.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_POINTS = 40000, /* seconds of all runs together */
    FEWEST_POINTS = 30,  /* of one run */
    INTERVAL_NUMBERS = 6 /* of an interval, before its gauges */
};

bool lb_page_has_file(const char *directory, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", directory, name);
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* --- intervals --- */

static json_t *cell_of(json_t *cells, const json_t *line)
{
    size_t i;
    json_t *cell;
    json_array_foreach(cells, i, cell)
    {
        if (strcmp(lb_stored_text(cell, "strategy"), lb_stored_text(line, "strategy")) == 0 &&
            strcmp(lb_stored_text(cell, "engine"), lb_stored_text(line, "engine")) == 0 &&
            strcmp(lb_stored_text(cell, "scenario"), lb_stored_text(line, "scenario")) == 0)
            return cell;
    }
    return NULL;
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* The larger of two numbers; null: unknown. Borrows. */
static json_t *larger(json_t *a, json_t *b)
{
    return !json_is_number(a) || (json_is_number(b) && json_number_value(b) > json_number_value(a))
               ? b
               : a;
}

/* The gauges behind the other numbers of an interval. */
static void add_gauges(json_t *interval, const json_t *line)
{
    for (size_t g = 0; g < LB_GAUGES; g++) {
        json_t *is = json_object_get(line, lb_gauge_name((enum lb_gauge)g));
        is = larger(json_array_get(interval, INTERVAL_NUMBERS + g), is);
        json_t *value = json_is_number(is) ? json_deep_copy(is) : json_null();
        if (json_array_size(interval) > INTERVAL_NUMBERS + g)
            json_array_set_new(interval, INTERVAL_NUMBERS + g, value);
        else
            json_array_append_new(interval, value);
    }
}

/* One interval: start, length, successes, refusals, p50, p99 and the gauges. Into the run's array,
 * or into its last entry when that is shorter than shortest_ns: sums, and of the quantiles and
 * gauges the larger. */
static int add_interval(json_t *runs, json_int_t run, const json_t *line, json_int_t shortest_ns)
{
    while ((json_int_t)json_array_size(runs) < run)
        json_array_append_new(runs, json_array());
    json_t *array = json_array_get(runs, (size_t)run - 1);
    json_t *last = json_array_get(array, json_array_size(array) - 1);
    static const char *const keys[INTERVAL_NUMBERS] = {"start_ns", "length_ns", "successes",
                                                       "refusals", "p50_ns",    "p99_ns"};
    if (last == NULL || json_integer_value(json_array_get(last, 1)) >= shortest_ns) {
        last = json_array();
        for (size_t i = 0; i < INTERVAL_NUMBERS; i++)
            json_array_append_new(last, json_integer(number_of(line, keys[i])));
        add_gauges(last, line);
        return json_array_append_new(array, last);
    }
    for (size_t i = 1; i < INTERVAL_NUMBERS; i++) {
        json_int_t was = json_integer_value(json_array_get(last, i));
        json_int_t is = number_of(line, keys[i]);
        json_array_set_new(last, i, json_integer(i < 4 ? was + is : is > was ? is : was));
    }
    add_gauges(last, line);
    return 0;
}

/* The interval that keeps the total number of points of all runs below a limit. */
static json_int_t shortest_interval(const json_t *cells)
{
    size_t n_runs = 0, i, r;
    json_int_t longest_ns = 0;
    json_t *cell, *run;
    json_array_foreach(cells, i, cell)
    {
        json_array_foreach(json_object_get(cell, "runs"), r, run)
        {
            json_int_t elapsed_ns = number_of(run, "elapsed_ns");
            longest_ns = elapsed_ns > longest_ns ? elapsed_ns : longest_ns;
            n_runs++;
        }
    }
    json_int_t points = MOST_POINTS / (json_int_t)(n_runs > 0 ? n_runs : 1);
    return longest_ns / (points > FEWEST_POINTS ? points : FEWEST_POINTS);
}

static int take_interval(json_t *cells, const json_t *line, json_int_t shortest_ns)
{
    json_t *cell = cell_of(cells, line);
    json_int_t run = number_of(line, "run");
    if (cell == NULL || run < 1 || run > (json_int_t)json_array_size(json_object_get(cell, "runs")))
        return -1;
    json_t *runs = json_object_get(cell, "intervals");
    if (!json_is_array(runs)) { /* a file that others wrote may have anything there */
        runs = json_array();
        json_object_set_new(cell, "intervals", runs);
    }
    return add_interval(runs, run, line, shortest_ns);
}

int lb_page_intervals(const char *directory, json_t *cells, struct lb_error *err)
{
    char path[1200];
    struct lb_lines lines;
    if (!lb_page_has_file(directory, "intervals.jsonl", path, sizeof path))
        return 0;
    int rc = lb_lines_open(&lines, path, err);
    if (rc != 0)
        return rc;
    json_int_t shortest_ns = shortest_interval(cells);
    while (rc == 0 && (rc = lb_lines_next(&lines, err)) > 0) {
        json_error_t why;
        json_t *line = json_loads(lines.text, 0, &why);
        rc = 0;
        if (line == NULL)
            rc = lb_fail(err, LB_E_FILE, "%s:%zu: %s", path, lines.number, why.text);
        else if (take_interval(cells, line, shortest_ns) != 0)
            rc = lb_fail(err, LB_E_FILE, "%s:%zu: of no run in run.json", path, lines.number);
        json_decref(line);
    }
    lb_lines_close(&lines);
    return rc;
}
