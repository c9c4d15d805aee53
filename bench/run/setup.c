/* Building a run up, and taking it down: space, statements, backlog, workers. */
#include "run_parts.h"

#include "append.h"
#include "attributes.h"
#include "beater.h"
#include "chunks.h"
#include "clock.h"
#include "control.h"
#include "fault_kind.h"
#include "faults.h"
#include "guard.h"
#include "memory.h"
#include "model.h"
#include "ordinary.h"
#include "pool.h"
#include "program_features.h"
#include "proofs.h"
#include "readers.h"
#include "settle.h"
#include "settler.h"
#include "shared.h"
#include "units.h"
#include "zipf.h"

#include <stdio.h>
#include <stdlib.h>

static size_t shared_size(uint32_t n_workers)
{
    return sizeof(struct lb_shared_run) + n_workers * sizeof(struct lb_worker);
}

/* After how long a retried item is due, at most: the run waits for it. */
#define LONGEST_DELAY_NS UINT64_C(50000000)
/* Service and response of each measure, and the pacing. */
enum { HISTOGRAMS = 2 * LB_MEASURES + 1 };

static size_t histograms_size(uint32_t n_workers)
{
    return (size_t)n_workers * HISTOGRAMS * sizeof(struct lb_histogram);
}

static bool knows(const struct lb_run_plan *request, const struct lb_file *file, const char *option,
                  const char *value)
{
    return lb_options_have(request->strategy->options, option, value) ||
           lb_options_have(lb_file_options(file), option, value);
}

/* The options with which the run is made. Without one, those of its request stay. */
static void note_options(struct lb_outcome *outcome, const struct lb_setting *settings, size_t n)
{
    if (n > 0)
        outcome->options[0] = '\0';
    for (size_t i = 0; i < n; i++)
        lb_append(outcome->options, sizeof outcome->options, "%s%s=%s", i > 0 ? " " : "",
                  settings[i].name, settings[i].value);
}

/* Of a program: as they were given; it has checked them itself. */
static void note_settings(struct lb_active_run *run)
{
    run->plan.settings = run->request->settings;
    run->plan.n_settings = run->request->n_settings;
    note_options(run->outcome, run->plan.settings, run->plan.n_settings);
}

/* Some keys of a scenario are options of the strategies that know them; values from --opt come last
 * and win. */
static int program_of(const struct lb_run_plan *request, const struct lb_file *file,
                      const struct lb_db *db, struct lb_strategy_plan *plan,
                      struct lb_program **ret_program, struct lb_error *err)
{
    enum { FROM_SCENARIO = 3 + LB_SCALED };
    char stale[24];
    struct lb_scaled scaled;
    size_t n = 0;
    struct lb_setting *settings = lb_calloc(request->n_settings + FROM_SCENARIO, sizeof *settings);
    if (request->scenario->stale_ns > 0 && knows(request, file, "stale_ms", NULL)) {
        snprintf(stale, sizeof stale, "%llu",
                 (unsigned long long)(request->scenario->stale_ns / 1000000));
        settings[n++] = (struct lb_setting){"stale_ms", stale};
    }
    /* A pause before the COMMIT needs a transaction to pause in. */
    if (request->scenario->tx_pause_ns > 0 && knows(request, file, "insert", "transaction"))
        settings[n++] = (struct lb_setting){"insert", "transaction"};
    if (request->scenario->period_ns > 0 && knows(request, file, "recurring", "yes"))
        settings[n++] = (struct lb_setting){"recurring", "yes"};
    lb_file_scale(file, request->scenario->ttl_ns / 1000000, request->scenario->ttl_is_said,
                  request->settings, request->n_settings, &scaled);
    for (size_t i = 0; i < scaled.n_settings; i++)
        settings[n++] = scaled.settings[i];
    for (size_t i = 0; i < request->n_settings; i++)
        if (file == request->file || knows(request, file, request->settings[i].name, NULL))
            settings[n++] = request->settings[i];
    int rc = lb_program_new(file, db, request->strategy->options, settings, n, ret_program, err);
    free(settings);
    plan->ttl_ms = scaled.lease_ms;
    plan->limit_ms = scaled.limit_ms;
    if (rc == 0 && ((*ret_program)->uses >> LB_SLOT_GROUP & 1) != 0)
        plan->groups = (uint32_t)(request->scenario->groups > 0 ? request->scenario->groups : 4);
    return rc;
}

/* The version before, whose workers share the tables. */
static int new_program_before(struct lb_active_run *run, const struct lb_db *db,
                              struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    run->plan_before = run->plan;
    int rc = program_of(request, lb_file_before(request->file), db, &run->plan_before,
                        &run->program_before, err);
    if (rc == 0)
        rc = lb_program_agree(run->program, run->program_before, err);
    if (rc == 0 && (run->plan_before.ttl_ms != run->plan.ttl_ms ||
                    run->plan_before.limit_ms != run->plan.limit_ms))
        rc = lb_fail(err, LB_E_UNSUPPORTED,
                     "the two versions have leases of %u and %u ms, and limits of %u and %u ms: "
                     "give --ttl, and no --opt for them",
                     run->plan_before.ttl_ms, run->plan.ttl_ms, run->plan_before.limit_ms,
                     run->plan.limit_ms);
    run->plan_before.program = run->program_before;
    run->plan.groups |= run->plan_before.groups;
    run->plan_before.groups = run->plan.groups;
    return rc;
}

static int new_program(struct lb_active_run *run, const struct lb_db *db, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    int rc = program_of(request, request->file, db, &run->plan, &run->program, err);
    if (rc == 0 && lb_file_before(request->file) != NULL)
        rc = new_program_before(run, db, err);
    if (rc != 0)
        return rc;
    note_options(run->outcome, run->program->settings, run->program->n_settings);
    struct lb_features features;
    lb_features_read(request->file, run->program, &features);
    /* A worker that gives the time itself (:now) knows when its lease is over. */
    run->counts_waits = request->strategy->shape == LB_LOCK && request->strategy->is_lease &&
                        features.is_one_commit && !features.by_worker_clock;
    return 0;
}

/* A lease that is over before its holder gets the answer tests only that. Statements get whole
 * milliseconds, and a step of the clock and one of rounding come off at either end. The shortest of
 * some round trips is this server's best time, even if it is busy now. */
static int check_ttl(struct lb_active_run *run, struct lb_error *err)
{
    enum { TRIPS = 9, TRIPS_IN_LEASE = 4, LEAST_MS = 4 };
    const struct lb_run_plan *request = run->request;
    const uint64_t ms = 1000000, ttl_ns = request->scenario->ttl_ns;
    uint64_t shortest_ns = UINT64_MAX;
    char trip[32], ttl[32];
    /* Nowhere does a round trip take so long that a longer lease would be refused. */
    if (!request->strategy->is_lease || ttl_ns == 0 || ttl_ns >= 1000 * ms)
        return 0;
    for (int i = 0; i < TRIPS; i++) {
        uint64_t start_ns = lb_now_ns();
        int rc = request->target->db->run(run->control.conn, "SELECT 1", err);
        if (rc < 0)
            return rc;
        uint64_t ns = lb_now_ns() - start_ns;
        shortest_ns = ns < shortest_ns ? ns : shortest_ns;
    }
    uint64_t least_ms = (TRIPS_IN_LEASE * shortest_ns + ms - 1) / ms;
    least_ms = least_ms < LEAST_MS ? LEAST_MS : least_ms;
    if (ttl_ns >= least_ms * ms)
        return 0;
    return lb_fail(err, LB_E_USAGE,
                   "ttl: %s is below what %s can tell: its statements take whole milliseconds, and "
                   "a round trip takes %s; give at least %llums",
                   lb_format_ns(ttl_ns, ttl, sizeof ttl), request->target->db->product,
                   lb_format_ns(shortest_ns, trip, sizeof trip), (unsigned long long)least_ms);
}

/* Is it asked for, and can it be? */
static int set_pipeline(struct lb_active_run *run, struct lb_error *err)
{
    static const enum lb_section_name sections[] = {LB_S_CLAIM, LB_S_COMPLETE};
    struct lb_strategy_plan *plan = &run->plan;
    const struct lb_scenario *scenario = run->request->scenario;
    plan->is_pipelined = scenario->pipeline;
    const char *why = plan->is_pipelined ? lb_scenario_unpiped(scenario) : NULL;
    if (why != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "pipeline: %s", why);
    for (size_t i = 0; plan->is_pipelined && i < sizeof sections / sizeof sections[0]; i++) {
        why = lb_strategy_unpiped(plan, sections[i]);
        if (why == NULL && run->program_before != NULL)
            why = lb_strategy_unpiped(&run->plan_before, sections[i]);
        if (why != NULL)
            return lb_fail(err, LB_E_UNSUPPORTED, "pipeline: %s of %s %s",
                           lb_section_text(sections[i]), plan->strategy->name, why);
    }
    return 0;
}

/* Those of the items, if the strategy puts any with them. */
static void new_attributes(struct lb_active_run *run)
{
    const struct lb_program *stated = lb_strategy_stated(&run->plan);
    if (stated == NULL || stated->attributes == 0)
        return;
    run->attributes = lb_attributes_new(run->request->scenario, run->request->seed);
    run->plan.attributes = run->plan_before.attributes = run->attributes;
}

static int open_database(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    const struct lb_db *db = request->target->db;
    int rc = run->joining != NULL
                 ? db->space_join(request->target, run->joining->space, run->joining->number,
                                  &run->space, err)
                 : db->space_open(request->target, request->strategy->name, &run->space, err);
    if (rc != 0)
        return rc;
    struct lb_conn_options options = {.role = "control"};
    rc = lb_session_open(&run->control, db, run->space, &options, err);
    if (rc != 0)
        return rc;
    run->has_control = true;
    rc = lb_run_supported(request->strategy, request->file, db, db->caps(run->control.conn),
                          request->scenario, err);
    if (rc != 0)
        return rc;
    size_t limit = 0;
    bool asks = db->space_room != NULL &&
                run->joining == NULL; /* the maker of the space has asked for all */
    size_t room = asks ? db->space_room(run->space, &limit) : SIZE_MAX;
    uint64_t n_sessions = run->share.n_sessions;
    if (room < n_sessions)
        return lb_fail(err, LB_E_ENV,
                       "%u workers want %llu connections, %s has room for %zu more (limit %zu): "
                       "use fewer --workers, a --pool, or raise the limit",
                       run->share.n_workers, (unsigned long long)n_sessions, request->target->label,
                       room, limit);
    rc = run->joining == NULL ? check_ttl(run, err) : 0;
    if (rc == 0 && request->strategy->guest == NULL)
        rc = new_program(run, db, err);
    else if (rc == 0)
        note_settings(run);
    if (rc != 0)
        return rc;
    struct lb_fact_list facts = {&run->outcome->facts, &run->outcome->n_facts};
    rc = db->facts(run->control.conn, lb_run_add_fact, &facts, err);
    if (rc < 0)
        return rc;
    run->plan.program = run->program;
    new_attributes(run);
    run->plan.space_no = run->plan_before.space_no = db->space_number(run->space);
    return set_pipeline(run, err);
}

/* Checks that this request is possible for this strategy on this engine. */
static int check_request(const struct lb_run_plan *request, struct lb_error *err)
{
    const struct lb_db *db = request->strategy->no_database ? NULL : request->target->db;
    int rc = lb_fault_check(request->strategy, request->scenario, db, err);
    if (rc == 0)
        rc = lb_fault_check_plan(request, err);

    return rc == 0 ? lb_backlog_check(request->scenario, db, err) : rc;
}

bool lb_run_beats(const struct lb_run_plan *request)
{
    return request->file != NULL && lb_file_has(request->file, LB_S_HEARTBEAT);
}

static int make_shared(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t n_workers =
        scenario->workers + (scenario->shape == LB_QUEUE ? scenario->producers : 0);
    run->n_workers = (uint32_t)n_workers;
    run->n_slots = run->n_workers + (uint32_t)lb_scenario_deaths(scenario);
    if (run->share.n_ranks == 0)
        lb_share_make(scenario, lb_run_beats(run->request), 0, 1, &run->share);
    int rc = check_request(run->request, err);
    if (rc == 0 && lb_file_before(run->request->file) != NULL &&
        (scenario->pool > 0 || run->share.n_ranks > 1))
        rc = lb_fail(err, LB_E_UNSUPPORTED,
                     "--with: two versions are for workers with a session each, on one machine: "
                     "without --pool and mpirun");
    if (rc != 0)
        return rc;
    run->shared = lb_shared_new(shared_size(run->n_slots));
    run->histograms = lb_shared_new(histograms_size(run->n_slots));
    if (run->shared == NULL || run->histograms == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %u workers", run->n_workers);
    run->team = &run->shared->team;
    run->workers = run->shared->workers;
    return lb_scenario_capacities(scenario, &run->capacity, err);
}

/* Of all that ask for :now, also of those that set up and look: clocks that agree. */
static int64_t clock_ahead_ms(const struct lb_scenario *scenario)
{
    int64_t skew_ms = (int64_t)(scenario->skew_ns / 1000000);
    return scenario->skewed == LB_SKEWED_AHEAD    ? skew_ms
           : scenario->skewed == LB_SKEWED_BEHIND ? -skew_ms
                                                  : 0;
}

static int make_plan(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    const struct lb_scenario *scenario = request->scenario;
    run->plan = (struct lb_strategy_plan){
        .strategy = request->strategy,
        .n_resources = (uint32_t)(scenario->shape == LB_LOCK ? scenario->resources : 1),
        .capacity = run->capacity,
        .ttl_ms = (uint32_t)(scenario->ttl_ns / 1000000),
        .limit_ms = (uint32_t)(scenario->ttl_ns / 1000000),
        .delay_ms = (uint32_t)(scenario->ttl_ns > 0 && scenario->ttl_ns < 4 * LONGEST_DELAY_NS
                                   ? scenario->ttl_ns / 4000000
                                   : LONGEST_DELAY_NS / 1000000),
        .period_ms = (uint32_t)(scenario->period_ns / 1000000),
        .clock_ahead_ms = clock_ahead_ms(scenario),
        .is_forked = scenario->processes > 0,
        .is_gated =
            request->strategy->guest != NULL &&
            (request->trace != NULL || lb_fault_is(scenario->fault, LB_FAULT_IS_AT_THE_GATE)),
        .trace = request->trace};
    return request->strategy->no_database
               ? lb_run_supported(request->strategy, NULL, NULL, 0, scenario, err)
               : open_database(run, err);
}

static int open_records(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    run->live =
        lb_live_new(&(struct lb_live_size){.n_resources = run->plan.n_resources,
                                           .capacity = run->capacity,
                                           .has_items = request->scenario->shape == LB_QUEUE,
                                           .first_worker = run->share.first_worker,
                                           .n_workers = run->n_slots});
    if (run->live == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    if (!request->record)
        return 0;
    int rc = lb_history_create(request->history_path, &run->history, err);
    if (rc != 0)
        return rc;
    lb_log_init(&run->control_log, run->history, run->share.first_log);
    /* Of a run that is killed this is all there is: its end is not known. */
    const struct lb_model model = lb_run_model(run, false, 0);
    return lb_run_write_meta(run, &model, err);
}

static int set_up_strategy(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    if (run->joining != NULL)
        return 0;
    int rc = request->strategy->flow->setup(lb_run_first_plan(run),
                                            run->has_control ? &run->control : NULL, err);
    if (rc > LB_OK)
        rc = lb_fail(err, LB_E_ENV, "setup of %s was refused: %s %s", request->strategy->name,
                     lb_answer_name(rc), run->control.message);
    if (rc < 0)
        return rc;
    run->is_set_up = true;
    if (request->after_setup == NULL || !run->has_control)
        return 0;
    rc = request->target->db->run(run->control.conn, request->after_setup, err);
    if (rc < 0)
        return lb_fail_prefix(err, "--after-setup");
    return rc == LB_OK ? 0
                       : lb_fail(err, LB_E_ENV, "--after-setup was refused: %s %s",
                                 lb_answer_name(rc), lb_conn_head(run->control.conn)->message);
}

/* The workers of a program have no session of ours to write the row with. */
static bool has_guard(const struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    return scenario->guard && scenario->shape == LB_LOCK && run->has_control &&
           run->request->strategy->guest == NULL;
}

/* If recover does not use the time, it is not run beside live workers. */
static bool recovers_leases(const struct lb_strategy_plan *plan)
{
    return plan->strategy->is_lease && plan->program != NULL && plan->program->recovers_by_time &&
           lb_strategy_has(plan, LB_S_RECOVER);
}

/* Creates the rows written inside of holds: the guarded row, the rows of a chunked update. */
static int set_up_work(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    if (run->joining != NULL)
        return 0;
    int rc = has_guard(run) ? lb_guard_setup(&run->control, run->plan.n_resources, err) : 0;
    if (rc != 0 || request->scenario->rows == 0)
        return rc;
    if (!run->has_control)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no database: there are no rows to update",
                       request->strategy->name);
    return lb_chunks_setup(&run->control, request->scenario->rows, err);
}

/* Sections of the fault, and of items that are to end in another way than by completion. */
static int check_sections(const struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const struct lb_fault_kind *kind = lb_fault_kinds[scenario->fault];
    if (kind != NULL && kind->needs != 0 && !lb_strategy_has(&run->plan, kind->needs))
        return lb_fail(err, LB_E_UNSUPPORTED, "fault %s: %s has no section %s here",
                       lb_fault_name(scenario->fault), run->request->strategy->name,
                       lb_section_text(kind->needs));
    if (scenario->shape != LB_QUEUE)
        return 0;
    if (scenario->error > 0 && !lb_strategy_has(&run->plan, LB_S_ERROR))
        return lb_fail(err, LB_E_UNSUPPORTED, "error: %s has none: no item can end in error",
                       run->request->strategy->name);
    if (scenario->free_share > 0 && !lb_strategy_has(&run->plan, LB_S_FREE) &&
        !lb_strategy_has(&run->plan, LB_S_RETRY))
        return lb_fail(err, LB_E_UNSUPPORTED, "free: %s has none: no item can be given back",
                       run->request->strategy->name);
    return 0;
}

static int make_team(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    const struct lb_scenario *scenario = request->scenario;
    run->may_last = lb_fault_is(scenario->fault, LB_FAULT_IS_A_SWITCH) && run->has_control &&
                    !lb_program_locks_sessions(run->plan.program);
    *run->team = (struct lb_team){.run = request,
                                  .scenario = scenario,
                                  .plan = &run->plan,
                                  .db = run->has_control ? request->target->db : NULL,
                                  .space = run->space,
                                  .history = run->history,
                                  .live = run->live,
                                  .events = &lb_fault_events,
                                  .guard = has_guard(run),
                                  .enqueues = lb_strategy_has(&run->plan, LB_S_ENQUEUE),
                                  .recovers = recovers_leases(&run->plan),
                                  .n_workers = run->n_workers,
                                  .n_consumers = (uint32_t)scenario->workers,
                                  .first_worker = run->share.first_worker,
                                  .has_others = run->share.n_ranks > 1};
    run->team->n_operator_steps = scenario->rounds > 1 ? 2 * (scenario->rounds - 1) : 0;
    lb_common_init(&run->team->common, run->joining != NULL ? run->joining->next_id : 1,
                   run->share.n_ranks);
    int rc = lb_ledger_check(run, err);
    if (rc == 0)
        rc = check_sections(run, err);
    return rc == 0 ? lb_classes_check(run, err) : rc;
}

/* When work arrives, and at which resource. */
static int make_load(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_team *team = run->team;
    int rc = lb_service_init(scenario, &team->service, err);
    if (rc != 0)
        return rc;
    if (scenario->rate[0] != '\0') {
        team->open_loop = true;
        rc = lb_scenario_schedule(scenario, run->request->seed, &team->schedule, err);
        if (rc != 0)
            return rc;
        team->schedule.own = run->share.arrivals;
    }
    if (team->open_loop && scenario->shape == LB_QUEUE) {
        team->due = lb_shared_new(LB_WATCHED_ITEMS * sizeof *team->due);
        if (team->due == NULL)
            return lb_fail(err, LB_E_MEMORY, "out of memory for the items' times");
    }
    if (scenario->shape == LB_LOCK && scenario->zipf > 0) {
        run->choice = lb_zipf_new(run->plan.n_resources, scenario->zipf);
        team->choice = run->choice;
    }
    return 0;
}

static int put_backlog(struct lb_active_run *run, struct lb_error *err)
{
    return run->joining == NULL ? lb_backlog_put(run, err) : 0;
}

/* The tables of the version before, with its items, become those of the new version. */
static int migrate(struct lb_active_run *run, struct lb_error *err)
{
    return run->program_before != NULL && lb_ordinary_migrate(&run->plan, &run->control, err) != 0
               ? err->code
               : 0;
}

static int prepare_watchdog(struct lb_active_run *run, struct lb_error *err)
{
    /* Only the maker of the space asks the server; others watch their own machine. */
    bool asks = run->has_control && run->joining == NULL;
    return lb_watchdog_setup(&run->watchdog, run->team, asks ? &run->control : NULL, err);
}

int lb_run_set_up(struct lb_active_run *run, struct lb_error *err)
{
    static int (*const steps[])(struct lb_active_run *, struct lb_error *) = {
        make_shared, make_plan, open_records,     set_up_strategy, set_up_work,
        make_team,   make_load, prepare_watchdog, put_backlog,     migrate};
    int rc = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && rc == 0; i++)
        rc = steps[i](run, err);
    if (rc == 0)
        lb_plans_read(run);
    return rc;
}

/* Workers that share a thread share its histograms: one thread writes them, and 128 workers of
 * their own would not stay in its cache. */
static void init_worker(struct lb_active_run *run, uint32_t number, uint32_t n_carriers)
{
    struct lb_worker *worker = &run->workers[number];
    const struct lb_scenario *scenario = run->request->scenario;
    worker->team = run->team;
    worker->number = run->share.first_worker + number;
    worker->seat = number;
    worker->overruns = (double)number / run->n_slots; /* not all in the same hold */
    if (scenario->skewed == LB_SKEWED_HALF && worker->number % 2 == 1)
        worker->actor.clock_skew_ms = (int64_t)(scenario->skew_ns / 1000000);
    worker->role = scenario->shape == LB_LOCK   ? LB_ROLE_LOCKER
                   : number < scenario->workers ? LB_ROLE_CONSUMER
                                                : LB_ROLE_PRODUCER;
    /* During a deploy every second worker of each role still runs the version before. */
    worker->actor.plan =
        worker->number % 2 == 0 || run->program_before == NULL ? &run->plan : &run->plan_before;
    worker->actor.number = worker->number;
    lb_random_init(&worker->random, run->request->seed, worker->number);
    if (run->history != NULL)
        lb_log_init(&worker->log, run->history, worker->number);
    worker->op = (struct lb_operator){
        .actor = &worker->actor,
        .log = run->history != NULL ? &worker->log : NULL,
        .process = worker->number,
        .n_processes = run->share.n_logs,
        .may_last = run->may_last,
        .lease_ms = run->request->strategy->is_lease ? worker->actor.plan->ttl_ms : 0,
        .counts = worker->counts,
        .waited_ns = run->counts_waits ? &worker->waited_ns : NULL,
        .lender = run->team->pool != NULL ? &lb_pool_lender : NULL,
        .lender_arg = worker};
    uint32_t owner = n_carriers > 0 ? number % n_carriers : number;
    worker->owns_histograms = owner == number;
    struct lb_histogram *histograms = &run->histograms[(size_t)owner * HISTOGRAMS];
    static const enum lb_measure responses[] = {LB_M_ACQUIRE, LB_M_PUT, LB_M_CYCLE};
    for (uint32_t m = 0; m < LB_MEASURES; m++)
        worker->service[m] = &histograms[m];
    for (size_t i = 0; run->team->open_loop && i < sizeof responses / sizeof responses[0]; i++)
        worker->response[responses[i]] = &histograms[LB_MEASURES + responses[i]];
    worker->pacing = &histograms[2 * LB_MEASURES];
    pthread_mutex_init(&worker->session_lock, NULL);
}

int lb_run_start_workers(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    int rc = scenario->pool > 0
                 ? lb_pool_new(run->team, (uint32_t)scenario->pool, &run->team->pool, err)
                 : 0;
    if (rc != 0)
        return rc;
    uint32_t n_carriers = 0;
    if (scenario->processes == 0)
        rc = lb_carriers_wanted(run, &n_carriers, err);
    for (uint32_t i = 0; i < run->n_slots; i++)
        init_worker(run, i, n_carriers);
    if (scenario->processes > 0)
        return lb_processes_start(run, err);
    if (rc == 0 && n_carriers > 0)
        rc = lb_carriers_start(run, n_carriers, err);
    run->outcome->n_threads = n_carriers > 0 ? n_carriers : run->n_workers;
    const struct lb_program *stated = lb_strategy_stated(&run->plan);
    run->outcome->key_limit = stated != NULL ? stated->key_limit : 0;
    for (; n_carriers == 0 && run->n_started < run->n_workers && rc == 0; run->n_started += rc == 0)
        rc = lb_worker_start(&run->workers[run->n_started], err);
    if (rc == 0)
        rc = lb_beater_start(run->workers, 0, 1, run->n_workers,
                             run->share.first_log + LB_EXTRA_LOGS, &run->beater, err);
    if (rc != 0)
        lb_team_raise(run->team, LB_PHASE_ABORT);
    return rc;
}

int lb_run_clean_up(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    int rc = 0;
    lb_backlog_free(run);
    /* SQLite's control session may be closed: processes were about to be forked. */
    bool reachable = run->team == NULL || run->team->db == NULL ||
                     (run->has_control && lb_control_has_connection(run));
    if (run->is_set_up && !request->keep && reachable &&
        run->outcome->state != LB_RUN_SERVER_GONE) {
        rc = request->strategy->flow->teardown(&run->plan, run->has_control ? &run->control : NULL,
                                               err);
        /* The space is dropped as a whole next, and says so where it cannot be. */
        if (rc > 0 || (run->has_control && !lb_control_has_connection(run)))
            rc = 0;
    }
    if (run->has_control)
        lb_session_close(&run->control);
    lb_watchdog_release(&run->watchdog);
    if (run->space != NULL) {
        struct lb_error close_error;
        int close_rc = request->target->db->space_close(run->space, request->keep, &close_error);
        if (close_rc != 0 && rc == 0 && run->outcome->state != LB_RUN_SERVER_GONE) {
            *err = close_error;
            rc = close_rc;
        }
    }
    return rc;
}

void lb_run_release(struct lb_active_run *run)
{
    if (run->team != NULL) {
        lb_carriers_release(run);
        lb_pool_free(run->team->pool);
        lb_shared_free(run->team->due, LB_WATCHED_ITEMS * sizeof *run->team->due);
        lb_schedule_close(&run->team->schedule);
        lb_service_release(&run->team->service);
    }
    lb_shared_free(run->shared, shared_size(run->n_slots));
    lb_shared_free(run->histograms, histograms_size(run->n_slots));
    lb_readers_release(run->readers);
    lb_settler_free(run->settler);
    lb_history_free(run->history);
    lb_live_free(run->live);
    lb_program_free(run->program_before);
    lb_program_free(run->program);
    free(run->capacity);
    free(run->choice);
    free(run->attributes);
    lb_facts_free(run->counters_before, run->n_counters_before);
    free(run->processes);
}
