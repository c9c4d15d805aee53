/* The table of differences: is the order of the strategies more than noise? Printed when cells were
 * run at least twice.
 */
#include "ranking.h"
#include "table.h"
#include "text.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

static const struct lb_column columns[] = {
    {"strategy", false}, {"engine", false}, {"scenario", false}, {"success/s", true},
    {"of", false},       {"ratio", true},   {"p", true},         {"is", false}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void rate_text(const struct lb_estimate *e, char *buf, size_t size)
{
    char value[32], low[32], high[32];
    snprintf(buf, size, "%s [%s, %s]", lb_format_count(e->value, value, sizeof value),
             lb_format_count(e->interval.low, low, sizeof low),
             lb_format_count(e->interval.high, high, sizeof high));
}

static void add_row(struct lb_table *table, const struct lb_cell *cell,
                    const struct lb_estimate *rate, const struct lb_ranking_row *row)
{
    char text[120];
    lb_table_add(table, cell->name, LB_INK_PLAIN);
    lb_table_add(table, cell->engine, LB_INK_PLAIN);
    lb_table_add(table, cell->scenario.name, LB_INK_PLAIN);
    rate_text(rate, text, sizeof text);
    lb_table_add(table, text, LB_INK_PLAIN);
    if (row == NULL) {
        for (int i = 4; i < COLUMNS; i++)
            lb_table_add(table, i == COLUMNS - 1 ? "the reference" : "", LB_INK_DIM);
        return;
    }
    const struct lb_comparison *c = &row->comparison;
    bool sure = c->verdict == LB_STATS_FASTER || c->verdict == LB_STATS_SLOWER;
    lb_table_add(table, row->reference->name, LB_INK_PLAIN);
    snprintf(text, sizeof text, "%.3g [%.3g, %.3g]", c->ratio.value, c->ratio.interval.low,
             c->ratio.interval.high);
    lb_table_add(table, text, LB_INK_PLAIN);
    lb_table_add(table, lb_p_text(c->p_adjusted, text, sizeof text), LB_INK_PLAIN);
    lb_table_add(table, lb_stats_verdict_name(c->verdict), sure ? LB_INK_PLAIN : LB_INK_DIM);
}

/* Each reason once, under the table. */
static void print_reasons(const struct lb_sink_state *state, const struct lb_ranking *ranking)
{
    for (size_t i = 0; i < ranking->n_rows; i++) {
        const char *reason = ranking->rows[i].comparison.reason;
        bool is_new = reason[0] != '\0';
        for (size_t k = 0; k < i && is_new; k++)
            is_new = strcmp(reason, ranking->rows[k].comparison.reason) != 0;
        if (is_new) {
            char text[200];
            snprintf(text, sizeof text, "inconclusive: %s", reason);
            lb_print_wrapped(state->out, text, 0, state->width);
        }
    }
}

static int print(const struct lb_sink_state *state, const struct lb_ranking *ranking)
{
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    if (table == NULL)
        return -1;
    for (size_t i = 0; i < ranking->n_rows; i++) {
        const struct lb_ranking_row *row = &ranking->rows[i];
        if (i == 0 || ranking->rows[i - 1].reference != row->reference)
            add_row(table, row->reference, &row->comparison.base, NULL);
        add_row(table, row->cell, &row->comparison.new, row);
    }
    char text[400], intervals[100];
    struct lb_coverage coverage = {1};
    for (size_t i = 0; i < ranking->n_rows; i++)
        lb_coverage_take(&coverage, &ranking->rows[i].comparison);
    fputs("\nIs the order more than noise?\n", state->out);
    static const char *const least[] = {"of", "p", "engine", "success/s", NULL};
    char hidden[100] = "";
    if (state->terminal)
        lb_table_fit(table, state->width, least, hidden, sizeof hidden);
    int rc = lb_table_print(table, state->out, state->color);
    lb_table_free(table);
    lb_print_hidden(state->out, hidden, state->width);
    snprintf(text, sizeof text,
             "Medians of the runs and ratios to the reference, the fastest that held, with %s; p: "
             "%s, corrected (Holm) for %zu comparison%s; equivalent: within %.0f %%.",
             lb_coverage_text(&coverage, lb_ranking_options.level, intervals, sizeof intervals),
             lb_ranking_test(ranking), ranking->n_family, ranking->n_family == 1 ? "" : "s",
             100 * lb_ranking_options.band);
    lb_print_wrapped(state->out, text, 0, state->width);
    print_reasons(state, ranking);
    return rc;
}

int lb_text_ranking(const struct lb_sink_state *state)
{
    struct lb_ranking ranking;
    struct lb_error err;
    if (lb_ranking_make(state->report, &ranking, &err) != 0)
        return -1;
    int rc = ranking.n_rows > 0 ? print(state, &ranking) : 0;
    if (lb_ranking_lacks_runs(state->report)) {
        fputc('\n', state->out);
        lb_print_wrapped(state->out, LB_ONE_RUN, 0, state->width);
    }
    lb_ranking_release(&ranking);
    return rc;
}
