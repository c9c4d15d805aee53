/* The faults of replicated servers: failover, partition, cancel-sync.
 *
 * Only the user knows how to make the servers fail over. The user's command is run once for each
 * step, with STEP in its environment:
 *
 *   stall     what is committed from now on does not reach the other servers
 *   failover  the primary is lost, and another takes its place;
 *   split     (partition) the same, but the old primary, or the node, lives on behind a cut
 *   rebuild   what was lost, or cut off, follows again
 *
 * Before the stall no worker asks for a lock for a moment, so that the other servers see it as
 * free: a lost release would hide the following violation. Between stall and failover one worker is
 * granted a lock or an item, and stays inside until another has it too, or a lease is nearly over,
 * or for a
 * time: so each fault falls into a hold. With cancel-sync its commit waits for a standby, and the
 * wait is cancelled. If no worker is granted anything while replication stands still, as with
 * synchronous replication, the servers fail over after --fault-length.
 *
 * Refused if another user has a session, like `restart`. The command has taken effect if our own
 * session is on another node afterwards.
 */
#include "switchover.h"

#include "fault_kind.h"
#include "restart.h"

#include <string.h>

enum { PATIENCE_S = 5 }; /* of the holder, for a successor, after the failover */

static int check(const struct lb_run_plan *plan, struct lb_error *err)
{
    if (plan->failover_command == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "fault %s needs --failover-command, which is run with STEP=stall, %s and "
                       "rebuild and makes the servers of -d do so: private ones only",
                       lb_fault_name(plan->scenario->fault),
                       plan->scenario->fault == LB_FAULT_PARTITION ? "split" : "failover");
    return 0;
}

/* --- the holder's side --- */

void lb_switchover_wait(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    /* Relaxed: most cycles are none of it. */
    while (atomic_load_explicit(&team->switchover, memory_order_relaxed) ==
               LB_SWITCHOVER_PREPARED &&
           lb_team_wait(team, lb_now_ns() + 1000000, LB_PHASE_STOP))
        worker->op.continued = false;
}

static bool is_taken_over(const struct lb_worker *worker, const struct lb_request *request,
                          const struct lb_item *item)
{
    const struct lb_live *live = worker->team->live;
    return request != NULL ? lb_live_is_taken_over(live, request->resource, worker->number)
                           : lb_live_item_is_taken_over(live, item->id, worker->number);
}

void lb_switchover_hold(struct lb_worker *worker, const struct lb_request *request,
                        const struct lb_item *item)
{
    enum { LOOK_NS = 1000000 };
    struct lb_team *team = worker->team;
    int wanted = LB_SWITCHOVER_STALLED;
    /* Relaxed: most holds are none of it. */
    if (atomic_load_explicit(&team->switchover, memory_order_relaxed) != LB_SWITCHOVER_STALLED ||
        worker->op.start_ns < atomic_load(&team->stalled_ns) ||
        !atomic_compare_exchange_strong(&team->switchover, &wanted, LB_SWITCHOVER_PLACED))
        return;
    uint64_t granted_ns = worker->op.end_ns, ttl_ns = team->scenario->ttl_ns;
    uint64_t until_ns =
        team->plan->strategy->is_lease ? granted_ns + ttl_ns - ttl_ns / 10 : UINT64_MAX;
    lb_note_append(worker->op.log, worker->op.process, LB_OP_FAULT, team->scenario->fault,
                   worker->number, 1);
    while (lb_now_ns() < until_ns && !is_taken_over(worker, request, item) &&
           lb_team_wait(team, lb_now_ns() + LOOK_NS, LB_PHASE_STOP))
        if (atomic_load(&team->switchover) == LB_SWITCHOVER_OVER &&
            until_ns > lb_now_ns() + PATIENCE_S * UINT64_C(1000000000))
            until_ns = lb_now_ns() + PATIENCE_S * UINT64_C(1000000000);
    /* Both are inside for a while. */
    lb_team_wait(team, lb_now_ns() + 5 * LOOK_NS, LB_PHASE_ABORT);
    atomic_store(&team->switchover, LB_SWITCHOVER_NONE);
}

/* --- the world's side --- */

/* Waits until no worker holds a lock, and the other servers may have received this. */
static void prepare(struct lb_active_run *run)
{
    enum { LOOK_NS = 2000000, SETTLE_NS = 300000000 };
    struct lb_team *team = run->team;
    uint64_t give_up_ns = lb_now_ns() + PATIENCE_S * UINT64_C(1000000000);
    bool held = run->request->scenario->shape == LB_LOCK;
    if (!held)
        return;
    atomic_store(&team->switchover, LB_SWITCHOVER_PREPARED);
    while (held && lb_now_ns() < give_up_ns) {
        lb_team_wait(team, lb_now_ns() + LOOK_NS, LB_PHASE_STOP);
        held = false;
        for (uint32_t i = 0; i < run->plan.n_resources && !held; i++)
            held = lb_live_is_held(run->live, i);
    }
    lb_team_wait(team, lb_now_ns() + SETTLE_NS, LB_PHASE_STOP);
}

/* Waits for a holder. */
static int place(struct lb_active_run *run, struct lb_session *session, struct lb_error *err)
{
    struct lb_team *team = run->team;
    enum { LOOK_NS = 2000000 };
    bool cancels = run->request->scenario->fault == LB_FAULT_CANCEL_SYNC;
    uint64_t until_ns = lb_now_ns() + run->request->scenario->fault_length_ns, n = 0;
    int rc = 0;
    atomic_store(&team->stalled_ns, lb_now_ns());
    atomic_store(&team->switchover, LB_SWITCHOVER_STALLED);
    while (rc == 0 && atomic_load(&team->switchover) == LB_SWITCHOVER_STALLED &&
           lb_now_ns() < until_ns && lb_team_wait(team, lb_now_ns() + LOOK_NS, LB_PHASE_ABORT))
        if (cancels)
            rc = team->db->cancel_sync(session->conn, &n, err);
    return rc;
}

static int run_step(struct lb_active_run *run, const char *step, struct lb_error *err)
{
    return lb_restart_run_command("failover", run->request->failover_command, step, err);
}

/* The servers change their places, and our session with them. */
static int change(struct lb_active_run *run, struct lb_session *session, struct lb_error *err)
{
    const struct lb_db *db = run->team->db;
    const char *step = run->request->scenario->fault == LB_FAULT_PARTITION ? "split" : "failover";
    char before[120], after[120];
    db->node(session->conn, before, sizeof before);
    int rc = run_step(run, step, err);
    if (rc == 0)
        rc = lb_restart_come_back(session, run->team, err);
    if (rc != 0)
        return rc;
    db->node(session->conn, after, sizeof after);
    if (strcmp(before, after) != 0)
        return 0;
    return lb_fail(err, LB_E_USAGE,
                   "the failover command has not moved us from %s to another node (STEP=%s): %s",
                   before, step, run->request->failover_command);
}

/* The holder leaves when it has a successor, or after a time. */
static void await_holder(struct lb_team *team)
{
    int state = LB_SWITCHOVER_PLACED;
    if (!atomic_compare_exchange_strong(&team->switchover, &state, LB_SWITCHOVER_OVER))
        atomic_store(&team->switchover, LB_SWITCHOVER_NONE); /* there is none */
    while (atomic_load(&team->switchover) != LB_SWITCHOVER_NONE &&
           lb_team_wait(team, lb_now_ns() + 2000000, LB_PHASE_STOP))
        ;
}

static int switch_over(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                       struct lb_error *err)
{
    struct lb_team *team = run->team;
    enum lb_fault fault = run->request->scenario->fault;
    int rc = lb_restart_come_back(session, team, err);
    if (rc == 0)
        rc = lb_restart_private(session, fault, run->request->target->label, err);
    if (rc != 0)
        return rc;
    atomic_fetch_add(&team->n_faults, 1);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, fault, UINT32_MAX, 0);
    prepare(run);
    rc = run_step(run, "stall", err);
    if (rc == 0)
        rc = place(run, session, err);
    if (rc == 0)
        rc = change(run, session, err);
    await_holder(team);
    if (rc == 0 && fault == LB_FAULT_PARTITION) /* both sides go on for a while */
        lb_team_wait(team, lb_now_ns() + run->request->scenario->fault_length_ns, LB_PHASE_STOP);
    if (rc == 0)
        rc = run_step(run, "rebuild", err);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, fault, UINT32_MAX, 1);
    atomic_fetch_add(&team->n_faults_over, 1);
    return rc;
}

static bool suits(const struct lb_db *db)
{
    return db != NULL && db->strangers != NULL && db->node != NULL;
}

static bool suits_cancel(const struct lb_db *db)
{
    return db != NULL && db->cancel_sync != NULL;
}

/* One, in the middle of the run, and a lease that outlasts it. */
#define KEYS                                                                                       \
    "fault-interval=500ms fault-length=1s fault-count=1 duration=0 ttl=20s progress-bound=60s "    \
    "recovery-bound=60s"
#define KIND(name, function)                                                                       \
    {                                                                                              \
        .suits = function, .check = check, .inject_outside = switch_over, .lock_keys = KEYS,       \
        .queue_keys = KEYS " recover=0 hold=10ms"                                                  \
    }
const struct lb_fault_kind lb_fault_failover = KIND("failover", suits);
const struct lb_fault_kind lb_fault_partition = KIND("partition", suits);
const struct lb_fault_kind lb_fault_cancel_sync = KIND("cancel-sync", suits_cancel);
