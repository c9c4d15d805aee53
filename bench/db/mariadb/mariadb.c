/* MariaDB, through libmariadb's prepared statements (binary protocol). Targets and spaces are in
 * mariadb_space.c.
 *
 * Rows counted as changed are those that a statement found (CLIENT_FOUND_ROWS), as in the other
 * engines, and not only those whose values became different.
 *
 * InnoDB's bound on lock waits is in whole seconds, so ours is rounded up. NOWAIT and an expired
 * wait share the code 1205: a statement that says NOWAIT is taken for refused at once.
 *
 * Waits for rows are read from SHOW ENGINE INNODB STATUS: information_schema.INNODB_TRX is a cache,
 * which is renewed only when it was not read for 100 ms.
 *
 * Source: https://mariadb.com/kb/en/mariadb-error-codes/, /kb/en/get_lock/,
 * /kb/en/information-schema-innodb_trx-table/.
 */
#include "aging.h"
#include "leash.h"
#include "mariadb_conn.h"
#include "mariadb_wire.h"
#include "memory.h"
#include "program_lex.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

extern const struct lb_db lb_db_mariadb;

static int outcome_stmt(struct lb_conn *conn, struct lb_stmt *stmt, struct lb_error *err)
{
    /* An error that comes in place of a row is noted at the connection only. */
    if (mysql_stmt_errno(stmt->handle) == 0)
        return lb_maria_outcome(conn, stmt->is_nowait, err);
    return lb_maria_answer(conn, mysql_stmt_errno(stmt->handle), mysql_stmt_error(stmt->handle),
                           stmt->is_nowait, err);
}

/* --- connections ---------------------------------------------------------------------------- */

static void forget_columns(struct lb_stmt *stmt)
{
    for (unsigned i = 0; i < stmt->n_columns; i++)
        free(stmt->columns[i].name);
    free(stmt->columns);
    stmt->columns = NULL;
    stmt->n_columns = 0;
}

static void free_stmt(struct lb_stmt *stmt)
{
    forget_columns(stmt);
    mysql_stmt_close(stmt->handle);
    free(stmt);
}

static void maria_close(struct lb_conn *conn)
{
    if (conn == NULL)
        return;
    /* The connection first: its statements then need no round trip each to be closed. */
    mysql_close(conn->my);
    while (conn->stmts != NULL) {
        struct lb_stmt *stmt = conn->stmts;
        conn->stmts = stmt->next;
        free_stmt(stmt);
    }
    lb_result_release(&conn->result);
    free(conn);
}

/* The next node that takes us; not the primary's own. */
static MYSQL *connect_replica(struct lb_conn *conn, const struct lb_conn *primary,
                              struct lb_maria_wish *wish, struct lb_error *err)
{
    const struct lb_mariadb_uri *uri = &conn->space->uri;
    MYSQL *my = NULL;
    lb_fail(err, LB_E_ENV, "it names one");
    wish->only = true;
    for (size_t i = 1; i < uri->n_nodes && my == NULL; i++) {
        wish->node = (primary->node + i) % uri->n_nodes;
        my = lb_maria_connect(uri, wish, &conn->node, err);
    }
    if (my == NULL)
        lb_fail_prefix(err, "no replica among the hosts of -d");
    return my;
}

static int maria_open(struct lb_space *space, const struct lb_conn_options *options,
                      struct lb_conn **ret_conn, struct lb_error *err)
{
    static const char *const levels[LB_ISOLATIONS] = {
        [LB_ISO_DEFAULT] = "",
        [LB_ISO_READ_COMMITTED] = ", tx_isolation = 'READ-COMMITTED'",
        [LB_ISO_REPEATABLE_READ] = ", tx_isolation = 'REPEATABLE-READ'",
        [LB_ISO_SERIALIZABLE] = ", tx_isolation = 'SERIALIZABLE'",
    };
    struct lb_conn *conn = lb_calloc(1, sizeof *conn);
    unsigned bound_s =
        options->lock_timeout_ms == 0 ? NO_BOUND_S : (options->lock_timeout_ms - 1) / 1000 + 1;
    char init[200];
    snprintf(init, sizeof init,
             "SET SESSION autocommit = 1, innodb_lock_wait_timeout = %u, lock_wait_timeout = %u%s",
             bound_s, bound_s, levels[options->isolation]);
    conn->head.db = &lb_db_mariadb;
    conn->space = space;
    struct lb_maria_wish wish = {.database = space->name,
                                 .is_of_space = true,
                                 .role = options->role,
                                 .init = init,
                                 .node = options->beside != NULL ? options->beside->node
                                         : space->uri.first      ? 0
                                                                 : options->seat,
                                 .only = options->beside != NULL};
    conn->my = options->replica_of != NULL ? connect_replica(conn, options->replica_of, &wish, err)
                                           : lb_maria_connect(&space->uri, &wish, &conn->node, err);
    if (conn->my == NULL) {
        free(conn);
        return err->code;
    }
    conn->id = mysql_thread_id(conn->my);
    *ret_conn = conn;
    return 0;
}

static uint64_t maria_caps(struct lb_conn *conn)
{
    uint64_t caps = LB_CAP_SKIP_LOCKED | LB_CAP_NOWAIT | LB_CAP_ROW_LOCK | LB_CAP_ADVISORY |
                    LB_CAP_MULTI_WRITER | LB_CAP_LOCK_TIMEOUT; /* an older than 10.6 is refused */
    return caps | (conn->space->uri.n_nodes > 1 ? LB_CAP_REPLICA : 0);
}

/* 10.11.6 is 101106. */
static int maria_version(struct lb_conn *conn)
{
    unsigned long version = mysql_get_server_version(conn->my);
    return (int)(version / 10000 * 1000 + version / 100 % 100);
}

/* --- statements ----------------------------------------------------------------------------- */

static bool says_nowait(const char *sql)
{
    static const char *const words[] = {"nowait", NULL};
    return lb_sql_has_any(sql, LB_SQL_MARIADB, words);
}

static bool is_write(const char *sql)
{
    static const char *const words[] = {"insert", "delete", "replace", "update", NULL};
    return lb_sql_begins(sql, LB_SQL_MARIADB, words);
}

/* The leash's. */
static void cancel(void *conn)
{
    lb_maria_cancel(conn);
}

static int maria_run(struct lb_conn *conn, const char *sql, struct lb_error *err)
{
    struct lb_leash_wait wait;
    lb_leash_begin(&wait, mysql_get_socket(conn->my), cancel, conn);
    bool failed = lb_maria_query(conn->my, sql, NULL) != 0;
    lb_leash_end(&wait);
    return failed ? lb_maria_outcome(conn, says_nowait(sql), err) : LB_OK;
}

static int maria_prepare(struct lb_conn *conn, const char *sql, size_t n_params,
                         const enum lb_type *types, struct lb_stmt **ret_stmt, struct lb_error *err)
{
    (void)types; /* they are sent with the values */
    int r = 0;
    struct lb_stmt *stmt = lb_calloc(1, sizeof *stmt);
    stmt->handle = mysql_stmt_init(conn->my);
    if (stmt->handle == NULL)
        lb_memory_exhausted(sizeof *stmt->handle);
    stmt->n_params = n_params;
    stmt->is_nowait = says_nowait(sql);
    stmt->is_write = is_write(sql);
    if (lb_maria_wire_stmt_prepare(stmt->handle, sql, strlen(sql)) != 0) {
        r = outcome_stmt(conn, stmt, err);
    } else if (n_params > MAX_PARAMS || mysql_stmt_param_count(stmt->handle) != n_params) {
        r = lb_fail(err, LB_E_SQL,
                    "the statement has %lu parameters, %zu are given (of at most %d)",
                    mysql_stmt_param_count(stmt->handle), n_params, MAX_PARAMS);
    }
    if (r != 0) {
        free_stmt(stmt);
        return r;
    }
    stmt->next = conn->stmts;
    conn->stmts = stmt;
    *ret_stmt = stmt;
    return LB_OK;
}

/* libmariadb's interface is not const-correct: it only reads what parameters point to. */
static void *unconst(const void *pointer)
{
    union {
        const void *in;
        void *out;
    } u = {.in = pointer};
    return u.out;
}

static int send_params(struct lb_stmt *stmt, const struct lb_value *params)
{
    MYSQL_BIND binds[MAX_PARAMS];
    memset(binds, 0, stmt->n_params * sizeof binds[0]);
    for (size_t i = 0; i < stmt->n_params; i++) {
        switch (params[i].type) {
        case LB_INT:
            binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
            binds[i].buffer = unconst(&params[i].integer);
            break;
        case LB_REAL:
            binds[i].buffer_type = MYSQL_TYPE_DOUBLE;
            binds[i].buffer = unconst(&params[i].real);
            break;
        case LB_TEXT:
            binds[i].buffer_type = MYSQL_TYPE_STRING;
            binds[i].buffer = unconst(params[i].text);
            binds[i].buffer_length = params[i].length;
            break;
        case LB_NULL:
        default:
            binds[i].buffer_type = MYSQL_TYPE_NULL;
            break;
        }
    }
    if (stmt->n_params > 0 && mysql_stmt_bind_param(stmt->handle, binds) != 0)
        return 1;
    return lb_maria_wire_stmt_execute(stmt->handle);
}

/* The type under which a column is fetched; all except integers and floats is text. The server may
 * have decided only at execution, by the types of the parameters: hence not metadata. */
static enum lb_type column_type(const MYSQL_FIELD *field)
{
    switch (field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        return LB_INT;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        return LB_REAL;
    default:
        return LB_TEXT;
    }
}

/* The columns are known after the first execution only: INSERT and DELETE ... RETURNING, and CALL,
 * are prepared without any. libmariadb's names end with the result of a CALL. */
static void learn_columns(struct lb_stmt *stmt, unsigned n)
{
    if (n == stmt->n_columns)
        return;
    forget_columns(stmt);
    stmt->columns = lb_calloc(n, sizeof *stmt->columns);
    stmt->n_columns = n;
    for (unsigned i = 0; i < n; i++)
        stmt->columns[i].name = lb_strdup(stmt->handle->fields[i].name);
}

static int bind_columns(struct lb_stmt *stmt, unsigned n)
{
    MYSQL_BIND binds[MAX_COLUMNS];
    memset(binds, 0, n * sizeof binds[0]);
    for (unsigned i = 0; i < n; i++) {
        struct column *column = &stmt->columns[i];
        column->type = column_type(&stmt->handle->fields[i]);
        binds[i].is_null = &column->is_null;
        binds[i].length = &column->length;
        if (column->type == LB_INT) {
            binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
            binds[i].buffer = &column->integer;
        } else if (column->type == LB_REAL) {
            binds[i].buffer_type = MYSQL_TYPE_DOUBLE;
            binds[i].buffer = &column->real;
        } else {
            binds[i].buffer_type = MYSQL_TYPE_STRING;
            binds[i].buffer = column->text;
            binds[i].buffer_length = TEXT_SIZE;
        }
    }
    return mysql_stmt_bind_result(stmt->handle, binds);
}

/* False: the library could not fetch it. */
static bool copy_column(struct lb_result *result, struct lb_stmt *stmt, unsigned i)
{
    struct column *column = &stmt->columns[i];
    if (column->is_null) {
        lb_result_add_null(result);
    } else if (column->type == LB_INT) {
        lb_result_add_int(result, column->integer);
    } else if (column->type == LB_REAL) {
        lb_result_add_real(result, column->real);
    } else if (column->length <= TEXT_SIZE) {
        lb_result_add_text(result, column->text, column->length);
    } else {
        MYSQL_BIND bind;
        memset(&bind, 0, sizeof bind);
        bind.buffer_type = MYSQL_TYPE_STRING;
        bind.buffer_length = column->length;
        bind.buffer = lb_result_add_space(result, column->length);
        return mysql_stmt_fetch_column(stmt->handle, &bind, i, 0) == 0;
    }
    return true;
}

/* Reads the rows as they come from the server: locks are taken while they do, so that a deadlock
 * or a timeout can show up at any row. */
static int read_rows(struct lb_conn *conn, struct lb_stmt *stmt, struct lb_rows *rows,
                     struct lb_error *err)
{
    unsigned n = mysql_stmt_field_count(stmt->handle);
    int r = LB_OK, status = 0;
    if (n > MAX_COLUMNS)
        return lb_fail(err, LB_E_SQL, "the statement returns more than %d columns", MAX_COLUMNS);
    learn_columns(stmt, n);
    rows->n_columns = n;
    lb_result_begin(&conn->result, n);
    if (bind_columns(stmt, n) != 0)
        return outcome_stmt(conn, stmt, err);
    while ((status = lb_maria_wire_stmt_fetch(stmt->handle)) == 0 ||
           status == MYSQL_DATA_TRUNCATED) {
        for (unsigned i = 0; r == LB_OK && i < n; i++)
            if (!copy_column(&conn->result, stmt, i))
                r = lb_fail(err, LB_E_MEMORY, "out of memory for a result of %zu rows",
                            rows->n_rows);
        rows->n_rows++;
    }
    if (r == LB_OK && status != MYSQL_NO_DATA)
        r = outcome_stmt(conn, stmt, err);
    return r;
}

/* Cutting a connection between request and answer: before the request is sent, the socket is closed
 * for reading only. Whatever the client library then makes of it, the answer is lost. */
static void cut_before(struct lb_conn *conn)
{
    shutdown(mysql_get_socket(conn->my), SHUT_RD);
}

static int cut_after(struct lb_conn *conn)
{
    shutdown(mysql_get_socket(conn->my), SHUT_RDWR);
    conn->head.lost = true;
    snprintf(conn->head.native, sizeof conn->head.native, "%d", CR_SERVER_LOST);
    snprintf(conn->head.message, sizeof conn->head.message,
             "the connection was cut before the answer came");
    return LB_LOST;
}

static int execute(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                   struct lb_rows *ret_rows, struct lb_error *err)
{
    struct lb_rows rows = {0};
    int r = LB_OK;
    conn->last = stmt;
    lb_result_begin(&conn->result, 0);
    if (conn->cut) {
        cut_before(conn);
        send_params(stmt, params);
        return cut_after(conn);
    }
    if (send_params(stmt, params) != 0)
        return outcome_stmt(conn, stmt, err);
    if (mysql_stmt_field_count(stmt->handle) == 0) {
        rows.n_changed = (int64_t)mysql_stmt_affected_rows(stmt->handle);
    } else {
        r = read_rows(conn, stmt, &rows, err);
        rows.n_changed = stmt->is_write ? (int64_t)rows.n_rows : 0;
    }
    while (mysql_stmt_more_results(stmt->handle) &&
           lb_maria_wire_stmt_next_result(stmt->handle) == 0)
        lb_maria_wire_stmt_free_result(stmt->handle); /* CALL: a status follows the rows */
    lb_maria_wire_stmt_free_result(stmt->handle);
    if (r == LB_OK)
        *ret_rows = rows;
    return r;
}

static int maria_execute(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                         struct lb_rows *ret_rows, struct lb_error *err)
{
    struct lb_leash_wait wait;
    lb_leash_begin(&wait, mysql_get_socket(conn->my), cancel, conn);
    int r = execute(conn, stmt, params, ret_rows, err);
    lb_leash_end(&wait);
    return r;
}

static const char *maria_column(struct lb_conn *conn, size_t column)
{
    return conn->last->columns[column].name;
}

static struct lb_value maria_value(struct lb_conn *conn, size_t row, size_t column)
{
    return lb_result_value(&conn->result, row, column);
}

/* --- transactions --------------------------------------------------------------------------- */

static int maria_begin(struct lb_conn *conn, enum lb_begin mode, struct lb_error *err)
{
    (void)mode;
    return maria_run(conn, "START TRANSACTION", err);
}

static int maria_commit(struct lb_conn *conn, struct lb_error *err)
{
    if (!conn->cut)
        return maria_run(conn, "COMMIT", err);
    cut_before(conn);
    lb_maria_query(conn->my, "COMMIT", NULL);
    return cut_after(conn);
}

/* Always asked for: after an error the client does not know whether the server has rolled back. On
 * Galera a transaction that another node's write has aborted answers ROLLBACK with 1213, once,
 * and has rolled back then or does so at the next: it is asked again. */
static int maria_rollback(struct lb_conn *conn, struct lb_error *err)
{
    enum { TRIES = 3 };
    int r = maria_run(conn, "ROLLBACK", err);
    for (int i = 1; i < TRIES && r > LB_OK && r != LB_LOST; i++)
        r = maria_run(conn, "ROLLBACK", err);
    return r;
}

/* On Galera, where another node's write may abort the transaction at any time, preparing a
 * statement just then swallows the error: the transaction is gone, but later statements are
 * answered as if it were not, the COMMIT too. See docs/galera-lost-commit.md. */
static bool maria_prepares_ahead(const struct lb_conn *conn)
{
    return conn->space->uri.n_nodes > 1;
}

static void maria_node(const struct lb_conn *conn, char *buf, size_t size)
{
    lb_mariadb_node_format(&conn->space->uri.nodes[conn->node], buf, size);
}

static void maria_cut(struct lb_conn *conn)
{
    conn->cut = true;
}

static int maria_lock_rows(struct lb_conn *conn, uint64_t least, struct lb_error *err)
{
    MYSQL_RES *tables = NULL;
    int r = LB_OK;
    if (lb_maria_query(conn->my,
                       "SELECT REPLACE(table_name, '`', '``') FROM information_schema.tables "
                       "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' "
                       "AND table_name <> '" LB_LIFE_TABLE "'",
                       &tables) != 0)
        return lb_maria_outcome(conn, false, err);
    for (MYSQL_ROW row; r == LB_OK && (row = mysql_fetch_row(tables)) != NULL;) {
        char sql[400];
        snprintf(sql, sizeof sql,
                 "SELECT 1 FROM `%s` WHERE (SELECT COUNT(*) FROM `%s`) >= %llu FOR UPDATE", row[0],
                 row[0], (unsigned long long)least);
        r = maria_run(conn, sql, err);
    }
    mysql_free_result(tables);
    return r;
}

/* A read view begins with the first read of a table, or on request. */
static int maria_take_snapshot(struct lb_conn *conn, struct lb_error *err)
{
    return maria_run(conn, "START TRANSACTION WITH CONSISTENT SNAPSHOT", err);
}

static int maria_placeholder(size_t n, char *buf, size_t size)
{
    (void)n;
    return snprintf(buf, size, "?");
}

const struct lb_db lb_db_mariadb = {
    .name = "mariadb",
    .product = "MariaDB",
    .dialect = LB_SQL_MARIADB,
    .uri_help = "mariadb://USER:PASSWORD@HOST:PORT[,HOST:PORT...]/DB[?socket=PATH[,PATH...]]"
                "[?ssl-mode=MODE&ssl-ca=PATH]",
    .isolations = LB_ISO_BIT(LB_ISO_READ_COMMITTED) | LB_ISO_BIT(LB_ISO_REPEATABLE_READ) |
                  LB_ISO_BIT(LB_ISO_SERIALIZABLE),
    .default_isolation = LB_ISO_REPEATABLE_READ,
    .match = lb_mariadb_uri_match,
    .describe = lb_maria_describe,
    .space_open = lb_maria_space_open,
    .space_join = lb_maria_space_join,
    .space_close = lb_maria_space_close,
    .space_name = lb_maria_space_name,
    .space_number = lb_maria_space_number,
    .space_room = lb_maria_space_room,
    .door = lb_maria_door,
    .space_check = lb_maria_space_check,
    .space_look = lb_maria_space_look,
    .open = maria_open,
    .close = maria_close,
    .caps = maria_caps,
    .version_of = maria_version,
    .run = maria_run,
    .prepare = maria_prepare,
    .prepares_ahead = maria_prepares_ahead,
    .execute = maria_execute,
    .column = maria_column,
    .value = maria_value,
    .begin = maria_begin,
    .commit = maria_commit,
    .rollback = maria_rollback,
    .placeholder = maria_placeholder,
    .cancel = lb_maria_cancel,
    .session_id = lb_maria_session_id,
    .is_blocked = lb_maria_is_blocked,
    .waiters = lb_maria_waiters,
    .cut = maria_cut,
    .lock_rows = maria_lock_rows,
    .take_snapshot = maria_take_snapshot,
    .purges_later = true,
    .node = maria_node,
    .up_since = lb_maria_up_since,
    .terminate = lb_maria_terminate,
    .strangers = lb_maria_strangers,
    .facts = lb_maria_facts,
    .counters = lb_maria_counters,
    .levels = lb_maria_levels,
    .server_pid = lb_maria_server_pid,
    .socket = lb_maria_socket,
    .waits = lb_maria_waits,
    .whole_seconds = &lb_mariadb_whole_seconds,
    .exploring = &lb_mariadb_exploring,
    .aging = &lb_mariadb_aging,
};
