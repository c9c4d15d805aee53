/* Items that are put before the start, a thousand a statement.
 *
 * The server does the work of it, and one session keeps one of its processors busy. A large backlog
 * is put by several sessions, each of which takes the next few thousand ids: the items are the
 * same, and only the order in which they are put is not. So one session does it alone where the
 * order is promised (fifo), and where a put that fails may be half done. Several put more with each
 * statement, since each commit waits for the server's disk. One that puts alone does not: items of
 * one statement have no order among them that could be judged.
 *
 * Sessions that put at the same time may refuse each other. A session that is refused puts no more;
 * the control session alone puts the rest at the end, where a refusal counts.
 */
#include "run_parts.h"

#include "control.h"
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PUTS = 1000,         /* items of a statement, where one session puts all */
    PUTS_OF_MANY = 5000, /* where several do */
    LEAST_EACH = 10000   /* a session that puts less is not worth its connection */
};

/* What all of them share. */
struct crowd {
    struct lb_active_run *run;
    const char *payload;
    int64_t first;
    uint64_t n, each;      /* items, and those of a statement */
    _Atomic uint64_t next; /* of the n: after the items taken so far */
    atomic_bool is_over;   /* one of them cannot go on */
};

/* One session, with its task when it stopped. */
struct putter {
    struct crowd *crowd;
    struct lb_operator *op;
    uint64_t at, n_left; /* taken, and not put */
    int answer;          /* LB_OK: it found nothing more to take; or an error */
    struct lb_error err;
};

/* A putter beside the control session. */
struct helper {
    struct putter putter;
    struct lb_session session;
    struct lb_actor actor;
    struct lb_operator op;
    struct lb_counts counts[LB_MEASURES];
    pthread_t thread;
    bool has_session, has_actor, has_thread;
};

static int put_some(struct crowd *crowd, struct lb_operator *op, uint64_t at, uint64_t n,
                    struct lb_error *err)
{
    const uint64_t each = lb_strategy_refuses(op->actor->plan, LB_DUPLICATE) ? 1 : n;
    int answer = LB_OK;
    for (uint64_t done = 0; done < n && answer == LB_OK; done += each) {
        answer = lb_operate_put(op, crowd->first + (int64_t)(at + done), (uint32_t)each,
                                crowd->payload, err);
        answer = lb_strategy_refuses(op->actor->plan, answer) ? LB_OK : answer;
    }
    if (answer >= 0 && lb_control_interrupted(crowd->run))
        answer = lb_fail(err, LB_E_INTERRUPTED, "interrupted during set-up");
    return answer;
}

/* Takes and puts until nothing is left, or it cannot go on. */
static void put_all(struct putter *putter)
{
    struct crowd *crowd = putter->crowd;
    while (putter->answer == LB_OK && !atomic_load(&crowd->is_over)) {
        uint64_t at = atomic_fetch_add(&crowd->next, crowd->each);
        if (at >= crowd->n)
            return;
        putter->at = at;
        putter->n_left = crowd->n - at < crowd->each ? crowd->n - at : crowd->each;
        putter->answer = put_some(crowd, putter->op, at, putter->n_left, &putter->err);
        if (putter->answer == LB_OK)
            putter->n_left = 0;
    }
    if (putter->answer < 0 || putter->answer == LB_LOST)
        atomic_store(&crowd->is_over, true);
}

static void *helper_main(void *helper)
{
    put_all(&((struct helper *)helper)->putter);
    return NULL;
}

/* Puts the remaining items, by the control session alone. */
static int put_rest(struct crowd *crowd, struct putter *own, struct helper *helpers, uint32_t n,
                    struct lb_error *err)
{
    int answer = LB_OK;
    for (uint32_t i = 0; i <= n && answer == LB_OK; i++) {
        const struct putter *putter = i == 0 ? own : &helpers[i - 1].putter;
        if (putter->n_left > 0)
            answer = put_some(crowd, own->op, putter->at, putter->n_left, err);
    }
    const uint64_t each = crowd->each;
    for (uint64_t at; answer == LB_OK && (at = atomic_fetch_add(&crowd->next, each)) < crowd->n;)
        answer = put_some(crowd, own->op, at, crowd->n - at < each ? crowd->n - at : each, err);
    return answer;
}

/* How many sessions beside the control session are worth it. */
static uint32_t helpers_wanted(const struct lb_active_run *run, uint64_t n)
{
    const struct lb_program *program = run->program;
    if (program == NULL || program->puts_one || !run->has_control)
        return 0;
    const struct lb_section *put = &program->sections[LB_S_PUT];
    bool is_atomic = put->n_statements == 1 || put->tx == LB_TX_ONE;
    bool is_ordered = (run->request->strategy->claims & LB_G_BIT(LB_G_FIFO)) != 0;
    if (!is_atomic || is_ordered ||
        (run->team->db->caps(run->control.conn) & LB_CAP_MULTI_WRITER) == 0)
        return 0;
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t most[] = {n_cores > 1 ? (uint64_t)n_cores : 1, n / LEAST_EACH, LB_PUT_LOGS + 1,
                             run->share.n_sessions + 1 /* there is room for the workers' */};
    uint64_t n_putters = most[0];
    for (size_t i = 1; i < sizeof most / sizeof most[0]; i++)
        n_putters = most[i] < n_putters ? most[i] : n_putters;
    return n_putters > 1 ? (uint32_t)n_putters - 1 : 0;
}

static int open_helper(struct crowd *crowd, struct helper *helper, uint32_t number,
                       const struct lb_operator *own, struct lb_error *err)
{
    struct lb_active_run *run = crowd->run;
    struct lb_log *log = run->history != NULL ? &run->put_logs[number] : NULL;
    const uint32_t process = run->share.first_log + LB_FIRST_PUT_LOG + number;
    const struct lb_conn_options options = {.role = "backlog"};
    int rc = lb_session_open(&helper->session, run->team->db, run->space, &options, err);
    if (rc != 0)
        return rc;
    helper->has_session = true;
    helper->actor = (struct lb_actor){.plan = lb_run_first_plan(run),
                                      .session = &helper->session,
                                      .name = "setup",
                                      .number = process,
                                      .task_class = own->actor->task_class};
    rc = run->plan.strategy->flow->open(&helper->actor, err);
    if (rc != LB_OK)
        return rc;
    helper->has_actor = true;
    if (log != NULL && log->history == NULL) /* else there were items to put before */
        lb_log_init(log, run->history, process);
    helper->op = (struct lb_operator){.actor = &helper->actor,
                                      .log = log,
                                      .process = process,
                                      .n_processes = own->n_processes,
                                      .counts = helper->counts};
    helper->putter = (struct putter){.crowd = crowd, .op = &helper->op};
    if (pthread_create(&helper->thread, NULL, helper_main, helper) != 0)
        return lb_fail(err, LB_E_ENV, "cannot start a thread that puts the backlog");
    helper->has_thread = true;
    return LB_OK;
}

static void close_helper(struct helper *helper)
{
    if (helper->has_actor)
        helper->actor.plan->strategy->flow->close(&helper->actor);
    if (helper->has_session)
        lb_session_close(&helper->session);
}

/* What kept the first of them from going on; LB_OK: nothing. */
static int reason_of(const struct putter *own, struct helper *helpers, uint32_t n,
                     struct lb_error *err)
{
    for (uint32_t i = 0; i <= n; i++) {
        const struct putter *putter = i == 0 ? own : &helpers[i - 1].putter;
        if (putter->answer >= 0 && putter->answer != LB_LOST)
            continue;
        if (putter->answer == LB_LOST)
            return lb_fail(err, LB_E_ENV, "the backlog could not be put: %s %s",
                           lb_answer_name(LB_LOST), putter->op->actor->session->message);
        *err = putter->err;
        return putter->answer;
    }
    return LB_OK;
}

int lb_putters_put(struct lb_active_run *run, struct lb_operator *op, int64_t first, uint64_t n,
                   const char *payload, struct lb_error *err)
{
    struct crowd crowd = {.run = run, .payload = payload, .first = first, .n = n};
    struct putter own = {.crowd = &crowd, .op = op};
    uint32_t n_helpers = helpers_wanted(run, n);
    struct helper *helpers = lb_calloc(n_helpers, sizeof *helpers);
    int rc = LB_OK;
    crowd.each = n_helpers > 0 ? PUTS_OF_MANY : PUTS;
    for (uint32_t i = 0; i < n_helpers && rc == LB_OK; i++)
        rc = open_helper(&crowd, &helpers[i], i, op, err);
    if (rc != LB_OK)
        atomic_store(&crowd.is_over, true);
    else if (n_helpers > 0)
        put_all(&own);
    for (uint32_t i = 0; i < n_helpers; i++)
        if (helpers[i].has_thread)
            pthread_join(helpers[i].thread, NULL);
    if (rc == LB_OK)
        rc = reason_of(&own, helpers, n_helpers, err);
    if (rc == LB_OK)
        rc = put_rest(&crowd, &own, helpers, n_helpers, err);
    for (uint32_t i = 0; i < n_helpers; i++)
        close_helper(&helpers[i]);
    free(helpers);
    return rc;
}
