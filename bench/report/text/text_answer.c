/* The answer of a comparison, on one screen: what to choose, how to get its SQL, how sure that is,
 * and a short table. All else is printed with -v, and by every other format.
 */
#include "append.h"
#include "ranking.h"
#include "servers.h"
#include "table.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 8 };

static const struct lb_column columns[] = {
    {"strategy", false},      {"success/s", true}, {"served", true},
    {"ratio", true},          {"p99 wait", true},  {"cpu", true},
    {"a million", true},      {"plans", false},    {"new waits", true},
    {"after a death", false}, {"is", false}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* The order of the rows, and the measure that compares them. */
struct view {
    const struct lb_rank_table *rates, *order;
    enum lb_measured measured;
    struct lb_choice choice;
    const struct lb_price *price;
};

/* Those of the table of rates that are not in the order, as their waits could not be compared. */
static bool is_ordered(const struct view *view, const struct lb_cell *cell)
{
    bool is = false;
    for (size_t i = 0; i < view->order->n; i++)
        is |= view->order->ranks[i].cell == cell;
    return is;
}

static void add_row(struct lb_table *table, const struct view *view, const struct lb_rank *rank)
{
    struct lb_summary summary;
    char text[120];
    bool is_reference = rank == &view->order->ranks[view->order->reference];
    bool compared = is_ordered(view, rank->cell);
    lb_cell_summarise(rank->cell, &summary);
    lb_table_add(table, lb_rank_name(rank),
                 view->choice.rank != NULL && rank->cell == view->choice.rank->cell ? LB_INK_GOOD
                                                                                    : LB_INK_PLAIN);
    lb_table_add_number(table, summary.successes_per_s);
    lb_table_addf(table, isnan(rank->served) ? "n/a" : "%.1f %%", rank->served * 100);
    lb_table_add(table,
                 is_reference ? "1"
                 : compared   ? lb_rank_ratio(rank, text, sizeof text)
                              : "n/a",
                 LB_INK_PLAIN);
    lb_table_add_time(table, summary.quantile_ns[3]);
    lb_table_add_time(table, lb_summary_cpu_ns(&summary));
    lb_table_add(
        table,
        lb_price_format(lb_price_per_million(view->price, (double)rank->cell->scenario.workers,
                                             summary.successes_per_s),
                        text, sizeof text),
        LB_INK_PLAIN);
    const struct lb_cell *base = view->rates->ranks[view->rates->reference].cell;
    bool is_base = rank->cell == base;
    lb_table_add(table, is_base ? "" : lb_servers_plans(base, rank->cell), LB_INK_PLAIN);
    lb_table_add(table, is_base ? "" : lb_servers_waits(base, rank->cell, text, sizeof text),
                 LB_INK_PLAIN);
    lb_table_add(table, lb_rank_recovers(rank) ? "recovers" : "by hand", LB_INK_PLAIN);
    lb_table_add(table,
                 !rank->held ? rank->why
                 : compared  ? lb_rank_is(view->order, rank, view->measured)
                             : "not compared",
                 rank->held ? LB_INK_PLAIN : LB_INK_DIM);
}

struct rows {
    struct lb_table *table;
    char rest[600]; /* the names for which there is no row */
    size_t n, n_total;
};

/* The first rows, and the choice wherever it stands. */
static void take_rows(struct rows *rows, const struct view *view, const struct lb_rank_table *of)
{
    for (size_t i = 0; i < of->n; i++) {
        const struct lb_rank *rank = &of->ranks[i];
        bool is_choice = view->choice.rank != NULL && rank->cell == view->choice.rank->cell;
        if (of != view->order && is_ordered(view, rank->cell))
            continue;
        if (rows->n < MOST_ROWS - 1 || is_choice || rows->n_total <= MOST_ROWS) {
            add_row(rows->table, view, rank);
            rows->n++;
        } else {
            lb_append(rows->rest, sizeof rows->rest, "%s%s",
                      rows->rest[0] == '\0' ? "Below these: " : ", ", lb_rank_name(rank));
        }
    }
}

static void print_rows(const struct lb_sink_state *state, const struct view *view)
{
    static const char *const least[] = {"cpu", "p99 wait", "success/s", "served", NULL};
    const bool is_of_servers = lb_servers_are_asked(view->rates);
    struct lb_column head[COLUMNS];
    memcpy(head, columns, sizeof head);
    if (is_of_servers)
        head[0].title = "server";
    struct rows rows = {.table = lb_table_new(head, COLUMNS), .n_total = view->rates->n};
    take_rows(&rows, view, view->order);
    if (view->order != view->rates)
        take_rows(&rows, view, view->rates);
    lb_table_hide(rows.table, lb_rank_is_open(view->rates) ? "success/s" : "served");
    lb_table_hide(rows.table, is_of_servers ? "after a death" : "plans");
    if (!is_of_servers)
        lb_table_hide(rows.table, "new waits");
    if (!view->price->is_given)
        lb_table_hide(rows.table, "a million");
    lb_table_show(rows.table, state->width, state->terminal ? least : NULL, state->out,
                  state->color);
    if (rows.rest[0] != '\0')
        lb_print_wrapped(state->out, rows.rest, 0, state->width);
}

/* How to get the SQL of the choice. */
static void print_sql(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    char text[400] = "";
    if (cell->strategy->no_database || lb_strategy_find(cell->strategy->name) != cell->strategy)
        return;
    lb_command_start(text, sizeof text, 1, "show");
    lb_command_add(text, sizeof text, cell->strategy_path);
    lb_command_option(text, sizeof text, "-d", cell->target->db->name);
    fprintf(state->out, "  Its SQL: %s\n", text);
}

/* Of a load that is given: which carry it, and what that costs. */
static void print_load(const struct lb_sink_state *state, const struct lb_rank_table *rates,
                       const struct lb_ranking *rankings)
{
    char text[LB_RANK_TEXT];
    const struct lb_rank_table *costs = lb_rank_table_of(&rankings[LB_RANK_CPU], rates);
    lb_print_wrapped(state->out, lb_rank_answer(rates, LB_RANK_RATE, text, sizeof text), 2,
                     state->width);
    if (costs != NULL)
        lb_text_say(state, 2, "%s: %s", lb_measured_title(LB_RANK_CPU),
                    lb_rank_answer(costs, LB_RANK_CPU, text, sizeof text));
}

static void print_table(const struct lb_sink_state *state, const struct lb_rank_table *rates,
                        const struct lb_ranking *rankings)
{
    char text[LB_RANK_TEXT];
    const struct lb_cell *first = rates->ranks[0].cell;
    struct view view = {
        .rates = rates, .price = &state->report->price, .choice = lb_rank_choose(rates, rankings)};
    view.order = view.choice.table;
    view.measured = view.choice.measured;
    bool is_of_servers = lb_servers_are_asked(rates);
    fprintf(state->out, "%s %s%s%s on %s, %zu round%s\n",
            lb_rank_question(rates, text, sizeof text), is_of_servers ? first->name : "",
            is_of_servers ? ", " : "", first->scenario.name,
            is_of_servers ? first->target->db->product : first->engine, rates->n_rounds,
            rates->n_rounds == 1 ? "" : "s");
    lb_print_wrapped(state->out, lb_servers_or_choice(rates, rankings, text, sizeof text), 2,
                     state->width);
    if (view.choice.rank != NULL && !is_of_servers)
        print_sql(state, view.choice.rank->cell);
    if (lb_rank_is_open(rates))
        print_load(state, rates, rankings);
    else if (rates->is_named)
        lb_print_wrapped(state->out, lb_rank_answer(rates, LB_RANK_RATE, text, sizeof text), 2,
                         state->width);
    lb_text_say(state, 2, "Confidence: 95 %% intervals for the whole table, by %s. %s",
                lb_measured_title(view.measured),
                lb_rank_power(view.order, view.measured, text, sizeof text));
    print_rows(state, &view);
    fputc('\n', state->out);
}

/* Under the tables: each cell without a verdict that stands in no table, in a line; with aged
 * tables, each cell that stands in none. */
static void print_undecided(const struct lb_sink_state *state, const struct lb_ranking *rates)
{
    char verdict[200];
    const struct lb_rank_table *table;
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        enum lb_standing standing = lb_cell_standing(cell);
        bool is_told = standing == LB_STANDS_HELD || standing == LB_STANDS_VIOLATED ||
                       standing == LB_STANDS_SKIPPED || standing == LB_STANDS_FAILED;
        if ((is_told && cell->scenario.aged[0] == '\0') ||
            lb_ranking_find(rates, cell, &table) != NULL)
            continue;
        lb_text_say(state, 0, "%s on %s, %s: %s%s%s", cell->name, cell->engine, cell->scenario.name,
                    lb_cell_verdict(cell, verdict, sizeof verdict),
                    cell->reason[0] != '\0' ? ": " : "", cell->reason);
    }
}

/* Rounds that do not hold decide the exit status, unless they are spared. */
static void print_invalid(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    size_t n_invalid = 0;
    const struct lb_outcome *first = NULL;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        if (run->state != LB_RUN_INVALID)
            continue;
        n_invalid++;
        if (first == NULL && !lb_run_is_spared(cell, run))
            first = run;
    }
    if (first != NULL)
        lb_text_say(state, 0, "%s on %s, %s: inconclusive, as %zu of %zu rounds do not count: %s",
                    cell->name, cell->engine, cell->scenario.name, n_invalid, cell->n_runs,
                    first->reason);
}

static bool is_plain(const struct lb_report *report)
{
    bool is = report->diff == NULL && !report->costs;
    for (size_t i = 0; i < report->n_cells; i++)
        is = is && !lb_scenario_is_swept(report->cells[i].scenario.name);
    return is;
}

bool lb_text_answer(const struct lb_sink_state *state)
{
    struct lb_ranking rankings[LB_RANK_MEASURES];
    if (!is_plain(state->report))
        return false;
    lb_rankings_make(state->report, rankings);
    const struct lb_ranking *rates = &rankings[LB_RANK_RATE];
    bool is_answered = rates->n_tables > 0;
    for (size_t i = 0; i < rates->n_tables; i++)
        print_table(state, &rates->tables[i], rankings);
    if (is_answered)
        print_undecided(state, rates);
    for (size_t i = 0; is_answered && i < state->report->n_cells; i++)
        print_invalid(state, &state->report->cells[i]);
    lb_rankings_release(rankings);
    return is_answered;
}
