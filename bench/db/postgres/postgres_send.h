/* Sending statements to PostgreSQL, and taking their results.
 *
 * In a pipeline each statement has a sync behind it, and is so a transaction of its own: the
 * outcome of one does not affect the next, which the server begins when the one before has been
 * committed or rolled back.
 */
#ifndef LB_POSTGRES_SEND_H
#define LB_POSTGRES_SEND_H

#include "postgres_conn.h"

/* Parameters as libpq wants them. */
struct lb_pg_bound {
    const char *values[MAX_PARAMS];
    int lengths[MAX_PARAMS];
    int formats[MAX_PARAMS];
    uint64_t binary[MAX_PARAMS];
};

/* Only the first n_params entries are filled. They borrow from the connection until the next call.
 */
void lb_pg_bind(struct lb_conn *conn, const struct lb_stmt *stmt, const struct lb_value *params,
                struct lb_pg_bound *bound);

/* Sends a statement; false: that failed. */
bool lb_pg_send(struct lb_conn *conn, const struct lb_stmt *stmt, const struct lb_pg_bound *bound);
/* Sends it, with the BEGIN that is owed, and waits for its result; NULL: it could not be sent. */
PGresult *lb_pg_request(struct lb_conn *conn, const struct lb_stmt *stmt,
                        const struct lb_pg_bound *bound);

/* Outside of a transaction: sends a statement whose result is not waited for yet. false: that
 * failed, and the connection is of no use any more. */
bool lb_pg_send_piped(struct lb_conn *conn, const struct lb_stmt *stmt,
                      const struct lb_pg_bound *bound);
/* The result of the first of these that has not been received; NULL: the connection was lost. */
PGresult *lb_pg_receive_piped(struct lb_conn *conn);

static inline bool lb_pg_is_idle(const struct lb_conn *conn)
{
    return PQtransactionStatus(conn->pg) == PQTRANS_IDLE;
}

#endif
