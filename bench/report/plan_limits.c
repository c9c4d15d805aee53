/* What limits a plan's throughput: see plan_limits.h.
 *
 * Nothing here is a proof: a share says where the workers were found, not what would happen if it
 * were less. Shares below a quarter are not told.
 */
#include "plan_limits.h"

#include "attributes.h"
#include "costs.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 0.25

bool lb_plan_find_run(const struct lb_report *report, const struct lb_outcome *run,
                      size_t *ret_cell, size_t *ret_run)
{
    for (size_t c = 0; c < report->n_cells; c++)
        for (size_t r = 0; r < report->cells[c].n_runs; r++)
            if (report->cells[c].runs[r] == run) {
                *ret_cell = c;
                *ret_run = r;
                return true;
            }
    return false;
}

/* The cell of a number of workers; of the largest that was measured up to it. NULL: none. */
static const struct lb_cell *cell_at(const struct lb_report *report, const struct lb_plan *plan,
                                     uint64_t workers)
{
    const struct lb_plan_point *best = NULL;
    size_t cell, run;
    for (size_t i = 0; i < plan->n_points; i++) {
        const struct lb_plan_point *point = &plan->points[i];
        if (point->valid && point->workers <= workers &&
            (best == NULL || point->workers > best->workers))
            best = point;
    }
    return best != NULL && lb_plan_find_run(report, best->run, &cell, &run) ? &report->cells[cell]
                                                                            : NULL;
}

struct limits {
    struct lb_plan_limit *list;
    size_t n;
};

static void add(struct limits *limits, const char *cause, double share, const char *text)
{
    if (share < LEAST_SHARE || limits->n == LB_PLAN_LIMITS)
        return;
    struct lb_plan_limit *limit = &limits->list[limits->n++];
    *limit = (struct lb_plan_limit){.cause = cause, .share = share};
    snprintf(limit->text, sizeof limit->text, "%s", text);
}

/* A lock cannot be granted more often than its holds allow. */
static void add_hold(struct limits *limits, const struct lb_cell *cell, double rate)
{
    const struct lb_scenario *scenario = &cell->scenario;
    uint32_t *capacity;
    struct lb_error err;
    char hold[32], most[32], text[300];
    double places = 0;
    if (scenario->hold_ns == 0)
        return;
    if (scenario->shape == LB_QUEUE) {
        places = (double)scenario->workers;
    } else if (scenario->shared <= 0 && lb_scenario_capacities(scenario, &capacity, &err) == 0) {
        for (uint64_t i = 0; i < scenario->resources; i++)
            places += capacity[i];
        free(capacity);
    }
    if (places <= 0)
        return;
    if (places > (double)scenario->workers)
        places = (double)scenario->workers;
    double ceiling = places / ((double)scenario->hold_ns / 1e9);
    snprintf(text, sizeof text,
             "the hold itself: %.0f at a time for %s allow%s at most %s/s, and %.0f %% of that was "
             "reached",
             places, lb_format_ns(scenario->hold_ns, hold, sizeof hold), places > 1 ? "" : "s",
             lb_format_count(ceiling, most, sizeof most), rate / ceiling * 100);
    add(limits, "hold", rate / ceiling, text);
}

/* Of many keys the hottest one is the part that is not done in parallel. */
static void add_key(struct limits *limits, const struct lb_cell *cell, double rate)
{
    const struct lb_scenario *scenario = &cell->scenario;
    const uint32_t most_in_hand = cell->n_runs > 0 ? cell->runs[0]->key_limit : 0;
    char hold[32], most[32], text[300];
    if (scenario->shape != LB_QUEUE || scenario->hold_ns == 0 || most_in_hand == 0)
        return;
    double share = lb_attributes_hottest(scenario);
    double ceiling = most_in_hand / share / ((double)scenario->hold_ns / 1e9);
    snprintf(text, sizeof text,
             "the hottest key, which has %.0f %% of the items: %u of them at a time for %s allow%s "
             "at most %s/s of all, with any number of workers (Amdahl's law), and %.0f %% of that "
             "was reached",
             share * 100, most_in_hand, lb_format_ns(scenario->hold_ns, hold, sizeof hold),
             most_in_hand > 1 ? "" : "s", lb_format_count(ceiling, most, sizeof most),
             rate / ceiling * 100);
    add(limits, "key", rate / ceiling, text);
}

/* What the engine's names of waits stand for. */
static const char *cause_of(const char *wait)
{
    static const struct {
        const char *part, *cause;
    } causes[] = {{"WAL", "log"},           {"SyncRep", "log"},
                  {"LWLock:", "server"},    {"Lock:", "locks"},
                  {"lock", "locks"},        {"IO:", "disk"},
                  {"running", "processor"}, {"binlog", "log"},
                  {"Sending", "processor"}, {"executing", "processor"}};
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (strstr(wait, causes[i].part) != NULL)
            return causes[i].cause;
    return NULL; /* between two statements, for the most part */
}

static const char *words_of(const char *cause)
{
    static const struct {
        const char *cause, *words;
    } all[] = {{"log", "waited for the server's log to reach the disk"},
               {"server", "waited for the server's own latches"},
               {"locks", "waited for each other's locks"},
               {"disk", "waited for the server's disk"},
               {"processor", "ran on the server's processors"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].cause, cause) == 0)
            return all[i].words;
    return "";
}

static void add_waits(struct limits *limits, const struct lb_cell *cell)
{
    enum { MOST = 16, CAUSES = 5 };
    static const char *const causes[CAUSES] = {"locks", "log", "server", "disk", "processor"};
    struct lb_wait_share waits[MOST];
    size_t n = lb_cell_waits(cell, waits, MOST);
    double workers = (double)(cell->scenario.workers + cell->scenario.producers);
    for (int c = 0; c < CAUSES; c++) {
        double sessions = 0;
        const char *most = NULL;
        char text[300];
        for (size_t i = 0; i < n; i++) {
            const char *cause = cause_of(waits[i].name);
            if (cause == NULL || strcmp(cause, causes[c]) != 0)
                continue;
            most = most == NULL ? waits[i].name : most; /* the first is the most frequent */
            sessions += waits[i].sessions;
        }
        snprintf(text, sizeof text, "on average %.1f of %.0f sessions %s%s%s%s", sessions, workers,
                 words_of(causes[c]),
                 c == CAUSES - 1 ? "" : " (most: ", c == CAUSES - 1 || most == NULL ? "" : most,
                 c == CAUSES - 1 ? "" : ")");
        add(limits, causes[c], workers > 0 ? sessions / workers : 0, text);
    }
}

static void add_tries(struct limits *limits, const struct lb_cell *cell, const struct lb_cell *one,
                      const struct lb_summary *summary)
{
    struct lb_summary alone;
    char text[300];
    if (summary->attempts_per_success <= 1)
        return;
    lb_cell_summarise(one, &alone);
    snprintf(text, sizeof text,
             "refused tries: %.1f tries per success with %llu workers, %.1f with %llu",
             summary->attempts_per_success, (unsigned long long)cell->scenario.workers,
             alone.attempts_per_success, (unsigned long long)one->scenario.workers);
    add(limits, "tries", 1 - 1 / summary->attempts_per_success, text);
}

static void add_retries(struct limits *limits, const struct lb_cell *cell)
{
    struct lb_costs costs;
    char text[300];
    lb_cell_costs(cell, &costs);
    double retries = costs.values[LB_COST_RETRIES], waits = costs.values[LB_COST_LOCK_WAITS];
    if (retries > 0) {
        snprintf(text, sizeof text,
                 "one writer at a time: %.1f times per success the database's lock was found taken",
                 retries);
        add(limits, "locks", retries / (1 + retries), text);
    }
    if (waits > 0) {
        snprintf(text, sizeof text, "%.2f waits for a row's lock per success", waits);
        add(limits, "locks", waits / (1 + waits), text);
    }
}

static int most_first(const void *a, const void *b)
{
    const struct lb_plan_limit *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

size_t lb_plan_limits(const struct lb_report *report, const struct lb_plan *plan,
                      struct lb_plan_limit *ret)
{
    const struct lb_cell *cell = cell_at(report, plan, plan->at);
    const struct lb_cell *one = cell_at(report, plan, plan->question->levels[0]);
    struct limits limits = {ret, 0};
    struct lb_summary summary;
    if (cell == NULL || one == NULL)
        return 0;
    lb_cell_summarise(cell, &summary);
    add_hold(&limits, cell, summary.successes_per_s);
    add_key(&limits, cell, summary.successes_per_s);
    add_waits(&limits, cell);
    add_tries(&limits, cell, one, &summary);
    add_retries(&limits, cell);
    double cores = summary.cpu_us_per_success * summary.successes_per_s / 1e6;
    if (report->environment.n_cores > 0) {
        char text[300];
        snprintf(text, sizeof text,
                 "lockbench itself used %.1f of this machine's %ld cores: with the server "
                 "elsewhere it may carry more",
                 cores, report->environment.n_cores);
        add(&limits, "client", cores / (double)report->environment.n_cores, text);
    }
    qsort(ret, limits.n, sizeof *ret, most_first);
    return limits.n;
}

static bool is_usable(const struct lb_report *report, const struct lb_plan *plan)
{
    for (size_t i = 0; i < report->n_cells; i++)
        if (strcmp(report->cells[i].name, plan->strategy) == 0 &&
            strcmp(report->cells[i].engine, plan->engine) == 0 &&
            lb_cell_standing(&report->cells[i]) == LB_STANDS_VIOLATED)
            return false;
    return true;
}

size_t lb_plan_choices(const struct lb_report *report, struct lb_plan_choice *ret)
{
    enum { MOST = 256 };
    bool usable[MOST];
    size_t n = report->n_plans < MOST ? report->n_plans : MOST;
    for (size_t i = 0; i < n; i++)
        usable[i] = is_usable(report, &report->plans[i]);
    return n < 2 ? 0 : lb_plan_choose(report->plans, usable, n, ret, LB_PLAN_CHOICES);
}
