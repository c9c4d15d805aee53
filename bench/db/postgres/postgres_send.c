/* Sending statements to PostgreSQL: parameters, settings sent with a statement behind a pooler, and
 * pipelines. See postgres_send.h.
 *
 * Source: https://www.postgresql.org/docs/current/libpq-pipeline-mode.html.
 */
#include "postgres_send.h"

#include "memory.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve_text(struct lb_conn *conn, size_t n, const struct lb_value *params)
{
    size_t need = 0;
    for (size_t i = 0; i < n; i++)
        need += params[i].type == LB_TEXT ? params[i].length + 1u : NUMBER_SIZE;
    if (need <= conn->text_size)
        return;
    conn->text_size = need * 2;
    conn->text = lb_realloc(conn->text, conn->text_size, 1);
}

void lb_pg_bind(struct lb_conn *conn, const struct lb_stmt *stmt, const struct lb_value *params,
                struct lb_pg_bound *bound)
{
    reserve_text(conn, stmt->n_params, params);
    char *text = conn->text;
    for (size_t i = 0; i < stmt->n_params; i++) {
        const struct lb_value *v = &params[i];
        uint64_t bits = 0;
        bound->lengths[i] = 8;
        bound->formats[i] = 0;
        bound->values[i] = text;
        if (v->type == LB_NULL) {
            bound->values[i] = NULL;
        } else if (v->type == LB_TEXT) {
            memcpy(text, v->text, v->length);
            text[v->length] = '\0';
            text += v->length + 1u;
        } else if (v->type == LB_INT ? stmt->types[i] == OID_INT8 : stmt->types[i] == OID_FLOAT8) {
            memcpy(&bits, v->type == LB_INT ? (const void *)&v->integer : &v->real, sizeof bits);
            bound->binary[i] = htobe64(bits);
            bound->values[i] = (const char *)&bound->binary[i];
            bound->formats[i] = 1;
        } else if (v->type == LB_INT) { /* of another type than when it was prepared */
            text += snprintf(text, NUMBER_SIZE, "%lld", (long long)v->integer) + 1;
        } else {
            text += snprintf(text, NUMBER_SIZE, "%.17g", v->real) + 1;
        }
    }
}

/* What a transaction behind a pooler starts with. No SET LOCAL: the server would log a warning for
 * each, as a pipeline is no transaction block. */
static bool send_settings(struct lb_conn *conn)
{
    char settings[sizeof conn->settings], *rest = settings, *one;
    bool sent = true;
    snprintf(settings, sizeof settings, "%s", conn->settings);
    while (sent && (one = strsep(&rest, ";")) != NULL)
        sent = PQsendQueryParams(conn->pg, one, 0, NULL, NULL, NULL, NULL, 0) == 1;
    return sent;
}

static bool send_unprepared(struct lb_conn *conn, const struct lb_stmt *stmt,
                            const struct lb_pg_bound *bound)
{
    return PQsendQueryParams(conn->pg, stmt->sql, (int)stmt->n_params, stmt->types, bound->values,
                             bound->lengths, bound->formats, 0) == 1;
}

/* Behind a pooler: settings and statement as one pipeline, which is one transaction and one packet,
 * so that both reach the same backend. Inside of a transaction the settings are there already, and
 * it is the statement alone. */
static bool send_pooled(struct lb_conn *conn, const struct lb_stmt *stmt,
                        const struct lb_pg_bound *bound)
{
    if (!lb_pg_is_idle(conn))
        return send_unprepared(conn, stmt, bound);
    return PQenterPipelineMode(conn->pg) == 1 && send_settings(conn) &&
           send_unprepared(conn, stmt, bound) && PQpipelineSync(conn->pg) == 1;
}

/* Up to the next sync: the result of the last statement, or of the first that failed. */
static PGresult *receive_to_sync(struct lb_conn *conn)
{
    PGconn *pg = conn->pg;
    PGresult *last = NULL, *next;
    bool is_end = false;
    while (!is_end && PQstatus(pg) == CONNECTION_OK) {
        /* A NULL ends the results of one statement, the sync those of all. */
        for (; !is_end && (next = lb_pg_wire_next(pg, &conn->watch)) != NULL;) {
            is_end = PQresultStatus(next) == PGRES_PIPELINE_SYNC;
            if (is_end || (last != NULL && !lb_pg_succeeded(last))) {
                PQclear(next);
            } else {
                PQclear(last);
                last = next;
            }
        }
    }
    return last;
}

/* Ends a pipeline that was one transaction. */
static PGresult *end_pipeline(struct lb_conn *conn, bool sent)
{
    PGresult *last = sent ? receive_to_sync(conn) : NULL;
    PQexitPipelineMode(conn->pg);
    return last;
}

static bool send_prepared(struct lb_conn *conn, const struct lb_stmt *stmt,
                          const struct lb_pg_bound *bound)
{
    return PQsendQueryPrepared(conn->pg, stmt->name, (int)stmt->n_params, bound->values,
                               bound->lengths, bound->formats, 0) == 1;
}

static PGresult *execute_behind_begin(struct lb_conn *conn, const struct lb_stmt *stmt,
                                      const struct lb_pg_bound *bound)
{
    PGconn *pg = conn->pg;
    conn->owes_begin = false;
    bool sent = PQenterPipelineMode(pg) == 1 &&
                PQsendQueryParams(pg, "BEGIN", 0, NULL, NULL, NULL, NULL, 0) == 1 &&
                send_prepared(conn, stmt, bound) && PQpipelineSync(pg) == 1;
    return end_pipeline(conn, sent);
}

bool lb_pg_send(struct lb_conn *conn, const struct lb_stmt *stmt, const struct lb_pg_bound *bound)
{
    return conn->pooled ? send_pooled(conn, stmt, bound) : send_prepared(conn, stmt, bound);
}

PGresult *lb_pg_request(struct lb_conn *conn, const struct lb_stmt *stmt,
                        const struct lb_pg_bound *bound)
{
    if (conn->owes_begin)
        return execute_behind_begin(conn, stmt, bound);
    bool is_alone = !conn->pooled || !lb_pg_is_idle(conn), sent = lb_pg_send(conn, stmt, bound);
    return is_alone ? lb_pg_wire_answer(conn->pg, &conn->watch, sent) : end_pipeline(conn, sent);
}

bool lb_pg_send_piped(struct lb_conn *conn, const struct lb_stmt *stmt,
                      const struct lb_pg_bound *bound)
{
    bool is_first = conn->n_piped == 0;
    if (is_first && PQenterPipelineMode(conn->pg) != 1)
        return false;
    conn->n_piped++;
    bool sent = conn->pooled ? send_settings(conn) && send_unprepared(conn, stmt, bound)
                             : send_prepared(conn, stmt, bound);
    return sent && PQpipelineSync(conn->pg) == 1;
}

PGresult *lb_pg_receive_piped(struct lb_conn *conn)
{
    PGresult *result = receive_to_sync(conn);
    if (--conn->n_piped == 0)
        PQexitPipelineMode(conn->pg);
    return result;
}
