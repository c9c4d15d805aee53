/* PostgreSQL, through libpq. Targets and spaces are in postgres_space.c.
 *
 * Settings of a session (search path, isolation, lock timeout) go with the start-up packet: no
 * round trip besides BEGIN, the statements and COMMIT. A transaction pooler such as PgBouncer
 * refuses them there, and forgets what SET says; behind one, each transaction carries its settings
 * itself, in the same packet (see `pooled`), and statements are not prepared.
 *
 * Values travel as text, except integer and real parameters: 8 bytes each.
 *
 * Source: https://www.postgresql.org/docs/current/libpq.html, /errcodes-appendix.html.
 */
#include "aging.h"
#include "clock.h"
#include "memory.h"
#include "postgres_send.h"

#include <libpq-fe.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

extern const struct lb_db lb_db_postgres;

/* --- a connection to a standby, for reads: lb_conn_options.replica_of ------------------------
 *
 * libpq finds it: it takes the target's first host that is in recovery. The primary's commits so
 * far must be there before it is used, as the run's tables were just made on the primary: we wait
 * for the replica's replay, up to the primary's present write position. From then on its lag is not
 * bounded, which a protocol that reads there must tolerate.
 */

/* True if the connection string has several hosts. One of them may be a standby. */
static bool names_several(PGconn *pg)
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

/* Until the replica has replayed what the primary has written so far. 0 or LB_E_ENV. */
static int await_replay(struct lb_conn *replica, struct lb_conn *primary, struct lb_error *err)
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

/* --- connections ---------------------------------------------------------------------------- */

static void pg_close(struct lb_conn *conn)
{
    if (conn == NULL)
        return;
    while (conn->stmts != NULL) {
        struct lb_stmt *stmt = conn->stmts;
        conn->stmts = stmt->next;
        free(stmt->sql);
        free(stmt);
    }
    PQclear(conn->result);
    PQclear(conn->aside);
    lb_pg_cancel_free(conn->cancel);
    PQfinish(conn->pg);
    free(conn->text);
    free(conn);
}

static int pg_open(struct lb_space *space, const struct lb_conn_options *options,
                   struct lb_conn **ret_conn, struct lb_error *err)
{
    struct lb_conn *conn = lb_calloc(1, sizeof *conn);
    conn->head.db = &lb_db_postgres;
    bool has_level = options->isolation != LB_ISO_DEFAULT;
    const char *level = lb_isolation_name(options->isolation);
    char extra[400], escaped[40] = "";
    for (size_t i = 0, n = 0; has_level && level[i] != '\0'; i++) {
        if (level[i] == ' ')
            escaped[n++] = '\\';
        escaped[n++] = level[i];
        escaped[n] = '\0';
    }
    snprintf(extra, sizeof extra, "-c search_path=%s -c lock_timeout=%u%s%s", space->schema,
             options->lock_timeout_ms, has_level ? " -c default_transaction_isolation=" : "",
             escaped);
    const char *which = options->replica_of != NULL ? "standby" : NULL;
    int r = lb_pg_connect(space->target.uri, options->role, extra, space->schema, which, &conn->pg,
                          &conn->pooled, err);
    if (r < 0) {
        free(conn);
        return which != NULL ? lb_fail_prefix(err, "no replica among the hosts of -d") : r;
    }
    snprintf(conn->settings, sizeof conn->settings,
             "%s%s%sSELECT set_config('search_path', '%s', true), "
             "set_config('lock_timeout', '%u', true)",
             has_level ? "SET TRANSACTION ISOLATION LEVEL " : "", has_level ? level : "",
             has_level ? "; " : "", space->schema, options->lock_timeout_ms);
    conn->begins_late = options->begins_late && !conn->pooled;
    conn->cancel = lb_pg_cancel_new(conn->pg);
    if (conn->cancel == NULL)
        r = lb_fail(err, LB_E_ENV, "the server went away: %s", PQerrorMessage(conn->pg));
    else if (options->replica_of != NULL)
        r = await_replay(conn, options->replica_of, err);
    if (r < 0) {
        pg_close(conn);
        return r;
    }
    *ret_conn = conn;
    return 0;
}

static uint64_t pg_caps(struct lb_conn *conn)
{
    uint64_t caps = LB_CAP_SKIP_LOCKED | LB_CAP_NOWAIT | LB_CAP_ROW_LOCK | LB_CAP_ADVISORY |
                    LB_CAP_ADVISORY_SHARED | LB_CAP_ADVISORY_XACT | LB_CAP_RETURNING |
                    LB_CAP_TABLE_LOCK | LB_CAP_LISTEN_NOTIFY | LB_CAP_MULTI_WRITER |
                    LB_CAP_LOCK_TIMEOUT | LB_CAP_PARTIAL_INDEX | LB_CAP_SERIALIZABLE_RETRY |
                    LB_CAP_PIPELINE;
    if (PQserverVersion(conn->pg) >= 150000)
        caps |= LB_CAP_MERGE;
    if (PQserverVersion(conn->pg) >= 170000)
        caps |= LB_CAP_MERGE_RETURNING;
    if (!conn->pooled && names_several(conn->pg))
        caps |= LB_CAP_REPLICA;
    return caps;
}

/* 9.6.24 is 90624, and 17.4 is 170004. */
static int pg_version(struct lb_conn *conn)
{
    int version = PQserverVersion(conn->pg);
    return version / 10000 * 1000 + (version >= 100000 ? version % 10000 : version / 100 % 100);
}

/* --- statements ----------------------------------------------------------------------------- */

static int pg_prepare(struct lb_conn *conn, const char *sql, size_t n_params,
                      const enum lb_type *types, struct lb_stmt **ret_stmt, struct lb_error *err)
{
    if (n_params > MAX_PARAMS)
        return lb_fail(err, LB_E_SQL, "more than %d parameters", MAX_PARAMS);
    int r = lb_pg_pay_begin(conn, err);
    if (r != LB_OK)
        return r;
    struct lb_stmt *stmt = lb_calloc(1, sizeof *stmt);
    stmt->sql = lb_strdup(sql);
    snprintf(stmt->name, sizeof stmt->name, "s%u", ++conn->n_stmts);
    stmt->n_params = n_params;
    /* Text is left to the server to infer: it may be a timestamp, a uuid, an enum. */
    for (size_t i = 0; i < n_params; i++)
        stmt->types[i] = types[i] == LB_INT ? OID_INT8 : types[i] == LB_REAL ? OID_FLOAT8 : 0;
    if (!conn->pooled) {
        PGresult *result =
            lb_pg_wire_answer(conn->pg, &conn->watch,
                              PQsendPrepare(conn->pg, stmt->name, sql, (int)n_params, stmt->types));
        if (!lb_pg_succeeded(result)) {
            free(stmt->sql);
            free(stmt);
            return lb_pg_outcome(conn, result, err);
        }
        PQclear(result);
    }
    stmt->next = conn->stmts;
    conn->stmts = stmt;
    *ret_stmt = stmt;
    return LB_OK;
}

static int64_t changed_rows(PGresult *result)
{
    const char *tag = PQcmdStatus(result); /* "UPDATE 3", "INSERT 0 1", "SELECT 5" */
    if (tag[0] != 'U' && tag[0] != 'I' && tag[0] != 'D' && tag[0] != 'M')
        return 0;
    const char *n = strrchr(tag, ' ');
    return n != NULL ? strtoll(n, NULL, 10) : 0;
}

/* The answer of something that was sent on a connection which is cut before the answer is read: the
 * server has the request and carries it out. */
static int cut_off(struct lb_conn *conn, bool sent)
{
    while (sent && PQflush(conn->pg) > 0)
        ;
    shutdown(PQsocket(conn->pg), SHUT_RDWR);
    conn->head.lost = true;
    snprintf(conn->head.native, sizeof conn->head.native, "08006");
    snprintf(conn->head.message, sizeof conn->head.message,
             "the connection was cut before the answer came");
    return LB_LOST;
}

/* The result becomes the connection's last one. */
static int take_result(struct lb_conn *conn, PGresult *result, struct lb_rows *ret_rows,
                       struct lb_error *err)
{
    PQclear(conn->result);
    conn->result = NULL;
    lb_pg_drain(conn);
    if (!lb_pg_succeeded(result))
        return lb_pg_outcome(conn, result, err);
    conn->result = result;
    ret_rows->n_rows = (size_t)PQntuples(result);
    ret_rows->n_columns = (size_t)PQnfields(result);
    ret_rows->n_changed = changed_rows(result);
    return LB_OK;
}

static int pg_execute(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                      struct lb_rows *ret_rows, struct lb_error *err)
{
    struct lb_pg_bound bound; /* not initialised: only its first n_params entries are used */
    lb_pg_bind(conn, stmt, params, &bound);
    if (conn->cut)
        return cut_off(conn, lb_pg_send(conn, stmt, &bound));
    return take_result(conn, lb_pg_request(conn, stmt, &bound), ret_rows, err);
}

/* --- pipelines --- */

static int pg_send(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                   struct lb_error *err)
{
    (void)err; /* receive reports a failure */
    struct lb_pg_bound bound;
    lb_pg_bind(conn, stmt, params, &bound);
    conn->send_failed = !lb_pg_send_piped(conn, stmt, &bound) || conn->send_failed;
    return 0;
}

static int pg_receive(struct lb_conn *conn, struct lb_rows *ret_rows, struct lb_error *err)
{
    if (conn->cut || conn->send_failed)
        return cut_off(conn, conn->n_piped > 0);
    return take_result(conn, lb_pg_receive_piped(conn), ret_rows, err);
}

static const char *pg_column(struct lb_conn *conn, size_t column)
{
    return PQfname(conn->result, (int)column);
}

static struct lb_value pg_value(struct lb_conn *conn, size_t row, size_t column)
{
    enum { OID_BOOL = 16, OID_INT2 = 21, OID_INT4 = 23, OID_OID = 26, OID_FLOAT4 = 700 };
    if (PQgetisnull(conn->result, (int)row, (int)column))
        return lb_null();
    const char *text = PQgetvalue(conn->result, (int)row, (int)column);
    switch (PQftype(conn->result, (int)column)) {
    case OID_INT8:
    case OID_INT4:
    case OID_INT2:
    case OID_OID:
        return lb_int(strtoll(text, NULL, 10));
    case OID_BOOL: /* as in the other engines */
        return lb_int(text[0] == 't');
    case OID_FLOAT8:
    case OID_FLOAT4:
        return (struct lb_value){.type = LB_REAL, .real = strtod(text, NULL)};
    default:
        return lb_text(text, (size_t)PQgetlength(conn->result, (int)row, (int)column));
    }
}

/* --- transactions --------------------------------------------------------------------------- */

static int run_control(struct lb_conn *conn, const char *sql, struct lb_error *err)
{
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, PQsendQuery(conn->pg, sql));
    lb_pg_drain(conn);
    if (!lb_pg_succeeded(result))
        return lb_pg_outcome(conn, result, err);
    /* COMMIT of a transaction that has failed is a ROLLBACK, and no error. */
    bool undone = sql[0] == 'C' && strcmp(PQcmdStatus(result), "ROLLBACK") == 0;
    PQclear(result);
    if (!undone)
        return LB_OK;
    snprintf(conn->head.native, sizeof conn->head.native, "25P02");
    snprintf(conn->head.message, sizeof conn->head.message,
             "the transaction had failed before its COMMIT and was rolled back");
    return LB_OTHER;
}

static void pg_set_aside(struct lb_conn *conn)
{
    PQclear(conn->aside);
    conn->aside = conn->result;
    conn->result = NULL;
}

static void pg_take_back(struct lb_conn *conn)
{
    PQclear(conn->result);
    conn->result = conn->aside;
    conn->aside = NULL;
}

static int pg_begin(struct lb_conn *conn, enum lb_begin mode, struct lb_error *err)
{
    (void)mode;
    char sql[sizeof conn->settings + 10];
    conn->owes_begin = conn->begins_late;
    if (conn->owes_begin)
        return LB_OK;
    if (!conn->pooled)
        return run_control(conn, "BEGIN", err);
    snprintf(sql, sizeof sql, "BEGIN; %s", conn->settings);
    return run_control(conn, sql, err);
}

static int pg_commit(struct lb_conn *conn, struct lb_error *err)
{
    int r = lb_pg_pay_begin(conn, err);
    if (r != LB_OK)
        return r;
    if (conn->cut)
        return cut_off(conn, PQsendQuery(conn->pg, "COMMIT") == 1);
    return run_control(conn, "COMMIT", err);
}

static int pg_rollback(struct lb_conn *conn, struct lb_error *err)
{
    conn->owes_begin = false;
    return lb_pg_is_idle(conn) ? LB_OK : run_control(conn, "ROLLBACK", err);
}

/* Under TLS or GSSAPI libpq may hold back bytes of which a poll of the socket tells nothing. */
static bool pg_is_carried(struct lb_conn *conn)
{
    return PQsslInUse(conn->pg) == 0 && PQgssEncInUse(conn->pg) == 0;
}

static void pg_node(const struct lb_conn *conn, char *buf, size_t size)
{
    const char *host = PQhost(conn->pg), *port = PQport(conn->pg);
    snprintf(buf, size, "%s:%s", host != NULL ? host : "", port != NULL ? port : "");
}

static void pg_cut(struct lb_conn *conn)
{
    conn->cut = true;
}

/* Notifications that arrived during a statement count, so that none is lost between an empty claim
 * and the wait. */
static int pg_wait_notified(struct lb_conn *conn, uint32_t timeout_ms, struct lb_error *err)
{
    uint64_t end_ns = lb_now_ns() + (uint64_t)timeout_ms * 1000000u;
    (void)err;
    for (;;) {
        if (PQconsumeInput(conn->pg) == 0 || PQstatus(conn->pg) != CONNECTION_OK) {
            conn->head.lost = true;
            snprintf(conn->head.native, sizeof conn->head.native, "08006");
            snprintf(conn->head.message, sizeof conn->head.message, "%s", PQerrorMessage(conn->pg));
            return LB_LOST;
        }
        lb_pg_drain(conn);
        if (conn->notified) {
            conn->notified = false;
            return LB_OK;
        }
        if (lb_now_ns() >= end_ns)
            return LB_TIMEOUT;
        lb_pg_wire_wait(conn->pg, &conn->watch, end_ns);
    }
}

static int pg_lock_rows(struct lb_conn *conn, uint64_t least, struct lb_error *err)
{
    char sql[500];
    snprintf(
        sql, sizeof sql,
        "DO $$ DECLARE t record; n bigint; BEGIN"
        " FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        " AND tablename <> '" LB_LIFE_TABLE "' LOOP"
        " EXECUTE format('SELECT count(*) FROM %%I', t.tablename) INTO n;"
        " IF n >= %llu THEN EXECUTE format('SELECT 1 FROM %%I FOR UPDATE', t.tablename); END IF;"
        " END LOOP; END $$",
        (unsigned long long)least);
    return lb_pg_run(conn, sql, err);
}

/* At repeatable read the first statement takes it. */
static int pg_take_snapshot(struct lb_conn *conn, struct lb_error *err)
{
    return lb_pg_run(conn, "SELECT 1", err);
}

static int pg_placeholder(size_t n, char *buf, size_t size)
{
    return snprintf(buf, size, "$%zu", n + 1);
}

const struct lb_db lb_db_postgres = {
    .name = "postgres",
    .product = "PostgreSQL",
    .dialect = LB_SQL_POSTGRES,
    .uri_help = "postgresql://USER@HOST:PORT/DB (any libpq URI or conninfo string)",
    .isolations = LB_ISO_BIT(LB_ISO_READ_COMMITTED) | LB_ISO_BIT(LB_ISO_REPEATABLE_READ) |
                  LB_ISO_BIT(LB_ISO_SERIALIZABLE),
    .default_isolation = LB_ISO_READ_COMMITTED,
    .has_arrays = true,
    .set_aside = pg_set_aside,
    .take_back = pg_take_back,
    .match = lb_pg_match,
    .describe = lb_pg_describe,
    .space_open = lb_pg_space_open,
    .space_join = lb_pg_space_join,
    .space_close = lb_pg_space_close,
    .space_name = lb_pg_space_name,
    .space_number = lb_pg_space_number,
    .space_room = lb_pg_space_room,
    .door = lb_pg_door,
    .space_check = lb_pg_space_check,
    .space_look = lb_pg_space_look,
    .open = pg_open,
    .close = pg_close,
    .caps = pg_caps,
    .version_of = pg_version,
    .run = lb_pg_run,
    .prepare = pg_prepare,
    .execute = pg_execute,
    .send = pg_send,
    .receive = pg_receive,
    .column = pg_column,
    .value = pg_value,
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .placeholder = pg_placeholder,
    .cancel = lb_pg_cancel,
    .session_id = lb_pg_session_id,
    .is_blocked = lb_pg_is_blocked,
    .waiters = lb_pg_waiters,
    .is_relayed = true,
    .door_keep = lb_pg_door_keep,
    .door_back = lb_pg_door_back,
    .door_types = lb_pg_door_types,
    .cut = pg_cut,
    .lock_rows = pg_lock_rows,
    .take_snapshot = pg_take_snapshot,
    .purges_later = true,
    .wait_notified = pg_wait_notified,
    .node = pg_node,
    .up_since = lb_pg_up_since,
    .is_carried = pg_is_carried,
    .cancel_sync = lb_pg_cancel_sync,
    .terminate = lb_pg_terminate,
    .strangers = lb_pg_strangers,
    .facts = lb_pg_facts,
    .counters = lb_pg_counters,
    .levels = lb_pg_levels,
    .server_pid = lb_pg_server_pid,
    .socket = lb_pg_socket,
    .waits = lb_pg_waits,
    .has_question_operators = true,
    .whole_seconds = &lb_postgres_whole_seconds,
    .exploring = &lb_postgres_exploring,
    .aging = &lb_postgres_aging,
};
