/* A control that must pass: one pthread mutex per resource, no database.
 *
 * The floor for latencies, and a known-good subject for the judge. Where workers are forked, the
 * mutexes lie in memory that they share, and are robust: of a holder that was killed the next one
 * inherits. That costs twice the instructions; a thread does not die alone.
 */
#include "shared.h"
#include "strategy.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* One cache line each: resources do not slow each other down. */
struct padded_mutex {
    pthread_mutex_t mutex;
    char padding[128 - sizeof(pthread_mutex_t)];
};

static int setup(struct lb_strategy_plan *plan, struct lb_session *session, struct lb_error *err)
{
    (void)session;
    struct padded_mutex *mutexes = lb_shared_new(plan->n_resources * sizeof *mutexes);
    pthread_mutexattr_t attributes;
    if (mutexes == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %u mutexes", plan->n_resources);
    pthread_mutexattr_init(&attributes);
    if (plan->is_forked) {
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    }
    for (uint32_t i = 0; i < plan->n_resources; i++)
        pthread_mutex_init(&mutexes[i].mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    plan->shared = mutexes;
    return LB_OK;
}

static int teardown(struct lb_strategy_plan *plan, struct lb_session *session, struct lb_error *err)
{
    (void)session;
    (void)err;
    /* Not destroyed: a killed worker may have left one locked, and nothing is behind them. */
    lb_shared_free(plan->shared, plan->n_resources * sizeof(struct padded_mutex));
    plan->shared = NULL;
    return LB_OK;
}

static int lock(struct lb_actor *actor, enum lb_section_name section,
                const struct lb_request *request, struct lb_grant *grant, struct lb_error *err)
{
    struct padded_mutex *mutexes = actor->plan->shared;
    pthread_mutex_t *mutex = &mutexes[request->resource].mutex;
    bool releases = section == LB_S_RELEASE;
    int r = releases ? pthread_mutex_unlock(mutex) : pthread_mutex_lock(mutex);
    if (r == EOWNERDEAD)
        r = pthread_mutex_consistent(mutex);
    if (r != 0)
        return lb_fail(err, LB_E_INTERNAL, "pthread_mutex_%slock: %s", releases ? "un" : "",
                       strerror(r));
    grant->has_token = grant->has_ticket = false;
    grant->effective = releases;
    return LB_OK;
}

static const struct lb_flow flow = {
    .setup = setup,
    .open = lb_open_nothing,
    .lock = lock,
    .close = lb_close_nothing,
    .teardown = teardown,
};

const struct lb_strategy lb_strategy_pthread_mutex = {
    .name = "pthread-mutex",
    .summary = "control: a pthread mutex, right and without a database",
    .origin = "POSIX",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .no_database = true,
    .claims = LB_CLAIMS_SESSION_LOCK,
    .twin = "none",
    .flow = &flow,
};
