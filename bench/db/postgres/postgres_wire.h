/* Connecting and waiting for answers, in a thread of one's own or in a fiber of a carrier.
 *
 * In a thread libpq waits. In a fiber we wait for the socket through the carrier, and libpq reads
 * only data that has arrived: a call of libpq that waited would stop all fibers of the carrier.
 * Requests are small and sent at once, to a backend that reads. Each wait for an answer is on the
 * leash (leash.h).
 */
#ifndef LB_POSTGRES_WIRE_H
#define LB_POSTGRES_WIRE_H

#include "carrier.h"

#include <libpq-fe.h>

/* As PQconnectdbParams, within timeout_s (0: no bound), and cut short when the program is to end.
 * has_hosts: several hosts, each of which has its time, if this is no fiber. */
PGconn *lb_pg_wire_connect(const char *const *keys, const char *const *values, bool has_hosts,
                           unsigned timeout_s);

/* As PQgetResult. watch: of the connection's socket; NULL: it is rarely waited for. */
PGresult *lb_pg_wire_next(PGconn *pg, struct lb_watch *watch);

/* As PQexec. */
PGresult *lb_pg_wire_exec(PGconn *pg, const char *sql);

/* The end of PQexec and its kin, after a PQsend... that returned sent: waits for all results and
 * returns the last; NULL if it could not be sent. */
PGresult *lb_pg_wire_answer(PGconn *pg, struct lb_watch *watch, int sent);

/* Until there may be more to read than the last PQconsumeInput took; false: deadline_ns passed. */
bool lb_pg_wire_wait(PGconn *pg, struct lb_watch *watch, uint64_t deadline_ns);

#endif
