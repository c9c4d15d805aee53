/* One worker: its session, its life from ready to ended, and what to do after a refusal. The work
 * itself is in worker_lock.c and worker_queue.c.
 */
#include "pool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void lb_worker_begin(struct lb_worker *worker, enum lb_measure measure)
{
    if (worker->op.measured)
        worker->counts[measure].started++;
}

bool lb_worker_end(struct lb_worker *worker, enum lb_measure measure, uint64_t start_ns,
                   uint64_t end_ns, bool succeeded)
{
    if (!worker->op.measured)
        return false;
    struct lb_counts *counts = &worker->counts[measure];
    if (lb_crew_phase(worker->crew) != LB_PHASE_MEASURE) {
        counts->censored++;
        return false;
    }
    counts->finished++;
    if (!succeeded) {
        counts->given_up++;
        return false;
    }
    counts->succeeded++;
    lb_histogram_record(worker->service[measure], end_ns - start_ns);
    /* A consumer's response is its items': see note_arrival. */
    if (worker->response[measure] != NULL && worker->role != LB_ROLE_CONSUMER) {
        lb_histogram_record(worker->response[measure], end_ns - worker->intended_ns);
        start_ns = worker->intended_ns;
    }
    /* Live figures are responses too, where there are any. */
    if (measure == LB_M_ACQUIRE &&
        (worker->response[measure] == NULL || worker->role != LB_ROLE_CONSUMER))
        lb_coarse_record(&worker->coarse, end_ns - start_ns);
    return true;
}

void lb_worker_gave_up(struct lb_worker *worker, bool out_of_tries)
{
    if (out_of_tries && worker->op.measured && lb_crew_phase(worker->crew) == LB_PHASE_MEASURE)
        worker->counts[LB_M_ACQUIRE].gave_up++;
}

void lb_worker_was_busy(struct lb_worker *worker, uint64_t start_ns, uint64_t end_ns, bool counted)
{
    uint64_t from_ns = atomic_load_explicit(&worker->crew->measure_ns, memory_order_relaxed);
    uint64_t stop_ns = atomic_load_explicit(&worker->crew->stop_ns, memory_order_relaxed);
    if (from_ns == 0 || end_ns <= from_ns || (stop_ns != 0 && start_ns >= stop_ns))
        return;
    uint64_t ns = (stop_ns != 0 && end_ns > stop_ns ? stop_ns : end_ns) -
                  (start_ns < from_ns ? from_ns : start_ns);
    worker->busy_ns += ns;
    if (!counted)
        worker->edge_ns += ns;
}

/* A new session takes a new name: the old one's rows may still stand in the database, and a
 * participant must never meet its own past. */
static void name_actor(struct lb_worker *worker)
{
    uint32_t number = worker->number;
    char *name = worker->actor.name, host[18] = "";
    const size_t size = sizeof worker->actor.name;
    struct lb_random random;
    switch (worker->crew->scenario->ids) {
    case LB_IDS_SPID: /* as a server numbers its sessions: the lowest number that is free */
        snprintf(name, size, "%u", 51 + worker->seat);
        return;
    case LB_IDS_GUID: /* from a stream of its own: another one for each session */
        lb_random_init(&random, worker->crew->run->seed ^ worker->n_lost << 32, ~number);
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
    if (worker->crew->scenario->duplicate_ids)
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
    if (worker->crew->db->node == NULL)
        return;
    worker->crew->db->node(worker->session.conn, node, sizeof node);
    while (i < LB_NODES_KEPT && worker->nodes[i][0] != '\0' && strcmp(worker->nodes[i], node) != 0)
        i++;
    if (i < LB_NODES_KEPT)
        memcpy(worker->nodes[i], node, sizeof node);
}

static int open_session(struct lb_worker *worker, struct lb_error *err)
{
    struct lb_crew *crew = worker->crew;
    if (crew->db == NULL || crew->plan->strategy->guest != NULL)
        return 0;
    char role[32];
    snprintf(role, sizeof role, "worker %u", worker->number);
    struct lb_conn_options options;
    lb_crew_conn_options(crew, &options);
    options.role = role;
    options.seat = worker->number;
    int rc;
    pthread_mutex_lock(&worker->session_lock);
    rc = worker->has_session
             ? lb_session_reconnect(&worker->session, err)
             : lb_session_open(&worker->session, crew->db, crew->space, &options, err);
    worker->has_session = worker->has_session || rc == 0;
    if (rc == 0)
        note_node(worker);
    if (rc == 0 &&
        (crew->scenario->fault == LB_FAULT_SLOW || crew->scenario->fault == LB_FAULT_FULL)) {
        worker->session.gate = &lb_fault_gate;
        worker->session.gate_arg = worker;
        worker->is_full = false;
    }
    pthread_mutex_unlock(&worker->session_lock);
    return rc;
}

static void set_pause(struct lb_worker *worker)
{
    worker->actor.runner.tx_pause_ns = worker->crew->scenario->tx_pause_ns;
    lb_random_init(&worker->actor.runner.random, lb_random_next(&worker->random), 0);
}

bool lb_worker_connect(struct lb_worker *worker)
{
    enum { FIRST_PAUSE_NS = 20000000, LONGEST_PAUSE_NS = 500000000 };
    bool is_awaited = lb_fault_is_commanded(worker->crew->scenario->fault);
    const uint64_t give_up_ns = lb_now_ns() + UINT64_C(1000000000) * (is_awaited ? 60 : 5);
    uint64_t pause_ns = FIRST_PAUSE_NS;
    struct lb_error err = {0};
    while ((worker->pooled != NULL ? lb_session_reconnect(&worker->pooled->session, &err)
                                   : open_session(worker, &err)) != 0) {
        if (lb_now_ns() >= give_up_ns) {
            atomic_store(&worker->crew->server_gone, true);
            lb_fail_prefix(&err, "the server went away");
            lb_crew_fail(worker->crew, &err);
            return false;
        }
        if (!lb_crew_wait(worker->crew, lb_now_ns() + pause_ns, LB_PHASE_STOP))
            return false;
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
    return true;
}

/* A new name, and a new session; a shared one is connected by whoever takes its place. */
static void reconnect(struct lb_worker *worker)
{
    struct lb_error err = {0};
    worker->n_lost++;
    name_actor(worker);
    lb_fault_note(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number, 0);
    if (worker->crew->pool != NULL) {
        lb_worker_let_go(worker);
        return;
    }
    if (!lb_worker_connect(worker))
        return;
    lb_uptime_look(worker->crew, &worker->session, worker->op.log, worker->op.process);
    int rc = worker->crew->plan->strategy->flow->open(&worker->actor, &err);
    if (rc < 0) {
        lb_crew_fail(worker->crew, &err);
        return;
    }
    /* A connection that is lost again at once is noticed by the next operation. */
    set_pause(worker);
}

static uint64_t backoff_ns(struct lb_worker *worker, unsigned n_refusals)
{
    const struct lb_scenario *scenario = worker->crew->scenario;
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
    struct lb_crew *crew = worker->crew;
    if (worker->op.log_error == 0)
        return true;
    struct lb_error full;
    const char *kept = crew->run->history_path;
    lb_fail(&full, worker->op.log_error, "%s%sthe history cannot be written: no space left; %s",
            kept != NULL ? kept : "", kept != NULL ? ": " : "",
            kept != NULL ? "free some or choose another directory" : "free some or set TMPDIR");
    lb_crew_fail(crew, &full);
    return false;
}

bool lb_worker_refused(struct lb_worker *worker, int answer, unsigned n_refusals,
                       struct lb_error *err)
{
    struct lb_crew *crew = worker->crew;
    if (answer < 0) {
        lb_crew_fail(crew, err);
        return false;
    }
    if (!lb_worker_records(worker))
        return false;
    const struct lb_session *session =
        worker->pooled != NULL ? &worker->pooled->session : &worker->session;
    if (crew->plan->strategy->guest != NULL) /* it has the session, and says what went wrong */
        snprintf(worker->session.message, sizeof worker->session.message, "%s", worker->actor.said);
    if (answer == LB_OTHER || answer == LB_DUPLICATE)
        lb_first_note(answer == LB_OTHER ? &crew->refused : &crew->doubled, session);
    if (answer == LB_LOST) {
        lb_first_note(&crew->lost, session);
        reconnect(worker);
        return false;
    }
    atomic_store_explicit(&worker->refusals,
                          atomic_load_explicit(&worker->refusals, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    uint64_t wait_ns = backoff_ns(worker, n_refusals);
    if (wait_ns > 0)
        lb_crew_wait(crew, lb_now_ns() + wait_ns, LB_PHASE_STOP);
    return lb_crew_phase(crew) < LB_PHASE_STOP;
}

static void report_ready(struct lb_worker *worker)
{
    atomic_store(&worker->ready, true);
    atomic_fetch_add(&worker->crew->n_ready, 1);
    lb_event_signal(&worker->crew->change);
}

static void report_ended(struct lb_worker *worker)
{
    atomic_store(&worker->ended, true);
    atomic_fetch_add(&worker->crew->n_ended, 1);
    lb_event_signal(&worker->crew->change);
}

void lb_worker_give_up(struct lb_worker *worker)
{
    report_ready(worker);
    report_ended(worker);
}

static int prepare(struct lb_worker *worker, struct lb_error *err)
{
    struct lb_crew *crew = worker->crew;
    const struct lb_scenario *scenario = crew->scenario;
    if (worker->role != LB_ROLE_LOCKER) {
        worker->payload = malloc(scenario->payload_bytes + 1);
        if (worker->payload == NULL)
            return lb_fail(err, LB_E_MEMORY, "out of memory for a payload of %llu bytes",
                           (unsigned long long)scenario->payload_bytes);
        memset(worker->payload, 'x', scenario->payload_bytes);
        worker->payload[scenario->payload_bytes] = '\0';
    }
    if (worker->op.log != NULL)
        lb_log_start(worker->op.log);
    name_actor(worker);
    set_pause(worker);
    if (crew->pool != NULL)
        return 0; /* a session comes with each operation */
    int rc = open_session(worker, err);
    if (rc != 0)
        return rc;
    worker->actor.session = worker->has_session ? &worker->session : NULL;
    rc = crew->plan->strategy->flow->open(&worker->actor, err);
    if (rc < 0)
        return rc;
    if (rc != LB_OK)
        return lb_fail(err, LB_E_ENV, "worker %u could not open its session: %s", worker->number,
                       lb_answer_name(rc));
    if (scenario->rows > 0 && worker->role == LB_ROLE_CONSUMER)
        return lb_chunks_open(worker, &worker->chunks, err);
    return crew->guard ? lb_guard_open(worker, &worker->guard, err) : 0;
}

void lb_worker_live(void *argument)
{
    struct lb_worker *worker = argument;
    struct lb_crew *crew = worker->crew;
    struct lb_error err = {0};
    int rc = prepare(worker, &err);
    if (rc < 0)
        lb_crew_fail(crew, &err);

    report_ready(worker);
    lb_crew_wait(crew, UINT64_MAX, LB_PHASE_WARMUP);

    if (lb_crew_phase(crew) < LB_PHASE_STOP) {
        if (worker->role == LB_ROLE_LOCKER)
            lb_worker_lock_loop(worker);
        else if (worker->role == LB_ROLE_CONSUMER)
            lb_worker_consume_loop(worker);
        else
            lb_worker_produce_loop(worker);
    }
    lb_worker_let_go(worker);
    if (rc == 0 && crew->pool == NULL)
        crew->plan->strategy->flow->close(&worker->actor);
    pthread_mutex_lock(&worker->session_lock);
    if (worker->has_session)
        lb_session_close(&worker->session);
    worker->has_session = false;
    pthread_mutex_unlock(&worker->session_lock);
    worker->n_statements = worker->session.n_statements;
    worker->n_connects = worker->session.n_connects;
    free(worker->payload);
    lb_guard_free(worker->guard);
    lb_chunks_free(worker->chunks);

    report_ended(worker);
}

static void *worker_main(void *worker)
{
    /* Sleeps end when asked, not 50 us later. */
    prctl(PR_SET_TIMERSLACK, 1);
    lb_worker_live(worker);
    return NULL;
}

int lb_worker_start(struct lb_worker *worker, struct lb_error *err)
{
    enum { STACK_BYTES = 512 * 1024 };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int error = pthread_create(&worker->thread, &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        return lb_fail(err, LB_E_ENV, "cannot start the thread of worker %u: %s: see ulimit -u",
                       worker->number, strerror(error));
    return 0;
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
