/* Processes that register, beat and sign off: see beater.h. */
#include "beater.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lb_beater {
    struct lb_team *team;
    struct lb_worker *workers;
    uint32_t first, step, n;
    struct lb_session session;
    pthread_mutex_t session_lock; /* its connection may be replaced, or cancelled: one at a time */
    bool has_session;
    struct lb_actor actor;
    struct lb_operator op;
    struct lb_log log;
    struct lb_counts counts[LB_MEASURES];
    struct lb_waitable ask; /* is_asked, and the end of a wait for it */
    atomic_bool is_asked, has_ended;
    pthread_t thread;
};

/* --- a consumer's own part --- */

/* Until it is done; the worker is alone with it. */
static bool insist(struct lb_worker *worker, int (*operate)(struct lb_worker *worker))
{
    unsigned n_refusals = 0;
    while (lb_team_phase(worker->team) < LB_PHASE_STOP) {
        worker->op.continued = false;
        int answer = operate(worker);
        if (answer == LB_OK || answer == LB_REFUSED)
            return answer == LB_OK;
        lb_worker_refused(worker, answer, ++n_refusals, &worker->err);
        if (answer < 0)
            return false;
    }
    return false;
}

static int sweep(struct lb_worker *worker)
{
    lb_team_new_epoch(worker->team);
    int answer = lb_operate_sweep(&worker->op, &worker->err);
    lb_team_new_epoch(worker->team); /* consumers may have got "empty" before it freed items */
    return answer;
}

static int enroll(struct lb_worker *worker)
{
    return lb_operate_beat(&worker->op, true, worker->number, &worker->err);
}

static int beat_first(struct lb_worker *worker)
{
    return lb_operate_beat(&worker->op, false, worker->number, &worker->err);
}

static int sign_off(struct lb_worker *worker)
{
    return lb_operate_sign_off(&worker->op, worker->number, &worker->err);
}

/* Without a section register, the sign of life may be in the rows of the claimed items. */
void lb_process_has_items(struct lb_worker *worker, bool has)
{
    const struct lb_strategy_plan *plan = worker->team->plan;
    if (plan->program == NULL || !lb_strategy_has(plan, LB_S_HEARTBEAT) ||
        lb_strategy_has(plan, LB_S_REGISTER))
        return;
    atomic_store(&worker->heard_ns, has ? worker->op.start_ns : 0);
}

void lb_process_begin(struct lb_worker *worker)
{
    const struct lb_strategy_plan *plan = worker->team->plan;
    struct lb_actor *actor = &worker->actor;
    /* A process that comes after a dead one has a name of its own, on the same host. */
    snprintf(actor->process, sizeof actor->process, "p%u", worker->number);
    snprintf(actor->host, sizeof actor->host, "h%u", worker->team->first_worker + worker->seat / 2);
    if (plan->program == NULL)
        return;
    if (lb_strategy_has(plan, LB_S_SWEEP))
        insist(worker, sweep);
    atomic_store(&worker->heard_ns, 0);
    if (lb_strategy_has(plan, LB_S_REGISTER) && insist(worker, enroll))
        atomic_store(&worker->heard_ns, worker->op.start_ns);
    if (!lb_strategy_has(plan, LB_S_REGISTER) && lb_strategy_has(plan, LB_S_HEARTBEAT))
        insist(worker, beat_first);
    atomic_store(&worker->beats, true);
}

void lb_process_end(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    if (team->plan->program == NULL || !atomic_exchange(&worker->beats, false) ||
        !lb_strategy_has(team->plan, LB_S_UNREGISTER))
        return;
    unsigned n_refusals = 0;
    int answer;
    while ((answer = sign_off(worker)) != LB_OK && answer != LB_REFUSED && answer != LB_LOST &&
           lb_team_phase(team) < LB_PHASE_ABORT && n_refusals < 100)
        lb_worker_refused(worker, answer, ++n_refusals, &worker->err);
}

/* --- beating for all of them --- */

static uint64_t interval_ns(const struct lb_team *team)
{
    enum { OFTEN = 4, LEAST_NS = 1000000 };
    uint64_t ns = team->scenario->renew_ns > 0 ? team->scenario->renew_ns
                                               : team->plan->limit_ms * UINT64_C(1000000) / OFTEN;
    return ns > LEAST_NS ? ns : LEAST_NS;
}

static int open_session(struct lb_beater *beater, struct lb_error *err)
{
    struct lb_conn_options options;
    lb_team_conn_options(beater->team, beater->team->plan, &options);
    options.role = "heartbeat";
    pthread_mutex_lock(&beater->session_lock);
    int rc = beater->has_session ? lb_session_reconnect(&beater->session, err)
                                 : lb_session_open(&beater->session, beater->team->db,
                                                   beater->team->space, &options, err);
    beater->has_session = beater->has_session || rc == 0;
    pthread_mutex_unlock(&beater->session_lock);
    if (rc == 0)
        rc = beater->team->plan->strategy->flow->open(&beater->actor, err);
    return rc;
}

/* True if the worker's process still beats. */
static bool is_alive(const struct lb_worker *worker)
{
    return worker->role == LB_ROLE_CONSUMER && atomic_load(&worker->beats) &&
           !atomic_load(&worker->is_still);
}

/* A process with a beat in time is registered, even after a recovery: if its beats then find no row
 * again and again, they protect no process. */
static void note_beat(struct lb_beater *beater, struct lb_worker *worker, uint64_t heard_ns,
                      int answer)
{
    struct lb_team *team = beater->team;
    uint64_t until_ns = heard_ns + team->plan->limit_ms * UINT64_C(1000000);
    bool registers = lb_strategy_has(team->plan, LB_S_REGISTER);
    bool is_known = heard_ns > 0 && beater->op.end_ns < until_ns && is_alive(worker) &&
                    atomic_load(&worker->heard_ns) == heard_ns;
    if (is_known && (answer == LB_OK || answer == LB_REFUSED))
        atomic_fetch_add(&team->n_beats, 1);
    if (answer == LB_OK)
        atomic_fetch_add(&team->n_beats_found, 1);
    if (answer == LB_OK && registers)
        atomic_store(&worker->heard_ns, beater->op.start_ns);
}

/* Nobody knows of a process that was taken for dead: it registers again. */
static void beat_for(struct lb_beater *beater, struct lb_worker *worker)
{
    struct lb_error err = {0};
    memcpy(beater->actor.process, worker->actor.process, sizeof beater->actor.process);
    memcpy(beater->actor.host, worker->actor.host, sizeof beater->actor.host);
    uint64_t heard_ns = atomic_load(&worker->heard_ns);
    int answer = lb_operate_beat(&beater->op, false, worker->number, &err);
    note_beat(beater, worker, heard_ns, answer);
    if (answer == LB_REFUSED && is_alive(worker) &&
        lb_strategy_has(beater->team->plan, LB_S_REGISTER)) {
        answer = lb_operate_beat(&beater->op, true, worker->number, &err);
        atomic_store(&worker->heard_ns, answer == LB_OK ? beater->op.start_ns : 0);
    }
    if (answer == LB_LOST && !atomic_load(&beater->is_asked))
        answer = open_session(beater, &err); /* if it fails, the next beat does */
    if (answer < 0 && err.code != LB_E_ENV && !atomic_load(&beater->is_asked))
        lb_team_fail(beater->team, &err);
}

static void *beater_main(void *arg)
{
    struct lb_beater *beater = arg;
    while (!atomic_load(&beater->is_asked)) {
        uint64_t due_ns = lb_now_ns() + interval_ns(beater->team);
        for (uint32_t i = beater->first; i < beater->n && !atomic_load(&beater->is_asked);
             i += beater->step)
            if (is_alive(&beater->workers[i]))
                beat_for(beater, &beater->workers[i]);
        uint32_t seen = lb_event_seen(&beater->ask);
        if (!atomic_load(&beater->is_asked))
            lb_event_wait(&beater->ask, seen, due_ns);
    }
    atomic_store(&beater->has_ended, true);
    return NULL;
}

int lb_beater_start(struct lb_worker *workers, uint32_t first, uint32_t step, uint32_t n,
                    uint32_t log, struct lb_beater **ret_beater, struct lb_error *err)
{
    struct lb_team *team = workers[0].team;
    *ret_beater = NULL;
    if (team->plan->program == NULL || !lb_strategy_has(team->plan, LB_S_HEARTBEAT))
        return 0;
    struct lb_beater *beater = lb_calloc(1, sizeof *beater);
    *beater =
        (struct lb_beater){.team = team, .workers = workers, .first = first, .step = step, .n = n};
    pthread_mutex_init(&beater->session_lock, NULL);
    if (team->history != NULL)
        lb_log_init(&beater->log, team->history, log);
    beater->actor = (struct lb_actor){
        .plan = team->plan, .session = &beater->session, .name = "heartbeat", .number = log};
    beater->op = (struct lb_operator){.actor = &beater->actor,
                                      .log = team->history != NULL ? &beater->log : NULL,
                                      .process = log,
                                      .n_processes = workers[0].op.n_processes,
                                      .counts = beater->counts};
    int rc = open_session(beater, err);
    if (rc > LB_OK)
        rc = lb_fail(err, LB_E_ENV, "the session of the heartbeats: %s", lb_answer_name(rc));
    if (rc == 0 && pthread_create(&beater->thread, NULL, beater_main, beater) != 0)
        rc = lb_fail(err, LB_E_ENV, "cannot start the thread of the heartbeats: see ulimit -u");
    if (rc == 0) {
        *ret_beater = beater;
        return 0;
    }
    if (beater->has_session)
        lb_session_close(&beater->session);
    free(beater);
    return rc;
}

void lb_beater_end(struct lb_beater *beater)
{
    if (beater == NULL)
        return;
    atomic_store(&beater->is_asked, true);
    lb_event_signal(&beater->ask);
    /* It may wait for a row that a worker's session left locked, or for a server that is gone. */
    for (unsigned waits = 1; !atomic_load(&beater->has_ended); waits++) {
        pthread_mutex_lock(&beater->session_lock);
        if (beater->has_session && waits % 32 == 0)
            lb_session_cancel(&beater->session);
        pthread_mutex_unlock(&beater->session_lock);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    pthread_join(beater->thread, NULL);
    beater->team->plan->strategy->flow->close(&beater->actor);
    lb_session_close(&beater->session);
    pthread_mutex_destroy(&beater->session_lock);
    free(beater);
}
