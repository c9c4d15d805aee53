/* SQLite: the engine that runs inside the process.
 *
 * A space is a file of its own, made anew by each run; see sqlite_file.c for its ownership and for
 * finding the leftovers of dead runs.
 *
 * One connection per session, opened without a mutex (a session has one thread). Rows are copied
 * out and the statement is reset at once, so that no read transaction stays open behind a result.
 *
 * Waiting for the write lock is done by a busy handler of our own: SQLite's built-in one sleeps up
 * to 100 ms at a time and cannot be interrupted. SQLite does not call a busy handler where waiting
 * could not help: a reader that wants to write behind another's commit (BUSY_SNAPSHOT) is refused
 * at once, whatever the timeout.
 *
 * Isolation: SQLite has one level, serializable; a request for a weaker one is satisfied by it.
 *
 * Source: https://www.sqlite.org/rescode.html, /wal.html, /c3ref/busy_handler.html.
 */
#include "aging.h"
#include "clock.h"
#include "db.h"
#include "leash.h"
#include "memory.h"
#include "result_rows.h"
#include "sqlite_clock.h"
#include "sqlite_probe.h"
#include "sqlite_space.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct lb_db lb_db_sqlite;

struct lb_stmt {
    const struct lb_sqlite_api *api;
    struct lb_stmt *next;
    sqlite3_stmt *handle;
    size_t n_params;
    bool readonly;
};

enum control { C_DEFERRED, C_IMMEDIATE, C_EXCLUSIVE, C_COMMIT, C_ROLLBACK, CONTROLS };

struct lb_conn {
    struct lb_conn_head head;
    struct lb_space *space;
    const struct lb_sqlite_api *api; /* the space's */
    struct lb_conn *next;            /* in space->conns */
    int64_t id;
    sqlite3 *handle;
    uint32_t lock_timeout_ms;
    struct lb_stmt *stmts; /* all that were prepared */
    sqlite3_stmt *control[CONTROLS];
    struct lb_stmt *last; /* the statement with the open result */
    struct lb_result result;
    uint64_t bounded_since_ns; /* see lb_leash_is_over */
    uint64_t wait_since_ns;   /* when the busy handler was first called in this operation; 0: not */
    atomic_uint n_refused;    /* calls of the busy handler, ever; see is_blocked */
    atomic_bool is_waiting;   /* between two tries for a lock */
    atomic_bool is_cancelled; /* cancel() during this operation */
    bool is_full;             /* by fill(): not the disk itself */
};

/* --- outcomes ------------------------------------------------------------------------------- */

/* The name of an extended result code; where it has none, of its primary one. */
static const char *code_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {SQLITE_ERROR, "ERROR"},
        {SQLITE_PERM, "PERM"},
        {SQLITE_ABORT, "ABORT"},
        {SQLITE_BUSY, "BUSY"},
        {SQLITE_BUSY_RECOVERY, "BUSY_RECOVERY"},
        {SQLITE_BUSY_SNAPSHOT, "BUSY_SNAPSHOT"},
        {SQLITE_LOCKED, "LOCKED"},
        {SQLITE_NOMEM, "NOMEM"},
        {SQLITE_READONLY, "READONLY"},
        {SQLITE_INTERRUPT, "INTERRUPT"},
        {SQLITE_IOERR, "IOERR"},
        {SQLITE_CORRUPT, "CORRUPT"},
        {SQLITE_FULL, "FULL"},
        {SQLITE_CANTOPEN, "CANTOPEN"},
        {SQLITE_PROTOCOL, "PROTOCOL"},
        {SQLITE_SCHEMA, "SCHEMA"},
        {SQLITE_TOOBIG, "TOOBIG"},
        {SQLITE_CONSTRAINT, "CONSTRAINT"},
        {SQLITE_CONSTRAINT_UNIQUE, "UNIQUE"},
        {SQLITE_CONSTRAINT_PRIMARYKEY, "PRIMARYKEY"},
        {SQLITE_CONSTRAINT_ROWID, "ROWID"},
        {SQLITE_CONSTRAINT_NOTNULL, "NOTNULL"},
        {SQLITE_CONSTRAINT_CHECK, "CHECK"},
        {SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGNKEY"},
        {SQLITE_CONSTRAINT_TRIGGER, "TRIGGER"},
        {SQLITE_MISMATCH, "MISMATCH"},
        {SQLITE_MISUSE, "MISUSE"},
        {SQLITE_NOTADB, "NOTADB"},
    };
    const int codes[] = {code, code & 0xff};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (names[i].code == codes[k])
                return names[i].name;
    return "code";
}

/* The answer for an extended result code, or -1 where it is an error. */
static int answer_of(const struct lb_conn *conn, int code)
{
    switch (code) {
    case SQLITE_BUSY_SNAPSHOT:
        return LB_CONFLICT;
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        return LB_DUPLICATE;
    default:
        break;
    }
    switch (code & 0xff) {
    case SQLITE_FULL: /* a disk that is full ends the run, a fault does not */
        return conn->is_full ? LB_OTHER : -1;
    case SQLITE_BUSY:
        return conn->wait_since_ns != 0 ? LB_TIMEOUT : LB_BUSY;
    case SQLITE_LOCKED:   /* another statement of this connection, or a shared cache */
    case SQLITE_PROTOCOL: /* lost the race for a WAL lock too often */
        return LB_BUSY;
    case SQLITE_INTERRUPT:
        return LB_TIMEOUT;
    case SQLITE_CONSTRAINT: /* CHECK, NOT NULL, foreign key, RAISE() in a trigger */
        return LB_OTHER;
    default:
        return -1;
    }
}

static int error_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return LB_E_MEMORY;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_NOLFS:
        return LB_E_ENV;
    default:
        return LB_E_SQL;
    }
}

/* Turns a result code other than OK, ROW and DONE into an answer or an error. */
static int outcome(struct lb_conn *conn, int code, struct lb_error *err)
{
    /* A statement that failed in sqlite3_prepare or _bind may have given a primary code only. */
    int extended = conn->api->extended_errcode(conn->handle);
    if ((extended & 0xff) == (code & 0xff))
        code = extended;
    snprintf(conn->head.native, sizeof conn->head.native, "%s (%d)", code_name(code), code);
    snprintf(conn->head.message, sizeof conn->head.message, "%s", conn->api->errmsg(conn->handle));
    int answer = answer_of(conn, code);
    if (answer >= 0)
        return answer;
    int error = error_of(code);
    if (error == LB_E_ENV)
        lb_fail(err, error, "%s: %s", conn->space->file.path, conn->head.message);
    else
        lb_fail(err, error, "%s", conn->head.message);
    memcpy(err->native, conn->head.native, sizeof err->native);
    return error;
}

/* --- waiting -------------------------------------------------------------------------------- */

enum { WAIT_FIRST_US = 50, WAIT_LAST_US = 1000, PROGRESS_STEPS = 10000 };

/* Called by SQLite each time a lock was refused, n being 0, 1, 2, ... within one lock request.
 * Returns 0 to give up. */
static int on_busy(void *arg, int n)
{
    struct lb_conn *conn = arg;
    uint64_t now_ns = lb_now_ns();
    if (conn->wait_since_ns == 0)
        conn->wait_since_ns = now_ns;
    /* Relaxed: is_blocked wants to see them some time soon, they order nothing else. */
    atomic_fetch_add_explicit(&conn->n_refused, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(conn->space->n_refused, 1, memory_order_relaxed);
    atomic_store_explicit(&conn->is_waiting, true, memory_order_relaxed);
    if (atomic_load_explicit(&conn->is_cancelled, memory_order_relaxed) ||
        lb_leash_is_over(&conn->bounded_since_ns))
        return 0;
    uint64_t wait_ns = n < 5 ? (uint64_t)WAIT_FIRST_US * 1000u << n : WAIT_LAST_US * 1000u;
    if (wait_ns > WAIT_LAST_US * 1000u)
        wait_ns = WAIT_LAST_US * 1000u;
    if (conn->lock_timeout_ms > 0) {
        uint64_t end_ns = conn->wait_since_ns + (uint64_t)conn->lock_timeout_ms * 1000000u;
        if (now_ns >= end_ns)
            return 0;
        if (now_ns + wait_ns > end_ns)
            wait_ns = end_ns - now_ns;
    }
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)wait_ns};
    nanosleep(&pause, NULL);
    return 1;
}

/* Called by SQLite every now and then within a statement. Not 0: the statement ends as interrupted.
 */
static int on_progress(void *arg)
{
    struct lb_conn *conn = arg;
    return lb_leash_is_over(&conn->bounded_since_ns);
}

static void operation_begin(struct lb_conn *conn)
{
    conn->wait_since_ns = conn->bounded_since_ns = 0;
    lb_sqlite_clock_calls(conn->api);
    atomic_store_explicit(&conn->is_cancelled, false, memory_order_relaxed);
}

static void operation_end(struct lb_conn *conn)
{
    if (conn->wait_since_ns != 0)
        atomic_store_explicit(&conn->is_waiting, false, memory_order_relaxed);
}

static void sqlite_cancel(struct lb_conn *conn)
{
    atomic_store_explicit(&conn->is_cancelled, true, memory_order_relaxed);
    conn->api->interrupt(conn->handle); /* documented as safe from another thread */
}

static int64_t sqlite_session_id(struct lb_conn *conn)
{
    return conn->id;
}

/* Blocked means: a try for the lock that began after this call has failed. The try under way at the
 * call may have begun before it, so the second refusal from now is the first that counts. */
static int sqlite_is_blocked(struct lb_conn *control, int64_t session_id, struct lb_error *err)
{
    (void)err;
    struct lb_space *space = control->space;
    struct lb_conn *conn;
    int blocked = 0;
    pthread_mutex_lock(&space->lock); /* held throughout: the conn cannot be closed meanwhile */
    for (conn = space->conns; conn != NULL && conn->id != session_id; conn = conn->next)
        ;
    if (conn != NULL && atomic_load_explicit(&conn->is_waiting, memory_order_relaxed)) {
        unsigned before = atomic_load_explicit(&conn->n_refused, memory_order_relaxed);
        while (atomic_load_explicit(&conn->is_waiting, memory_order_relaxed) && !blocked) {
            struct timespec pause = {.tv_nsec = WAIT_FIRST_US * 1000};
            nanosleep(&pause, NULL);
            blocked = atomic_load_explicit(&conn->n_refused, memory_order_relaxed) - before >= 2;
        }
    }
    pthread_mutex_unlock(&space->lock);
    return blocked;
}

/* --- connections ---------------------------------------------------------------------------- */

static void sqlite_close(struct lb_conn *conn)
{
    if (conn == NULL)
        return;
    struct lb_space *space = conn->space;
    pthread_mutex_lock(&space->lock);
    for (struct lb_conn **at = &space->conns; *at != NULL; at = &(*at)->next)
        if (*at == conn) {
            *at = conn->next;
            break;
        }
    pthread_mutex_unlock(&space->lock);
    while (conn->stmts != NULL) {
        struct lb_stmt *stmt = conn->stmts;
        conn->stmts = stmt->next;
        conn->api->finalize(stmt->handle);
        free(stmt);
    }
    for (int i = 0; i < CONTROLS; i++)
        conn->api->finalize(conn->control[i]);
    int code = conn->api->close(conn->handle); /* rolls back what is open */
    assert(code == SQLITE_OK);
    (void)code;
    lb_result_release(&conn->result);
    free(conn);
}

static int prepare_handle(struct lb_conn *conn, const char *sql, sqlite3_stmt **ret_handle,
                          struct lb_error *err)
{
    const char *tail = NULL;
    int code =
        conn->api->prepare_v3(conn->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_handle, &tail);
    if (code != SQLITE_OK)
        return outcome(conn, code, err);
    if (*ret_handle == NULL)
        return lb_fail(err, LB_E_SQL, "there is no statement in \"%s\"", sql);
    if (tail[strspn(tail, " \t\r\n;")] != '\0') {
        conn->api->finalize(*ret_handle);
        *ret_handle = NULL;
        return lb_fail(err, LB_E_SQL, "more than one statement in \"%s\"", sql);
    }
    return 0;
}

static int sqlite_run(struct lb_conn *conn, const char *sql, struct lb_error *err);

static int sqlite_open(struct lb_space *space, const struct lb_conn_options *options,
                       struct lb_conn **ret_conn, struct lb_error *err)
{
    static const char *const control_sql[CONTROLS] = {
        [C_DEFERRED] = "BEGIN DEFERRED",   [C_IMMEDIATE] = "BEGIN IMMEDIATE",
        [C_EXCLUSIVE] = "BEGIN EXCLUSIVE", [C_COMMIT] = "COMMIT",
        [C_ROLLBACK] = "ROLLBACK",
    };
    struct lb_conn *conn = lb_calloc(1, sizeof *conn);
    conn->head.db = &lb_db_sqlite;
    conn->space = space;
    conn->api = &space->api;
    int r = 0;
    int code = conn->api->open_v2(space->file.path, &conn->handle,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) {
        r = lb_fail(err, LB_E_ENV, "%s: %s", space->file.path, conn->api->errmsg(conn->handle));
        goto out;
    }
    conn->api->extended_result_codes(conn->handle, 1);
    /* While connecting, waiting is always bounded. */
    conn->lock_timeout_ms = 10000;
    conn->api->busy_handler(conn->handle, on_busy, conn);
    conn->api->progress_handler(conn->handle, PROGRESS_STEPS, on_progress, conn);
    char sql[100];
    snprintf(sql, sizeof sql, "PRAGMA synchronous = %s; PRAGMA foreign_keys = on",
             space->file.place.synchronous);
    r = sqlite_run(conn, sql, err);
    for (int i = 0; r == 0 && i < CONTROLS; i++)
        r = prepare_handle(conn, control_sql[i], &conn->control[i], err);
    if (r > 0)
        r = lb_fail(err, LB_E_ENV, "%s: %s", space->file.path, conn->head.message);
    if (r == 0 && options->moves_clock &&
        lb_sqlite_clock_open(conn->api, conn->handle) != SQLITE_OK)
        r = lb_fail(err, LB_E_ENV, "%s: %s", space->file.path, conn->api->errmsg(conn->handle));
    conn->lock_timeout_ms = options->lock_timeout_ms;
    if (options->no_wait)
        conn->api->busy_handler(conn->handle, NULL, NULL);
    pthread_mutex_lock(&space->lock);
    conn->id = ++space->last_id;
    conn->next = space->conns;
    space->conns = conn;
    pthread_mutex_unlock(&space->lock);
out:
    if (r != 0) {
        sqlite_close(conn);
        return r;
    }
    *ret_conn = conn;
    return 0;
}

static uint64_t sqlite_caps(struct lb_conn *conn)
{
    uint64_t caps = LB_CAP_BEGIN_MODE | LB_CAP_PARTIAL_INDEX | LB_CAP_LOCK_TIMEOUT;
    if (conn->api->libversion_number() >= 3035000)
        caps |= LB_CAP_RETURNING;
    return caps;
}

/* 3.40.1 is 3040001. */
static int sqlite_version(struct lb_conn *conn)
{
    return conn->api->libversion_number() / 1000;
}

/* --- statements ----------------------------------------------------------------------------- */

static int sqlite_run(struct lb_conn *conn, const char *sql, struct lb_error *err)
{
    operation_begin(conn);
    int code = conn->api->exec(conn->handle, sql, NULL, NULL, NULL);
    int r = code == SQLITE_OK ? LB_OK : outcome(conn, code, err);
    operation_end(conn);
    return r;
}

static int sqlite_prepare(struct lb_conn *conn, const char *sql, size_t n_params,
                          const enum lb_type *types, struct lb_stmt **ret_stmt,
                          struct lb_error *err)
{
    (void)types; /* SQLite's types belong to values */
    struct lb_stmt *stmt = lb_calloc(1, sizeof *stmt);
    stmt->api = conn->api;
    operation_begin(conn);
    int r = prepare_handle(conn, sql, &stmt->handle, err);
    operation_end(conn);
    if (r == 0 && (size_t)conn->api->bind_parameter_count(stmt->handle) > n_params) {
        r = lb_fail(err, LB_E_SQL,
                    "the statement has %d parameters, %zu are given: they are written :name",
                    conn->api->bind_parameter_count(stmt->handle), n_params);
        conn->api->finalize(stmt->handle);
    }
    if (r != 0) {
        free(stmt);
        return r;
    }
    stmt->n_params = (size_t)conn->api->bind_parameter_count(stmt->handle);
    stmt->readonly = conn->api->stmt_readonly(stmt->handle) != 0;
    stmt->next = conn->stmts;
    conn->stmts = stmt;
    *ret_stmt = stmt;
    return 0;
}

static int bind_params(const struct lb_sqlite_api *api, sqlite3_stmt *handle,
                       const struct lb_value *params, size_t n)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < n && code == SQLITE_OK; i++) {
        int at = (int)i + 1;
        switch (params[i].type) {
        case LB_INT:
            code = api->bind_int64(handle, at, params[i].integer);
            break;
        case LB_REAL:
            code = api->bind_double(handle, at, params[i].real);
            break;
        case LB_TEXT: /* static: the parameters outlive the step */
            code = api->bind_text(handle, at, params[i].text, (int)params[i].length, SQLITE_STATIC);
            break;
        case LB_NULL:
        default:
            code = api->bind_null(handle, at);
            break;
        }
    }
    return code;
}

static void copy_value(const struct lb_sqlite_api *api, struct lb_result *result,
                       sqlite3_stmt *handle, int column)
{
    const void *bytes;
    switch (api->column_type(handle, column)) {
    case SQLITE_INTEGER:
        lb_result_add_int(result, api->column_int64(handle, column));
        break;
    case SQLITE_FLOAT:
        lb_result_add_real(result, api->column_double(handle, column));
        break;
    case SQLITE_NULL:
        lb_result_add_null(result);
        break;
    default:
        bytes = api->column_blob(handle, column); /* before its length, see the manual */
        lb_result_add_text(result, bytes, (size_t)api->column_bytes(handle, column));
        break;
    }
}

static int sqlite_execute(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                          struct lb_rows *ret_rows, struct lb_error *err)
{
    sqlite3_stmt *handle = stmt->handle;
    operation_begin(conn);
    conn->last = stmt;
    struct lb_rows rows = {.n_columns = (size_t)conn->api->column_count(handle)};
    lb_result_begin(&conn->result, rows.n_columns);
    int r = LB_OK;
    int64_t changes_before = stmt->readonly ? 0 : conn->api->total_changes64(conn->handle);
    int code = bind_params(conn->api, handle, params, stmt->n_params);
    if (code == SQLITE_OK)
        while ((code = conn->api->step(handle)) == SQLITE_ROW) {
            for (int i = 0; i < (int)rows.n_columns; i++)
                copy_value(conn->api, &conn->result, handle, i);
            rows.n_rows++;
        }
    if (code != SQLITE_DONE)
        r = outcome(conn, code, err); /* before the reset: sqlite3_errmsg is the last call's */
    else if (stmt->readonly || conn->api->total_changes64(conn->handle) == changes_before)
        rows.changed_none = true; /* by triggers and foreign keys neither */
    else
        rows.n_changed = conn->api->changes64(conn->handle);
    code = conn->api->reset(handle);
    if (r == LB_OK && code != SQLITE_OK) /* the implicit commit of a statement with rows */
        r = outcome(conn, code, err);
    if (r == LB_OK)
        *ret_rows = rows;
    operation_end(conn);
    return r;
}

static double sqlite_steps(struct lb_stmt *stmt, double *ret_scanned, double *ret_sorts)
{
    *ret_scanned = stmt->api->stmt_status(stmt->handle, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
    *ret_sorts = stmt->api->stmt_status(stmt->handle, SQLITE_STMTSTATUS_SORT, 0);
    return stmt->api->stmt_status(stmt->handle, SQLITE_STMTSTATUS_VM_STEP, 0);
}

static const char *sqlite_column(struct lb_conn *conn, size_t column)
{
    return conn->api->column_name(conn->last->handle, (int)column);
}

static struct lb_value sqlite_value(struct lb_conn *conn, size_t row, size_t column)
{
    return lb_result_value(&conn->result, row, column);
}

/* --- transactions --------------------------------------------------------------------------- */

static int run_control(struct lb_conn *conn, enum control which, struct lb_error *err)
{
    operation_begin(conn);
    int code = conn->api->step(conn->control[which]);
    int r = code == SQLITE_DONE ? LB_OK : outcome(conn, code, err);
    conn->api->reset(conn->control[which]);
    operation_end(conn);
    return r;
}

/* Default is IMMEDIATE: a deferred transaction that reads and then writes is refused as soon as
 * another session has written in between, even with a long lock timeout. */
/* A read of any table does. */
static int sqlite_take_snapshot(struct lb_conn *conn, struct lb_error *err)
{
    return sqlite_run(conn, "SELECT count(*) FROM sqlite_schema", err);
}

static int sqlite_begin(struct lb_conn *conn, enum lb_begin mode, struct lb_error *err)
{
    enum control which = mode == LB_BEGIN_DEFERRED    ? C_DEFERRED
                         : mode == LB_BEGIN_EXCLUSIVE ? C_EXCLUSIVE
                                                      : C_IMMEDIATE;
    return run_control(conn, which, err);
}

static int sqlite_commit(struct lb_conn *conn, struct lb_error *err)
{
    return run_control(conn, C_COMMIT, err);
}

static int sqlite_rollback(struct lb_conn *conn, struct lb_error *err)
{
    if (conn->api->get_autocommit(conn->handle)) /* some errors roll back by themselves */
        return LB_OK;
    return run_control(conn, C_ROLLBACK, err);
}

static int sqlite_placeholder(size_t n, char *buf, size_t size)
{
    return snprintf(buf, size, "?%zu", n + 1);
}

/* --- facts ---------------------------------------------------------------------------------- */

/* The value of one PRAGMA as text. */
static int read_pragma(struct lb_conn *conn, const char *name, char *buf, size_t size,
                       struct lb_error *err)
{
    char sql[60];
    sqlite3_stmt *stmt = NULL;
    snprintf(sql, sizeof sql, "PRAGMA %s", name);
    int code = conn->api->prepare_v2(conn->handle, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = conn->api->step(stmt);
    const char *text = code == SQLITE_ROW ? (const char *)conn->api->column_text(stmt, 0) : NULL;
    snprintf(buf, size, "%s", text != NULL ? text : "");
    int r = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : outcome(conn, code, err);
    conn->api->finalize(stmt);
    if (r > 0)
        r = lb_fail(err, LB_E_ENV, "%s: %s", sql, conn->head.message);
    return r;
}

/* The limit belongs to the connection. SQLite raises one that is too low to the file's size. */
static int sqlite_fill(struct lb_conn *conn, bool full, struct lb_error *err)
{
    int answer = sqlite_run(
        conn, full ? "PRAGMA max_page_count = 1" : "PRAGMA max_page_count = 1073741823", err);
    if (answer == LB_OK)
        conn->is_full = full;
    return answer;
}

static int sqlite_facts(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    static const char *const pragmas[] = {"journal_mode", "synchronous",        "foreign_keys",
                                          "page_size",    "wal_autocheckpoint", "cache_size",
                                          "mmap_size",    "temp_store"};
    static const char *const levels[] = {"off", "normal", "full", "extra"};
    char value[80];
    fact(arg, "version", conn->api->libversion());
    for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0]; i++) {
        int r = read_pragma(conn, pragmas[i], value, sizeof value, err);
        if (r < 0)
            return r;
        bool is_level = strcmp(pragmas[i], "synchronous") == 0 && value[0] >= '0' &&
                        value[0] <= '3' && value[1] == '\0';
        fact(arg, pragmas[i], is_level ? levels[value[0] - '0'] : value);
    }
    fact(arg, "isolation", "serializable (the only level)");
    snprintf(value, sizeof value, "%d us doubling to %d us between tries", WAIT_FIRST_US,
             WAIT_LAST_US);
    fact(arg, "busy_wait", value);
    return 0;
}

static int sqlite_counters(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err)
{
    char pages[40], size[40], total[40];
    int r = read_pragma(conn, "page_count", pages, sizeof pages, err);
    if (r == 0)
        r = read_pragma(conn, "page_size", size, sizeof size, err);
    if (r < 0)
        return r;
    snprintf(total, sizeof total, "%lld", strtoll(pages, NULL, 10) * strtoll(size, NULL, 10));
    fact(arg, "database_bytes", total);
    snprintf(total, sizeof total, "%lld", (long long)lb_sqlite_file_log_bytes(&conn->space->file));
    fact(arg, "log_bytes", total);
    snprintf(
        total, sizeof total, "%llu",
        (unsigned long long)atomic_load_explicit(conn->space->n_refused, memory_order_relaxed));
    fact(arg, "busy_retries", total);
    return 0;
}

const struct lb_db lb_db_sqlite = {
    .name = "sqlite",
    .product = "SQLite",
    .dialect = LB_SQL_SQLITE,
    .uri_help = "sqlite:[PATH][?journal=wal|delete&synchronous=off|normal|full&library=PATH]",
    .isolations = LB_ISO_BIT(LB_ISO_SERIALIZABLE),
    .default_isolation = LB_ISO_SERIALIZABLE,
    .inexact_ms = 1,
    .match = lb_sqlite_match,
    .describe = lb_sqlite_describe,
    .in_process = true,
    .space_open = lb_sqlite_space_open,
    .space_close = lb_sqlite_space_close,
    .space_name = lb_sqlite_space_name,
    .space_number = lb_sqlite_space_number,
    .door = lb_sqlite_door,
    .open = sqlite_open,
    .close = sqlite_close,
    .caps = sqlite_caps,
    .version_of = sqlite_version,
    .run = sqlite_run,
    .prepare = sqlite_prepare,
    .execute = sqlite_execute,
    .column = sqlite_column,
    .value = sqlite_value,
    .begin = sqlite_begin,
    .take_snapshot = sqlite_take_snapshot,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .placeholder = sqlite_placeholder,
    .cancel = sqlite_cancel,
    .session_id = sqlite_session_id,
    .is_blocked = sqlite_is_blocked,
    .fill = sqlite_fill,
    .probe_open = lb_sqlite_space_probe,
    .probe = lb_sqlite_probe,
    .probe_close = lb_sqlite_probe_close,
    .facts = sqlite_facts,
    .counters = sqlite_counters,
    .whole_seconds = &lb_sqlite_whole_seconds,
    .exploring = &lb_sqlite_exploring,
    .steps = sqlite_steps,
    .aging = &lb_sqlite_aging,
};
