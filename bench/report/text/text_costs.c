/* The table of costs per success (--costs), and in words what sets the slower ones apart. */
#include "append.h"
#include "costs.h"
#include "memory.h"
#include "table.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

struct line {
    const struct lb_cell *cell;
    struct lb_costs costs;
    double rate;
};

enum { MOST_WAITS = 3, MOST_REASONS = 3 };

static char *waits_text(const struct lb_cell *cell, char *buf, size_t size)
{
    struct lb_wait_share waits[MOST_WAITS];
    size_t n = lb_cell_waits(cell, waits, MOST_WAITS);
    buf[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if (waits[i].sessions >= 0.005)
            lb_append(buf, size, "%s%s %.2f", buf[0] != '\0' ? ", " : "", waits[i].name,
                      waits[i].sessions);
    return buf;
}

/* Costs that are known of no cell have no column. */
static bool is_known(const struct line *lines, size_t n, int cost)
{
    for (size_t i = 0; i < n; i++)
        if (lines[i].costs.values[cost] >= 0)
            return true;
    return false;
}

static bool any_waits(const struct line *lines, size_t n)
{
    char text[300] = "";
    for (size_t i = 0; i < n && text[0] == '\0'; i++)
        waits_text(lines[i].cell, text, sizeof text);
    return text[0] != '\0';
}

static void print_table(const struct lb_sink_state *state, const struct line *lines, size_t n)
{
    struct lb_column columns[LB_COSTS + 5] = {
        {"strategy", false}, {"engine", false}, {"scenario", false}, {"success/s", true}};
    size_t n_columns = 4;
    for (int c = 0; c < LB_COSTS; c++)
        if (is_known(lines, n, c))
            columns[n_columns++] = (struct lb_column){lb_cost_name((enum lb_cost)c), true};
    bool has_waits = any_waits(lines, n);
    if (has_waits)
        columns[n_columns++] = (struct lb_column){"sessions seen", false};
    struct lb_table *table = lb_table_new(columns, n_columns);
    for (size_t i = 0; i < n; i++) {
        char text[300];
        lb_text_add_cell(table, lines[i].cell);
        lb_table_add_number(table, lines[i].rate);
        for (int c = 0; c < LB_COSTS; c++)
            if (is_known(lines, n, c))
                lb_table_add(
                    table,
                    lb_cost_format((enum lb_cost)c, lines[i].costs.values[c], text, sizeof text),
                    LB_INK_PLAIN);
        if (has_waits)
            lb_table_add(table, waits_text(lines[i].cell, text, sizeof text), LB_INK_PLAIN);
    }
    static const char *const least[] = {
        "switches",     "growth",     "cpu here",      "dead rows", "rows read",
        "lock retries", "scenario",   "sessions seen", "engine",    "success/s",
        "WAL",          "lock waits", "statements",    NULL};
    lb_table_show(table, state->width, state->terminal ? least : NULL, state->out, state->color);
}

/* The fastest of the same engine and scenario that held: a broken one saves work that it should
 * do. */
static const struct line *fastest(const struct line *lines, size_t n, const struct line *line)
{
    const struct line *best = line;
    for (size_t i = 0; i < n; i++)
        if (lb_cell_standing(lines[i].cell) == LB_STANDS_HELD &&
            strcmp(lines[i].cell->engine, line->cell->engine) == 0 &&
            strcmp(lines[i].cell->scenario.name, line->cell->scenario.name) == 0 &&
            lines[i].rate > best->rate)
            best = &lines[i];
    return best;
}

/* "3.1 times the WAL, 2.0 times the statements": the costs that are a quarter more, largest first.
 */
static void explain(const struct lb_sink_state *state, const struct line *line,
                    const struct line *best)
{
    bool told[LB_COSTS] = {false};
    char text[400] = "";
    for (int k = 0; k < MOST_REASONS; k++) {
        int most = -1;
        double most_ratio = 1.25;
        for (int c = 0; c < LB_COSTS; c++) {
            double mine = line->costs.values[c], other = best->costs.values[c];
            double ratio = mine > 0 && other > 0 ? mine / other : 0;
            if (!told[c] && ratio > most_ratio) {
                most = c;
                most_ratio = ratio;
            }
        }
        if (most < 0)
            break;
        told[most] = true;
        /* Of next to nothing the ratio is chance. */
        char times[32] = "over 1000";
        if (most_ratio < 1000)
            snprintf(times, sizeof times, "%.3g", most_ratio);
        lb_append(text, sizeof text, "%s%s times the %s", k > 0 ? ", " : "", times,
                  lb_cost_name((enum lb_cost)most));
    }
    lb_text_say(state, 0, "%s on %s, %s has %.2f of the rate of %s, and per success %s.",
                line->cell->name, line->cell->engine, line->cell->scenario.name,
                best->rate > 0 ? line->rate / best->rate : 0, best->cell->name,
                text[0] != '\0' ? text : "no cost that is a quarter above");
}

/* Why the requested server costs of a run are missing; NULL: they are not, or its engine has
 * none. */
static const char *why_unknown(const struct lb_outcome *run)
{
    if (run->n_server > 0)
        return NULL;
    if (run->state == LB_RUN_SERVER_GONE)
        return "the server was gone at the end of the run";
    return run->judgement.measures.n_restarts > 0
               ? "the server was started anew in the run, and had forgotten them"
               : NULL;
}

static void tell_unknown(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    const char *why = NULL;
    for (size_t i = 0; i < cell->n_runs && why == NULL; i++)
        why = why_unknown(cell->runs[i]);
    if (why != NULL)
        lb_text_say(state, 0, "%s on %s, %s: the server's costs are not known: %s.", cell->name,
                    cell->engine, cell->scenario.name, why);
}

void lb_text_costs(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    size_t n = 0;
    if (!report->costs)
        return;
    struct line *lines = lb_calloc(report->n_cells + 1, sizeof *lines);
    for (size_t i = 0; i < report->n_cells; i++) {
        struct lb_summary summary;
        if (report->cells[i].n_runs == 0)
            continue;
        struct line *line = &lines[n++];
        line->cell = &report->cells[i];
        lb_cell_costs(line->cell, &line->costs);
        lb_cell_summarise(line->cell, &summary);
        line->rate = summary.successes_per_s;
    }
    if (n > 0) {
        fputs("\ncosts per success\n", state->out);
        print_table(state, lines, n);
        lb_text_say(state, 0,
                    "WAL and lock waits are the whole server's. dead rows: updates and deletes. "
                    "growth: of tables and indexes. sessions seen: by what they did, on average "
                    "over the samples.");
        for (size_t i = 0; i < n; i++) {
            tell_unknown(state, lines[i].cell);
            const struct line *best = fastest(lines, n, &lines[i]);
            if (lines[i].rate > 0 && best->rate > lines[i].rate * 1.05)
                explain(state, &lines[i], best);
        }
    }
    free(lines);
}
