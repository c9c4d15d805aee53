/* Sessions that workers share: see pool.h. */
#include "pool.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

struct waiter {
    pthread_cond_t called;
    struct lb_pooled *given;
    struct waiter *next;
};

struct lb_pool {
    pthread_mutex_t lock;   /* protects the two lists */
    struct lb_pooled *free; /* empty while a worker waits */
    struct waiter *first;   /* waiting workers, the longest wait first */
    uint32_t n_connected;   /* sessions that were opened so far */
    struct lb_pooled pooled[];
};

/* The phase has changed: all who wait look at it. */
static void wake(void *arg)
{
    struct lb_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    for (struct waiter *waiter = pool->first; waiter != NULL; waiter = waiter->next)
        pthread_cond_signal(&waiter->called);
    pthread_mutex_unlock(&pool->lock);
}

int lb_pool_new(struct lb_team *team, uint32_t n, struct lb_pool **ret_pool, struct lb_error *err)
{
    struct lb_pool *pool = lb_calloc(1, sizeof *pool + n * sizeof pool->pooled[0]);
    pthread_mutex_init(&pool->lock, NULL);
    for (uint32_t i = 0; i < n; i++) {
        char role[32];
        snprintf(role, sizeof role, "pool %u", i);
        struct lb_conn_options options;
        lb_team_conn_options(team, team->plan, &options);
        options.role = role;
        options.seat = i;
        struct lb_pooled *pooled = &pool->pooled[i];
        int rc = lb_session_open(&pooled->session, team->db, team->space, &options, err);
        if (rc != 0) {
            lb_pool_free(pool);
            return rc;
        }
        pool->n_connected++;
        lb_runner_init(&pooled->runner, team->plan->program, &pooled->session, err);
        pooled->next = pool->free;
        pool->free = pooled;
    }
    team->on_phase_arg = pool; /* before any worker is started */
    team->on_phase = wake;
    *ret_pool = pool;
    return 0;
}

void lb_pool_close(struct lb_pool *pool, uint64_t *n_statements, uint64_t *n_connects)
{
    for (uint32_t i = 0; i < pool->n_connected; i++) {
        struct lb_pooled *pooled = &pool->pooled[i];
        *n_statements += pooled->session.n_statements;
        *n_connects += pooled->session.n_connects;
        lb_runner_release(&pooled->runner);
        lb_session_close(&pooled->session);
    }
    pool->n_connected = 0;
}

void lb_pool_free(struct lb_pool *pool)
{
    uint64_t ignored = 0;
    if (pool == NULL)
        return;
    lb_pool_close(pool, &ignored, &ignored);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static void leave_line(struct lb_pool *pool, const struct waiter *waiter)
{
    struct waiter **at = &pool->first;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

static void join_line(struct lb_pool *pool, struct waiter *waiter)
{
    struct waiter **at = &pool->first;
    while (*at != NULL)
        at = &(*at)->next;
    *at = waiter;
}

struct lb_pooled *lb_pool_take(struct lb_pool *pool, const struct lb_team *team,
                               enum lb_phase limit)
{
    pthread_mutex_lock(&pool->lock);
    struct lb_pooled *pooled = pool->free;
    if (pooled != NULL) {
        pool->free = pooled->next;
        pthread_mutex_unlock(&pool->lock);
        return pooled;
    }
    struct waiter waiter = {.called = PTHREAD_COND_INITIALIZER};
    join_line(pool, &waiter);
    /* A phase is raised before wake() takes the mutex: it is seen here, or the call is. */
    while (waiter.given == NULL && lb_team_phase(team) < limit)
        pthread_cond_wait(&waiter.called, &pool->lock);
    if (waiter.given == NULL)
        leave_line(pool, &waiter);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&waiter.called);
    return waiter.given;
}

void lb_pool_give(struct lb_pool *pool, struct lb_pooled *pooled)
{
    pthread_mutex_lock(&pool->lock);
    struct waiter *waiter = pool->first;
    if (waiter != NULL) {
        pool->first = waiter->next;
        waiter->given = pooled;
        pthread_cond_signal(&waiter->called);
    } else {
        pooled->next = pool->free;
        pool->free = pooled;
    }
    pthread_mutex_unlock(&pool->lock);
}

void lb_pool_cancel(struct lb_pool *pool)
{
    for (uint32_t i = 0; i < pool->n_connected; i++)
        lb_session_cancel(&pool->pooled[i].session);
}
