/* The session of a worker, its own or a shared one: opened, lost, made anew, cancelled; and what to
 * do after a refusal.
 */
#include "pool.h"
#include "starved.h"
#include "worker.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void lb_worker_let_go(struct lb_worker *worker)
{
    struct lb_error ignored; /* its next user notices a connection that fails here */
    struct lb_pooled *pooled = worker->pooled;
    if (pooled == NULL)
        return;
    lb_session_rollback(&pooled->session, &ignored);
    worker->actor.session = NULL;
    worker->actor.runner.session = NULL;
    worker->actor.runner.statements = NULL;
    worker->actor.n_held = 0;
    worker->keeps_pooled = false;
    worker->pooled = NULL;
    lb_pool_give(worker->team->pool, pooled);
}

/* A new session takes a new name: the old one's rows may still stand in the database, and a
 * participant must never meet its own past. */
void lb_worker_name(struct lb_worker *worker)
{
    uint32_t number = worker->number;
    char *name = worker->actor.name, host[18] = "";
    const size_t size = sizeof worker->actor.name;
    struct lb_random random;
    switch (worker->team->scenario->ids) {
    case LB_IDS_SPID: /* as a server numbers its sessions: the lowest number that is free */
        snprintf(name, size, "%u", 51 + worker->team->first_worker + worker->seat);
        return;
    case LB_IDS_GUID: /* from a stream of its own: another one for each session */
        lb_random_init(&random, worker->team->run->seed ^ worker->n_lost << 32, ~number);
        snprintf(name, size, "%016llx%016llx", (unsigned long long)lb_random_next(&random),
                 (unsigned long long)lb_random_next(&random));
        return;
    case LB_IDS_HOST:
        gethostname(host, sizeof host - 1);
        snprintf(name, size, "%s.%d.%u.%llu", host, (int)getpid(), number,
                 (unsigned long long)worker->n_lost);
        return;
    case LB_IDS_UNIQUE:
    default:
        break;
    }
    if (worker->team->scenario->duplicate_ids)
        number /= 2;
    if (worker->n_lost == 0)
        snprintf(worker->actor.name, sizeof worker->actor.name, "w%u", number);
    else
        snprintf(worker->actor.name, sizeof worker->actor.name, "w%u.%llu", number,
                 (unsigned long long)worker->n_lost);
}

/* Its session is on one of the target's nodes, which may be another than before. */
static void note_node(struct lb_worker *worker)
{
    char node[sizeof worker->nodes[0]];
    size_t i = 0;
    if (worker->team->db->node == NULL)
        return;
    worker->team->db->node(worker->session.conn, node, sizeof node);
    while (i < LB_NODES_KEPT && worker->nodes[i][0] != '\0' && strcmp(worker->nodes[i], node) != 0)
        i++;
    if (i < LB_NODES_KEPT)
        memcpy(worker->nodes[i], node, sizeof node);
}

int lb_worker_open_session(struct lb_worker *worker, struct lb_error *err)
{
    struct lb_team *team = worker->team;
    if (team->plan->strategy->guest != NULL) /* it has sessions of its own */
        team->events->opened(worker);
    if (team->db == NULL || team->plan->strategy->guest != NULL)
        return 0;
    char role[32];
    snprintf(role, sizeof role, "worker %u", worker->number);
    struct lb_conn_options options;
    lb_team_conn_options(team, worker->actor.plan, &options);
    options.role = role;
    options.seat = worker->number;
    int rc;
    pthread_mutex_lock(&worker->session_lock);
    rc = worker->has_session
             ? lb_session_reconnect(&worker->session, err)
             : lb_session_open(&worker->session, team->db, team->space, &options, err);
    worker->has_session = worker->has_session || rc == 0;
    if (rc == 0)
        note_node(worker);
    if (rc == 0)
        team->events->opened(worker);
    pthread_mutex_unlock(&worker->session_lock);
    return rc;
}

void lb_worker_set_pause(struct lb_worker *worker)
{
    worker->actor.runner.tx_pause_ns = worker->team->scenario->tx_pause_ns;
    lb_random_init(&worker->actor.runner.random, lb_random_next(&worker->random), 0);
}

bool lb_worker_connect(struct lb_worker *worker)
{
    enum { FIRST_PAUSE_NS = 20000000, LONGEST_PAUSE_NS = 500000000 };
    bool is_awaited = lb_fault_is(worker->team->scenario->fault, LB_FAULT_IS_COMMANDED);
    const uint64_t give_up_ns = lb_now_ns() + UINT64_C(1000000000) * (is_awaited ? 60 : 5);
    uint64_t pause_ns = FIRST_PAUSE_NS;
    struct lb_error err = {0};
    if (lb_team_phase(worker->team) >= LB_PHASE_ABORT)
        return false;
    while ((worker->pooled != NULL ? lb_session_reconnect(&worker->pooled->session, &err)
                                   : lb_worker_open_session(worker, &err)) != 0) {
        if (lb_now_ns() >= give_up_ns) {
            lb_fail_prefix(&err, "the server went away");
            lb_team_fail(worker->team, &err);
            return false;
        }
        if (!lb_worker_sleep(worker, lb_now_ns() + pause_ns, LB_PHASE_STOP))
            return false;
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
    return true;
}

/* Waits, before a program starts again, until the server is back. false: the run ends. A fault that
 * begins after this finds a program that it cuts off. */
static bool is_served(struct lb_worker *worker)
{
    enum { LOOK_NS = 20000000 };
    struct lb_team *team = worker->team;
    for (;;) {
        worker->actor.n_cuts_before = atomic_load(&worker->actor.n_cuts);
        if (team->plan->strategy->guest == NULL ||
            !lb_fault_is(team->scenario->fault, LB_FAULT_IS_COMMANDED) ||
            atomic_load(&team->n_faults_over) >= atomic_load(&team->n_faults))
            return true;
        if (!lb_worker_sleep(worker, lb_now_ns() + LOOK_NS, LB_PHASE_STOP))
            return false;
    }
}

/* A new name, and a new session; the next user of a shared one connects it. */
static void reconnect(struct lb_worker *worker)
{
    struct lb_error err = {0};
    worker->n_lost++;
    lb_worker_name(worker);
    lb_note_append(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number, 0);
    if (worker->team->pool != NULL) {
        lb_worker_let_go(worker);
        return;
    }
    if (!lb_worker_connect(worker) || !is_served(worker))
        return;
    worker->team->events->reconnected(worker);
    int rc = worker->team->plan->strategy->flow->open(&worker->actor, &err);
    if (rc < 0) {
        lb_team_fail(worker->team, &err);
        return;
    }
    /* A connection that is lost again at once is noticed by the next operation. */
    lb_worker_set_pause(worker);
}

static uint64_t backoff_ns(struct lb_worker *worker, unsigned n_refusals)
{
    const struct lb_scenario *scenario = worker->team->scenario;
    uint64_t wait_ns = scenario->poll_ns;
    if (scenario->backoff != LB_BACKOFF_FIXED) {
        uint64_t ceiling = scenario->poll_max_ns > wait_ns ? scenario->poll_max_ns : wait_ns;
        for (unsigned i = 1; i < n_refusals && wait_ns < ceiling; i++)
            wait_ns *= 2;
        if (wait_ns > ceiling)
            wait_ns = ceiling;
    }
    /* Full jitter: anywhere between nothing and the exponential wait. */
    if (scenario->backoff == LB_BACKOFF_JITTER && wait_ns > 0)
        wait_ns = lb_random_below(&worker->random, wait_ns + 1);
    return wait_ns;
}

bool lb_worker_records(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    if (worker->op.log_error == 0)
        return true;
    struct lb_error full;
    const char *kept = team->run->history_path;
    lb_fail(&full, worker->op.log_error, "%s%sthe history cannot be written: no space left; %s",
            kept != NULL ? kept : "", kept != NULL ? ": " : "",
            kept != NULL ? "free some or choose another directory" : "free some or set TMPDIR");
    lb_team_fail(team, &full);
    return false;
}

/* If a hold or an item is requested, a duplicate key may be the protocol's refusal; elsewhere it is
 * unexpected. */
static bool may_double(const struct lb_worker *worker)
{
    enum lb_op last = worker->op.last;
    return last == LB_OP_ENQUEUE || last == LB_OP_ACQUIRE || last == LB_OP_CLAIM;
}

void lb_worker_note_refusal(struct lb_worker *worker, int answer)
{
    struct lb_team *team = worker->team;
    const struct lb_session *session =
        worker->pooled != NULL ? &worker->pooled->session : &worker->session;
    bool is_guest = team->plan->strategy->guest != NULL;
    if (is_guest) /* it has the session, and says what went wrong */
        snprintf(worker->session.message, sizeof worker->session.message, "%s", worker->actor.said);
    if (answer == LB_DUPLICATE && may_double(worker))
        lb_first_note(&team->doubled, session, !is_guest);
    else if (answer == LB_OTHER || answer == LB_DUPLICATE)
        lb_first_note(&team->refused, session, !is_guest);
    else if (answer == LB_LOST)
        lb_first_note(&team->lost, session, false);
}

bool lb_worker_refused(struct lb_worker *worker, int answer, unsigned n_refusals,
                       struct lb_error *err)
{
    struct lb_team *team = worker->team;
    if (answer < 0) {
        lb_team_fail(team, err);
        return false;
    }
    if (!lb_worker_records(worker))
        return false;
    lb_worker_note_refusal(worker, answer);
    if (answer == LB_LOST) {
        if (worker->role == LB_ROLE_CONSUMER)
            lb_team_lost_items(team);
        reconnect(worker);
        return false;
    }
    atomic_store_explicit(&worker->refusals,
                          atomic_load_explicit(&worker->refusals, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    uint64_t wait_ns = backoff_ns(worker, n_refusals);
    if (wait_ns > 0)
        lb_worker_sleep(worker, lb_now_ns() + wait_ns, LB_PHASE_STOP);
    return lb_team_phase(team) < LB_PHASE_STOP;
}

void lb_worker_cancel(struct lb_worker *worker)
{
    int program = atomic_load(&worker->actor.program);
    atomic_store(&worker->actor.is_cancelled, true);
    if (program > 0)
        kill(-program, SIGKILL);
    pthread_mutex_lock(&worker->session_lock);
    if (worker->has_session)
        lb_session_cancel(&worker->session);
    pthread_mutex_unlock(&worker->session_lock);
}
