/* Explored cells: see explored.h. Small bounds: every interleaving of two workers with one round
 * each, or as many as the time allows. */
#include "explored.h"

#include "also.h"
#include "clock.h"
#include "memory.h"

#include <string.h>

enum { WORKERS = 2, ROUNDS = 1, POLLS = 5, TTL_MS = 600000 };
#define TIME_NS UINT64_C(3000000000)

static bool is_wanted(const struct lb_report *report, size_t n, const struct lb_cell *cell)
{
    if (cell->outlook != NULL || cell->target == NULL || cell->file == NULL ||
        cell->state != LB_CELL_PENDING)
        return false;
    for (size_t i = n; i < report->n_cells; i++)
        if (strcmp(report->cells[i].name, cell->name) == 0 &&
            strcmp(report->cells[i].engine, cell->engine) == 0)
            return false;
    return true;
}

static void copy(const struct lb_cell *from, struct lb_cell *ret)
{
    *ret = *from;
    ret->settings = lb_copy(from->settings, from->n_settings, sizeof *ret->settings);
    ret->is_explored = true;
    ret->explored = (struct lb_explored_ask){.workers = WORKERS, .time_ns = TIME_NS};
    ret->scenario_path = "explore";
    lb_scenario_init(&ret->scenario);
    snprintf(ret->scenario.name, sizeof ret->scenario.name, "explore");
    ret->scenario.shape = from->strategy->shape;
    ret->scenario.workers = WORKERS;
}

void lb_explored_add(struct lb_report *report)
{
    size_t n = report->n_cells;
    report->cells = lb_realloc(report->cells, 2 * n, sizeof *report->cells);
    for (size_t i = 0; i < n; i++)
        if (is_wanted(report, n, &report->cells[i]))
            copy(&report->cells[i], &report->cells[report->n_cells++]);
}

/* The flags of an exploration besides workers and their statements. */
static void add_ask(const struct lb_explored_ask *ask, uint32_t rounds, char *buf, size_t size)
{
    const struct {
        const char *name;
        uint32_t value;
    } counts[] = {{"rounds", rounds},          {"readers", ask->readers},
                  {"capacity", ask->capacity}, {"rescuers", ask->rescuers},
                  {"renewals", ask->renewals}, {"preemptions", ask->preemptions},
                  {"producers", ask->putters}, {"frees", ask->frees},
                  {"batch", ask->batch},       {"resources", ask->resources},
                  {"late", ask->late}};
    char flag[80];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].value > 0) {
            snprintf(flag, sizeof flag, "--%s=%u", counts[i].name, counts[i].value);
            lb_command_add(buf, size, flag);
        }
    lb_also_write(ask, flag, sizeof flag);
    if (flag[0] != '\0')
        lb_command_add(buf, size, flag);
    if (ask->ticks == 0 && ask->deaths == 0 && ask->cuts == 0)
        return;
    snprintf(flag, sizeof flag, "%s%s%s", ask->ticks > 0 ? ",clock" : "",
             ask->deaths > 0 ? ",crash" : "", ask->cuts > 0 ? ",cut" : "");
    lb_command_option(buf, size, "--steps", flag + 1);
}

/* smallest: the case of the witness, which may be smaller than the explored case; NULL: all. */
static void describe_again(const struct lb_cell *cell, const struct lb_explored *smallest,
                           char *buf, size_t size)
{
    char setting[32];
    lb_command_start(buf, size, 1, "explore"); /* rank 0 explores alone */
    lb_command_subject(buf, size, cell);
    lb_command_settings(buf, size, cell);
    uint32_t rounds = smallest != NULL ? smallest->witness_rounds : cell->explored.rounds;
    add_ask(&cell->explored, rounds == ROUNDS ? 0 : rounds, buf, size);
    uint32_t workers = smallest != NULL ? smallest->witness_workers : cell->explored.workers;
    if (workers != WORKERS) {
        snprintf(setting, sizeof setting, "--workers=%u", workers);
        lb_command_add(buf, size, setting);
    }
    uint32_t items = cell->explored.items;
    bool is_smaller = smallest != NULL && smallest->witness_rounds != smallest->rounds;
    if (workers != WORKERS || is_smaller || items > 0)
        items = smallest != NULL ? smallest->witness_items : items;
    if (cell->strategy->shape != LB_QUEUE || items == 0)
        return;
    snprintf(setting, sizeof setting, "--items=%u", items);
    lb_command_add(buf, size, setting);
}

unsigned lb_explored_scope(const struct lb_explored_ask *ask)
{
    /* Perhaps no worker may have two locks: then a wait for the second one is no break. */
    const unsigned beside =
        LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_OWNER_RELEASE) | LB_G_BIT(LB_G_FENCED);
    /* Nor is a wait until one clock has the time that another clock wrote, but of an item that was
     * given back: its worker wants it done now. */
    const unsigned apart = beside | LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_GROUP_EXCLUSIVE) |
                           LB_G_BIT(LB_G_KEY_LIMIT) | LB_G_BIT(LB_G_NO_LOSS);
    if (ask->apart)
        return LB_G_BIT(LB_G_PROGRESS);
    if (ask->resources > 1)
        return beside;
    return ask->ahead || ask->behind ? apart : ~0u;
}

/* A known break that was not found is out of reach for these few workers: no "held". Nor is there
 * one when the search did not come to its end. */
static void take_findings(const struct lb_cell *cell, const struct lb_explored *explored,
                          struct lb_outcome *outcome)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        struct lb_finding *finding = &outcome->judgement.findings[g];
        *finding = explored->findings[g];
        bool is_sure = finding->verdict != LB_V_VIOLATED || explored->confirmed;
        bool is_out_of_reach = finding->verdict == LB_V_HELD &&
                               lb_cell_why_broken(cell, (enum lb_guarantee)g)[0] != '\0';
        bool is_beside = (lb_explored_scope(&cell->explored) & LB_G_BIT(g)) == 0;
        bool is_bounded = finding->verdict == LB_V_HELD && !explored->complete;
        if (is_sure && !is_out_of_reach && !is_bounded && !is_beside && !explored->search.differs)
            continue;
        if (finding->verdict == LB_V_NOT_CLAIMED)
            continue;
        finding->verdict = LB_V_NOT_TESTED;
        if (is_bounded && !is_out_of_reach && explored->random[0] != '\0') {
            snprintf(finding->reason, sizeof finding->reason, "no violation found, but %s",
                     explored->random);
            continue;
        }
        snprintf(
            finding->reason, sizeof finding->reason, "%s",
            is_beside ? cell->explored.apart ? "each worker has a lock of its own"
                        : cell->explored.resources > 1
                            ? "each worker has two locks at once, and the protocol may allow one"
                            : "the workers' clocks are far from the server's: work may be late"
            : is_bounded && !is_out_of_reach
                ? "no violation found, but not every schedule was run in the time"
            : is_out_of_reach ? "known to be broken, but not by the order of statements of two "
                                "workers with one round each"
                              : "the engine answered differently when a schedule was replayed");
    }
}

static void describe(const struct lb_cell *cell, const struct lb_explored *explored,
                     struct lb_exploration *ret)
{
    const struct lb_search_result *search = &explored->search;
    ret->n_schedules = search->n_schedules;
    ret->complete = explored->complete;
    snprintf(ret->covered, sizeof ret->covered,
             "%u worker%s x %u round%s: %s%s%s, %llu schedule%s run, %llu pruned, %llu steps",
             explored->workers, explored->workers == 1 ? "" : "s", explored->rounds,
             explored->rounds == 1 ? "" : "s", explored->complete ? "complete" : "bounded",
             explored->bounds[0] != '\0' ? ": " : "", explored->bounds,
             (unsigned long long)search->n_schedules, search->n_schedules == 1 ? "" : "s",
             (unsigned long long)search->n_asleep + search->n_void,
             (unsigned long long)search->n_moves);
    describe_again(cell, explored->has_witness ? explored : NULL, ret->again, sizeof ret->again);
    describe_again(cell, NULL, ret->again_all, sizeof ret->again_all);
    ret->shown = (unsigned)explored->violated;
    if (explored->has_witness)
        lb_schedule_print(&explored->schedule, ret->replay, sizeof ret->replay);
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (explored->others[g].n > 0)
            lb_schedule_print(&explored->others[g], ret->replays[g], sizeof ret->replays[g]);
}

/* The outcome takes the exploration. */
static void take(const struct lb_cell *cell, const struct lb_explored *explored,
                 struct lb_exploration *exploration, struct lb_outcome *outcome)
{
    outcome->exploration = exploration;
    outcome->start_unix_ms = lb_unix_ms() - (int64_t)(explored->elapsed_ns / 1000000);
    outcome->elapsed_ns = explored->elapsed_ns;
    outcome->n_statements = explored->n_statements;
    outcome->witnesses_agree = true;
    outcome->state = explored->search.interrupted ? LB_RUN_INTERRUPTED : LB_RUN_COMPLETE;
    take_findings(cell, explored, outcome);
    describe(cell, explored, exploration);
}

struct lb_explore_plan lb_explored_plan(const struct lb_cell *cell, const struct lb_args *args,
                                        uint64_t seed, const struct lb_stop *stop)
{
    struct lb_explore_plan plan = {
        .audit = 0.1,
        .strategy = cell->strategy,
        .file = cell->file,
        .target = cell->target,
        .settings = cell->settings,
        .n_settings = cell->n_settings,
        .workers = cell->explored.workers,
        .rounds = cell->explored.rounds > 0 ? cell->explored.rounds : ROUNDS,
        .readers = cell->explored.readers,
        .rescuers = cell->explored.rescuers,
        .renewals = cell->explored.renewals,
        .items = cell->explored.items,
        .putters = cell->explored.putters,
        .late = cell->explored.late,
        .deaths = cell->explored.deaths,
        .cuts = cell->explored.cuts,
        .ticks = cell->explored.ticks,
        .capacity = cell->explored.capacity > 0 ? cell->explored.capacity : 1,
        .resources = cell->explored.resources,
        .frees = cell->explored.frees,
        .whole = cell->explored.whole,
        .batch = cell->explored.batch > 0 ? cell->explored.batch : 1,
        .polls = POLLS,
        .ttl_ms = TTL_MS,
        .keep = args->keep,
        .time_ns = cell->explored.time_ns,
        .search = {.preemptions =
                       cell->explored.preemptions > 0 ? (int)cell->explored.preemptions : -1,
                   .choice_replays = LB_CHOICE_REPLAYS,
                   .seed = seed,
                   .all = true,
                   .interrupt = &stop->requested}};
    lb_also_plan(&cell->explored, &plan);
    return plan;
}

int lb_explored_run(const struct lb_cell *cell, const struct lb_explore_plan *plan,
                    struct lb_outcome **ret_outcome, struct lb_error *err)
{
    const struct lb_run_plan run = {.strategy = cell->strategy,
                                    .file = cell->file,
                                    .target = cell->target,
                                    .scenario = &cell->scenario,
                                    .settings = cell->settings,
                                    .n_settings = cell->n_settings,
                                    .seed = plan->search.seed};
    struct lb_explored *explored;
    int r = lb_explore(plan, &explored, err);
    if (r != 0)
        return r;
    *ret_outcome = lb_outcome_new(&run);
    take(cell, explored, lb_calloc(1, sizeof(struct lb_exploration)), *ret_outcome);
    lb_explored_free(explored);
    return 0;
}
