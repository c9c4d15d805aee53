/* Cancelling what a session does: see postgres_cancel.h.
 * Source: https://www.postgresql.org/docs/15/libpq-cancel.html; it has no time-out, and a form that
 * does not block is there from version 17 only.
 */
#include "postgres_cancel.h"

#include "clock.h"
#include "memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define PATIENCE_NS        UINT64_C(2000000000)
#define LITTLE_PATIENCE_NS UINT64_C(50000000)

struct lb_pg_cancel {
    PGcancel *request;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t change;
    bool is_asking; /* a thread waits for the server to take the request */
    bool is_freed;  /* by its owner; the thread frees it */
};

/* Requests that the server has not taken yet, of all sessions. */
static _Atomic unsigned n_unanswered;

struct lb_pg_cancel *lb_pg_cancel_new(PGconn *pg)
{
    PGcancel *request = PQgetCancel(pg);
    if (request == NULL)
        return NULL;
    struct lb_pg_cancel *cancel = lb_calloc(1, sizeof *cancel);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&cancel->lock, NULL);
    pthread_cond_init(&cancel->change, &attr);
    pthread_condattr_destroy(&attr);
    cancel->request = request;
    return cancel;
}

static void destroy(struct lb_pg_cancel *cancel)
{
    PQfreeCancel(cancel->request);
    pthread_cond_destroy(&cancel->change);
    pthread_mutex_destroy(&cancel->lock);
    free(cancel);
}

void lb_pg_cancel_free(struct lb_pg_cancel *cancel)
{
    if (cancel == NULL)
        return;
    pthread_mutex_lock(&cancel->lock);
    bool is_asking = cancel->is_asking;
    cancel->is_freed = true;
    pthread_mutex_unlock(&cancel->lock);
    if (!is_asking)
        destroy(cancel);
}

static void *ask(void *arg)
{
    struct lb_pg_cancel *cancel = arg;
    char ignored[256];
    PQcancel(cancel->request, ignored, sizeof ignored);
    atomic_fetch_sub(&n_unanswered, 1);
    pthread_mutex_lock(&cancel->lock);
    cancel->is_asking = false;
    bool is_freed = cancel->is_freed;
    pthread_cond_signal(&cancel->change);
    pthread_mutex_unlock(&cancel->lock);
    if (is_freed)
        destroy(cancel);
    return NULL;
}

/* With the lock held. */
static bool start(struct lb_pg_cancel *cancel)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the thread that waits for the user */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    cancel->is_asking = pthread_create(&thread, NULL, ask, cancel) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (cancel->is_asking)
        pthread_detach(thread);
    return cancel->is_asking;
}

void lb_pg_cancel_ask(struct lb_pg_cancel *cancel)
{
    bool others = atomic_fetch_add(&n_unanswered, 1) > 0;
    uint64_t end_ns = lb_now_ns() + (others ? LITTLE_PATIENCE_NS : PATIENCE_NS);
    struct timespec until = {.tv_sec = (time_t)(end_ns / 1000000000),
                             .tv_nsec = (long)(end_ns % 1000000000)};
    pthread_mutex_lock(&cancel->lock);
    if (cancel->is_asking || !start(cancel))
        atomic_fetch_sub(&n_unanswered,
                         1); /* the previous request is still open, or no thread could start */
    while (cancel->is_asking && pthread_cond_timedwait(&cancel->change, &cancel->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&cancel->lock);
}
