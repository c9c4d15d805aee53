/* Faults: what goes wrong during a run, when, and to whom.
 *
 * The controlling thread gives orders at the scenario's interval to a worker drawn from the seed;
 * the worker carries its order out itself at its next hold, so that the fault is placed and not
 * hoped for. Faults of the world (a blocker, an old snapshot) have a thread and a session of their
 * own. Each fault is a note in the history.
 */
#include "faults.h"

#include "pool.h"
#include "restart.h"
#include "restarted.h"
#include "switchover.h"
#include "zombie.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A program has sessions of its own: what is done inside of a session of ours cannot be done. */
static int check_program(const struct lb_scenario *scenario, const struct lb_db *db,
                         struct lb_error *err)
{
    switch (scenario->fault) {
    case LB_FAULT_NONE:
    case LB_FAULT_KILL:
    case LB_FAULT_PAUSE:
    case LB_FAULT_DISCONNECT:
        return 0;
    case LB_FAULT_CUT:
    case LB_FAULT_SLOW:
        if (db != NULL && db->is_relayed)
            return 0;
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "fault %s cannot be done to a program on %s: there is no gate for its "
                       "protocol",
                       lb_fault_name(scenario->fault), db != NULL ? db->product : "no database");
    case LB_FAULT_BLOCKER:
    case LB_FAULT_SNAPSHOT:
    case LB_FAULT_RESTART:
    case LB_FAULT_FULL:
    case LB_FAULTS:
    default:
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "fault %s cannot be done to a program; kill, pause, disconnect, cut and "
                       "slow can",
                       lb_fault_name(scenario->fault));
    }
}

int lb_fault_check(const struct lb_strategy *strategy, const struct lb_scenario *scenario,
                   const struct lb_db *db, struct lb_error *err)
{
    const char *name = lb_fault_name(scenario->fault);
    bool ok;
    if (strategy->guest != NULL && check_program(scenario, db, err) != 0)
        return err->code;
    switch (scenario->fault) {
    case LB_FAULT_DISCONNECT:
        ok = db != NULL && db->terminate != NULL;
        break;
    case LB_FAULT_CUT:
        ok = db != NULL && db->cut != NULL;
        break;
    case LB_FAULT_BLOCKER:
        ok = db != NULL && db->lock_rows != NULL;
        break;
    case LB_FAULT_FULL:
        ok = db != NULL && db->fill != NULL;
        break;
    case LB_FAULT_RESTART:
        ok = db != NULL && db->strangers != NULL;
        break;
    case LB_FAULT_FAILOVER:
    case LB_FAULT_PARTITION:
        ok = db != NULL && db->strangers != NULL && db->node != NULL;
        break;
    case LB_FAULT_CANCEL_SYNC:
        ok = db != NULL && db->cancel_sync != NULL;
        break;
    case LB_FAULT_SNAPSHOT:
    case LB_FAULT_SLOW:
        ok = db != NULL;
        break;
    case LB_FAULT_KILL: /* what a thread of a dead process held is gone with it */
    case LB_FAULT_NONE:
    case LB_FAULT_PAUSE:
    case LB_FAULTS:
    default:
        ok = true;
        break;
    }
    if (!ok)
        return lb_fail(err, LB_E_UNSUPPORTED, "fault %s has no meaning on %s", name,
                       db != NULL ? db->product : "a strategy without a database");
    return 0;
}

/* --- the worker's side --- */

/* What befalls a worker befalls its program, with all that it has started. */
static void signal_program(struct lb_worker *worker, int number)
{
    int program = atomic_load(&worker->actor.program);
    if (program > 0)
        kill(-program, number);
}

/* Ends the sessions of the worker's program. */
static void disconnect_program(struct lb_worker *worker)
{
    struct lb_crew *crew = worker->crew;
    struct lb_actor *actor = &worker->actor;
    struct lb_error err = {0};
    struct lb_conn_options options = {.role = "operator"};
    struct lb_conn *operator_conn = NULL;
    int rc = actor->n_sessions > 0
                 ? crew->db->open(crew->space, &options, &operator_conn, &err)
                 : lb_fail(&err, LB_E_FILE,
                           "fault disconnect: %s does not say which sessions are its own: "
                           "\"session\" in its answer to open",
                           crew->plan->strategy->name);
    if (rc == 0) {
        lb_note_append(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number, 0);
        actor->is_cut_off = true;
        for (uint32_t i = 0; i < actor->n_sessions && rc >= 0; i++)
            rc = crew->db->terminate(operator_conn, actor->sessions[i], &err);
        crew->db->close(operator_conn);
    }
    if (rc < 0)
        lb_crew_fail(crew, &err);
}

/* Its gate does so with its next statement: in turns before that goes out, and behind it. */
static void cut_program(struct lb_worker *worker)
{
    struct lb_actor *actor = &worker->actor;
    actor->is_cut_off = true;
    atomic_store(&actor->cut, worker->n_cuts++ % 2 == 0 ? LB_CUT_BEFORE : LB_CUT_AFTER);
}

/* Ends a session over a second connection, as an operator would. is_own: what the worker holds may
 * live in it. */
static void disconnect(struct lb_worker *worker, struct lb_conn *conn, bool is_own)
{
    struct lb_crew *crew = worker->crew;
    struct lb_error err = {0};
    struct lb_conn_options options = {.role = "operator", .beside = conn};
    struct lb_conn *operator_conn = NULL;
    int rc = crew->db->open(crew->space, &options, &operator_conn, &err);
    if (rc == 0) {
        int64_t id = crew->db->session_id(conn);
        if (is_own)
            lb_note_append(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number,
                           0);
        rc = crew->db->terminate(operator_conn, id, &err);
        crew->db->close(operator_conn);
    }
    if (rc < 0)
        lb_crew_fail(crew, &err);
}

/* Of a pool: the session that the hold lives in, or one that is free, of which nobody knows until
 * somebody has taken it. */
static void disconnect_pooled(struct lb_worker *worker)
{
    struct lb_crew *crew = worker->crew;
    bool is_own = worker->pooled != NULL;
    struct lb_pooled *pooled =
        is_own ? worker->pooled : lb_pool_take(crew->pool, crew, LB_PHASE_STOP);
    if (pooled != NULL && pooled->session.conn != NULL)
        disconnect(worker, pooled->session.conn, is_own);
    if (pooled != NULL && !is_own)
        lb_pool_give(crew->pool, pooled);
}

/* A dead worker believes nothing: its hold ends here, whatever the database still has. */
static _Noreturn void die(struct lb_worker *worker, const struct lb_request *request,
                          const struct lb_item *items, uint32_t n)
{
    struct lb_crew *crew = worker->crew;
    if (request != NULL)
        lb_live_die(crew->live, request->resource, request->shared, worker->number);
    for (uint32_t i = 0; i < n; i++)
        lb_live_item_back(crew->live, items[i].id);
    if (n > 0)
        atomic_store(&crew->item_death_ns, lb_now_ns());
    lb_note_append(worker->op.log, worker->op.process, LB_OP_DEATH, 0, worker->number, 0);
    lb_note_append(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number, 0);
    atomic_fetch_add(&crew->n_faults_over, 1);
    atomic_store(&worker->dying, true);
    lb_event_signal(&crew->change);
    signal_program(worker, SIGKILL);
    kill(getpid(), SIGKILL);
    abort(); /* not reached */
}

/* Inside of each hold: carries out the order, if there is one. */
static void obey(struct lb_worker *worker, const struct lb_request *request,
                 const struct lb_item *items, uint32_t n)
{
    /* Relaxed: an order carries no data but itself. */
    enum lb_fault fault = (enum lb_fault)atomic_load_explicit(&worker->order, memory_order_relaxed);
    int64_t thing = request != NULL ? (int64_t)request->resource : n > 0 ? items[0].id : 0;
    /* A host does not go to sleep: the order waits for its next hold. */
    if (fault == LB_FAULT_NONE || (fault == LB_FAULT_PAUSE && lb_zombie_awaits(worker, thing)))
        return;
    /* Who is about to die is given no other order, which nobody would carry out. */
    if (fault != LB_FAULT_KILL)
        atomic_store(&worker->order, LB_FAULT_NONE);
    struct lb_crew *crew = worker->crew;
    uint64_t length_ns = crew->scenario->fault_length_ns;
    lb_note_append(worker->op.log, worker->op.process, LB_OP_FAULT, fault, worker->number, 0);
    atomic_fetch_add(&crew->n_faults, 1);
    worker->in_fault = true;
    switch (fault) {
    case LB_FAULT_KILL:
        die(worker, request, items, n);
    case LB_FAULT_PAUSE:
        if (request == NULL)
            lb_zombie_sleep(worker, thing);
        signal_program(worker, SIGSTOP);
        if (crew->scenario->processes > 0) {
            atomic_store(&worker->resume_ns, lb_now_ns() + length_ns);
            lb_event_signal(&crew->change);
            raise(SIGSTOP);
        } else {
            lb_crew_wait(crew, lb_now_ns() + length_ns, LB_PHASE_ABORT);
        }
        signal_program(worker, SIGCONT);
        lb_zombie_wait(worker, thing);
        break;
    case LB_FAULT_DISCONNECT:
        if (crew->plan->strategy->guest != NULL)
            disconnect_program(worker);
        else if (crew->pool != NULL)
            disconnect_pooled(worker);
        else if (worker->has_session && worker->session.conn != NULL)
            disconnect(worker, worker->session.conn, true);
        break;
    case LB_FAULT_CUT:
        if (crew->plan->strategy->guest != NULL)
            cut_program(worker);
        else if (worker->has_session && worker->session.conn != NULL)
            crew->db->cut(worker->session.conn);
        break;
    case LB_FAULT_SLOW:
        atomic_store(&worker->actor.slow_ns, length_ns);
        atomic_store(&worker->actor.slow_until_ns, lb_now_ns() + crew->scenario->fault_interval_ns);
        worker->slow_until_ns = lb_now_ns() + crew->scenario->fault_interval_ns;
        break;
    case LB_FAULT_NONE:
    case LB_FAULT_BLOCKER:
    case LB_FAULT_SNAPSHOT:
    case LB_FAULT_RESTART:
    case LB_FAULT_FULL:
    case LB_FAULT_FAILOVER:
    case LB_FAULT_PARTITION:
    case LB_FAULT_CANCEL_SYNC:
    case LB_FAULTS:
    default:
        break;
    }
    lb_note_append(worker->op.log, worker->op.process, LB_OP_FAULT, fault, worker->number, 1);
}

/* The hold has ended, and with it what was carried out in it. */
static void left(struct lb_worker *worker)
{
    lb_zombie_gone(worker);
    if (worker->in_fault)
        atomic_fetch_add(&worker->crew->n_faults_over, 1);
    worker->in_fault = false;
}

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_worker *worker = arg;
    (void)step;
    bool full = atomic_load(&worker->crew->disk_full);
    if (full != worker->is_full) {
        /* What contention refuses is tried again with the next statement. */
        int answer = worker->crew->db->fill(worker->session.conn, full, err);
        if (answer < 0)
            return answer;
        worker->is_full = answer == LB_OK ? full : worker->is_full;
    }
    if (lb_now_ns() < worker->slow_until_ns)
        lb_crew_wait(worker->crew, lb_now_ns() + worker->crew->scenario->fault_length_ns,
                     LB_PHASE_ABORT);
    return 0;
}

static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    (void)arg;
    (void)step;
    (void)answer;
    (void)rows;
}

static const struct lb_gate fault_gate = {.before = before, .after = after};

static void opened(struct lb_worker *worker)
{
    enum lb_fault fault = worker->crew->scenario->fault;
    if (fault != LB_FAULT_SLOW && fault != LB_FAULT_FULL)
        return;
    worker->session.gate = &fault_gate;
    worker->session.gate_arg = worker;
    worker->is_full = false;
}

static void reconnected(struct lb_worker *worker)
{
    lb_uptime_look(worker->crew, &worker->session, worker->op.log, worker->op.process);
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

/* Whose statement waits, before what it waits for is set free? */
static void note_waiters(struct lb_active_run *run, struct lb_session *session)
{
    const struct lb_db *db = run->crew->db;
    if (!run->counts_waits || db->is_blocked == NULL || run->request->scenario->processes > 0 ||
        run->request->scenario->pool > 0)
        return;
    for (uint32_t i = 0; i < run->n_started; i++) {
        struct lb_worker *worker = &run->workers[i];
        struct lb_error ignored;
        int64_t id = 0;
        pthread_mutex_lock(&worker->session_lock);
        if (worker->has_session && worker->session.conn != NULL)
            id = db->session_id(worker->session.conn);
        pthread_mutex_unlock(&worker->session_lock);
        uint64_t asked_ns = lb_now_ns();
        if (id != 0 && db->is_blocked(session->conn, id, &ignored) == 1)
            atomic_store(&worker->waited_ns, asked_ns);
    }
}

/* A blocker or an old snapshot, over and over, until the run stops. */
static void block(struct lb_active_run *run, struct lb_session *session, struct lb_log *log)
{
    struct lb_crew *crew = run->crew;
    const struct lb_scenario *scenario = run->request->scenario;
    const struct lb_db *db = crew->db;
    struct lb_error err = {0};
    for (uint64_t done = 0; scenario->fault_count == 0 || done < scenario->fault_count; done++) {
        if (!lb_crew_wait(crew, lb_now_ns() + scenario->fault_interval_ns, LB_PHASE_DRAIN))
            break;
        int answer = lb_session_begin(session, LB_BEGIN_DEFERRED, &err);
        lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, scenario->fault, UINT32_MAX, 0);
        if (answer == LB_OK)
            answer = scenario->fault == LB_FAULT_BLOCKER ? db->lock_rows(session->conn, 0, &err)
                                                         : db->take_snapshot(session->conn, &err);
        if (answer < 0) {
            lb_crew_fail(crew, &err);
            break;
        }
        atomic_fetch_add(&crew->n_faults, 1);
        lb_crew_wait(crew, lb_now_ns() + scenario->fault_length_ns, LB_PHASE_DRAIN);
        if (scenario->fault == LB_FAULT_BLOCKER)
            note_waiters(run, session);
        lb_session_rollback(session, &err);
        atomic_fetch_add(&crew->n_faults_over, 1);
        lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, scenario->fault, UINT32_MAX, 1);
    }
}

/* Each worker tells its own connection: see before(). */
static void fill(struct lb_active_run *run, struct lb_log *log)
{
    struct lb_crew *crew = run->crew;
    const struct lb_scenario *scenario = run->request->scenario;
    for (uint64_t done = 0; scenario->fault_count == 0 || done < scenario->fault_count; done++) {
        if (!lb_crew_wait(crew, lb_now_ns() + scenario->fault_interval_ns, LB_PHASE_DRAIN))
            break;
        lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_FULL, UINT32_MAX, 0);
        atomic_fetch_add(&crew->n_faults, 1);
        atomic_store(&crew->disk_full, true);
        lb_crew_wait(crew, lb_now_ns() + scenario->fault_length_ns, LB_PHASE_DRAIN);
        atomic_store(&crew->disk_full, false);
        atomic_fetch_add(&crew->n_faults_over, 1);
        lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_FULL, UINT32_MAX, 1);
    }
}

static void *world_main(void *arg)
{
    struct lb_active_run *run = arg;
    struct lb_crew *crew = run->crew;
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_log log;
    struct lb_log *used = NULL;
    if (run->history != NULL) {
        lb_log_init(&log, run->history, run->share.first_log + 1);
        used = &log;
    }
    if (scenario->fault == LB_FAULT_FULL) {
        fill(run, used);
        return NULL;
    }
    struct lb_error err = {0};
    struct lb_session session;
    struct lb_conn_options options = {.role = "fault", .isolation = LB_ISO_DEFAULT};
    if (scenario->fault == LB_FAULT_SNAPSHOT)
        options.isolation = LB_ISO_REPEATABLE_READ;
    if (lb_session_open(&session, crew->db, run->space, &options, &err) != 0) {
        lb_crew_fail(crew, &err);
        return NULL;
    }
    if (scenario->fault == LB_FAULT_RESTART)
        lb_restart_world(run, &session, used);
    else if (lb_fault_switches(scenario->fault))
        lb_switchover_world(run, &session, used);
    else
        block(run, &session, used);
    lb_session_close(&session);
    return NULL;
}

int lb_faults_start(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    run->next_fault_ns = lb_now_ns() + scenario->fault_interval_ns;
    lb_random_init(&run->fault_random, run->request->seed, UINT32_MAX);
    if (scenario->fault != LB_FAULT_BLOCKER && scenario->fault != LB_FAULT_SNAPSHOT &&
        !lb_fault_is_commanded(scenario->fault) && scenario->fault != LB_FAULT_FULL)
        return 0;
    int rc =
        !lb_fault_is_commanded(scenario->fault)
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
    return scenario->fault != LB_FAULT_NONE && !run->has_world &&
           lb_crew_phase(run->crew) == LB_PHASE_MEASURE &&
           (scenario->fault_count == 0 || run->n_orders < scenario->fault_count);
}

/* Somebody has to take over from those who sleep: half of the workers stay awake. */
static bool too_many_sleep(const struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t half = scenario->workers > 1 ? scenario->workers / 2 : 1;
    return scenario->fault == LB_FAULT_PAUSE &&
           run->n_orders - atomic_load(&run->crew->n_faults_over) >= half;
}

bool lb_faults_done(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    if (scenario->duration_ns > 0 || scenario->fault_count == 0 ||
        scenario->fault == LB_FAULT_NONE ||
        atomic_load(&run->crew->n_faults_over) < scenario->fault_count)
        return false;
    if (run->faults_over_ns == 0)
        run->faults_over_ns = lb_now_ns();
    return lb_now_ns() >= run->faults_over_ns + scenario->fault_interval_ns;
}

void lb_faults_watch(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t now_ns = lb_now_ns();
    if (!gives_orders(run) || now_ns < run->next_fault_ns || too_many_sleep(run))
        return;
    run->next_fault_ns += scenario->fault_interval_ns;
    if (run->next_fault_ns < now_ns) /* what was missed is not made up for */
        run->next_fault_ns = now_ns;
    /* Any worker that lives, holds locks or claims items, and has no order yet. */
    for (int tries = 0; tries < 64; tries++) {
        struct lb_worker *worker =
            &run->workers[lb_random_below(&run->fault_random, run->n_started)];
        int none = LB_FAULT_NONE;
        if (worker->role == LB_ROLE_PRODUCER || atomic_load(&worker->ended))
            continue;
        if (atomic_compare_exchange_strong(&worker->order, &none, (int)scenario->fault)) {
            run->n_orders++;
            return;
        }
    }
}
