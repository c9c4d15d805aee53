/* lockbench list: the built-in objects, and the stored results. */
#include "cli.h"
#include "json_object.h"
#include "list.h"
#include "nearest.h"

#include <string.h>

/* One kind of thing: how many columns, and the cells of row n; false: no such row. */
struct listing {
    const char *name;
    const struct lb_column *columns;
    size_t n_columns;
    bool (*row)(size_t n, char cells[][400]);
};

enum { CELL = 400, MOST_COLUMNS = 7 };

static void add_word(char *buf, const char *word)
{
    size_t used = strlen(buf);
    snprintf(buf + used, CELL - used, "%s%s", used > 0 ? "," : "", word);
}

static const struct lb_column strategy_columns[] = {
    {"strategy", false}, {"shape", false}, {"kind", false},   {"engines", false},
    {"claims", false},   {"twin", false},  {"summary", false}};

static bool strategy_row(size_t n, char cells[][CELL])
{
    const struct lb_strategy *strategy = lb_strategies[n];
    if (strategy == NULL)
        return false;
    snprintf(cells[0], CELL, "%s", strategy->name);
    snprintf(cells[1], CELL, "%s", lb_shape_name(strategy->shape));
    snprintf(cells[2], CELL, "%s", strategy->is_control ? "control" : "protocol");
    if (strategy->no_database)
        add_word(cells[3], "memory");
    for (size_t e = 0; lb_engines[e] != NULL; e++)
        if (lb_embedded_find(strategy->name, lb_engines[e]->name) != NULL)
            add_word(cells[3], lb_engines[e]->name);
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (strategy->claims & LB_G_BIT(g))
            add_word(cells[4], lb_guarantee_name((enum lb_guarantee)g));
    snprintf(cells[5], CELL, "%s", strategy->twin != NULL ? strategy->twin : "");
    snprintf(cells[6], CELL, "%s", strategy->summary);
    return true;
}

static const struct lb_column scenario_columns[] = {
    {"scenario", false}, {"shape", false}, {"question", false}};

static bool scenario_row(size_t n, char cells[][CELL])
{
    struct lb_scenario scenario;
    struct lb_error err;
    if (lb_embedded_scenarios[n].name == NULL)
        return false;
    snprintf(cells[0], CELL, "%s", lb_embedded_scenarios[n].name);
    if (lb_scenario_load(lb_embedded_scenarios[n].name, &scenario, &err) == 0) {
        snprintf(cells[1], CELL, "%s", lb_shape_name(scenario.shape));
        snprintf(cells[2], CELL, "%s", scenario.question);
    }
    return true;
}

static const struct lb_column engine_columns[] = {
    {"engine", false}, {"product", false}, {"-d", false}};

static bool engine_row(size_t n, char cells[][CELL])
{
    if (lb_engines[n] == NULL)
        return false;
    snprintf(cells[0], CELL, "%s", lb_engines[n]->name);
    snprintf(cells[1], CELL, "%s", lb_engines[n]->product);
    snprintf(cells[2], CELL, "%s", lb_engines[n]->uri_help);
    return true;
}

static const struct lb_column guarantee_columns[] = {{"guarantee", false}, {"meaning", false}};

static bool guarantee_row(size_t n, char cells[][CELL])
{
    if (n >= (size_t)LB_GUARANTEES)
        return false;
    snprintf(cells[0], CELL, "%s", lb_guarantee_name((enum lb_guarantee)n));
    snprintf(cells[1], CELL, "%s", lb_guarantee_summary((enum lb_guarantee)n));
    return true;
}

static const struct lb_column fault_columns[] = {{"fault", false}, {"what happens", false}};

static bool fault_row(size_t n, char cells[][CELL])
{
    if (n + 1 > LB_FAULTS)
        return false;
    bool is_skew = n + 1 == LB_FAULTS; /* a key of the scenario, asked for in the same way */
    enum lb_fault fault = (enum lb_fault)(n + 1);
    snprintf(cells[0], CELL, "%s", is_skew ? "skew" : lb_fault_name(fault));
    snprintf(cells[1], CELL, "%s",
             is_skew ? lb_scenario_key("skew")->help : lb_fault_summary(fault));
    return true;
}

static const struct lb_column format_columns[] = {
    {"format", false}, {"of", false}, {"summary", false}};

static bool format_row(size_t n, char cells[][CELL])
{
    const struct lb_sink *sink = lb_sink_at(n, LB_OF_RUNS);
    if (sink == NULL)
        return false;
    size_t length = strlen(sink->name);
    snprintf(cells[0], CELL, "%s", sink->name);
    add_word(cells[1], "runs");
    if (lb_sink_find(sink->name, length, LB_OF_PLANS) != NULL)
        add_word(cells[1], "plans");
    if (lb_sink_find(sink->name, length, LB_OF_MATRICES) != NULL)
        add_word(cells[1], "matrices");
    if (sink->file != NULL)
        add_word(cells[1], "stored results");
    snprintf(cells[2], CELL, "%s", sink->summary);
    return true;
}

static const struct listing listings[] = {
    {"strategies", strategy_columns, 7, strategy_row},
    {"scenarios", scenario_columns, 3, scenario_row},
    {"engines", engine_columns, 3, engine_row},
    {"guarantees", guarantee_columns, 2, guarantee_row},
    {"faults", fault_columns, 2, fault_row},
    {"formats", format_columns, 3, format_row},
};
enum { LISTINGS = sizeof listings / sizeof listings[0] };

static void print_names(const struct listing *listing)
{
    char cells[MOST_COLUMNS][CELL];
    for (size_t n = 0; memset(cells, 0, sizeof cells), listing->row(n, cells); n++)
        puts(cells[0]);
}

static void print_table(const struct listing *listing)
{
    static const char *const order[] = {"twin", "claims", "kind", "engines", NULL};
    char cells[MOST_COLUMNS][CELL];
    struct lb_table *table = lb_table_new(listing->columns, listing->n_columns);
    for (size_t n = 0; memset(cells, 0, sizeof cells), listing->row(n, cells); n++)
        for (size_t c = 0; c < listing->n_columns; c++)
            lb_table_add(table, cells[c], LB_INK_PLAIN);
    lb_list_table(table, order);
}

/* A column's title as a key of JSON. */
static const char *key_of(const struct lb_column *column)
{
    return strcmp(column->title, "-d") == 0             ? "uri"
           : strcmp(column->title, "what happens") == 0 ? "summary"
                                                        : column->title;
}

static json_t *listing_json(const struct listing *listing)
{
    char cells[MOST_COLUMNS][CELL];
    struct lb_object rows = lb_list_new();
    for (size_t n = 0; memset(cells, 0, sizeof cells), listing->row(n, cells); n++) {
        struct lb_object row = lb_object_new();
        for (size_t c = 0; c < listing->n_columns; c++)
            lb_put_text(&row, key_of(&listing->columns[c]), cells[c]);
        lb_add(&rows, lb_object_end(&row));
    }
    return lb_object_end(&rows);
}

static int print_json(const struct listing *only, struct lb_error *err)
{
    struct lb_object all = lb_object_new();
    for (size_t i = 0; i < LISTINGS; i++)
        if (only == NULL || only == &listings[i])
            lb_put(&all, listings[i].name, listing_json(&listings[i]));
    return lb_json_print(lb_object_end(&all), JSON_INDENT(2), "the lists", stdout, err);
}

static int find_listing(const struct lb_args *args, const struct listing **ret_listing,
                        struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128];
    *ret_listing = NULL;
    if (args->positional.n == 0)
        return 0;
    lb_nearest_init(&nearest, args->positional.words[0]);
    lb_nearest_offer(&nearest, "results");
    for (size_t i = 0; i < LISTINGS; i++) {
        lb_nearest_offer(&nearest, listings[i].name);
        if (strcmp(listings[i].name, args->positional.words[0]) == 0)
            *ret_listing = &listings[i];
    }
    if (*ret_listing == NULL)
        return lb_fail(err, LB_E_USAGE, "cannot list '%s'%s", args->positional.words[0],
                       nearest.n > 0 ? lb_nearest_text(&nearest, text, sizeof text)
                                     : "; there are strategies, scenarios, engines, guarantees, "
                                       "faults, formats, results");
    if (args->positional.n > 1)
        return lb_fail(err, LB_E_USAGE, "unexpected argument '%s' for list",
                       args->positional.words[1]);
    return 0;
}

enum lb_exit lb_command_list(const struct lb_args *args)
{
    const struct listing *only;
    struct lb_error err;
    if (args->positional.n > 0 && strcmp(args->positional.words[0], "results") == 0)
        return lb_list_results(args);
    int rc = find_listing(args, &only, &err);
    bool is_json = lb_args_wants(args, "json");
    if (rc == 0 && args->strategies.n > 0 && (only != NULL || args->names))
        rc = lb_fail(&err, LB_E_USAGE, "option -s: tells all about a strategy: leave out %s",
                     only != NULL ? only->name : "--names");
    if (rc != 0)
        return lb_cli_complain(&err);
    if (args->strategies.n > 0)
        return lb_list_strategies(&args->strategies, is_json);
    if (is_json)
        return print_json(only, &err) == 0 ? LB_EXIT_OK : lb_cli_complain_of_output(&err);
    for (size_t i = 0; i < LISTINGS; i++) {
        if (only != NULL && only != &listings[i])
            continue;
        if (i > 0 && only == NULL && !args->names)
            putchar('\n');
        if (args->names)
            print_names(&listings[i]);
        else
            print_table(&listings[i]);
    }
    return LB_EXIT_OK;
}
