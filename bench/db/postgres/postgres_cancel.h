/* Cancelling what a session of PostgreSQL does, from another thread.
 *
 * libpq's call waits until the server has taken the request, which a hanging server never does. So
 * a thread asks; the caller waits for it for two seconds, and for less while other requests have
 * not been taken either.
 */
#ifndef LB_POSTGRES_CANCEL_H
#define LB_POSTGRES_CANCEL_H

#include <libpq-fe.h>

struct lb_pg_cancel;

/* Made at connect, so that another thread need not touch pg. NULL: the connection is lost. */
struct lb_pg_cancel *lb_pg_cancel_new(PGconn *pg);
/* A request that is under way goes on. NULL is allowed. */
void lb_pg_cancel_free(struct lb_pg_cancel *cancel);
/* Any thread, as long as it is not freed. */
void lb_pg_cancel_ask(struct lb_pg_cancel *cancel);

#endif
