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
#include "clock.h"
#include "exploring.h"
#include "postgres_space.h"
#include "postgres_wire.h"

#include <libpq-fe.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

extern const struct lb_db lb_db_postgres;

enum { OID_INT8 = 20, OID_FLOAT8 = 701, MAX_PARAMS = 64 };

struct lb_stmt {
    struct lb_stmt *next;
    char name[16];
    char *sql;
    size_t n_params;
    Oid types[MAX_PARAMS];
};

struct lb_conn {
    struct lb_conn_head head;
    bool cut; /* see lb_db.cut */
    PGconn *pg;
    struct lb_watch watch; /* of its socket */
    PGcancel *cancel;      /* made at connect, so that another thread need not touch pg */
    bool pooled;           /* behind a transaction pooler */
    bool notified;         /* something came on a channel since wait_notified was last asked */
    char settings[300];    /* pooled: what each transaction starts with */
    PGresult *result;      /* the last one that execute() answered LB_OK with */
    PGresult *aside;       /* see lb_db.set_aside */
    struct lb_stmt *stmts;
    unsigned n_stmts;
    bool can_ask_blocked; /* the statement of is_blocked is prepared */
    char *text;           /* text parameters with their NUL */
    size_t text_size;
};

/* --- outcomes ------------------------------------------------------------------------------- */

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

static void set_error(struct lb_conn *conn, int code, struct lb_error *err)
{
    lb_fail(err, code, "%s", conn->head.message);
    memcpy(err->native, conn->head.native, sizeof err->native);
}

/* Turns a result that is not a success into an answer or an error, and clears it. */
static int outcome(struct lb_conn *conn, PGresult *result, struct lb_error *err)
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
    if (r < 0)
        set_error(conn, r, err);
    PQclear(result);
    return r;
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
    PQfreeCancel(conn->cancel);
    PQfinish(conn->pg);
    free(conn->text);
    free(conn);
}

static int pg_open(struct lb_space *space, const struct lb_conn_options *options,
                   struct lb_conn **ret_conn, struct lb_error *err)
{
    struct lb_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
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
    int r = lb_pg_connect(space->target.uri, options->role, extra, space->schema, &conn->pg,
                          &conn->pooled, err);
    if (r < 0) {
        free(conn);
        return r;
    }
    snprintf(conn->settings, sizeof conn->settings,
             "%s%s%sSELECT set_config('search_path', '%s', true), "
             "set_config('lock_timeout', '%u', true)",
             has_level ? "SET TRANSACTION ISOLATION LEVEL " : "", has_level ? level : "",
             has_level ? "; " : "", space->schema, options->lock_timeout_ms);
    conn->cancel = PQgetCancel(conn->pg);
    if (conn->cancel == NULL) {
        pg_close(conn);
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    }
    *ret_conn = conn;
    return 0;
}

static uint64_t pg_caps(struct lb_conn *conn)
{
    uint64_t caps = LB_CAP_SKIP_LOCKED | LB_CAP_NOWAIT | LB_CAP_ROW_LOCK | LB_CAP_ADVISORY |
                    LB_CAP_ADVISORY_SHARED | LB_CAP_ADVISORY_XACT | LB_CAP_RETURNING |
                    LB_CAP_TABLE_LOCK | LB_CAP_LISTEN_NOTIFY | LB_CAP_MULTI_WRITER |
                    LB_CAP_LOCK_TIMEOUT | LB_CAP_PARTIAL_INDEX | LB_CAP_SERIALIZABLE_RETRY;
    if (PQserverVersion(conn->pg) >= 150000)
        caps |= LB_CAP_MERGE;
    if (PQserverVersion(conn->pg) >= 170000)
        caps |= LB_CAP_MERGE_RETURNING;
    return caps;
}

/* --- statements ----------------------------------------------------------------------------- */

static void drain(struct lb_conn *conn)
{
    PGnotify *notify;
    while ((notify = PQnotifies(conn->pg)) != NULL) {
        conn->notified = true;
        PQfreemem(notify);
    }
}

static bool is_idle(const struct lb_conn *conn)
{
    return PQtransactionStatus(conn->pg) == PQTRANS_IDLE;
}

static int pg_run(struct lb_conn *conn, const char *sql, struct lb_error *err)
{
    char *both = NULL;
    if (conn->pooled && is_idle(conn)) {
        /* One packet is one transaction. */
        if (asprintf(&both, "%s; %s", conn->settings, sql) < 0)
            return lb_fail(err, LB_E_MEMORY, "out of memory");
        sql = both;
    }
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, PQsendQuery(conn->pg, sql));
    free(both);
    drain(conn);
    if (!lb_pg_succeeded(result))
        return outcome(conn, result, err);
    PQclear(result);
    return LB_OK;
}

static int pg_prepare(struct lb_conn *conn, const char *sql, size_t n_params,
                      const enum lb_type *types, struct lb_stmt **ret_stmt, struct lb_error *err)
{
    if (n_params > MAX_PARAMS)
        return lb_fail(err, LB_E_SQL, "more than %d parameters", MAX_PARAMS);
    struct lb_stmt *stmt = calloc(1, sizeof *stmt);
    if (stmt == NULL || (stmt->sql = strdup(sql)) == NULL) {
        free(stmt);
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    }
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
            return outcome(conn, result, err);
        }
        PQclear(result);
    }
    stmt->next = conn->stmts;
    conn->stmts = stmt;
    *ret_stmt = stmt;
    return LB_OK;
}

/* Parameters as libpq wants them. */
struct bound {
    const char *values[MAX_PARAMS];
    int lengths[MAX_PARAMS];
    int formats[MAX_PARAMS];
    uint64_t binary[MAX_PARAMS];
};

enum { NUMBER_SIZE = 32 }; /* room for a number as text */

static bool reserve_text(struct lb_conn *conn, size_t n, const struct lb_value *params)
{
    size_t need = 0;
    for (size_t i = 0; i < n; i++)
        need += params[i].type == LB_TEXT ? params[i].length + 1u : NUMBER_SIZE;
    if (need <= conn->text_size)
        return true;
    char *grown = realloc(conn->text, need * 2);
    if (grown == NULL)
        return false;
    conn->text = grown;
    conn->text_size = need * 2;
    return true;
}

static bool bind_params(struct lb_conn *conn, const struct lb_stmt *stmt,
                        const struct lb_value *params, struct bound *bound)
{
    if (!reserve_text(conn, stmt->n_params, params))
        return false;
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
    return true;
}

/* Behind a pooler: settings and statement as one pipeline, which is one transaction and one packet,
 * so that both reach the same backend. Inside of a transaction the settings are there already, and
 * it is the statement alone. The settings are no SET LOCAL: the server would log a warning for
 * each, as a pipeline is no transaction block. */
static bool send_pooled(struct lb_conn *conn, const struct lb_stmt *stmt, const struct bound *bound)
{
    PGconn *pg = conn->pg;
    bool is_alone = !is_idle(conn), sent = is_alone || PQenterPipelineMode(pg) == 1;
    char settings[sizeof conn->settings], *rest = settings, *one;
    snprintf(settings, sizeof settings, "%s", conn->settings);
    while (!is_alone && sent && (one = strsep(&rest, ";")) != NULL)
        sent = PQsendQueryParams(pg, one, 0, NULL, NULL, NULL, NULL, 0) == 1;
    if (sent)
        sent = PQsendQueryParams(pg, stmt->sql, (int)stmt->n_params, stmt->types, bound->values,
                                 bound->lengths, bound->formats, 0) == 1;
    return sent && (is_alone || PQpipelineSync(pg) == 1);
}

/* Returns the statement's result, or the first that failed. */
static PGresult *execute_pooled(struct lb_conn *conn, const struct lb_stmt *stmt,
                                const struct bound *bound)
{
    PGconn *pg = conn->pg;
    bool is_alone = !is_idle(conn), sent = send_pooled(conn, stmt, bound);
    if (is_alone)
        return lb_pg_wire_answer(pg, &conn->watch, sent);
    PGresult *last = NULL, *next;
    bool is_end = !sent;
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
    PQexitPipelineMode(pg);
    return last;
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

static int pg_execute(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                      struct lb_rows *ret_rows, struct lb_error *err)
{
    struct bound bound; /* not initialised: only its first n_params entries are used */
    PQclear(conn->result);
    conn->result = NULL;
    if (!bind_params(conn, stmt, params, &bound))
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    PGresult *result;
    if (conn->pooled && conn->cut) {
        return cut_off(conn, send_pooled(conn, stmt, &bound));
    } else if (conn->pooled) {
        result = execute_pooled(conn, stmt, &bound);
    } else {
        int sent = PQsendQueryPrepared(conn->pg, stmt->name, (int)stmt->n_params, bound.values,
                                       bound.lengths, bound.formats, 0);
        if (conn->cut)
            return cut_off(conn, sent == 1);
        result = lb_pg_wire_answer(conn->pg, &conn->watch, sent);
    }
    drain(conn);
    if (!lb_pg_succeeded(result))
        return outcome(conn, result, err);
    conn->result = result;
    ret_rows->n_rows = (size_t)PQntuples(result);
    ret_rows->n_columns = (size_t)PQnfields(result);
    ret_rows->n_changed = changed_rows(result);
    return LB_OK;
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
    drain(conn);
    if (!lb_pg_succeeded(result))
        return outcome(conn, result, err);
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
    if (!conn->pooled)
        return run_control(conn, "BEGIN", err);
    snprintf(sql, sizeof sql, "BEGIN; %s", conn->settings);
    return run_control(conn, sql, err);
}

static int pg_commit(struct lb_conn *conn, struct lb_error *err)
{
    if (conn->cut)
        return cut_off(conn, PQsendQuery(conn->pg, "COMMIT") == 1);
    return run_control(conn, "COMMIT", err);
}

static int pg_rollback(struct lb_conn *conn, struct lb_error *err)
{
    return is_idle(conn) ? LB_OK : run_control(conn, "ROLLBACK", err);
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

/* What came while a statement was executed counts, so that nothing is lost between a claim that
 * found nothing and the wait. */
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
        drain(conn);
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
    return pg_run(conn, sql, err);
}

/* At repeatable read the first statement takes it. */
static int pg_take_snapshot(struct lb_conn *conn, struct lb_error *err)
{
    return pg_run(conn, "SELECT 1", err);
}

static int pg_placeholder(size_t n, char *buf, size_t size)
{
    return snprintf(buf, size, "$%zu", n + 1);
}

/* --- other sessions ------------------------------------------------------------------------- */

static void pg_cancel(struct lb_conn *conn)
{
    char ignored[256];
    PQcancel(conn->cancel, ignored, sizeof ignored);
}

static int64_t pg_session_id(struct lb_conn *conn)
{
    return conn->pooled ? 0 : PQbackendPID(conn->pg); /* a pooler's number is no backend's */
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
    if (outcome(conn, result, err) >= 0)
        set_error(conn, LB_E_ENV, err);
    return NULL;
}

static int pg_is_blocked(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    /* An autovacuum gives way to whoever waits for it. */
    static const char name[] = "lb_is_blocked",
                      sql[] = "SELECT EXISTS (SELECT FROM unnest(pg_blocking_pids($1::int)) AS b "
                              "WHERE b NOT IN (SELECT pid FROM pg_stat_activity WHERE "
                              "backend_type = 'autovacuum worker'))";
    if (!control->can_ask_blocked && !control->pooled) {
        PGresult *result = PQprepare(control->pg, name, sql, 1, NULL);
        control->can_ask_blocked = lb_pg_succeeded(result);
        if (!control->can_ask_blocked) {
            if (outcome(control, result, err) >= 0)
                set_error(control, LB_E_ENV, err);
            return err->code;
        }
        PQclear(result);
    }
    PGresult *result = ask(control, control->pooled ? NULL : name, sql, session_id, err);
    if (result == NULL)
        return err->code;
    int blocked = PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    return blocked;
}

static int pg_terminate(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    PGresult *result = ask(control, NULL, "SELECT pg_terminate_backend($1::int)", session_id, err);
    if (result == NULL)
        return err->code;
    PQclear(result);
    return 0;
}

/* Of sessions that it may not look into, the server still tells to whom they belong and their
 * application's name. Our own space's session may be lost. */
static int pg_strangers(struct lb_conn *conn, uint64_t *ret_n, struct lb_error *err)
{
    PGresult *result =
        PQexec(conn->pg, "SELECT count(*) FILTER (WHERE application_name NOT LIKE 'lockbench%') "
                         "+ greatest(count(*) FILTER (WHERE application_name = "
                         "'lockbench space') - 1, 0) "
                         "FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL");
    if (!lb_pg_succeeded(result)) {
        if (outcome(conn, result, err) >= 0)
            set_error(conn, LB_E_ENV, err);
        return err->code;
    }
    *ret_n = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return 0;
}

static int pg_cancel_sync(struct lb_conn *control, uint64_t *ret_n, struct lb_error *err)
{
    PGresult *result =
        PQexec(control->pg, "SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM "
                            "pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> "
                            "pg_backend_pid() AND application_name LIKE 'lockbench worker%'");
    if (!lb_pg_succeeded(result)) {
        if (outcome(control, result, err) >= 0)
            set_error(control, LB_E_ENV, err);
        return err->code;
    }
    *ret_n = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return 0;
}

/* --- facts ---------------------------------------------------------------------------------- */

static int report_rows(struct lb_conn *conn, const char *sql, lb_fact_fn *fact, void *arg,
                       struct lb_error *err)
{
    PGresult *result = PQexec(conn->pg, sql);
    if (!lb_pg_succeeded(result)) {
        if (outcome(conn, result, err) >= 0)
            set_error(conn, LB_E_ENV, err);
        return err->code;
    }
    for (int i = 0; i < PQntuples(result); i++)
        fact(arg, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1));
    PQclear(result);
    return 0;
}

static int pg_facts(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    fact(arg, "version", PQparameterStatus(conn->pg, "server_version"));
    fact(arg, "pooled", conn->pooled ? "yes" : "no");
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
static int pg_counters(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
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
    /* What this session itself did (a backlog, before the run) is to be in the totals now. */
    if (PQserverVersion(conn->pg) >= 150000)
        pg_run(conn, "SELECT pg_stat_force_next_flush()", &ignored);
    pg_run(conn, "SELECT pg_stat_clear_snapshot()", &ignored);
    snprintf(both, sizeof both, "%s%s%s", conn->pooled ? conn->settings : "",
             conn->pooled ? "; " : "", sql);
    return report_rows(conn, both, fact, arg, err);
}

/* A server that lost one of its processes ends all sessions and recovers, and its first process
 * lives on: the others are started anew, which only those see who may look at them. */
static int pg_up_since(struct lb_conn *conn, int64_t *ret_since_us, uint64_t *ret_up_us,
                       struct lb_error *err)
{
    static const char sql[] =
        "SELECT (extract(epoch FROM s) * 1000000)::bigint, "
        "(extract(epoch FROM greatest(clock_timestamp() - s, '0')) * 1000000)::bigint "
        "FROM (SELECT greatest(pg_catalog.pg_postmaster_start_time(), (SELECT max(backend_start) "
        "FROM pg_catalog.pg_stat_activity WHERE backend_type = 'checkpointer'))) AS x(s)";
    PGresult *result = lb_pg_wire_answer(conn->pg, &conn->watch, PQsendQuery(conn->pg, sql));
    drain(conn);
    if (!lb_pg_succeeded(result))
        return outcome(conn, result, err);
    *ret_since_us = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    *ret_up_us = strtoull(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    return LB_OK;
}

/* Idle inside of a transaction is work that others may have to wait for; idle outside is none. */
static int pg_waits(struct lb_conn *control, lb_fact_fn *fact, void *arg, struct lb_error *err)
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

const struct lb_db lb_db_postgres = {
    .name = "postgres",
    .product = "PostgreSQL",
    .uri_help = "postgresql://USER@HOST:PORT/DB (any libpq URI or conninfo string)",
    .isolations = LB_ISO_BIT(LB_ISO_READ_COMMITTED) | LB_ISO_BIT(LB_ISO_REPEATABLE_READ) |
                  LB_ISO_BIT(LB_ISO_SERIALIZABLE),
    .default_isolation = LB_ISO_READ_COMMITTED,
    .set_aside = pg_set_aside,
    .take_back = pg_take_back,
    .match = lb_pg_match,
    .describe = lb_pg_describe,
    .space_open = lb_pg_space_open,
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
    .run = pg_run,
    .prepare = pg_prepare,
    .execute = pg_execute,
    .column = pg_column,
    .value = pg_value,
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .placeholder = pg_placeholder,
    .cancel = pg_cancel,
    .session_id = pg_session_id,
    .is_blocked = pg_is_blocked,
    .cut = pg_cut,
    .lock_rows = pg_lock_rows,
    .take_snapshot = pg_take_snapshot,
    .purges_later = true,
    .wait_notified = pg_wait_notified,
    .node = pg_node,
    .up_since = pg_up_since,
    .is_carried = pg_is_carried,
    .cancel_sync = pg_cancel_sync,
    .terminate = pg_terminate,
    .strangers = pg_strangers,
    .facts = pg_facts,
    .counters = pg_counters,
    .waits = pg_waits,
    .has_question_operators = true,
    .exploring = &lb_postgres_exploring,
};
