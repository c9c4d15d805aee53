/* A session: see session.h.
 *
 * Each operation has the same frame: ask the gate, do it, count the answer, tell the gate. The
 * frame is one pair of functions (step_begin, step_end), so that nothing reaches an engine
 * uncounted or past the gate.
 *
 * A lost connection is discarded at once and by the session's own thread: what follows answers
 * LB_LOST without touching the engine, until lb_session_reconnect.
 */
#include "session.h"

#include "text_clean.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void set_conns(struct lb_session *session, struct lb_conn *conn, struct lb_conn *replica)
{
    pthread_mutex_lock(&session->lock);
    session->conn = session->used = conn;
    session->replica = replica;
    pthread_mutex_unlock(&session->lock);
}

static void discard_conns(struct lb_session *session)
{
    struct lb_conn *conn = session->conn, *replica = session->replica;
    if (conn == NULL)
        return;
    set_conns(session, NULL, NULL);
    session->in_tx = false;
    session->db->close(conn);
    session->db->close(replica);
}

/* A standby has no serializable transactions; one statement reads one snapshot. */
static int connect_replica(struct lb_session *session, struct lb_conn *conn,
                           struct lb_conn **ret_replica, struct lb_error *err)
{
    struct lb_conn_options options = session->options;
    if (options.isolation == LB_ISO_SERIALIZABLE)
        options.isolation = LB_ISO_REPEATABLE_READ;
    options.replica_of = conn;
    return session->db->open(session->space, &options, ret_replica, err);
}

static int connect_conns(struct lb_session *session, struct lb_error *err)
{
    struct lb_conn *conn = NULL, *replica = NULL;
    int r = session->db->open(session->space, &session->options, &conn, err);
    if (r == 0 && session->options.reads_replica)
        r = connect_replica(session, conn, &replica, err);
    if (r < 0) {
        session->db->close(conn);
        return r;
    }
    session->generation++;
    session->n_connects += replica != NULL ? 2 : 1;
    set_conns(session, conn, replica);
    return 0;
}

int lb_session_open(struct lb_session *session, const struct lb_db *db, struct lb_space *space,
                    const struct lb_conn_options *options, struct lb_error *err)
{
    memset(session, 0, sizeof *session);
    session->db = db;
    session->space = space;
    session->options = *options;
    if (options->role != NULL) {
        snprintf(session->role, sizeof session->role, "%s", options->role);
        session->options.role = session->role;
    }
    pthread_mutex_init(&session->lock, NULL);
    int r = connect_conns(session, err);
    if (r < 0) {
        pthread_mutex_destroy(&session->lock);
        session->db = NULL;
    }
    return r;
}

void lb_session_close(struct lb_session *session)
{
    if (session == NULL || session->db == NULL)
        return;
    discard_conns(session);
    pthread_mutex_destroy(&session->lock);
    session->db = NULL;
}

int lb_session_reconnect(struct lb_session *session, struct lb_error *err)
{
    discard_conns(session);
    return connect_conns(session, err);
}

void lb_session_cancel(struct lb_session *session)
{
    pthread_mutex_lock(&session->lock);
    if (session->conn != NULL)
        session->db->cancel(session->conn);
    if (session->replica != NULL)
        session->db->cancel(session->replica);
    pthread_mutex_unlock(&session->lock);
}

/* Counts the answer, discards a lost connection, tells the gate; returns the answer. */
static int step_end(struct lb_session *session, const struct lb_step *step, int answer,
                    const struct lb_rows *rows)
{
    session->n_statements++;
    if (answer >= 0)
        session->n_answers[answer]++;
    if (answer > LB_OK && session->used != NULL) {
        const struct lb_conn_head *head = lb_conn_head(session->used);
        memcpy(session->native, head->native, sizeof session->native);
        memcpy(session->message, head->message, sizeof session->message);
        lb_clean_text(session->message);
    }
    /* An error may end the connection as well: the next operation then answers LB_LOST. */
    if (answer == LB_LOST || (session->used != NULL && lb_conn_head(session->used)->lost))
        discard_conns(session);
    if (session->gate != NULL && session->gate->after != NULL)
        session->gate->after(session->gate_arg, step, answer, answer == LB_OK ? rows : NULL);
    return answer;
}

/* 0: go on. Anything else is the step's result (an answer is already counted, the gate told). */
static int step_begin(struct lb_session *session, const struct lb_step *step, struct lb_error *err)
{
    session->used = step->on_replica ? session->replica : session->conn;
    if (session->gate != NULL && session->gate->before != NULL) {
        int r = session->gate->before(session->gate_arg, step, err);
        if (r < 0)
            return r;
        if (r > 0) {
            if (session->used != NULL) {
                struct lb_conn_head *head = lb_conn_head(session->used);
                head->native[0] = '\0';
                snprintf(head->message, sizeof head->message, "%s, as injected", lb_answer_name(r));
            }
            return step_end(session, step, r, NULL);
        }
    }
    if (session->used == NULL)
        return step_end(session, step, LB_LOST, NULL);
    return 0;
}

const char *lb_session_native(const struct lb_session *session, const char *native)
{
    const struct lb_gate *gate = session->gate;
    return gate != NULL && gate->rewrite != NULL ? gate->rewrite(session->gate_arg, native)
                                                 : native;
}

int lb_session_ready(struct lb_session *session, struct lb_prepared *prepared,
                     const struct lb_step *step, const char *native, struct lb_error *err)
{
    enum { MAX_PARAMS = 64 };
    int r = step_begin(session, step, err);
    if (r != 0)
        return r;
    if (prepared->stmt == NULL || prepared->generation != session->generation) {
        enum lb_type types[MAX_PARAMS];
        assert(step->n_params <= MAX_PARAMS);
        for (size_t i = 0; i < step->n_params; i++)
            types[i] = step->params[i].type;
        r = session->db->prepare(session->used, lb_session_native(session, native), step->n_params,
                                 types, &prepared->stmt, err);
        if (r != 0) {
            prepared->stmt = NULL;
            return step_end(session, step, r, NULL);
        }
        prepared->generation = session->generation;
    }
    return 0;
}

int lb_session_send(struct lb_session *session, struct lb_prepared *prepared,
                    const struct lb_step *step, struct lb_error *err)
{
    /* The connection may have been lost since it was ready: receive says so. */
    return session->conn == NULL
               ? 0
               : session->db->send(session->conn, prepared->stmt, step->params, err);
}

int lb_session_receive(struct lb_session *session, const struct lb_step *step,
                       struct lb_rows *ret_rows, struct lb_error *err)
{
    if (session->conn == NULL)
        return step_end(session, step, LB_LOST, NULL);
    int r = session->db->receive(session->conn, ret_rows, err);
    return step_end(session, step, r, ret_rows);
}

static int execute_once(struct lb_session *session, struct lb_prepared *prepared,
                        const struct lb_step *step, const char *native, struct lb_rows *ret_rows,
                        struct lb_error *err)
{
    int r = lb_session_ready(session, prepared, step, native, err);
    if (r != 0)
        return r;
    r = session->db->execute(session->used, prepared->stmt, step->params, ret_rows, err);
    return step_end(session, step, r, ret_rows);
}

int lb_session_execute(struct lb_session *session, struct lb_prepared *prepared,
                       const struct lb_step *step, const char *native, struct lb_rows *ret_rows,
                       struct lb_error *err)
{
    const struct lb_gate *gate = session->gate;
    if (gate == NULL || !gate->split_autocommit || session->in_tx ||
        (gate->splits != NULL && !gate->splits(session->gate_arg, step)))
        return execute_once(session, prepared, step, native, ret_rows, err);
    int r = lb_session_begin(session, LB_BEGIN_DEFAULT, err);
    if (r != LB_OK)
        return r;
    int answer = execute_once(session, prepared, step, native, ret_rows, err);
    if (answer == LB_OK)
        answer = lb_session_commit(session, err);
    if (answer != LB_OK && session->in_tx) {
        struct lb_error ignored; /* the first failure is the one to report */
        r = lb_session_rollback(session, &ignored);
        if (r == LB_E_INTERRUPTED && answer > 0) {
            *err = ignored;
            return r;
        }
    }
    return answer;
}

int lb_session_begin(struct lb_session *session, enum lb_begin mode, struct lb_error *err)
{
    static const struct lb_step step = {.kind = LB_STEP_BEGIN, .sql = "BEGIN"};
    assert(!session->in_tx);
    int r = step_begin(session, &step, err);
    if (r != 0)
        return r;
    r = session->db->begin(session->conn, mode, err);
    session->in_tx = r == LB_OK;
    return step_end(session, &step, r, NULL);
}

static int end_tx(struct lb_session *session, const struct lb_step *step,
                  int (*end)(struct lb_conn *conn, struct lb_error *err), struct lb_error *err)
{
    int r = step_begin(session, step, err);
    if (r != 0)
        return r;
    r = end(session->conn, err);
    if (r == LB_OK)
        session->in_tx = false;
    return step_end(session, step, r, NULL);
}

int lb_session_commit(struct lb_session *session, struct lb_error *err)
{
    static const struct lb_step step = {.kind = LB_STEP_COMMIT, .sql = "COMMIT"};
    return end_tx(session, &step, session->db->commit, err);
}

int lb_session_rollback(struct lb_session *session, struct lb_error *err)
{
    static const struct lb_step step = {.kind = LB_STEP_ROLLBACK, .sql = "ROLLBACK"};
    return session->in_tx ? end_tx(session, &step, session->db->rollback, err) : LB_OK;
}

int lb_session_pass(struct lb_session *session, enum lb_step_kind kind, struct lb_error *err)
{
    const struct lb_gate *gate = session->gate;
    if (gate == NULL)
        return LB_OK;
    struct lb_step step = {.kind = kind};
    int r = gate->before != NULL ? gate->before(session->gate_arg, &step, err) : LB_OK;
    if (r >= 0 && gate->after != NULL)
        gate->after(session->gate_arg, &step, r, NULL);
    return r;
}
