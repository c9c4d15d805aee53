/* Queries to a MariaDB server about itself and other sessions. */
#include "mariadb_conn.h"
#include "proc.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANCEL_S = 2 }; /* the session may also end by itself */

/* --- other sessions ------------------------------------------------------------------------- */

int64_t lb_maria_session_id(struct lb_conn *conn)
{
    return (int64_t)conn->id;
}

/* Over a connection of its own: the space's may be another process's, or busy. A hanging cluster is
 * a case for cancelling: its member need not be ready. */
void lb_maria_cancel(struct lb_conn *conn)
{
    struct lb_error ignored;
    char sql[40];
    const struct lb_maria_wish wish = {
        .role = "cancel", .answer_s = CANCEL_S, .node = conn->node, .only = true, .as_it_is = true};
    MYSQL *my = lb_maria_connect(&conn->space->uri, &wish, NULL, &ignored);
    if (my == NULL)
        return;
    snprintf(sql, sizeof sql, "KILL QUERY %lu", conn->id);
    lb_maria_command(my, sql, NULL, &ignored);
    mysql_close(my);
}

/* The server refused a statement, or the connection is lost. */
static int fail_query(struct lb_conn *conn, struct lb_error *err)
{
    if (lb_maria_outcome(conn, false, err) >= 0)
        lb_fail(err, LB_E_ENV, "%s", conn->head.message);
    return err->code;
}

/* Does InnoDB's list of transactions say that this session waits? Each entry starts with
 * "---TRANSACTION", has a line "LOCK WAIT ..." if it does, and then "... thread id N, ...". */
static int waits_for_row(const char *status, int64_t session_id)
{
    char key[40];
    int n = snprintf(key, sizeof key, "thread id %lld,", (long long)session_id);
    const char *entry = strstr(status, "---TRANSACTION");
    while (entry != NULL) {
        const char *next = strstr(entry + 3, "\n---TRANSACTION");
        const char *id = strstr(entry, key);
        if (n > 0 && id != NULL && (next == NULL || id < next)) {
            const char *wait = strstr(entry, "\nLOCK WAIT");
            return wait != NULL && wait < id;
        }
        entry = next;
    }
    return 0;
}

int lb_maria_is_blocked(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    MYSQL_RES *result = NULL;
    char sql[300];
    /* The most frequent wait comes first: each look takes half a millisecond. */
    if (lb_maria_query(control->my, "SHOW ENGINE INNODB STATUS", &result) != 0)
        goto failed;
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    int blocked = row != NULL && row[2] != NULL ? waits_for_row(row[2], session_id) : 0;
    mysql_free_result(result);
    if (blocked)
        return 1;
    /* GET_LOCK and metadata locks, LOCK TABLES among them, show in the session's state. */
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM information_schema.processlist WHERE id = %lld "
             "AND (state = 'User lock' OR state LIKE 'Waiting for %%lock')",
             (long long)session_id);
    result = NULL;
    if (lb_maria_query(control->my, sql, &result) != 0)
        goto failed;
    row = mysql_fetch_row(result);
    blocked = row != NULL && row[0] != NULL && row[0][0] != '0';
    mysql_free_result(result);
    return blocked;
failed:
    fail_query(control, err);
    if (mysql_errno(control->my) == ER_SPECIFIC_ACCESS_DENIED_ERROR)
        lb_fail(err, LB_E_ENV, "to see who waits, the user needs GRANT PROCESS ON *.*");
    return err->code;
}

/* The server does not say who has a metadata lock: those who wait for one in the space's database
 * while the session is there wait for it, unless it waits itself and they for the one before it.
 * Of row locks it says so, from a copy of its lists that is up to 0.1 s old. */
int lb_maria_waiters(struct lb_conn *control, int64_t session_id, int64_t *ret_ids, size_t max,
                     struct lb_error *err)
{
    MYSQL_RES *result = NULL;
    char sql[700];
    int n = 0;
    snprintf(sql, sizeof sql,
             "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> %lld "
             "AND state = 'Waiting for table metadata lock' UNION "
             "SELECT r.trx_mysql_thread_id FROM information_schema.innodb_lock_waits AS w "
             "JOIN information_schema.innodb_trx AS r ON r.trx_id = w.requesting_trx_id "
             "JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_trx_id "
             "WHERE b.trx_mysql_thread_id = %lld",
             (long long)session_id, (long long)session_id);
    if (lb_maria_query(control->my, sql, &result) != 0)
        return fail_query(control, err);
    for (MYSQL_ROW row; (size_t)n < max && (row = mysql_fetch_row(result)) != NULL;)
        ret_ids[n++] = strtoll(row[0], NULL, 10);
    mysql_free_result(result);
    return n;
}

int lb_maria_terminate(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    char sql[40];
    snprintf(sql, sizeof sql, "KILL %lld", (long long)session_id);
    return lb_maria_query(control->my, sql, NULL) == 0 ? 0 : fail_query(control, err);
}

int lb_maria_strangers(struct lb_conn *conn, uint64_t *ret_n, struct lb_error *err)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Daemon' "
             "AND user <> 'system user' AND id <> %d AND (db IS NULL OR db <> DATABASE())",
             lb_maria_space_number(conn->space));
    MYSQL_RES *result = NULL;
    if (lb_maria_query(conn->my, sql, &result) != 0)
        return fail_query(conn, err);
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    *ret_n = row != NULL && row[0] != NULL ? strtoull(row[0], NULL, 10) : 0;
    mysql_free_result(result);
    return 0;
}

/* --- facts ---------------------------------------------------------------------------------- */

static int report_rows(struct lb_conn *conn, const char *sql, lb_fact_fn *fact, void *arg,
                       struct lb_error *err)
{
    MYSQL_RES *result = NULL;
    if (lb_maria_query(conn->my, sql, &result) != 0)
        return fail_query(conn, err);
    for (MYSQL_ROW row; result != NULL && (row = mysql_fetch_row(result)) != NULL;)
        fact(arg, row[0] != NULL ? row[0] : "", row[1] != NULL ? row[1] : "");
    mysql_free_result(result);
    return 0;
}

#define WSREP_IS_ON                                                                                \
    "information_schema.session_variables WHERE variable_name = 'WSREP_ON' AND variable_value = "  \
    "'ON'"

int lb_maria_facts(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    fact(arg, "version", mysql_get_server_info(conn->my));
    /* With all sessions on one node a cluster locks as a single server does. */
    const bool spreads = conn->space->uri.n_nodes > 1 && !conn->space->uri.first;
    int rc = report_rows(conn,
                         spreads ? "SELECT 'topology', 'galera' FROM " WSREP_IS_ON
                                 : "SELECT 'topology', 'galera-one' FROM " WSREP_IS_ON,
                         fact, arg, err);
    if (rc != 0)
        return rc;
    return report_rows(
        conn,
        "SELECT LOWER(variable_name), variable_value FROM information_schema.session_variables "
        "WHERE variable_name IN ('binlog_format', 'innodb_autoinc_lock_mode', "
        "'innodb_buffer_pool_size', 'innodb_deadlock_detect', 'innodb_doublewrite', "
        "'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_lock_wait_timeout', "
        "'innodb_log_file_size', 'innodb_rollback_on_timeout', 'innodb_snapshot_isolation', "
        "'lock_wait_timeout', 'log_bin', 'max_connections', 'max_statement_time', "
        "'performance_schema', 'sql_mode', 'sync_binlog', 'thread_handling', 'tx_isolation', "
        "'wsrep_on', "
        "'wsrep_slave_threads', 'wsrep_sync_wait') "
        "ORDER BY 1",
        fact, arg, err);
}

/* All but the last two are the server's. */
int lb_maria_counters(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    return report_rows(
        conn,
        "SELECT CASE variable_name WHEN 'INNODB_LSN_CURRENT' THEN 'wal_bytes' "
        "WHEN 'INNODB_DEADLOCKS' THEN 'deadlocks' WHEN 'INNODB_ROW_LOCK_WAITS' THEN "
        "'row_lock_waits' WHEN 'INNODB_HISTORY_LIST_LENGTH' THEN 'history_list_length' "
        "WHEN 'ROWS_READ' THEN 'rows_read' WHEN 'HANDLER_UPDATE' THEN 'rows_updated' WHEN "
        "'HANDLER_WRITE' THEN 'rows_inserted' "
        "ELSE 'rows_deleted' END, variable_value FROM information_schema.global_status "
        "WHERE variable_name IN ('INNODB_LSN_CURRENT', 'INNODB_DEADLOCKS', "
        "'INNODB_ROW_LOCK_WAITS', 'INNODB_HISTORY_LIST_LENGTH', 'HANDLER_UPDATE', "
        "'ROWS_READ', "
        "'HANDLER_WRITE', 'HANDLER_DELETE') "
        "UNION ALL SELECT 'table_bytes', COALESCE(SUM(data_length), 0) FROM "
        "information_schema.tables WHERE table_schema = DATABASE() "
        "AND table_name <> '" LB_LIFE_TABLE "' "
        "UNION ALL SELECT 'index_bytes', COALESCE(SUM(index_length), 0) FROM "
        "information_schema.tables WHERE table_schema = DATABASE() "
        "AND table_name <> '" LB_LIFE_TABLE "'",
        fact, arg, err);
}

/* Rows are the engine's estimate; all else is the server's. */
int lb_maria_levels(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    return report_rows(
        conn,
        "SELECT 'buffers_hit', CAST(a.variable_value AS SIGNED) - CAST(b.variable_value AS SIGNED) "
        "FROM information_schema.global_status a, information_schema.global_status b "
        "WHERE a.variable_name = 'INNODB_BUFFER_POOL_READ_REQUESTS' "
        "AND b.variable_name = 'INNODB_BUFFER_POOL_READS' "
        "UNION ALL SELECT CASE variable_name WHEN 'INNODB_BUFFER_POOL_READS' THEN 'buffers_read' "
        "ELSE 'locks_waited' END, variable_value FROM information_schema.global_status "
        "WHERE variable_name IN ('INNODB_BUFFER_POOL_READS', 'INNODB_ROW_LOCK_CURRENT_WAITS') "
        "UNION ALL SELECT 'live_rows', COALESCE(SUM(table_rows), 0) FROM "
        "information_schema.tables WHERE table_schema = DATABASE() "
        "AND table_name <> '" LB_LIFE_TABLE "'",
        fact, arg, err);
}

int32_t lb_maria_server_pid(struct lb_conn *conn)
{
    pid_t pid = lb_proc_peer((int)mysql_get_socket(conn->my));
    return lb_proc_is(pid, "mariadbd") || lb_proc_is(pid, "mysqld") ? (int32_t)pid : 0;
}

int lb_maria_socket(const struct lb_conn *conn)
{
    return (int)mysql_get_socket(conn->my);
}

/* Uptime is in seconds, from the same clock reading as NOW(): the whole seconds of their difference
 * stay the same. */
int lb_maria_up_since(struct lb_conn *conn, int64_t *ret_since_us, uint64_t *ret_up_us,
                      struct lb_error *err)
{
    MYSQL_RES *result = NULL;
    if (lb_maria_query(
            conn->my,
            "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED), variable_value FROM "
            "information_schema.global_status WHERE variable_name = 'UPTIME'",
            &result) != 0)
        return lb_maria_outcome(conn, false, err);
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    int rc = LB_OTHER;
    if (row != NULL && row[0] != NULL && row[1] != NULL) {
        const uint64_t second_us = 1000000, now_us = strtoull(row[0], NULL, 10);
        const uint64_t since_us = (now_us / second_us - strtoull(row[1], NULL, 10)) * second_us;
        *ret_up_us = now_us - since_us;
        *ret_since_us = (int64_t)since_us;
        rc = LB_OK;
    }
    mysql_free_result(result);
    return rc;
}

int lb_maria_waits(struct lb_conn *control, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    return report_rows(control,
                       "SELECT COALESCE(NULLIF(state, ''), 'running'), COUNT(*) "
                       "FROM information_schema.processlist WHERE db = DATABASE() "
                       "AND command <> 'Sleep' AND id <> CONNECTION_ID() GROUP BY 1 ORDER BY 1",
                       fact, arg, err);
}
