/* A connection to a standby, for reads; see lb_conn_options.replica_of.
 *
 * libpq finds it: it takes the target's first host that is in recovery. The primary's commits so
 * far must be there before it is used, as the run's tables were just made on the primary: we wait
 * for the replica's replay, up to the primary's present write position. From then on its lag is not
 * bounded, which a protocol that reads there must tolerate.
 */
#include "postgres_replica.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

bool lb_pg_names_several(PGconn *pg)
{
    PQconninfoOption *options = PQconninfo(pg);
    bool several = false;
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++)
        if (strcmp(o->keyword, "host") == 0 || strcmp(o->keyword, "hostaddr") == 0)
            several = several || (o->val != NULL && strchr(o->val, ',') != NULL);
    PQconninfoFree(options);
    return several;
}

/* The one value that a query has; false: it failed. */
static bool ask_one(struct lb_conn *conn, const char *sql, char *buf, size_t size)
{
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, PQsendQuery(conn->pg, sql));
    bool is_well = lb_pg_succeeded(result) && PQntuples(result) == 1;
    snprintf(buf, size, "%s", is_well ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return is_well;
}

int lb_pg_await_replay(struct lb_conn *replica, struct lb_conn *primary, struct lb_error *err)
{
    enum { PATIENCE_S = 60, LOOK_NS = 5000000 };
    uint64_t give_up_ns = lb_now_ns() + PATIENCE_S * UINT64_C(1000000000);
    char at[40], sql[200], is_there[8] = "";
    if (!ask_one(primary, "SELECT pg_current_wal_lsn()", at, sizeof at))
        return lb_fail(err, LB_E_ENV, "cannot ask the primary where it writes: %s",
                       PQerrorMessage(primary->pg));
    snprintf(sql, sizeof sql, "SELECT pg_last_wal_replay_lsn() >= '%.30s'::pg_lsn", at);
    while (ask_one(replica, sql, is_there, sizeof is_there) && is_there[0] != 't') {
        if (lb_now_ns() >= give_up_ns)
            return lb_fail(err, LB_E_ENV, "the replica %s has not replayed %s of %s within %d s",
                           PQhost(replica->pg), at, PQhost(primary->pg), PATIENCE_S);
        lb_carrier_sleep(lb_now_ns() + LOOK_NS);
    }
    if (is_there[0] == 't')
        return 0;
    return lb_fail(err, LB_E_ENV, "cannot ask the replica how far it is: %s",
                   PQerrorMessage(replica->pg));
}
