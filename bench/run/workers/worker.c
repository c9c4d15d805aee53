/* One worker: its session, its life from ready to ended, and the reaction to a refusal. The work
 * itself is in worker_lock.c and worker_queue.c.
 */
#include "worker.h"

#include "chunks.h"
#include "guard.h"
#include "memory.h"
#include "starved.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void report_ready(struct lb_worker *worker)
{
    atomic_store(&worker->ready, true);
    lb_common_count(&worker->team->common, LB_READY);
}

static void report_ended(struct lb_worker *worker)
{
    atomic_store(&worker->ended, true);
    lb_common_count(&worker->team->common, LB_ENDED);
}

void lb_worker_give_up(struct lb_worker *worker)
{
    report_ready(worker);
    report_ended(worker);
}

char *lb_worker_payload(uint64_t n_bytes)
{
    char *payload = lb_malloc(n_bytes + 1);
    memset(payload, 'x', n_bytes);
    payload[n_bytes] = '\0';
    return payload;
}

static int prepare(struct lb_worker *worker, struct lb_error *err)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    if (worker->role != LB_ROLE_LOCKER)
        worker->payload = lb_worker_payload(scenario->payload_bytes);
    if (worker->op.log != NULL)
        lb_log_start(worker->op.log);
    lb_worker_name(worker);
    lb_worker_set_pause(worker);
    if (team->pool != NULL)
        return 0; /* a session comes with each operation */
    int rc = lb_worker_open_session(worker, err);
    if (rc != 0)
        return rc;
    worker->actor.session = worker->has_session ? &worker->session : NULL;
    rc = team->plan->strategy->flow->open(&worker->actor, err);
    if (rc < 0)
        return rc;
    /* The successor of a dead worker is not needed any more: the run has ended meanwhile. */
    if (rc == LB_LOST && atomic_load(&worker->actor.is_cancelled))
        return 0;
    if (rc != LB_OK)
        return lb_fail(err, LB_E_ENV, "worker %u could not open its session: %s", worker->number,
                       lb_answer_name(rc));
    if (scenario->rows > 0 && worker->role == LB_ROLE_CONSUMER)
        worker->chunks = lb_chunks_new(team->db);
    else if (team->guard)
        worker->guard = lb_guard_new(team->db);
    return 0;
}

void lb_worker_live(void *argument)
{
    struct lb_worker *worker = argument;
    struct lb_team *team = worker->team;
    struct lb_error err = {0};
    lb_worker_look_at(worker, lb_now_ns()); /* the run waits for successors of dead workers */
    int rc = prepare(worker, &err);
    if (rc < 0)
        lb_team_fail(team, &err);
    lb_worker_look_at(worker, lb_now_ns());

    report_ready(worker);
    lb_team_wait(team, UINT64_MAX, LB_PHASE_WARMUP);

    if (lb_team_phase(team) < LB_PHASE_STOP) {
        if (worker->role == LB_ROLE_LOCKER)
            lb_worker_lock_loop(worker);
        else if (worker->role == LB_ROLE_CONSUMER)
            lb_worker_consume_loop(worker);
        else
            lb_worker_produce_loop(worker);
    }
    lb_worker_let_go(worker);
    if (rc == 0 && team->pool == NULL)
        team->plan->strategy->flow->close(&worker->actor);
    pthread_mutex_lock(&worker->session_lock);
    if (worker->has_session)
        lb_session_close(&worker->session);
    worker->has_session = false;
    pthread_mutex_unlock(&worker->session_lock);
    worker->n_statements = worker->session.n_statements;
    worker->n_connects = worker->session.n_connects;
    free(worker->payload);
    free(worker->guard);
    free(worker->chunks);

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
