/* Faults: the failures injected into a run, their times and victims.
 *
 * The controlling thread gives orders at the scenario's interval to a worker drawn from the seed;
 * the worker carries its order out itself at its next hold, so that the fault is placed and not
 * hoped for. Faults of the world (a blocker, an old snapshot) have a thread and a session of their
 * own. Each fault is a note in the history.
 */
#include "faults.h"

#include "fault_kind.h"
#include "peers.h"
#include "restart.h"
#include "restarted.h"
#include "switchover.h"
#include "zombie.h"

#include <stdlib.h>

/* A program has sessions of its own: faults inside a session of ours are impossible. */
static int check_program(const struct lb_scenario *scenario, const struct lb_db *db,
                         struct lb_error *err)
{
    enum lb_fault fault = scenario->fault;
    char names[200];
    if (!lb_fault_is(fault, LB_FAULT_IS_FOR_PROGRAMS))
        return lb_fail(err, LB_E_UNSUPPORTED, "fault %s cannot be done to a program; %s can",
                       lb_fault_name(fault),
                       lb_faults_named(LB_FAULT_IS_FOR_PROGRAMS, "and", names, sizeof names));
    if (lb_fault_is(fault, LB_FAULT_IS_AT_THE_GATE) && (db == NULL || !db->is_relayed))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "fault %s cannot be done to a program on %s: there is no gate for its "
                       "protocol",
                       lb_fault_name(fault), db != NULL ? db->product : "no database");
    return 0;
}

int lb_fault_check(const struct lb_strategy *strategy, const struct lb_scenario *scenario,
                   const struct lb_db *db, struct lb_error *err)
{
    const struct lb_fault_kind *kind = lb_fault_kinds[scenario->fault];
    if (kind == NULL)
        return 0;
    if (strategy->guest != NULL && check_program(scenario, db, err) != 0)
        return err->code;
    if (kind->suits != NULL && !kind->suits(db))
        return lb_fail(err, LB_E_UNSUPPORTED, "fault %s has no meaning on %s%s",
                       lb_fault_name(scenario->fault),
                       db != NULL ? db->product : "a strategy without a database",
                       scenario->n_stages > 0 ? ": choose another for its phase: --fault pause"
                                              : "");
    return 0;
}

int lb_fault_check_plan(const struct lb_run_plan *plan, struct lb_error *err)
{
    const struct lb_fault_kind *kind = lb_fault_kinds[plan->scenario->fault];
    if (kind != NULL && kind->needs != 0 &&
        (plan->file == NULL || !lb_file_has(plan->file, kind->needs)))
        return lb_fail(err, LB_E_UNSUPPORTED, "fault %s needs a file with section %s",
                       lb_fault_name(plan->scenario->fault), lb_section_text(kind->needs));
    return kind != NULL && kind->check != NULL ? kind->check(plan, err) : 0;
}

/* --- the worker's side --- */

/* Inside of each hold: carries out the order, if there is one. */
static void obey(struct lb_worker *worker, const struct lb_request *request,
                 const struct lb_item *items, uint32_t n)
{
    /* Relaxed: an order carries no data but itself. */
    enum lb_fault fault = (enum lb_fault)atomic_load_explicit(&worker->order, memory_order_relaxed);
    const struct lb_fault_kind *kind = lb_fault_kinds[fault];
    if (kind == NULL || (kind->postpones != NULL && kind->postpones(worker, request, items, n)))
        return;
    /* A worker that is about to die gets no other order, since it would not be carried out. */
    if (!kind->is_last && !kind->is_standing)
        atomic_store(&worker->order, LB_FAULT_NONE);
    lb_note_append(worker->op.log, worker->op.process, LB_OP_FAULT, fault, worker->number, 0);
    atomic_fetch_add(&worker->team->n_faults, 1);
    worker->in_fault = true;
    kind->inject(worker, request, items, n);
    lb_note_append(worker->op.log, worker->op.process, LB_OP_FAULT, fault, worker->number, 1);
}

/* The hold has ended, and with it what was carried out in it. */
static void left(struct lb_worker *worker)
{
    lb_zombie_gone(worker);
    if (worker->in_fault)
        atomic_fetch_add(&worker->team->n_faults_over, 1);
    worker->in_fault = false;
}

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_worker *worker = arg;
    (void)step;
    return lb_fault_kinds[worker->team->scenario->fault]->before(worker, err);
}

static const struct lb_gate fault_gate = {.before = before};

static void opened(struct lb_worker *worker)
{
    const enum lb_fault fault = worker->team->scenario->fault;
    const struct lb_fault_kind *kind = lb_fault_kinds[fault];
    if (kind != NULL && kind->is_standing && worker->role != LB_ROLE_PRODUCER)
        atomic_store(&worker->order, (int)fault);
    if (kind == NULL || kind->before == NULL || worker->team->plan->strategy->guest != NULL)
        return;
    worker->session.gate = &fault_gate;
    worker->session.gate_arg = worker;
    worker->is_full = false;
}

static void reconnected(struct lb_worker *worker)
{
    lb_uptime_look(worker->team, &worker->session, worker->op.log, worker->op.process);
}

static void holds(struct lb_worker *worker, const struct lb_request *request,
                  const struct lb_item *items, uint32_t n)
{
    obey(worker, request, items, n);
    lb_switchover_hold(worker, request, items);
}

const struct lb_worker_events lb_fault_events = {.opened = opened,
                                                 .reconnected = reconnected,
                                                 .asks = lb_switchover_wait,
                                                 .holds = holds,
                                                 .leaves = lb_zombie_call,
                                                 .left = left};

/* --- the controlling thread's side --- */

/* Over and over, until the run stops. */
static void inject_outside(struct lb_active_run *run, const struct lb_fault_kind *kind,
                           struct lb_session *session, struct lb_log *log)
{
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_error err = {0};
    for (uint64_t done = 0; scenario->fault_count == 0 || done < scenario->fault_count;) {
        if (!lb_team_wait(run->team, lb_now_ns() + scenario->fault_interval_ns, LB_PHASE_DRAIN))
            return;
        if (atomic_load(&run->team->no_faults))
            continue;
        if (kind->inject_outside(run, session, log, &err) < 0) {
            lb_team_fail(run->team, &err);
            return;
        }
        done++;
    }
}

static void *world_main(void *arg)
{
    struct lb_active_run *run = arg;
    struct lb_team *team = run->team;
    const struct lb_fault_kind *kind = lb_fault_kinds[run->request->scenario->fault];
    struct lb_log log;
    struct lb_log *used = NULL;
    if (run->history != NULL) {
        lb_log_init(&log, run->history, run->share.first_log + 1);
        used = &log;
    }
    if (kind->has_no_session) {
        inject_outside(run, kind, NULL, used);
        return NULL;
    }
    struct lb_error err = {0};
    struct lb_session session;
    struct lb_conn_options options = {.role = "fault", .isolation = kind->isolation};
    if (lb_session_open(&session, team->db, run->space, &options, &err) != 0) {
        lb_team_fail(team, &err);
        return NULL;
    }
    inject_outside(run, kind, &session, used);
    lb_session_close(&session);
    return NULL;
}

int lb_faults_start(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const struct lb_fault_kind *kind = lb_fault_kinds[scenario->fault];
    run->next_fault_ns = lb_now_ns() + scenario->fault_interval_ns;
    lb_random_init(&run->fault_random, run->request->seed, UINT32_MAX - run->share.rank);
    if (kind == NULL || kind->inject_outside == NULL)
        return 0;
    int rc =
        !lb_fault_is(scenario->fault, LB_FAULT_IS_COMMANDED)
            ? 0
            : lb_restart_private(&run->control, scenario->fault, run->request->target->label, err);
    if (rc != 0)
        return rc;
    if (pthread_create(&run->world, NULL, world_main, run) != 0)
        return lb_fail(err, LB_E_ENV, "cannot start the thread of the faults");
    run->has_world = true;
    return 0;
}

void lb_faults_end(struct lb_active_run *run)
{
    if (run->has_world)
        pthread_join(run->world, NULL);
    run->has_world = false;
}

/* Are there orders still to be given? */
static bool gives_orders(const struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const struct lb_fault_kind *kind = lb_fault_kinds[scenario->fault];
    return kind != NULL && !kind->is_standing && !run->has_world &&
           !atomic_load(&run->team->no_faults) && lb_team_phase(run->team) == LB_PHASE_MEASURE &&
           (scenario->fault_count == 0 || run->n_orders < scenario->fault_count);
}

/* May no further worker be told now? */
static bool is_enough(const struct lb_active_run *run)
{
    const struct lb_fault_kind *kind = lb_fault_kinds[run->request->scenario->fault];
    return kind->is_enough != NULL && kind->is_enough(run);
}

bool lb_faults_done(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    if (scenario->duration_ns > 0 || scenario->fault_count == 0 ||
        scenario->fault == LB_FAULT_NONE ||
        atomic_load(&run->team->n_faults_over) + run->elsewhere.n_faults_over <
            scenario->fault_count)
        return false;
    if (run->faults_over_ns == 0)
        run->faults_over_ns = lb_now_ns();
    return lb_now_ns() >= run->faults_over_ns + scenario->fault_interval_ns;
}

/* Any worker that lives, holds locks or claims items, and has no order yet. */
static bool tell_one(struct lb_active_run *run)
{
    for (int tries = 0; tries < 64; tries++) {
        struct lb_worker *worker =
            &run->workers[lb_random_below(&run->fault_random, run->n_started)];
        int none = LB_FAULT_NONE;
        if (worker->role == LB_ROLE_PRODUCER || atomic_load(&worker->ended))
            continue;
        if (atomic_compare_exchange_strong(&worker->order, &none,
                                           (int)run->request->scenario->fault))
            return true;
    }
    return false;
}

void lb_faults_watch(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t now_ns = lb_now_ns();
    /* Who follows draws none of its own. */
    if (run->n_told > 0 && lb_team_phase(run->team) == LB_PHASE_MEASURE && tell_one(run))
        run->n_told--;
    if (run->joining != NULL || !gives_orders(run) || now_ns < run->next_fault_ns || is_enough(run))
        return;
    run->next_fault_ns += scenario->fault_interval_ns;
    if (run->next_fault_ns < now_ns) /* missed faults are not made up for */
        run->next_fault_ns = now_ns;
    if ((run->peers != NULL && lb_peers_order(run)) || tell_one(run))
        run->n_orders++;
}
