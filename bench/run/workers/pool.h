/* A pool: workers share fewer sessions than they are.
 *
 * A worker takes a session for one operation and gives it back when that is answered. A session
 * that a hold lives in stays with its worker until the hold ends: while a transaction of the
 * claim's or the acquire's is open, and where the protocol says `session=keep` (an advisory lock).
 * So a holder never waits for a session to let go with, however many wait for one to ask with.
 *
 * First come, first served: a returned session goes to the worker that has waited the longest. It
 * stays as it is, except that an open transaction is rolled back: other remains of a protocol (an
 * advisory lock) pass to the next worker. A session with a lost connection is thrown away: its
 * place stays, and the next worker that takes it connects.
 *
 * Threads of one process only: connections do not survive a fork.
 */
#ifndef LB_POOL_H
#define LB_POOL_H

#include "team.h"

struct lb_pool;

/* A place in the pool. Prepared statements belong to its session. */
struct lb_pooled {
    struct lb_session session; /* conn NULL: lost, its next user connects */
    struct lb_runner runner;
    struct lb_pooled *next; /* of those that are free */
};

/* Opens n sessions, each prepared to run the team's program, and listens to the team's phases. Free
 * with lb_pool_free. */
int lb_pool_new(struct lb_team *team, uint32_t n, struct lb_pool **ret_pool, struct lb_error *err);
/* Ends the sessions, once no worker has one; adds what they did to the counters. */
void lb_pool_close(struct lb_pool *pool, uint64_t *n_statements, uint64_t *n_connects);
/* Ends open sessions too. Accepts NULL. */
void lb_pool_free(struct lb_pool *pool);

/* Waits for a session; NULL: the phase has reached limit. */
struct lb_pooled *lb_pool_take(struct lb_pool *pool, const struct lb_team *team,
                               enum lb_phase limit);
void lb_pool_give(struct lb_pool *pool, struct lb_pooled *pooled);

/* Interrupts whatever the sessions are executing. */
void lb_pool_cancel(struct lb_pool *pool);

/* A worker's side of it, called by its operator; arg is the worker: lend.c. */
extern const struct lb_lender lb_pool_lender;

#endif
