/* lockbench list results: what -o and --save have stored, oldest name first. */
#include "list.h"

#include "append.h"
#include "json_object.h"
#include "regression.h"
#include "terminal.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct lb_column columns[] = {
    {"result", false}, {"started", false}, {"command", false},   {"cells", true},
    {"runs", true},    {"verdict", false}, {"strategies", false}};
enum { COLUMNS = sizeof columns / sizeof columns[0], CELL = 600 };

void lb_list_table(struct lb_table *table, const char *const *order)
{
    if (isatty(STDOUT_FILENO) == 1)
        lb_table_show_wrapped(table, lb_terminal_width(STDOUT_FILENO), order, stdout);
    else
        lb_table_show(table, 0, NULL, stdout, false);
}

static bool was_before(const struct lb_stored *result, size_t cell)
{
    for (size_t i = 0; i < cell; i++)
        if (strcmp(result->cells[i].strategy, result->cells[cell].strategy) == 0)
            return true;
    return false;
}

/* "all held", "2 violated", "1 violated, interrupted" */
static void verdict(const struct lb_stored *result, char *buf, size_t size)
{
    size_t n_violated = 0, n_held = 0;
    for (size_t i = 0; i < result->n_cells; i++) {
        n_violated += strncasecmp(result->cells[i].verdict, "violated", 8) == 0;
        n_held += strncmp(result->cells[i].verdict, "held", 4) == 0;
    }
    bool is_cut = json_is_true(json_object_get(result->json, "interrupted"));
    if (n_violated > 0)
        snprintf(buf, size, "%zu violated%s", n_violated, is_cut ? ", interrupted" : "");
    else if (n_held == result->n_cells && n_held > 0)
        snprintf(buf, size, "all held%s", is_cut ? ", interrupted" : "");
    else
        snprintf(buf, size, "%zu of %zu held%s", n_held, result->n_cells,
                 is_cut ? ", interrupted" : "");
}

static void describe(const struct lb_stored *result, char cells[][CELL])
{
    const char *command = json_string_value(json_object_get(result->json, "command"));
    size_t n_runs = 0;
    for (size_t i = 0; i < result->n_cells; i++)
        n_runs += result->cells[i].n_runs;
    snprintf(cells[1], CELL, "%s", result->started);
    snprintf(cells[2], CELL, "%s", command != NULL ? command : "");
    snprintf(cells[3], CELL, "%zu", result->n_cells);
    snprintf(cells[4], CELL, "%zu", n_runs);
    verdict(result, cells[5], CELL);
    for (size_t i = 0; i < result->n_cells; i++)
        if (!was_before(result, i))
            lb_append(cells[6], CELL, "%s%s", cells[6][0] != '\0' ? "," : "",
                      result->cells[i].strategy);
}

/* Unreadable results are in the list all the same, with the reason. */
static void take(const char *directory, const char *name, char cells[][CELL])
{
    char path[500];
    struct lb_stored result;
    struct lb_error err;
    snprintf(cells[0], CELL, "%s", name);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (lb_stored_load(path, &result, &err) != 0) {
        snprintf(cells[5], CELL, "cannot be read");
        snprintf(cells[6], CELL, "%s", err.message);
        return;
    }
    describe(&result, cells);
    lb_stored_release(&result);
}

static void print_table(const char *directory, char *const *names, long n)
{
    static const char *const order[] = {"runs", "cells", "command", "started", NULL};
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    for (long i = 0; i < n; i++) {
        char cells[COLUMNS][CELL] = {""};
        take(directory, names[i], cells);
        for (size_t c = 0; c < COLUMNS; c++)
            lb_table_add(table, cells[c], LB_INK_PLAIN);
    }
    lb_list_table(table, order);
}

static int print_json(const char *directory, char *const *names, long n, struct lb_error *err)
{
    struct lb_object all = lb_object_new(), rows = lb_list_new();
    for (long i = 0; i < n; i++) {
        char cells[COLUMNS][CELL] = {""};
        struct lb_object row = lb_object_new();
        take(directory, names[i], cells);
        for (size_t c = 0; c < COLUMNS; c++)
            lb_put(&row, columns[c].title,
                   columns[c].right ? json_integer(strtoll(cells[c], NULL, 10))
                                    : lb_json_text(cells[c]));
        lb_add(&rows, lb_object_end(&row));
    }
    lb_put(&all, "results", lb_object_end(&rows));
    return lb_json_print(lb_object_end(&all), JSON_INDENT(2), "the results", stdout, err);
}

static int check(const struct lb_args *args, const char *directory, struct lb_error *err)
{
    struct stat st;
    if (args->strategies.n > 0)
        return lb_fail(err, LB_E_USAGE, "option -s: tells all about a strategy: leave out results");
    if (stat(directory, &st) != 0 || !S_ISDIR(st.st_mode))
        return lb_fail(err, LB_E_FILE, "%s: no such directory: -o DIR and --save NAME make results",
                       directory);
    return 0;
}

enum lb_exit lb_list_results(const struct lb_args *args)
{
    const char *directory = args->positional.n > 1 ? args->positional.words[1] : LB_RESULTS;
    struct lb_error err;
    char **names = NULL;
    int rc = check(args, directory, &err);
    if (rc != 0)
        return lb_cli_complain(&err);
    long n = lb_result_names(directory, &names);
    for (long i = 0; i < n && args->names; i++)
        puts(names[i]);
    if (!args->names && lb_args_wants(args, "json"))
        rc = print_json(directory, names, n, &err);
    else if (!args->names)
        print_table(directory, names, n);
    lb_result_names_free(names, n);
    return rc == 0 ? LB_EXIT_OK : lb_cli_complain_of_output(&err);
}
