/* A connection to a standby, for reads: see postgres_replica.c. */
#ifndef LB_POSTGRES_REPLICA_H
#define LB_POSTGRES_REPLICA_H

#include "postgres_conn.h"

/* True if the connection string has several hosts. One of them may be a standby. */
bool lb_pg_names_several(PGconn *pg);
/* Until the replica has replayed what the primary has written so far. 0 or LB_E_ENV. */
int lb_pg_await_replay(struct lb_conn *replica, struct lb_conn *primary, struct lb_error *err);

#endif
