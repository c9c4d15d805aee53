/* Sessions: counting, the gate, lost connections. */
#include "fixture.h"

#include <stdatomic.h>

enum { MAX_SEEN = 32 };

/* A gate that writes down what it sees, and answers one step itself if told to. */
struct recorder {
    enum lb_step_kind before[MAX_SEEN], after[MAX_SEEN];
    int answers[MAX_SEEN];
    bool has_rows[MAX_SEEN];
    size_t n_before, n_after;
    enum lb_step_kind inject_at;
    int inject; /* 0: nothing */
};

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct recorder *r = arg;
    r->before[r->n_before++] = step->kind;
    if (r->inject < 0 && step->kind == r->inject_at)
        return lb_fail(err, r->inject, "stopped by the gate");
    return step->kind == r->inject_at ? r->inject : 0;
}

static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    struct recorder *r = arg;
    r->after[r->n_after] = step->kind;
    r->has_rows[r->n_after] = rows != NULL;
    r->answers[r->n_after++] = answer;
}

static const struct lb_gate plain_gate = {.before = before, .after = after};
static const struct lb_gate split_gate = {
    .before = before, .after = after, .split_autocommit = true};

static void open_session(struct fixture *f, struct lb_session *session)
{
    static const struct lb_conn_options options = {.role = "session",
                                                   .lock_timeout_ms = PATIENCE_MS};
    if (lb_session_open(session, f->db, f->space, &options, &f->err) != 0)
        fail_msg("%s", f->err.message);
}

static int execute(struct lb_session *session, struct lb_prepared *prepared, const char *sql,
                   struct lb_rows *rows, struct lb_error *err)
{
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql};
    return lb_session_execute(session, prepared, &step, sql, rows, err);
}

static void everything_is_counted(void **state)
{
    struct fixture *f = *state;
    struct lb_session s;
    struct lb_prepared insert = {0};
    struct lb_rows rows = {0};
    open_session(f, &s);
    assert_int_equal(s.n_connects, 1);
    assert_int_equal(lb_session_begin(&s, LB_BEGIN_DEFAULT, &f->err), LB_OK);
    assert_true(s.in_tx);
    assert_int_equal(execute(&s, &insert, "INSERT INTO t VALUES (3, 30)", &rows, &f->err), LB_OK);
    assert_int_equal(lb_session_commit(&s, &f->err), LB_OK);
    assert_false(s.in_tx);
    assert_int_equal(execute(&s, &insert, "INSERT INTO t VALUES (3, 30)", &rows, &f->err),
                     LB_DUPLICATE);
    assert_string_not_equal(s.native, "");
    assert_int_equal(lb_session_rollback(&s, &f->err), LB_OK); /* none is open: not executed */
    assert_int_equal(s.n_statements, 4);
    assert_int_equal(s.n_answers[LB_OK], 3);
    assert_int_equal(s.n_answers[LB_DUPLICATE], 1);
    lb_session_close(&s);
}

static void the_gate_sees_each_step(void **state)
{
    struct fixture *f = *state;
    struct lb_session s;
    struct lb_prepared select = {0}, insert = {0};
    struct lb_rows rows = {0};
    struct recorder r = {0};
    open_session(f, &s);
    s.gate = &plain_gate;
    s.gate_arg = &r;
    assert_int_equal(execute(&s, &select, "SELECT v FROM t", &rows, &f->err), LB_OK);
    assert_int_equal(lb_session_pass(&s, LB_STEP_ENTER, &f->err), LB_OK);
    assert_int_equal(execute(&s, &insert, "INSERT INTO t VALUES (1, 1)", &rows, &f->err),
                     LB_DUPLICATE);
    assert_int_equal(r.n_before, 3);
    assert_int_equal(r.n_after, 3);
    assert_int_equal(r.before[1], LB_STEP_ENTER);
    assert_true(r.has_rows[0]);
    assert_false(r.has_rows[2]);
    assert_int_equal(r.answers[2], LB_DUPLICATE);
    lb_session_close(&s);
}

static void autocommit_can_be_split(void **state)
{
    struct fixture *f = *state;
    struct lb_session s;
    struct lb_prepared insert = {0}, update = {0};
    struct lb_rows rows = {0};
    struct recorder r = {0};
    open_session(f, &s);
    s.gate = &split_gate;
    s.gate_arg = &r;
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err), LB_OK);
    assert_int_equal(rows.n_changed, 2);
    assert_int_equal(execute(&s, &insert, "INSERT INTO t VALUES (1, 1)", &rows, &f->err),
                     LB_DUPLICATE);
    static const enum lb_step_kind expected[] = {LB_STEP_BEGIN, LB_STEP_EXECUTE, LB_STEP_COMMIT,
                                                 LB_STEP_BEGIN, LB_STEP_EXECUTE, LB_STEP_ROLLBACK};
    assert_int_equal(r.n_before, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(r.before[i], expected[i]);
        assert_int_equal(r.after[i], expected[i]);
    }
    assert_false(s.in_tx);
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 32);
    /* Inside a transaction there is nothing to split. */
    r.n_before = r.n_after = 0;
    assert_int_equal(lb_session_begin(&s, LB_BEGIN_DEFAULT, &f->err), LB_OK);
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err), LB_OK);
    assert_int_equal(lb_session_rollback(&s, &f->err), LB_OK);
    assert_int_equal(r.n_before, 3);
    lb_session_close(&s);
}

static void the_gate_can_answer_or_end(void **state)
{
    struct fixture *f = *state;
    struct lb_session s;
    struct lb_prepared update = {0};
    struct lb_rows rows = {0};
    struct recorder r = {.inject_at = LB_STEP_EXECUTE, .inject = LB_CONFLICT};
    open_session(f, &s);
    s.gate = &plain_gate;
    s.gate_arg = &r;
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = 0", &rows, &f->err), LB_CONFLICT);
    assert_int_equal(s.n_answers[LB_CONFLICT], 1);
    assert_int_equal(r.answers[0], LB_CONFLICT);
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 30); /* it was not executed */
    r.inject = LB_E_INTERRUPTED;
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = 0", &rows, &f->err), LB_E_INTERRUPTED);
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 30);
    /* An injected loss is a real one: the transaction is gone. */
    r.inject = 0;
    assert_int_equal(lb_session_begin(&s, LB_BEGIN_DEFAULT, &f->err), LB_OK);
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = 0", &rows, &f->err), LB_OK);
    r.inject_at = LB_STEP_COMMIT;
    r.inject = LB_LOST;
    assert_int_equal(lb_session_commit(&s, &f->err), LB_LOST);
    assert_null(s.conn);
    assert_false(s.in_tx);
    lb_session_close(&s);
    must(f, f->a, "UPDATE t SET v = v + 0"); /* waits until the server has rolled back */
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 30);
}

static void a_lost_session_reconnects(void **state)
{
    struct fixture *f = *state;
    struct lb_session s;
    struct lb_prepared update = {0};
    struct lb_rows rows = {0};
    open_session(f, &s);
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err), LB_OK);
    assert_int_equal(lb_session_begin(&s, LB_BEGIN_DEFAULT, &f->err), LB_OK);
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err), LB_OK);
    assert_int_equal(f->db->terminate(f->a, f->db->session_id(s.conn), &f->err), 0);
    int r = LB_OK; /* the server may let a statement through before it obeys */
    for (int i = 0; i < PATIENCE_MS / 5 && r == LB_OK; i++, pause_ms(5))
        r = execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err);
    assert_int_equal(r, LB_LOST);
    assert_string_not_equal(s.native, "");
    assert_false(s.in_tx);
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err), LB_LOST);
    assert_int_equal(lb_session_begin(&s, LB_BEGIN_DEFAULT, &f->err), LB_LOST);
    assert_int_equal(s.n_answers[LB_LOST], 3);
    assert_int_equal(lb_session_reconnect(&s, &f->err), 0);
    assert_int_equal(s.n_connects, 2);
    assert_int_equal(execute(&s, &update, "UPDATE t SET v = v + 1", &rows, &f->err), LB_OK);
    lb_session_close(&s);
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 34);
}

/* Cancelling while the session reconnects, waits and is idle: from another thread. */
struct canceller {
    struct lb_session *session;
    atomic_bool stop;
};

static void *cancel_often(void *arg)
{
    struct canceller *c = arg;
    while (!atomic_load(&c->stop)) {
        lb_session_cancel(c->session);
        pause_ms(1);
    }
    return NULL;
}

static void cancelling_meets_any_state(void **state)
{
    struct fixture *f = *state;
    struct lb_session s;
    struct lb_prepared update = {0};
    struct lb_rows rows = {0};
    open_session(f, &s);
    struct canceller c = {.session = &s};
    pthread_t thread;
    begin(f, f->a);
    must(f, f->a, "UPDATE t SET v = 1 WHERE id = 1");
    assert_int_equal(pthread_create(&thread, NULL, cancel_often, &c), 0);
    for (int i = 0; i < 10; i++) {
        int r = execute(&s, &update, "UPDATE t SET v = 2 WHERE id = 1", &rows, &f->err);
        if (r != LB_TIMEOUT && r != LB_LOST)
            fail_msg("answer %d %s", r, r < 0 ? f->err.message : s.message);
        assert_int_equal(lb_session_reconnect(&s, &f->err), 0);
    }
    atomic_store(&c.stop, true);
    pthread_join(thread, NULL);
    rollback(f, f->a);
    lb_session_close(&s);
}

int main(void)
{
    static const struct engine_test tests[] = {
#define each(test, engines) {#test, test, engines}
        each(everything_is_counted, NULL),
        each(the_gate_sees_each_step, NULL),
        each(autocommit_can_be_split, NULL),
        each(the_gate_can_answer_or_end, NULL),
        each(a_lost_session_reconnects, "postgres mariadb"),
        each(cancelling_meets_any_state, NULL),
        {NULL, NULL, NULL},
    };
    return run_for_each_engine(tests);
}
