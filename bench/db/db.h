/* The engine contract: what lockbench needs of a database product.
 *
 * An engine is one const struct lb_db at the end of its file (sqlite.c, postgres.c, mariadb.c), and
 * that file is the only one that includes the engine's client header. Everything above goes through
 * session.h, never through this table directly.
 *
 * Vocabulary:
 *   target  where to run: a parsed -d argument. Immutable, shared by all threads.
 *   space   what one run owns on the target, and all it ever touches: a schema of its own
 *           (PostgreSQL), a database of its own (MariaDB), a file of its own (SQLite). Created by
 *           one run and dropped at its end. A space whose run died is recognised by a lock that
 *           dies with the run, and dropped by the next run.
 *   conn    one connection inside a space, used by one thread at a time.
 *
 * Outcomes: see error.h. execute() and the transaction functions return an enum lb_answer for all
 * effects of contention, and a negative error for anything else.
 */
#ifndef LB_DB_H
#define LB_DB_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capabilities, as bits. A strategy names the ones it needs; a pair that lacks one is a SKIP with
 * the missing names as its reason. Some depend on the server's version: ask caps(). */
enum lb_cap {
    LB_CAP_SKIP_LOCKED = 1u << 0,         /* SELECT ... FOR UPDATE SKIP LOCKED */
    LB_CAP_NOWAIT = 1u << 1,              /* SELECT ... FOR UPDATE NOWAIT */
    LB_CAP_ROW_LOCK = 1u << 2,            /* SELECT ... FOR UPDATE */
    LB_CAP_ADVISORY = 1u << 3,            /* locks that are no rows: pg_advisory_lock, GET_LOCK */
    LB_CAP_ADVISORY_SHARED = 1u << 4,     /* ... in shared mode too */
    LB_CAP_ADVISORY_XACT = 1u << 5,       /* ... that end with the transaction */
    LB_CAP_MERGE = 1u << 6,               /* MERGE INTO */
    LB_CAP_MERGE_RETURNING = 1u << 7,     /* MERGE ... RETURNING merge_action() */
    LB_CAP_RETURNING = 1u << 8,           /* UPDATE ... RETURNING */
    LB_CAP_TABLE_LOCK = 1u << 9,          /* LOCK TABLE, inside a transaction */
    LB_CAP_LISTEN_NOTIFY = 1u << 10,      /* LISTEN and NOTIFY */
    LB_CAP_MULTI_WRITER = 1u << 11,       /* two transactions can write at the same time */
    LB_CAP_LOCK_TIMEOUT = 1u << 12,       /* a bound on lock waits can be set */
    LB_CAP_BEGIN_MODE = 1u << 13,         /* BEGIN DEFERRED, IMMEDIATE, EXCLUSIVE */
    LB_CAP_PARTIAL_INDEX = 1u << 14,      /* CREATE UNIQUE INDEX ... WHERE */
    LB_CAP_SERIALIZABLE_RETRY = 1u << 15, /* SERIALIZABLE by aborting (SSI): 40001 answers */
    LB_CAP_REPLICA = 1u << 16,            /* the target names a second server, to read from */
    LB_CAP_PIPELINE = 1u << 17,           /* statements can be sent before the answer to the last */
    LB_CAPS = 18                          /* how many there are */
};

/* "skip_locked" for LB_CAP_SKIP_LOCKED; for a single bit. */
const char *lb_cap_name(uint64_t bit);

enum lb_isolation {
    LB_ISO_DEFAULT, /* whatever the engine's default is */
    LB_ISO_READ_COMMITTED,
    LB_ISO_REPEATABLE_READ,
    LB_ISO_SERIALIZABLE,
    LB_ISOLATIONS
};

#define LB_ISO_BIT(level) (1u << (level))

/* "default", "read committed", ...  and back; parse also takes '-' and '_' for the blank. */
const char *lb_isolation_name(enum lb_isolation isolation);
int lb_isolation_parse(const char *text); /* -1: unknown */

/* How a transaction starts where the engine distinguishes (SQLite); others ignore it. */
enum lb_begin { LB_BEGIN_DEFAULT, LB_BEGIN_DEFERRED, LB_BEGIN_IMMEDIATE, LB_BEGIN_EXCLUSIVE };

/* A parameter or a column's value. Text is not NUL-terminated by contract (use length), though
 * engines do add a NUL. The memory belongs to whoever made the value; a value read from a result
 * lives until the next execute() on its conn. */
enum lb_type { LB_NULL, LB_INT, LB_REAL, LB_TEXT };

struct lb_value {
    enum lb_type type;
    uint32_t length; /* bytes of text */
    union {
        int64_t integer;
        double real;
        const char *text;
    };
};

/* What a statement answered. Rows are materialised: nothing stays open on the server. */
struct lb_rows {
    size_t n_rows;
    size_t n_columns;
    int64_t n_changed; /* rows inserted, updated, deleted or merged; 0 for a plain SELECT */
    bool changed_none; /* SELECT, UPDATE, DELETE: certainly no row, by triggers neither (SQLite) */
};

struct lb_conn; /* defined by each engine; the first member is struct lb_conn_head */
struct lb_stmt; /* a prepared statement, owned by its conn */
struct lb_space;
struct lb_probe;
struct lb_exploring;
struct lb_whole_seconds;
struct lb_aging;

/* The part of a conn that every engine keeps up to date. */
struct lb_conn_head {
    const struct lb_db *db;
    char native[24];   /* the engine's code of the last answer that was not LB_OK; else "" */
    char message[256]; /* and its text */
    bool lost;         /* the connection is gone: only close() may follow */
};

static inline struct lb_conn_head *lb_conn_head(struct lb_conn *conn)
{
    return (struct lb_conn_head *)(void *)conn;
}

/* A parsed -d argument. */
struct lb_target {
    const struct lb_db *db;
    char *uri;   /* as given: may hold a password, never printed */
    char *label; /* the same without password: for output and results */
};

struct lb_conn_options {
    enum lb_isolation isolation;
    const char *role; /* for the server's process list: "worker 3", "control" */
    /* Bound on the engine's own lock waits; a wait that exceeds it answers LB_TIMEOUT. 0: none, the
     * wait ends with the lock or with cancel(). SQLite: how long its busy handler waits. */
    uint32_t lock_timeout_ms;
    /* SQLite: no wait at all, a lock that is taken is answered with LB_BUSY. Others ignore it. */
    bool no_wait;
    /* SQLite: its clock can be moved, see sqlite_clock.h. Others ignore it. */
    bool moves_clock;
    /* BEGIN may go with the transaction's first statement in one packet: one round trip less.
     * Engines that cannot ignore it. */
    bool begins_late;
    /* Of a target with several nodes: which one to begin with, modulo their number. */
    uint32_t seat;
    /* The node of this connection, and no other; NULL: any. */
    const struct lb_conn *beside;
    /* A session: has a second connection, to a replica. */
    bool reads_replica;
    /* Another server, which follows that of this connection and has what it had done so far: for
     * reads. NULL: no such server. Only where caps() has LB_CAP_REPLICA. */
    struct lb_conn *replica_of;
};

/* How a user's program connects to a run's database. "": there is none. */
struct lb_door {
    char uri[4096]; /* with the password */
    char host[256], port[8], socket[256], user[130], password[260], database[130], path[4096];
};

/* One named fact about the server, for the results: "version" = "15.18", "fsync" = "on". */
typedef void lb_fact_fn(void *arg, const char *name, const char *value);

/* Whose quotes and comments. ANY: those of a file that is read before an engine is known. */
enum lb_dialect { LB_SQL_ANY, LB_SQL_POSTGRES, LB_SQL_MARIADB, LB_SQL_SQLITE };

struct lb_db {
    const char *name;    /* "sqlite", "postgres", "mariadb" */
    const char *product; /* "SQLite", "PostgreSQL", "MariaDB" */
    enum lb_dialect dialect;
    const char *uri_help;                /* "sqlite:PATH", one line for --help */
    unsigned isolations;                 /* the distinct levels: LB_ISO_BIT()s */
    enum lb_isolation default_isolation; /* the product's default */
    /* Times in whole milliseconds are inexact by this, beside the part that is cut off: SQLite's
     * days are floating-point numbers, and CAST(julianday('now') * 86400000 AS INTEGER) often is a
     * millisecond less. */
    uint32_t inexact_ms;

    /* Is this -d argument ours? Pure. Required. */
    bool (*match)(const char *uri);
    /* Checks the argument and writes it without any password to label. Pure. 0 or LB_E_USAGE.
     * Required. */
    int (*describe)(const char *uri, char *label, size_t size, struct lb_error *err);

    /* Connects, drops the spaces that dead runs left, and creates one for this run, named from
     * hint (a strategy's name; only [a-z0-9_] survives). Called by the controlling thread.
     * Two runs at once get two spaces. The space keeps a connection of its own. Required. */
    int (*space_open)(const struct lb_target *target, const char *hint, struct lb_space **ret_space,
                      struct lb_error *err);
    /* The space of that name and number, which another process, maybe on another machine, has made
     * and will drop; its close only lets go of it. Optional: NULL where a space is inside of one
     * process. */
    int (*space_join)(const struct lb_target *target, const char *name, int32_t number,
                      struct lb_space **ret_space, struct lb_error *err);
    /* Drops the space, or with keep leaves it for inspection (a later run will not drop it then).
     * The space is freed in any case. All conns in it are closed before. Required. */
    int (*space_close)(struct lb_space *space, bool keep, struct lb_error *err);
    /* The schema, database or file, for people. Required. */
    const char *(*space_name)(const struct lb_space *space);
    /* Unique among the runs that share the server: for keys of advisory locks. Required. */
    int32_t (*space_number)(const struct lb_space *space);
    /* How many more connections the server will take, as far as it says; SIZE_MAX if it does not.
     * *ret_limit is the configured number to print. Optional. */
    size_t (*space_room)(struct lb_space *space, size_t *ret_limit);
    /* Makes a database of the space's own, if it is none and has none yet, which goes with the
     * space; and tells how to connect to it. Controlling thread. Required. */
    int (*door)(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err);
    /* Keeps the state of that database; and puts it back: all its sessions are ended first.
     * is_changed false: nothing else is to be done. Controlling thread. Optional. */
    int (*door_keep)(struct lb_space *space, struct lb_error *err);
    int (*door_back)(struct lb_space *space, bool is_changed, struct lb_error *err);
    /* The types of a statement's parameters there, as the engine infers them, one a line; "": it
     * cannot tell. Controlling thread. Optional. */
    void (*door_types)(struct lb_space *space, const char *sql, char *ret_types, size_t size);
    /* LB_E_ENV once the space is lost while its run goes on; does not wait. Any thread. Optional.
     */
    int (*space_check)(struct lb_space *space, struct lb_error *err);
    /* The same, and asks the server first: the space may have been dropped. Optional. */
    int (*space_look)(struct lb_space *space, struct lb_error *err);

    /* A connection inside the space. Any thread. Required. */
    int (*open)(struct lb_space *space, const struct lb_conn_options *options,
                struct lb_conn **ret_conn, struct lb_error *err);
    /* Ends it, with any open transaction. Accepts NULL. Required. */
    void (*close)(struct lb_conn *conn);
    /* The server's capabilities: enum lb_cap bits. Required. */
    uint64_t (*caps)(struct lb_conn *conn);
    /* The server's version: major * 1000 + minor. Required. */
    int (*version_of)(struct lb_conn *conn);
    /* In the copy that a connected target has: that version. 0: not known, taken for the newest. */
    int version;

    /* Runs SQL text without parameters, maybe several statements: schema set-up and the like.
     * Returns an answer or an error. Required. */
    int (*run)(struct lb_conn *conn, const char *sql, struct lb_error *err);
    /* Prepares one statement in the engine's own placeholder syntax (see placeholder). types has
     * one entry per parameter, the type that will be bound (LB_NULL: unknown). An answer or an
     * error, as execute(). Required. */
    int (*prepare)(struct lb_conn *conn, const char *sql, size_t n_params,
                   const enum lb_type *types, struct lb_stmt **ret_stmt, struct lb_error *err);
    /* Does a transaction come to harm by a statement that is prepared inside of it? Then all are
     * prepared before the first one. Optional. */
    bool (*prepares_ahead)(const struct lb_conn *conn);
    /* Executes. rows is filled when the answer is LB_OK. Inside a transaction an answer other than
     * LB_OK means that the transaction must be rolled back. Required. */
    int (*execute)(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                   struct lb_rows *ret_rows, struct lb_error *err);
    /* Where caps() has LB_CAP_PIPELINE: send lets a statement go without waiting for its answer,
     * receive takes the answers, in the order in which they were sent, as execute() gives them.
     * Each statement is a transaction of its own, and begins when the one before has ended. Between
     * the first send and the last receive nothing else may be asked of conn, unless it is lost.
     * send: 0, or an error, and nothing was sent; receive reports all other errors. */
    int (*send)(struct lb_conn *conn, struct lb_stmt *stmt, const struct lb_value *params,
                struct lb_error *err);
    int (*receive)(struct lb_conn *conn, struct lb_rows *ret_rows, struct lb_error *err);
    /* Column name and value of the last result. Required. */
    const char *(*column)(struct lb_conn *conn, size_t column);
    struct lb_value (*value)(struct lb_conn *conn, size_t row, size_t column);

    /* Transaction control; answers as execute(). commit() that answers LB_LOST: outcome unknown.
     * rollback() is also right when the engine has rolled back by itself. Required. */
    int (*begin)(struct lb_conn *conn, enum lb_begin mode, struct lb_error *err);
    int (*commit)(struct lb_conn *conn, struct lb_error *err);
    int (*rollback)(struct lb_conn *conn, struct lb_error *err);

    /* Writes the n-th (from 0) placeholder of the engine: "$1", "?1", "?". Pure. Required. */
    int (*placeholder)(size_t n, char *buf, size_t size);

    /* Interrupts what conn is executing, from another thread; its execute() then answers
     * LB_TIMEOUT or LB_LOST. Required. */
    void (*cancel)(struct lb_conn *conn);
    /* The server's number for this session (backend pid, connection id); 0 where there is none.
     * Required. */
    int64_t (*session_id)(struct lb_conn *conn);
    /* Asked over control: is the session with this id waiting for a lock of another session right
     * now? 1, 0, or an error. Optional: NULL where execute() never blocks. */
    int (*is_blocked)(struct lb_conn *control, int64_t session_id, struct lb_error *err);
    /* Asked over control: the sessions that wait for a lock which the session with this id has, or
     * has asked for before them. Returns how many, at most max, or an error. Optional. */
    int (*waiters)(struct lb_conn *control, int64_t session_id, int64_t *ret_ids, size_t max,
                   struct lb_error *err);
    /* Its protocol is the one that bench/gate relays. */
    bool is_relayed;
    /* A list among the parameters is written as an array, {1,2}; else as JSON, [1,2]. */
    bool has_arrays;
    /* The engine runs inside this process: no conn may be open while the process forks. */
    bool in_process;
    /* Faults. cut: the next statement, or commit, of conn is sent and the connection is cut before
     * its answer is read: it answers LB_LOST, its outcome is unknown. Optional. lock_rows: inside
     * an open transaction, reads the space's tables, and locks all rows of those with at least this
     * many rows, without changing them. Optional. */
    void (*cut)(struct lb_conn *conn);
    int (*lock_rows)(struct lb_conn *conn, uint64_t least, struct lb_error *err);
    /* Keeps the result of the last execute() while others are executed, and makes it the last one
     * again. Optional. */
    void (*set_aside)(struct lb_conn *conn);
    void (*take_back)(struct lb_conn *conn);
    /* Inside an open transaction: its snapshot is fixed from here on. Required. */
    int (*take_snapshot)(struct lb_conn *conn, struct lb_error *err);
    /* Rows that were changed stay, dead, until no snapshot may need them. */
    bool purges_later;
    /* How many sessions on the whole server are not this run's own? 0, or an error. Optional. */
    int (*strangers)(struct lb_conn *conn, uint64_t *ret_n, struct lb_error *err);
    /* Tells if the whole database stands still. For an engine inside this process, which cannot be
     * asked over a connection of its own. open: NULL: unknown. probe: may take as long as the disk
     * does; true: a foreign process keeps all from writing. close: when this process has no
     * connection any more. All or none are set. Optional. */
    struct lb_probe *(*probe_open)(struct lb_space *space);
    bool (*probe)(struct lb_probe *probe);
    void (*probe_close)(struct lb_probe *probe);
    /* From now on conn may not make the database larger, as if the disk were full: LB_OTHER is
     * answered instead; full false: it may again. An answer or an error. Optional. */
    int (*fill)(struct lb_conn *conn, bool full, struct lb_error *err);
    /* Cancels the wait of our sessions for a standby to have their commits, like a driver's
     * timeout: the commit is acknowledged all the same. *ret_n: the number of sessions.
     * Optional. */
    int (*cancel_sync)(struct lb_conn *control, uint64_t *ret_n, struct lb_error *err);
    /* Ends another session, as an operator would. Optional. */
    int (*terminate)(struct lb_conn *control, int64_t session_id, struct lb_error *err);

    /* Version, durability and other non-default settings, in a stable order. Required. */
    int (*facts)(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
    /* Running totals of the server for this space ("wal_bytes", "dead_rows", "deadlocks", ...);
     * a run's cost is the difference between two calls. Optional. */
    int (*counters)(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
    /* What the space's tables and the server are at now, and more of its totals ("live_rows",
     * "buffers_hit", "locks", ...), for a series. Optional. */
    int (*levels)(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
    /* The server's first process, if it is one of this machine; 0: it is not. Optional. */
    int32_t (*server_pid)(struct lb_conn *conn);
    /* The connection's socket; -1: it has none. Optional. */
    int (*socket)(const struct lb_conn *conn);
    /* Since when the server has been up, in us since 1970 by its own clock, and for how long:
     * another time after a restart, and after a crash that it recovered from by itself. LB_OK,
     * another answer, or an error. Optional. */
    int (*up_since)(struct lb_conn *conn, int64_t *ret_since_us, uint64_t *ret_up_us,
                    struct lb_error *err);
    /* Asked over control: what the run's other sessions are doing right now, and how many of them
     * each ("Lock:transactionid", "3"); sessions that are at rest are left out. Optional. */
    int (*waits)(struct lb_conn *control, lb_fact_fn *fact, void *arg, struct lb_error *err);
    /* Waits for a notification on a channel that conn has asked to LISTEN to, at most so long, and
     * takes all that have come: LB_OK, LB_TIMEOUT, LB_LOST. Not inside a transaction. Optional. */
    int (*wait_notified)(struct lb_conn *conn, uint32_t timeout_ms, struct lb_error *err);
    /* Writes the node that conn is connected to, of a target that may have several. Optional. */
    void (*node)(const struct lb_conn *conn, char *buf, size_t size);
    /* Do conns like this one wait for their server through carrier.h, so that many of them can be
     * used by the fibers of one thread? Optional: NULL where a call blocks its thread. */
    bool (*is_carried)(struct lb_conn *conn);

    /* Its times that have whole seconds only; see whole_seconds.h. Required. */
    const struct lb_whole_seconds *whole_seconds;
    /* Its language has operators with a question mark in them. */
    bool has_question_operators;
    /* What explore needs; see exploring.h. NULL: it cannot be explored. */
    const struct lb_exploring *exploring;
    /* Steps of the engine's virtual machine for this statement so far, those of them that went to
     * the next row of a full scan, and the number of sorts. Optional. */
    double (*steps)(struct lb_stmt *stmt, double *ret_scanned, double *ret_sorts);
    /* What age needs; see aging.h. NULL: its tables cannot be aged. */
    const struct lb_aging *aging;
};

/* All engines that were built in; NULL-terminated: the list is in cmake/LbEngines.cmake. */
extern const struct lb_db *const lb_engines[];

/* The engine of that name ("sqlite"), which need not be NUL-terminated; NULL: there is none. */
const struct lb_db *lb_engine_find(const char *name, size_t length);

/* Finds the engine of a -d argument. LB_E_USAGE names what is accepted. Release with
 * lb_target_release. */
int lb_target_parse(const char *uri, struct lb_target *ret_target, struct lb_error *err);
void lb_target_release(struct lb_target *target);

/* Makes values. */
static inline struct lb_value lb_null(void)
{
    return (struct lb_value){.type = LB_NULL};
}
static inline struct lb_value lb_int(int64_t integer)
{
    return (struct lb_value){.type = LB_INT, .integer = integer};
}
static inline struct lb_value lb_text(const char *text, size_t length)
{
    return (struct lb_value){.type = LB_TEXT, .length = (uint32_t)length, .text = text};
}

/* A value as an integer: LB_INT as it is, LB_REAL truncated, LB_TEXT parsed. false if it is none.
 */
bool lb_value_int(const struct lb_value *value, int64_t *ret);

#endif
