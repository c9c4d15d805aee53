/* A run over time, as one line of characters for each figure: --series. */
#include "table.h"
#include "text.h"
#include "units.h"

#include <math.h>

enum { MARGIN = 20, NUMBERS = 30, MOST_CELLS = 100, FEWEST_CELLS = 20 };

/* A figure of an interval; NAN: unknown. */
static double figure_of(const struct lb_interval *interval, int figure)
{
    switch (figure) {
    case -3:
        return (double)interval->n_successes * 1e9 / (double)interval->length_ns;
    case -2:
        return interval->p50_ns > 0 ? (double)interval->p50_ns : (double)NAN;
    case -1:
        return interval->p99_ns > 0 ? (double)interval->p99_ns : (double)NAN;
    default:
        return interval->gauges[figure];
    }
}

static const char *name_of(int figure)
{
    static const char *const names[] = {"success/s", "p50", "p99"};
    return figure < 0 ? names[figure + 3] : lb_gauge_name((enum lb_gauge)figure);
}

/* The largest of the intervals that fall into one place: a peak is not to be lost. */
static double at_place(const struct lb_outcome *run, int figure, unsigned place, unsigned n_places)
{
    const size_t n = run->n_intervals;
    double most = (double)NAN;
    for (size_t i = place * n / n_places;
         i < (place + 1) * n / n_places || i == place * n / n_places; i++)
        most = fmax(most, figure_of(&run->intervals[i], figure)); /* fmax passes over NAN */
    return most;
}

static char *value_text(double value, int figure, char *buf, size_t size)
{
    if (figure == -1 || figure == -2)
        return lb_format_ns((uint64_t)value, buf, size);
    if (value < 10 && value > 0)
        snprintf(buf, size, "%.2f", value);
    else
        lb_format_count(value, buf, size);
    return buf;
}

static void print_line(const struct lb_sink_state *state, const struct lb_outcome *run, int figure,
                       unsigned n_places)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char levels[] = "_.-=+*%#";
    double least = (double)INFINITY, most = 0;
    char low[32], high[32];
    for (size_t i = 0; i < run->n_intervals; i++) {
        double value = figure_of(&run->intervals[i], figure);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    if (isinf(least) || most <= 0)
        return; /* unknown, or nothing happened */
    fprintf(state->out, "%-*.*s", MARGIN, MARGIN - 1, name_of(figure));
    for (unsigned place = 0; place < n_places; place++) {
        double value = at_place(run, figure, place, n_places);
        unsigned level = isnan(value) ? 0 : (unsigned)fmin(7, 8 * value / most);
        if (isnan(value))
            fputc(' ', state->out);
        else if (state->utf8)
            fputs(blocks[level], state->out);
        else
            fputc(levels[level], state->out);
    }
    fprintf(state->out, "  %s to %s\n", value_text(least, figure, low, sizeof low),
            value_text(most, figure, high, sizeof high));
}

static void add_ns(struct lb_table *table, uint64_t ns)
{
    char text[32];
    lb_table_add(table, ns > 0 ? lb_format_ns(ns, text, sizeof text) : "n/a", LB_INK_PLAIN);
}

/* The most of a gauge in a phase. */
static void add_most(struct lb_table *table, const struct lb_outcome *run, uint32_t stage,
                     enum lb_gauge gauge)
{
    double most = (double)NAN;
    char text[32];
    for (size_t i = 0; i < run->n_intervals; i++)
        if (lb_interval_stage(run, &run->intervals[i]) == run->config.stages[stage].name)
            most = fmax(most, run->intervals[i].gauges[gauge]);
    lb_table_add(table, isnan(most) ? "n/a" : lb_format_count(most, text, sizeof text),
                 LB_INK_PLAIN);
}

static void print_phases(const struct lb_sink_state *state, const struct lb_outcome *run)
{
    static const struct lb_column columns[] = {
        {"phase", false}, {"length", true}, {"arrivals/s", true},    {"success/s", true},
        {"p50", true},    {"p99", true},    {"most not done", true}, {"most dead rows", true}};
    struct lb_table *table = lb_table_new(columns, sizeof columns / sizeof columns[0]);
    for (uint32_t i = 0; i < run->config.n_stages; i++) {
        const struct lb_stage_figures *figures = &run->stages[i];
        double seconds = (double)figures->length_ns / 1e9;
        char text[32];
        if (figures->length_ns == 0)
            continue;
        lb_table_add(table, run->config.stages[i].name, LB_INK_PLAIN);
        add_ns(table, figures->length_ns);
        lb_table_add(table,
                     run->config.rate[0] != '\0'
                         ? lb_format_count((double)figures->n_due / seconds, text, sizeof text)
                         : "n/a",
                     LB_INK_PLAIN);
        lb_table_add_number(table, (double)figures->n_successes / seconds);
        add_ns(table, figures->p50_ns);
        add_ns(table, figures->p99_ns);
        add_most(table, run, i, LB_G_BACKLOG);
        add_most(table, run, i, LB_G_DEAD_ROWS);
    }
    lb_table_show(table, 0, NULL, state->out, state->color);
}

void lb_text_phases(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    for (size_t i = 0; i < report->n_cells; i++)
        for (size_t r = 0; r < report->cells[i].n_runs; r++) {
            const struct lb_cell *cell = &report->cells[i];
            if (cell->scenario.n_stages == 0)
                continue;
            fprintf(state->out, "\nphases of %s on %s, %s", cell->name, cell->engine,
                    cell->scenario.name);
            if (cell->n_runs > 1)
                fprintf(state->out, ", run %zu of %zu", r + 1, cell->n_runs);
            fputc('\n', state->out);
            print_phases(state, cell->runs[r]);
        }
}

void lb_text_series(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    for (size_t i = 0; i < report->n_cells && report->has_series; i++)
        for (size_t r = 0; r < report->cells[i].n_runs; r++) {
            const struct lb_cell *cell = &report->cells[i];
            const struct lb_outcome *run = cell->runs[r];
            unsigned room = state->width > MARGIN + NUMBERS + FEWEST_CELLS
                                ? state->width - MARGIN - NUMBERS
                                : FEWEST_CELLS;
            size_t n = run->n_intervals < room ? run->n_intervals : room;
            if (n < 2)
                continue;
            n = n > MOST_CELLS ? MOST_CELLS : n;
            fprintf(state->out, "\nover time: %s on %s, %s", cell->name, cell->engine,
                    cell->scenario.name);
            if (cell->n_runs > 1)
                fprintf(state->out, ", run %zu of %zu", r + 1, cell->n_runs);
            fputc('\n', state->out);
            for (int figure = -3; figure < LB_GAUGES; figure++)
                print_line(state, run, figure, (unsigned)n);
        }
}
