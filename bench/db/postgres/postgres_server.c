/* Queries to a PostgreSQL server about itself and other sessions. */
#include "postgres_conn.h"
#include "proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- other sessions ------------------------------------------------------------------------- */

void lb_pg_cancel(struct lb_conn *conn)
{
    lb_pg_cancel_ask(conn->cancel);
}

int64_t lb_pg_session_id(struct lb_conn *conn)
{
    return conn->pooled ? 0 : PQbackendPID(conn->pg); /* a pooler's number is no backend's */
}

/* The server refused a statement, or the connection is lost. */
static int fail_query(struct lb_conn *conn, PGresult *result, struct lb_error *err)
{
    if (lb_pg_outcome(conn, result, err) >= 0)
        lb_pg_set_error(conn, LB_E_ENV, err);
    return err->code;
}

/* Runs a statement with one integer parameter. NULL with err filled if it failed. */
static PGresult *ask(struct lb_conn *conn, const char *name, const char *sql, int64_t number,
                     struct lb_error *err)
{
    char text[NUMBER_SIZE];
    const char *values[] = {text};
    snprintf(text, sizeof text, "%lld", (long long)number);
    int sent = name != NULL ? PQsendQueryPrepared(conn->pg, name, 1, values, NULL, NULL, 0)
                            : PQsendQueryParams(conn->pg, sql, 1, NULL, values, NULL, NULL, 0);
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, sent);
    if (lb_pg_succeeded(result))
        return result;
    fail_query(conn, result, err);
    return NULL;
}

int lb_pg_is_blocked(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    /* An autovacuum gives way to sessions that wait for it. */
    static const char name[] = "lb_is_blocked",
                      sql[] = "SELECT EXISTS (SELECT FROM unnest(pg_blocking_pids($1::int)) AS b "
                              "WHERE b NOT IN (SELECT pid FROM pg_stat_activity WHERE "
                              "backend_type = 'autovacuum worker'))";
    if (!control->can_ask_blocked && !control->pooled) {
        PGresult *result = lb_pg_wire_answer(control->pg, &control->watch,
                                             PQsendPrepare(control->pg, name, sql, 1, NULL));
        control->can_ask_blocked = lb_pg_succeeded(result);
        if (!control->can_ask_blocked)
            return fail_query(control, result, err);
        PQclear(result);
    }
    PGresult *result = ask(control, control->pooled ? NULL : name, sql, session_id, err);
    if (result == NULL)
        return err->code;
    int blocked = PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    return blocked;
}

int lb_pg_waiters(struct lb_conn *control, int64_t session_id, int64_t *ret_ids, size_t max,
                  struct lb_error *err)
{
    PGresult *result = ask(control, NULL,
                           "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                           "AND backend_type = 'client backend' "
                           "AND $1::int = ANY (pg_blocking_pids(pid))",
                           session_id, err);
    if (result == NULL)
        return err->code;
    int n = PQntuples(result) < (int)max ? PQntuples(result) : (int)max;
    for (int i = 0; i < n; i++)
        ret_ids[i] = strtoll(PQgetvalue(result, i, 0), NULL, 10);
    PQclear(result);
    return n;
}

int lb_pg_terminate(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    PGresult *result = ask(control, NULL, "SELECT pg_terminate_backend($1::int)", session_id, err);
    if (result == NULL)
        return err->code;
    PQclear(result);
    return 0;
}

static int count(struct lb_conn *conn, const char *sql, uint64_t *ret_n, struct lb_error *err)
{
    PGresult *result = lb_pg_wire_exec(conn->pg, sql);
    if (!lb_pg_succeeded(result))
        return fail_query(conn, result, err);
    *ret_n = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return 0;
}

/* Of sessions that it may not look into, the server still tells to whom they belong and their
 * application's name. Our own space's session may be lost. In a database of the space's name are
 * the sessions of this run's programs: postgres_door.c. */
int lb_pg_strangers(struct lb_conn *conn, uint64_t *ret_n, struct lb_error *err)
{
    return count(conn,
                 "SELECT count(*) FILTER (WHERE application_name NOT LIKE 'lockbench%' "
                 "AND datname IS DISTINCT FROM current_schema()) "
                 "+ greatest(count(*) FILTER (WHERE application_name = 'lockbench space') - 1, 0) "
                 "FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL",
                 ret_n, err);
}

int lb_pg_cancel_sync(struct lb_conn *control, uint64_t *ret_n, struct lb_error *err)
{
    return count(control,
                 "SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM pg_stat_activity "
                 "WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid() "
                 "AND application_name LIKE 'lockbench worker%'",
                 ret_n, err);
}

/* --- facts ---------------------------------------------------------------------------------- */

static int report_rows(struct lb_conn *conn, const char *sql, lb_fact_fn *fact, void *arg,
                       struct lb_error *err)
{
    PGresult *result = lb_pg_wire_exec(conn->pg, sql);
    if (!lb_pg_succeeded(result))
        return fail_query(conn, result, err);
    for (int i = 0; i < PQntuples(result); i++)
        fact(arg, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1));
    PQclear(result);
    return 0;
}

int lb_pg_facts(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    fact(arg, "version", PQparameterStatus(conn->pg, "server_version"));
    fact(arg, "pooled", conn->pooled ? "yes" : "no");
    /* Without the privilege, standbys are shown without their state. */
    int rc = report_rows(
        conn,
        "SELECT 'topology', t FROM (SELECT CASE "
        "WHEN current_setting('synchronous_standby_names') <> '' AND "
        "current_setting('synchronous_commit') NOT IN ('off', 'local') THEN 'sync' "
        "WHEN EXISTS (SELECT FROM pg_stat_replication WHERE coalesce(state, 'streaming') = "
        "'streaming') THEN 'async' END AS t) s WHERE t IS NOT NULL",
        fact, arg, err);
    if (rc != 0)
        return rc;
    return report_rows(
        conn,
        "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('autovacuum', "
        "'checkpoint_timeout', 'client_connection_check_interval', 'commit_delay', "
        "'deadlock_timeout', 'default_transaction_isolation', 'fsync', 'full_page_writes', "
        "'huge_pages', 'idle_in_transaction_session_timeout', 'io_method', 'jit', "
        "'lock_timeout', 'max_connections', 'max_wal_size', 'plan_cache_mode', 'shared_buffers', "
        "'shared_preload_libraries', 'statement_timeout', 'synchronous_commit', "
        "'synchronous_standby_names', 'wal_compression', 'wal_level', 'wal_sync_method', "
        "'work_mem') ORDER BY name",
        fact, arg, err);
}

/* The first four are the server's or the database's, the others are of the tables in the schema. A
 * session reports its part of the rows when it is idle for a while, at the latest when it ends. */
int lb_pg_counters(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    struct lb_error ignored;
    const char *sql =
        "SELECT 'wal_bytes', (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text "
        "UNION ALL SELECT k, v::text FROM (SELECT xact_commit, xact_rollback, deadlocks "
        "FROM pg_stat_database WHERE datname = current_database()) d, "
        "LATERAL (VALUES ('commits', xact_commit), ('rollbacks', xact_rollback), "
        "('deadlocks', deadlocks)) AS x(k, v) "
        "UNION ALL SELECT k, v::text FROM (SELECT coalesce(sum(n_tup_ins), 0) AS ins, "
        "coalesce(sum(n_tup_upd), 0) AS upd, coalesce(sum(n_tup_hot_upd), 0) AS hot, "
        "coalesce(sum(n_tup_del), 0) AS del, coalesce(sum(n_dead_tup), 0) AS dead, "
        "coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) AS got, "
        "coalesce(sum(pg_table_size(relid)), 0) AS heap, "
        "coalesce(sum(pg_indexes_size(relid)), 0) AS idx "
        "FROM pg_stat_user_tables WHERE schemaname = current_schema() "
        "AND relname <> '" LB_LIFE_TABLE "') t, "
        "LATERAL (VALUES ('rows_inserted', ins), ('rows_updated', upd), "
        "('rows_hot_updated', hot), ('rows_deleted', del), ('dead_rows', dead), ('rows_read', "
        "got), "
        "('table_bytes', heap), ('index_bytes', idx)) AS x(k, v)";
    char both[2600];
    /* This session's own statements (a backlog, before the run) must be in the totals now. */
    if (PQserverVersion(conn->pg) >= 150000)
        lb_pg_run(conn, "SELECT pg_stat_force_next_flush()", &ignored);
    lb_pg_run(conn, "SELECT pg_stat_clear_snapshot()", &ignored);
    snprintf(both, sizeof both, "%s%s%s", conn->pooled ? conn->settings : "",
             conn->pooled ? "; " : "", sql);
    return report_rows(conn, both, fact, arg, err);
}

/* Only vacuums of this database are counted, those that a user started too. */
int lb_pg_levels(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    char sql[1600];
    snprintf(
        sql, sizeof sql,
        "%s%sSELECT k, v::text FROM pg_stat_database, LATERAL (VALUES ('buffers_hit', blks_hit), "
        "('buffers_read', blks_read)) AS x(k, v) WHERE datname = current_database() "
        "UNION ALL SELECT 'live_rows', coalesce(sum(n_live_tup), 0)::text FROM "
        "pg_stat_user_tables WHERE schemaname = current_schema() AND relname <> '" LB_LIFE_TABLE
        "' UNION ALL SELECT 'checkpoints', (%s)::text "
        "UNION ALL SELECT 'vacuums', count(*)::text FROM pg_stat_progress_vacuum "
        "WHERE datname = current_database() "
        "UNION ALL SELECT k, v::text FROM (SELECT count(*) AS n, count(*) FILTER (WHERE NOT "
        "granted) AS waited FROM pg_locks WHERE pid <> pg_backend_pid()) l, "
        "LATERAL (VALUES ('locks', n), ('locks_waited', waited)) AS x(k, v)",
        conn->pooled ? conn->settings : "", conn->pooled ? "; " : "",
        PQserverVersion(conn->pg) >= 170000
            ? "SELECT num_timed + num_requested FROM pg_stat_checkpointer"
            : "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter");
    return report_rows(conn, sql, fact, arg, err);
}

/* Over TCP the session's own process is looked for, by the number that the server gave. */
int32_t lb_pg_server_pid(struct lb_conn *conn)
{
    static const char program[] = "postgres";
    const char *host = PQhostaddr(conn->pg);
    pid_t pid = lb_proc_peer(PQsocket(conn->pg));
    if (pid == 0 && !conn->pooled && host != NULL &&
        (strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0) &&
        lb_proc_is(PQbackendPID(conn->pg), program))
        pid = lb_proc_parent(PQbackendPID(conn->pg));
    return lb_proc_is(pid, program) ? (int32_t)pid : 0;
}

int lb_pg_socket(const struct lb_conn *conn)
{
    return PQsocket(conn->pg);
}

/* A server that lost one of its processes ends all sessions and recovers, and its first process
 * lives on: the others are started anew, which only those see who may look at them. */
int lb_pg_up_since(struct lb_conn *conn, int64_t *ret_since_us, uint64_t *ret_up_us,
                   struct lb_error *err)
{
    static const char sql[] =
        "SELECT (extract(epoch FROM s) * 1000000)::bigint, "
        "(extract(epoch FROM greatest(clock_timestamp() - s, '0')) * 1000000)::bigint "
        "FROM (SELECT greatest(pg_catalog.pg_postmaster_start_time(), (SELECT max(backend_start) "
        "FROM pg_catalog.pg_stat_activity WHERE backend_type = 'checkpointer'))) AS x(s)";
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, PQsendQuery(conn->pg, sql));
    lb_pg_drain(conn);
    if (!lb_pg_succeeded(result))
        return lb_pg_outcome(conn, result, err);
    *ret_since_us = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    *ret_up_us = strtoull(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    return LB_OK;
}

/* Idle inside of a transaction is work that others may have to wait for; idle outside is none. */
int lb_pg_waits(struct lb_conn *control, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    return report_rows(control,
                       "SELECT CASE WHEN state <> 'active' THEN 'idle in transaction' "
                       "WHEN wait_event IS NULL THEN 'running' "
                       "ELSE wait_event_type || ':' || wait_event END, count(*)::text "
                       "FROM pg_stat_activity WHERE datname = current_database() "
                       "AND pid <> pg_backend_pid() AND application_name LIKE 'lockbench%' "
                       "AND (state = 'active' OR state LIKE 'idle in transaction%') "
                       "GROUP BY 1 ORDER BY 1",
                       fact, arg, err);
}
