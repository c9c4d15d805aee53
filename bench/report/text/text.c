/* Results for people: the measurements, one table per scenario, and under it a plain sentence for
 * every violation with the command that repeats it, and the reason of every cell without numbers.
 *
 * Nothing is printed before the end: the order of the rows depends on the results.
 */
#include "text.h"
#include "alike.h"
#include "append.h"
#include "chart.h"
#include "diff.h"
#include "memory.h"
#include "nearest.h"
#include "report.h"
#include "table.h"
#include "text_clean.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- what was measured, and on what --- */

static const struct lb_outcome *first_run(const struct lb_report *report, const char *engine)
{
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].n_runs > 0 && strcmp(report->cells[i].engine, engine) == 0)
            return report->cells[i].runs[0];
    return NULL;
}

/* Version, durability and isolation: without them a number says nothing. The rest is in the JSON.
 */
static const char *const essential[] = {"version",
                                        "pooled",
                                        "topology",
                                        "journal_mode",
                                        "synchronous",
                                        "fsync",
                                        "synchronous_commit",
                                        "sync_binlog",
                                        "innodb_flush_log_at_trx_commit",
                                        "full_page_writes",
                                        "isolation",
                                        "tx_isolation",
                                        "default_transaction_isolation",
                                        "transaction_isolation",
                                        NULL};

/* One line per target, as the server tells it. */
static void print_targets(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        const struct lb_outcome *run = first_run(report, cell->engine);
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = strcmp(report->cells[j].engine, cell->engine) != 0;
        if (!is_first || run == NULL || cell->target == NULL)
            continue;
        char text[2000];
        snprintf(text, sizeof text, "%s: %s at %s;", cell->engine, cell->target->db->product,
                 cell->target->label);
        for (size_t f = 0; f < run->n_facts; f++)
            if (lb_is_one_of(run->facts[f].name, essential))
                lb_append(text, sizeof text, " %s=%s", run->facts[f].name, run->facts[f].value);
        lb_print_wrapped(state->out, text, 0, state->width);
    }
}

void lb_text_head(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    lb_text_say(state, 0, "lockbench %s: seed %llu, %s%llu run%s per cell, %ld cores (%s), %s",
                LB_VERSION, (unsigned long long)report->seed, report->budget_ns > 0 ? "up to " : "",
                (unsigned long long)report->n_repeat, report->n_repeat == 1 ? "" : "s",
                report->environment.n_cores, report->environment.machine,
                report->environment.system);
    print_targets(state);
}

/* Does the key vary among the cells that are asked first's question? */
static bool varies(const struct lb_report *report, const struct lb_cell *first,
                   const struct lb_key *key)
{
    char value[300], other[300];
    lb_scenario_get(&first->scenario, key, value, sizeof value);
    for (size_t i = 0; i < report->n_cells; i++) {
        lb_scenario_get(&report->cells[i].scenario, key, other, sizeof other);
        if (lb_cell_same_question(&report->cells[i], first) && strcmp(value, other) != 0)
            return true;
    }
    return false;
}

void lb_text_config(const struct lb_sink_state *state, const struct lb_scenario *scenario,
                    const struct lb_cell *first)
{
    static const char *const always[] = {"workers", "hold",    "poll",      "duration",
                                         "warmup",  "backoff", "isolation", "think"};
    char text[1500] = "", value[300];
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        if (key->type == LB_KEY_SHAPE || !lb_key_applies(key, scenario->shape) ||
            (first != NULL ? varies(state->report, first, key) : strcmp(key->name, "workers") == 0))
            continue;
        lb_scenario_get(scenario, key, value, sizeof value);
        bool wanted = strcmp(value, "0") != 0 && strcmp(value, "no") != 0 &&
                      strcmp(value, "none") != 0 &&
                      (scenario->fault != LB_FAULT_NONE || strncmp(key->name, "fault-", 6) != 0) &&
                      (scenario->rate[0] != '\0' || strcmp(key->name, "max-pending") != 0) &&
                      (scenario->producers > 0 || strcmp(key->name, "put-batch") != 0) &&
                      (scenario->skew_ns > 0 || strcmp(key->name, "skewed") != 0) &&
                      (scenario->aged[0] != '\0' || strcmp(key->name, "statistics") != 0);
        for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
            wanted |= strcmp(always[i], key->name) == 0;
        if (wanted)
            lb_append(text, sizeof text, "%s%s %s", text[0] != '\0' ? ", " : "", key->name, value);
    }
    lb_print_wrapped(state->out, text, 2, state->width);
}

/* --- the table --- */

static const struct lb_column columns[] = {
    {"strategy", false}, {"engine", false}, {"verdict", false}, {"success/s", true},
    {"tries", true},     {"p50", true},     {"p95", true},      {"p99", true},
    {"max", true},       {"fair", true},    {"cpu", true},      {"", false},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], FIRST_COLUMNS = 2, MOST_VARYING = 16 };

/* The columns of one table: the keys of a sweep come after strategy and engine. */
struct layout {
    const struct lb_key *keys[MOST_VARYING];
    size_t n_keys;
    struct lb_column columns[COLUMNS + MOST_VARYING];
};

static void make_layout(const struct lb_report *report, const struct lb_cell *first,
                        struct layout *layout)
{
    layout->n_keys = 0;
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++)
        if (layout->n_keys < MOST_VARYING && varies(report, first, key))
            layout->keys[layout->n_keys++] = key;
    for (size_t i = 0; i < COLUMNS; i++)
        layout->columns[i < FIRST_COLUMNS ? i : i + layout->n_keys] = columns[i];
    for (size_t i = 0; i < layout->n_keys; i++)
        layout->columns[FIRST_COLUMNS + i] = (struct lb_column){layout->keys[i]->name, true};
}

struct row {
    const struct lb_cell *cell;
    struct lb_summary summary;
    size_t engine_order, variant_order;
    bool has_numbers;
};

/* By engine and point of a sweep as given, then the fastest first; those without numbers last. */
static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->engine_order != y->engine_order)
        return x->engine_order < y->engine_order ? -1 : 1;
    if (x->variant_order != y->variant_order)
        return x->variant_order < y->variant_order ? -1 : 1;
    if (x->has_numbers != y->has_numbers)
        return x->has_numbers ? -1 : 1;
    if (!x->has_numbers)
        return x->cell < y->cell ? -1 : x->cell > y->cell;
    return (x->summary.successes_per_s < y->summary.successes_per_s) -
           (x->summary.successes_per_s > y->summary.successes_per_s);
}

static void add_bar(struct lb_table *table, const struct lb_sink_state *state, double share)
{
    char text[128];
    lb_chart_bar(share, lb_chart_bar_columns(state->width), state->utf8, text, sizeof text);
    lb_table_add(table, text, LB_INK_DIM);
}

static enum lb_ink verdict_ink(const struct lb_cell *cell)
{
    switch (lb_cell_standing(cell)) {
    case LB_STANDS_HELD:
        return LB_INK_GOOD;
    case LB_STANDS_VIOLATED:
    case LB_STANDS_FAILED:
        return LB_INK_BAD;
    case LB_STANDS_MISSED:
    case LB_STANDS_UNTESTED:
    case LB_STANDS_INCONCLUSIVE:
        return LB_INK_WARN;
    case LB_STANDS_SKIPPED:
    case LB_STANDS_NOT_RUN:
    default:
        return LB_INK_DIM;
    }
}

static void add_row(struct lb_table *table, const struct layout *layout, const struct row *row,
                    double best, const struct lb_sink_state *state)
{
    const struct lb_summary *s = &row->summary;
    char text[300];
    lb_table_add(table, row->cell->name, LB_INK_PLAIN);
    lb_table_add(table, row->cell->engine, LB_INK_PLAIN);
    for (size_t i = 0; i < layout->n_keys; i++) {
        lb_scenario_get(&row->cell->scenario, layout->keys[i], text, sizeof text);
        lb_table_add(table, text, LB_INK_PLAIN);
    }
    lb_table_add(table, lb_cell_verdict(row->cell, text, sizeof text), verdict_ink(row->cell));
    if (!row->has_numbers) {
        for (size_t i = FIRST_COLUMNS + 1; i < COLUMNS; i++)
            lb_table_add(table, "", LB_INK_PLAIN);
        return;
    }
    lb_table_add_number(table, s->successes_per_s);
    lb_table_addf(table, s->n_successes > 0 ? "%.2f" : "n/a", s->attempts_per_success);
    lb_table_add_time(table, s->quantile_ns[0]);
    lb_table_add_time(table, s->quantile_ns[2]);
    lb_table_add_time(table, s->quantile_ns[3]);
    lb_table_add_time(table, s->has_latency ? s->max_ns : UINT64_MAX);
    lb_table_addf(table, s->n_successes > 0 ? "%.2f" : "n/a", s->jain);
    lb_table_add_time(table, lb_summary_cpu_ns(s));
    if (state->charts && best > 0)
        add_bar(table, state, s->successes_per_s / best);
    else
        lb_table_add(table, "", LB_INK_PLAIN);
}

static size_t engine_order(const struct lb_report *report, const char *engine)
{
    size_t i = 0;
    while (i < report->n_cells && strcmp(report->cells[i].engine, engine) != 0)
        i++;
    return i;
}

static size_t variant_order(const struct lb_report *report, const char *scenario)
{
    size_t i = 0;
    while (i < report->n_cells && strcmp(report->cells[i].scenario.name, scenario) != 0)
        i++;
    return i;
}

/* The table of the scenario whose first cell is first. */
static void print_scenario(const struct lb_sink_state *state, const struct lb_cell *first)
{
    const struct lb_report *report = state->report;
    struct row *rows = lb_calloc(report->n_cells, sizeof *rows);
    struct layout layout;
    make_layout(report, first, &layout);
    struct lb_table *table = lb_table_new(layout.columns, COLUMNS + layout.n_keys);
    size_t n = 0;
    double best = 0;
    bool has_others = false; /* skipped cells have lines of their own, below */
    for (size_t i = 0; i < report->n_cells; i++)
        has_others |= lb_cell_same_question(&report->cells[i], first) &&
                      report->cells[i].state != LB_CELL_SKIPPED;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (!lb_cell_same_question(cell, first) || (cell->state == LB_CELL_SKIPPED && has_others))
            continue;
        struct row *row = &rows[n++];
        row->cell = cell;
        row->engine_order = engine_order(report, cell->engine);
        row->variant_order = variant_order(report, cell->scenario.name);
        row->has_numbers = cell->n_runs > 0;
        lb_cell_summarise(cell, &row->summary);
        if (row->summary.successes_per_s > best)
            best = row->summary.successes_per_s;
    }
    if (n > 0)
        qsort(rows, n, sizeof *rows, compare_rows);
    fputc('\n', state->out);
    lb_text_say(state, 0, "%.*s%s%s", (int)lb_scenario_base(first->scenario.name),
                first->scenario.name, first->scenario.question[0] != '\0' ? ": " : "",
                first->scenario.question);
    lb_text_config(state, &first->scenario, first);
    for (size_t i = 0; i < n; i++)
        add_row(table, &layout, &rows[i], best, state);
    /* Files and pipes get all of it; on a terminal lines that wrap are no table. */
    static const char *const least[] = {"", "fair", "cpu", "p95", "max", "tries", "engine", NULL};
    lb_table_show(table, state->width, state->terminal ? least : NULL, state->out, state->color);
    free(rows);
}

/* --- under the tables --- */

static void print_legend(const struct lb_sink_state *state)
{
    for (size_t i = 0; i < state->report->n_cells; i++) {
        if (state->report->cells[i].n_runs == 0)
            continue;
        fputc('\n', state->out);
        lb_print_wrapped(state->out,
                         "tries: attempts per success. p50 to max: from first wanting the lock, or "
                         "an item, to having it; n/a: too few samples. fair: Jain's index over the "
                         "workers, 1 is even. cpu: lockbench's own, per success.",
                         0, state->width);
        return;
    }
}

static void print_label(const struct lb_sink_state *state, const struct lb_cell *cell,
                        const char *what, enum lb_ink ink)
{
    fputc('\n', state->out);
    lb_print_ink(state->out, what, ink, state->color);
    fprintf(state->out, " %s on %s, %s\n", cell->name, cell->engine, cell->scenario.name);
}

static void print_violations(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    char text[1200];
    bool is_first = true;
    const struct lb_outcome *run = NULL, *repeat = NULL;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *f = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (f == NULL || f->verdict != LB_V_VIOLATED)
            continue;
        if (is_first) {
            print_label(state, cell, "VIOLATED", LB_INK_BAD);
            repeat = run;
            is_first = false;
        }
        const char *why = lb_cell_expectation(cell, (enum lb_guarantee)g) == LB_EXPECT_CAUGHT
                              ? lb_cell_why_broken(cell, (enum lb_guarantee)g)
                              : "";
        lb_text_say(state, 2, "%s, %llu time%s in %llu: %s%s%s",
                    lb_guarantee_name((enum lb_guarantee)g), (unsigned long long)f->n_violations,
                    f->n_violations == 1 ? "" : "s", (unsigned long long)f->n_tested,
                    f->n_witnesses > 0 ? f->witness[0].text : "", why[0] != '\0' ? ". Known: " : "",
                    why);
    }
    if (repeat != NULL)
        fprintf(state->out, "  again: %s\n", lb_reproduce(cell, repeat, NULL, text, sizeof text));
}

/* Not those that found the queue empty: there was something, or there may have been. */
static void print_gave_up(const struct lb_sink_state *state, const struct lb_cell *cell,
                          const struct lb_outcome *run)
{
    const struct lb_counts *asked = &run->counts[LB_M_ACQUIRE];
    if (asked->gave_up == 0)
        return;
    print_label(state, cell, "gave up", LB_INK_PLAIN);
    lb_text_say(state, 2, "%llu of %llu %s, refused %llu times each",
                (unsigned long long)asked->gave_up, (unsigned long long)asked->finished,
                cell->scenario.shape == LB_LOCK ? "acquires" : "claims",
                (unsigned long long)cell->scenario.tries);
}

static bool has_reason(const struct lb_outcome *run, const char *text)
{
    return run->state != LB_RUN_COMPLETE && lb_is_alike(run->reason, text);
}

static bool has_warning(const struct lb_outcome *run, const char *text)
{
    bool has = false;
    for (size_t w = 0; w < run->n_warnings && !has; w++)
        has = lb_is_alike(run->warnings[w], text);
    return has;
}

/* What the cell's run says, with the number of that run, or in how many runs it stands: not where
 * an earlier one said it. */
static void print_once(const struct lb_sink_state *state, const struct lb_cell *cell,
                       const char *label, size_t run, const char *text,
                       bool (*has)(const struct lb_outcome *run, const char *text))
{
    char where[64] = "";
    size_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        if (!has(cell->runs[i], text))
            continue;
        if (i < run)
            return;
        n++;
    }
    if (n > 1 && strpbrk(text, "0123456789") == NULL)
        snprintf(where, sizeof where, " (%zu of %zu runs)", n, cell->n_runs);
    else if (n > 1) /* each has its own figures */
        snprintf(where, sizeof where, " (run %zu; the like in %zu of %zu runs)", run + 1, n,
                 cell->n_runs);
    else if (cell->n_runs > 1)
        snprintf(where, sizeof where, " (run %zu of %zu)", run + 1, cell->n_runs);
    print_label(state, cell, label, LB_INK_WARN);
    lb_text_say(state, 2, "%s%s", text, where);
}

/* The known reason why the strategy lets no worker in, and the remedy. */
static void print_why_idle(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    const struct lb_break *known = lb_cell_known_break(cell, LB_G_PROGRESS);
    bool is_idle = cell->n_runs > 0 && known != NULL;
    for (size_t i = 0; i < cell->n_runs; i++)
        is_idle = is_idle && cell->runs[i]->counts[LB_M_ACQUIRE].succeeded == 0;
    if (!is_idle)
        return;
    print_label(state, cell, "known", LB_INK_PLAIN);
    lb_text_say(state, 2, "%s%s%s", known->why,
                known->without != NULL ? "; to let it run: --opt " : "",
                known->without != NULL ? known->without : "");
}

/* Claimed guarantees that were tested, but could not be judged. */
static void print_undecided(const struct lb_sink_state *state, const struct lb_cell *cell,
                            size_t run)
{
    for (int g = 0; g < LB_GUARANTEES && cell->runs[run]->state == LB_RUN_COMPLETE; g++) {
        const struct lb_finding *finding = &cell->runs[run]->judgement.findings[g];
        char where[64] = "";
        bool is_asked = g == LB_G_PROGRESS   ? cell->scenario.progress_bound_ns > 0
                        : g == LB_G_RECOVERY ? cell->scenario.recovery_bound_ns > 0
                                             : true;
        if (finding->verdict != LB_V_NOT_TESTED || finding->n_tested == 0 || !is_asked)
            continue;
        if (cell->n_runs > 1)
            snprintf(where, sizeof where, " (run %zu of %zu)", run + 1, cell->n_runs);
        print_label(state, cell, "not tested", LB_INK_WARN);
        lb_text_say(state, 2, "%s: %s%s", lb_guarantee_name((enum lb_guarantee)g), finding->reason,
                    where);
    }
}

static void print_notes(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    const char *what = NULL, *why = cell->reason;
    enum lb_ink ink = LB_INK_DIM;
    if (cell->state == LB_CELL_SKIPPED)
        return;
    if (cell->state == LB_CELL_FAILED) {
        what = "error";
        why = cell->error.message;
        ink = LB_INK_BAD;
    } else if (cell->state != LB_CELL_DONE) {
        what = "not run";
    }
    if (what != NULL) {
        print_label(state, cell, what, ink);
        lb_print_wrapped(state->out, why[0] != '\0' ? why : "interrupted", 2, state->width);
    }
    char missed[1000];
    if (cell->n_runs > 0 && lb_cell_missed(cell, missed, sizeof missed)[0] != '\0') {
        print_label(state, cell, "not caught", LB_INK_WARN);
        lb_print_wrapped(state->out, missed, 2, state->width);
    }
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        /* The trials of a plan's search have a table of their own. */
        bool is_told = state->report->n_plans > 0 && cell->scenario.rate[0] != '\0' &&
                       run->state == LB_RUN_INVALID;
        if (run->state != LB_RUN_COMPLETE && !is_told)
            print_once(state, cell, "inconclusive", i, run->reason, has_reason);
        print_gave_up(state, cell, run);
        print_undecided(state, cell, i);
        if (run->proof.name[0] != '\0') {
            char label[64];
            snprintf(label, sizeof label, "%s %s", run->proof.name,
                     lb_verdict_name(run->proof.verdict));
            print_label(state, cell, label,
                        run->proof.verdict == LB_V_VIOLATED ? LB_INK_BAD
                        : run->proof.verdict == LB_V_HELD   ? LB_INK_GOOD
                                                            : LB_INK_WARN);
            lb_print_wrapped(state->out, run->proof.text, 2, state->width);
        }
        for (size_t w = 0; w < run->n_warnings; w++)
            print_once(state, cell, "warning", i, run->warnings[w], has_warning);
        if (!run->witnesses_agree) {
            print_label(state, cell, "internal error", LB_INK_BAD);
            lb_print_wrapped(state->out, lb_disagreement, 2, state->width);
        }
    }
    print_why_idle(state, cell);
}

/* The part of a reason after its strategy's name, which others may share. */
static const char *common_reason(const struct lb_cell *cell)
{
    size_t n = strlen(cell->name);
    return strncmp(cell->reason, cell->name, n) == 0 && cell->reason[n] == ' '
               ? cell->reason + n + 1
               : cell->reason;
}

static bool same_skip(const struct lb_cell *a, const struct lb_cell *b)
{
    return b->state == LB_CELL_SKIPPED && strcmp(common_reason(a), common_reason(b)) == 0;
}

/* Is the cell skipped for that reason, and its strategy not named between from and it? */
static bool is_next_skip(const struct lb_report *report, size_t from, size_t cell)
{
    bool is = same_skip(&report->cells[from], &report->cells[cell]);
    for (size_t k = from; k < cell && is; k++)
        is = strcmp(report->cells[k].name, report->cells[cell].name) != 0 ||
             !same_skip(&report->cells[from], &report->cells[k]);
    return is;
}

/* One line for each reason: a strategy that an engine cannot run is skipped in every scenario. */
static void print_skips(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        char text[2000];
        bool is_new = cell->state == LB_CELL_SKIPPED;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = !same_skip(cell, &report->cells[j]);
        if (!is_new)
            continue;
        snprintf(text, sizeof text, "SKIP %s", cell->name);
        for (size_t j = i + 1; j < report->n_cells; j++)
            if (is_next_skip(report, i, j))
                lb_append(text, sizeof text, ", %s", report->cells[j].name);
        lb_append(text, sizeof text, ": %s", common_reason(cell));
        fputc('\n', state->out);
        lb_print_wrapped(state->out, text, 0, state->width);
    }
}

/* In a plan, a strategy's violation is reported once, not for each number of workers. */
static bool has_been_told(const struct lb_report *report, size_t cell)
{
    const struct lb_cell *new = &report->cells[cell];
    for (size_t i = 0; i < cell && report->n_plans > 0; i++)
        if (strcmp(report->cells[i].name, new->name) == 0 &&
            strcmp(report->cells[i].engine, new->engine) == 0 &&
            lb_cell_standing(&report->cells[i]) == LB_STANDS_VIOLATED)
            return true;
    return false;
}

/* Each violation, with the command that repeats it. */
static void print_all_violations(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    for (size_t i = 0; i < report->n_cells; i++)
        if (!has_been_told(report, i))
            print_violations(state, &report->cells[i]);
}

static void print_stored(const struct lb_sink_state *state)
{
    char shown[PATH_MAX];
    if (state->report->directory != NULL)
        fprintf(state->out, "\nstored in %s\n",
                lb_shown(state->report->directory, shown, sizeof shown));
}

void lb_text_details(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    print_all_violations(state);
    for (size_t i = 0; i < report->n_cells; i++)
        print_notes(state, &report->cells[i]);
    print_skips(state);
    print_stored(state);
}

void lb_text_problems(const struct lb_sink_state *state)
{
    print_all_violations(state);
    for (size_t i = 0; i < state->report->n_cells; i++)
        if (state->report->cells[i].state == LB_CELL_FAILED ||
            state->report->cells[i].state == LB_CELL_NOT_RUN)
            print_notes(state, &state->report->cells[i]);
    print_skips(state);
    print_stored(state);
}

/* A comparison's answer first, on one screen. False: there is none, or all is wanted. */
static bool print_answer(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    if (state->verbose || strcmp(report->command, "compare") != 0 || !lb_text_answer(state))
        return false;
    lb_text_waits(state);
    print_all_violations(state);
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].state == LB_CELL_FAILED)
            print_notes(state, &report->cells[i]);
    print_targets(state);
    lb_print_wrapped(state->out,
                     "Ratios are within the same rounds, to the first that may be chosen. cpu: "
                     "lockbench's own, per success. -v prints all strategies, settings, warnings "
                     "and what was skipped.",
                     0, state->width);
    print_stored(state);
    return true;
}

static void text_end(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    if (print_answer(state))
        return;
    lb_text_head(state);
    for (size_t i = 0; i < report->n_cells; i++) {
        if (lb_cell_is_first(report, i, lb_cell_same_question))
            print_scenario(state, &report->cells[i]);
    }
    print_legend(state);
    lb_text_open(state);
    lb_text_sessions(state);
    lb_text_ranks(state);
    lb_text_series(state);
    lb_text_steady(state);
    lb_text_untested(state);
    lb_text_kept(state);
    lb_text_phases(state);
    lb_text_batches(state);
    lb_text_faults(state);
    lb_text_ranking(state);
    lb_text_costs(state);
    lb_text_waits(state);
    if (report->diff != NULL) {
        fputs("\nAgainst the baseline\n", state->out);
        lb_diff_text(report->diff, state->out, state->color, state->terminal, state->width);
    }
    lb_text_details(state);
}

const struct lb_sink lb_sink_text = {.name = "text",
                                     .summary = "tables for people",
                                     .of = LB_OF_RUNS,
                                     .file = "report.txt",
                                     .end = text_end};
