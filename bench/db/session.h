/* A session: one connection as used by one worker. Every statement of a strategy passes through
 * here, so it is the one place of counting, of faults and of step control.
 *
 * A session is used by one thread at a time. When the connection is lost, operations answer LB_LOST
 * until lb_session_reconnect(); prepared statements are then made anew on their next use.
 */
#ifndef LB_SESSION_H
#define LB_SESSION_H

#include "db.h"

#include <pthread.h>

/* A step that is about to happen, or has happened, on a session: the unit that explore
 * schedules. */
enum lb_step_kind {
    LB_STEP_EXECUTE, /* one statement */
    LB_STEP_BEGIN,
    LB_STEP_COMMIT,
    LB_STEP_ROLLBACK,
    LB_STEP_ENTER, /* the harness's own: the hold begins */
    LB_STEP_LEAVE, /* the harness's own: the hold is about to end */
    LB_STEP_POLL   /* the harness's own: a refused worker is about to try again */
};

struct lb_step {
    enum lb_step_kind kind;
    const char *sql;     /* the statement as its file has it; NULL for the harness's own steps */
    const char *section; /* "acquire", "claim", ...; NULL outside of a section */
    const struct lb_value *params;
    size_t n_params;
    bool on_replica; /* executed by itself on the replica, outside of any open transaction */
};

/* Step control. Both functions are called by the session's thread; NULL: nothing is done there. */
struct lb_gate {
    /* Before the step; may block until a scheduler lets it go. Returns 0, or a negative error to
     * end the worker (LB_E_INTERRUPTED), or a positive enum lb_answer to answer the step with
     * instead of executing it. */
    int (*before)(void *arg, const struct lb_step *step, struct lb_error *err);
    /* After it, with its answer (or error) and the result, NULL unless it was LB_OK. */
    void (*after)(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows);
    /* If set, an autocommitted statement is run as begin, execute, commit: three steps. */
    bool split_autocommit;
    /* With split_autocommit: is this one? NULL: all are. */
    bool (*splits)(void *arg, const struct lb_step *step);
    /* If set: returns the text to execute instead of native. Lives as long as the session. */
    const char *(*rewrite)(void *arg, const char *native);
};

struct lb_session {
    const struct lb_db *db;
    struct lb_space *space;
    struct lb_conn_options options; /* its role points to the next */
    char role[40];                  /* a copy: reconnects want it long after the open */
    struct lb_conn *conn;           /* NULL after the connection was lost and discarded */
    struct lb_conn *replica;        /* with options.reads_replica; lost, and made anew, with conn */
    struct lb_conn *used;           /* which of the two took the last step: it has the rows */
    pthread_mutex_t lock;           /* protects both pointers against lb_session_cancel */
    unsigned generation; /* grows with each reconnect: prepared statements belong to one */
    bool in_tx;
    const struct lb_gate *gate; /* NULL: none */
    void *gate_arg;
    /* Counters, owned by the session's thread. */
    uint64_t n_statements;          /* executed, begin/commit/rollback included */
    uint64_t n_answers[LB_ANSWERS]; /* the same, by answer */
    uint64_t n_connects;
    char native[24]; /* the engine's code of the last answer that was not LB_OK */
    char message[256];
    /* Where the statement stands that the engine refused last; set by who reads it from a file. */
    const char *refused_file; /* NULL: it was no statement of a file */
    int refused_line;
};

/* options->role must outlive the session: a reconnect uses it again. */
int lb_session_open(struct lb_session *session, const struct lb_db *db, struct lb_space *space,
                    const struct lb_conn_options *options, struct lb_error *err);
void lb_session_close(struct lb_session *session);
/* Closes what is left of the connection and opens a new one. */
int lb_session_reconnect(struct lb_session *session, struct lb_error *err);

/* From any thread: interrupts what the session is executing, if anything; that then answers
 * LB_TIMEOUT or LB_LOST. The session must be open. */
void lb_session_cancel(struct lb_session *session);

/* One prepared statement of one session; zero-initialised before its first use. */
struct lb_prepared {
    struct lb_stmt *stmt;
    unsigned generation;
};

/* Prepares on first use (and after a reconnect), then executes. step->sql is for the gate; native
 * is the text in the engine's placeholder syntax. begin is the mode for split_autocommit.
 * Returns an answer or an error. */
int lb_session_execute(struct lb_session *session, struct lb_prepared *prepared,
                       const struct lb_step *step, const char *native, struct lb_rows *ret_rows,
                       struct lb_error *err);

/* The text that the session's gate has in place of this one. */
const char *lb_session_native(const struct lb_session *session, const char *native);

/* Statements in one round trip (a pipeline), outside of a transaction and where the engine has
 * LB_CAP_PIPELINE: ready for each of them, then send for each that is, then receive for each that
 * was sent, in the same order. ready: prepares on first use; 0, or the statement's answer without
 * being sent. send: 0, or an error, and it was not sent. */
int lb_session_ready(struct lb_session *session, struct lb_prepared *prepared,
                     const struct lb_step *step, const char *native, struct lb_error *err);
int lb_session_send(struct lb_session *session, struct lb_prepared *prepared,
                    const struct lb_step *step, struct lb_error *err);
int lb_session_receive(struct lb_session *session, const struct lb_step *step,
                       struct lb_rows *ret_rows, struct lb_error *err);

/* Transaction control. A failed statement leaves the transaction open (in_tx): the caller rolls
 * back. lb_session_rollback outside of a transaction does nothing and answers LB_OK. */
int lb_session_begin(struct lb_session *session, enum lb_begin mode, struct lb_error *err);
int lb_session_commit(struct lb_session *session, struct lb_error *err);
int lb_session_rollback(struct lb_session *session, struct lb_error *err);

/* A step of the harness's own (enter, leave, poll): passes the gate if there is one, else free. */
int lb_session_pass(struct lb_session *session, enum lb_step_kind kind, struct lb_error *err);

#endif
