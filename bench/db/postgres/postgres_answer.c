/* What PostgreSQL's results and errors mean, and statements without parameters: see
 * postgres_conn.h.
 *
 * Source: https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
#include "append.h"
#include "memory.h"
#include "postgres_send.h"
#include "postgres_space.h"

#include <libpq-fe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lb_pg_succeeded(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* The answer for a SQLSTATE, or a negative error. where: the server's function that reported it. */
static int answer_of(const char *state, const char *where)
{
    static const struct {
        char prefix[6];
        int answer;
    } table[] = {
        {"55P03", LB_BUSY},     {"57014", LB_TIMEOUT},   {"40001", LB_CONFLICT},
        {"40P01", LB_DEADLOCK}, {"23505", LB_DUPLICATE}, {"57P0", LB_LOST},
        {"25P03", LB_LOST},     {"08", LB_LOST},         {"40", LB_OTHER},
        {"23", LB_OTHER},       {"55", LB_OTHER},        {"P0", LB_OTHER},
        {"53", LB_E_ENV},       {"58", LB_E_ENV},        {"42501", LB_E_ENV},
        {"25006", LB_E_ENV},    {"XX001", LB_E_ENV},     {"XX002", LB_E_ENV},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strncmp(state, table[i].prefix, strlen(table[i].prefix)) == 0) {
            /* One code for NOWAIT and for lock_timeout; the latter comes as an interrupt. */
            if (table[i].answer == LB_BUSY && where != NULL &&
                strcmp(where, "ProcessInterrupts") == 0)
                return LB_TIMEOUT;
            return table[i].answer;
        }
    return LB_E_SQL;
}

void lb_pg_set_error(struct lb_conn *conn, int code, struct lb_error *err)
{
    lb_fail(err, code, "%s", conn->head.message);
    memcpy(err->native, conn->head.native, sizeof err->native);
}

int lb_pg_outcome(struct lb_conn *conn, PGresult *result, struct lb_error *err)
{
    const char *state = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    /* Errors without a SQLSTATE are libpq's own: it could not talk to the server. After a failed
     * write its status still says that the connection is well. */
    bool gone = PQstatus(conn->pg) == CONNECTION_BAD ||
                (state == NULL && PQresultStatus(result) == PGRES_FATAL_ERROR);
    int r;
    if (text == NULL)
        text = result != NULL && PQresultErrorMessage(result)[0] != '\0'
                   ? PQresultErrorMessage(result)
                   : PQerrorMessage(conn->pg);
    snprintf(conn->head.message, sizeof conn->head.message, "%.*s", (int)strcspn(text, "\n"), text);
    if (state != NULL)
        r = answer_of(state, PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION));
    else if (gone)
        r = LB_LOST;
    else /* no error, but not a result of the ordinary kind either: COPY, an empty statement */
        r = LB_E_SQL;
    if (gone)
        r = LB_LOST;
    snprintf(conn->head.native, sizeof conn->head.native, "%s",
             state != NULL  ? state
             : r == LB_LOST ? "08006"
                            : "");
    if (conn->head.message[0] == '\0')
        snprintf(conn->head.message, sizeof conn->head.message,
                 "not a statement that can be executed here (%s)",
                 result != NULL ? PQresStatus(PQresultStatus(result)) : "no result");
    conn->head.lost = r == LB_LOST;
    const char *hint = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_HINT) : NULL;
    if (r == LB_E_SQL && hint != NULL)
        lb_append(conn->head.message, sizeof conn->head.message, " (%.*s)",
                  (int)strcspn(hint, "\n"), hint);
    if (r < 0)
        lb_pg_set_error(conn, r, err);
    PQclear(result);
    return r;
}

void lb_pg_drain(struct lb_conn *conn)
{
    PGnotify *notify;
    while ((notify = PQnotifies(conn->pg)) != NULL) {
        conn->notified = true;
        PQfreemem(notify);
    }
}

int lb_pg_pay_begin(struct lb_conn *conn, struct lb_error *err)
{
    if (!conn->owes_begin)
        return LB_OK;
    conn->owes_begin = false;
    return lb_pg_run(conn, "BEGIN", err);
}

int lb_pg_run(struct lb_conn *conn, const char *sql, struct lb_error *err)
{
    char *both = NULL;
    int r = lb_pg_pay_begin(conn, err);
    if (r != LB_OK)
        return r;
    if (conn->pooled && lb_pg_is_idle(conn)) {
        /* One packet is one transaction. */
        sql = both = lb_format("%s; %s", conn->settings, sql);
    }
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, PQsendQuery(conn->pg, sql));
    free(both);
    lb_pg_drain(conn);
    if (!lb_pg_succeeded(result))
        return lb_pg_outcome(conn, result, err);
    PQclear(result);
    return LB_OK;
}
