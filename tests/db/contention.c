/* Every class of contention is made to happen, and gets its own answer.
 *
 * Contention is made step by step with two connections, so that nothing depends on timing; where a
 * step has to wait, a thread of its own runs it and is_blocked() says when it does.
 */
#include "fixture.h"

static void assert_code(struct lb_conn *conn, const char *postgres, const char *mariadb)
{
    const struct lb_conn_head *head = lb_conn_head(conn);
    assert_string_equal(head->native, strcmp(head->db->name, "postgres") == 0 ? postgres : mariadb);
    assert_string_not_equal(head->message, "");
}

static void a_second_key_is_a_duplicate(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run(f, f->a, "INSERT INTO t VALUES (1, 1)"), LB_DUPLICATE);
    assert_string_not_equal(lb_conn_head(f->a)->native, "");
    assert_string_not_equal(lb_conn_head(f->a)->message, "");
    must(f, f->a, "CREATE UNIQUE INDEX t_v ON t (v)");
    assert_int_equal(run(f, f->a, "INSERT INTO t VALUES (3, 20)"), LB_DUPLICATE);
}

static void other_constraints_are_answers_and_bad_sql_is_an_error(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run(f, f->a, "INSERT INTO t VALUES (3, NULL)"), LB_OTHER);
    must(f, f->a,
         "CREATE TABLE child (t_id integer NOT NULL, FOREIGN KEY (t_id) REFERENCES t (id))");
    assert_int_equal(run(f, f->a, "INSERT INTO child VALUES (99)"), LB_OTHER);
    assert_int_equal(run(f, f->a, "SELEKT 1"), LB_E_SQL);
    assert_string_not_equal(f->err.message, "");
    assert_int_equal(run(f, f->a, "SELECT * FROM no_such_table"), LB_E_SQL);
    struct lb_stmt *stmt = NULL;
    assert_int_equal(f->db->prepare(f->a, "SELECT nothing FROM t", 0, NULL, &stmt, &f->err),
                     LB_E_SQL);
    assert_string_not_equal(f->err.message, "");
    assert_int_equal(query_int(f, f->a, "SELECT COUNT(*) FROM t"), 2); /* still usable */
}

static void rollback_undoes_and_may_be_repeated(void **state)
{
    struct fixture *f = *state;
    begin(f, f->a);
    must(f, f->a, "UPDATE t SET v = 0");
    assert_int_equal(run(f, f->a, "INSERT INTO t VALUES (1, 1)"), LB_DUPLICATE);
    rollback(f, f->a);
    rollback(f, f->a);
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 30);
    begin(f, f->a);
    must(f, f->a, "UPDATE t SET v = 1");
    assert_int_equal(f->db->commit(f->a, &f->err), LB_OK);
    assert_int_equal(query_int(f, f->b, "SELECT SUM(v) FROM t"), 2);
}

static void sqlite_refuses_waits_and_conflicts(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *brief = connect_with(f, 1, LB_ISO_DEFAULT);
    begin(f, f->a);
    assert_int_equal(f->db->begin(brief, LB_BEGIN_IMMEDIATE, &f->err), LB_TIMEOUT);
    assert_string_equal(lb_conn_head(brief)->native, "BUSY (5)");
    f->db->close(brief);
    /* A reader that wants to write while another writes: SQLite does not wait. */
    assert_int_equal(f->db->begin(f->b, LB_BEGIN_DEFERRED, &f->err), LB_OK);
    query_int(f, f->b, "SELECT SUM(v) FROM t");
    assert_int_equal(run(f, f->b, "UPDATE t SET v = 1"), LB_BUSY);
    assert_string_equal(lb_conn_head(f->b)->native, "BUSY (5)");
    rollback(f, f->b);
    rollback(f, f->a);
    if (strstr(f->uri, "journal=delete") != NULL)
        return; /* no snapshots there: the reader would have kept the writer out */
    assert_int_equal(f->db->begin(f->b, LB_BEGIN_DEFERRED, &f->err), LB_OK);
    query_int(f, f->b, "SELECT SUM(v) FROM t");
    must(f, f->a, "UPDATE t SET v = 2");
    assert_int_equal(run(f, f->b, "UPDATE t SET v = 1"), LB_CONFLICT);
    assert_string_equal(lb_conn_head(f->b)->native, "BUSY_SNAPSHOT (517)");
    rollback(f, f->b);
}

static void sqlite_tells_a_full_disk(void **state)
{
    struct fixture *f = *state;
    must(f, f->a, "PRAGMA max_page_count = 8");
    int r =
        run(f, f->a,
            "CREATE TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            "WHERE i < 10000) SELECT i, 'some text to fill the pages' FROM n");
    assert_int_equal(r, LB_E_ENV);
    assert_string_equal(f->err.native, "FULL (13)");
    assert_non_null(strstr(f->err.message, f->db->space_name(f->space)));
    must(f, f->a, "UPDATE t SET v = 3 WHERE id = 1"); /* rolled back, still usable */
}

static void nowait_is_busy_and_a_bounded_wait_a_timeout(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *brief = connect_with(f, 1000, LB_ISO_DEFAULT);
    begin(f, f->a);
    must(f, f->a, "SELECT * FROM t WHERE id = 1 FOR UPDATE");
    begin(f, f->b);
    assert_int_equal(run(f, f->b, "SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT"), LB_BUSY);
    assert_code(f->b, "55P03", "1205");
    rollback(f, f->b);
    uint64_t start_ns = lb_now_ns();
    assert_int_equal(run(f, brief, "UPDATE t SET v = 1 WHERE id = 1"), LB_TIMEOUT);
    uint64_t waited_ns = lb_now_ns() - start_ns;
    assert_true(waited_ns > 500000000u); /* it waited; and not for the others' bound, */
    assert_true(waited_ns < PATIENCE_MS * UINT64_C(1000000)); /* however slow the machine is */
    assert_code(brief, "55P03", "1205");
    rollback(f, f->a);
    must(f, brief, "UPDATE t SET v = 1 WHERE id = 1");
    f->db->close(brief);
}

static void skip_locked_skips(void **state)
{
    struct fixture *f = *state;
    if (!(f->db->caps(f->a) & LB_CAP_SKIP_LOCKED))
        fail_msg("%s should be able to skip locked rows", f->target.label);
    begin(f, f->a);
    must(f, f->a, "SELECT * FROM t WHERE id = 1 FOR UPDATE");
    begin(f, f->b);
    assert_int_equal(
        query_int(f, f->b, "SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"), 2);
    rollback(f, f->b);
    rollback(f, f->a);
}

/* In SQLite any writer waits for any other. */
static void a_waiter_is_seen_and_goes_on(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *control = connect_with(f, 0, LB_ISO_DEFAULT);
    struct task task;
    begin(f, f->a);
    must(f, f->a, "UPDATE t SET v = 1 WHERE id = 1");
    assert_int_equal(f->db->is_blocked(control, f->db->session_id(f->b), &f->err), 0);
    task_start_blocked(&task, f, f->b, "UPDATE t SET v = v + 1 WHERE id = 1", control);
    assert_int_equal(f->db->is_blocked(control, f->db->session_id(f->a), &f->err), 0);
    pause_ms(50); /* still */
    assert_int_equal(f->db->is_blocked(control, task.session_id, &f->err), 1);
    assert_int_equal(f->db->commit(f->a, &f->err), LB_OK);
    assert_int_equal(task_join(&task), LB_OK);
    assert_int_equal(f->db->is_blocked(control, task.session_id, &f->err), 0);
    assert_int_equal(query_int(f, f->a, "SELECT v FROM t WHERE id = 1"), 2);
    f->db->close(control);
}

/* The other way round, for engines that list their transactions in an order of their own. */
static void a_waiter_is_told_from_its_holder(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *control = connect_with(f, 0, LB_ISO_DEFAULT);
    struct task task;
    begin(f, f->b);
    must(f, f->b, "UPDATE t SET v = 1 WHERE id = 1");
    task_start_blocked(&task, f, f->a, "UPDATE t SET v = v + 1 WHERE id = 1", control);
    assert_int_equal(f->db->is_blocked(control, f->db->session_id(f->b), &f->err), 0);
    assert_int_equal(f->db->is_blocked(control, task.session_id, &f->err), 1);
    rollback(f, f->b);
    assert_int_equal(task_join(&task), LB_OK);
    assert_int_equal(query_int(f, f->a, "SELECT v FROM t WHERE id = 1"), 11);
    f->db->close(control);
}

static void a_waiter_can_be_cancelled(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *control = connect_with(f, 0, LB_ISO_DEFAULT),
                   *patient = connect_with(f, 0, LB_ISO_DEFAULT);
    struct task task;
    begin(f, f->a);
    must(f, f->a, "UPDATE t SET v = 1 WHERE id = 1");
    task_start_blocked(&task, f, patient, "UPDATE t SET v = 9 WHERE id = 1", control);
    f->db->cancel(patient);
    assert_int_equal(task_join(&task), LB_TIMEOUT);
    rollback(f, patient);
    rollback(f, f->a);
    must(f, patient, "UPDATE t SET v = 3 WHERE id = 1");
    f->db->close(patient);
    f->db->close(control);
}

static void cancelling_an_idle_session_does_no_harm(void **state)
{
    struct fixture *f = *state;
    f->db->cancel(f->a);
    pause_ms(20);
    int r = run(f, f->a, "UPDATE t SET v = 3 WHERE id = 1");
    assert_true(r == LB_OK || r == LB_TIMEOUT); /* the server may hear of it late */
    rollback(f, f->a);
    must(f, f->a, "UPDATE t SET v = 4 WHERE id = 1");
}

static void a_deadlock_has_one_victim(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *control = connect_with(f, 0, LB_ISO_DEFAULT);
    struct task task;
    begin(f, f->a);
    begin(f, f->b);
    must(f, f->a, "UPDATE t SET v = v + 1 WHERE id = 1");
    must(f, f->b, "UPDATE t SET v = v + 1 WHERE id = 2");
    task_start_blocked(&task, f, f->b, "UPDATE t SET v = v + 1 WHERE id = 1", control);
    int mine = run(f, f->a, "UPDATE t SET v = v + 1 WHERE id = 2");
    if (mine == LB_DEADLOCK) {
        assert_code(f->a, "40P01", "1213");
        rollback(f, f->a);
        assert_int_equal(task_join(&task), LB_OK);
    } else {
        assert_int_equal(mine, LB_OK);
        assert_int_equal(task_join(&task), LB_DEADLOCK);
        assert_code(f->b, "40P01", "1213");
    }
    rollback(f, f->a);
    rollback(f, f->b);
    f->db->close(control);
}

static void a_stale_snapshot_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *strict = connect_with(f, PATIENCE_MS, LB_ISO_REPEATABLE_READ);
    begin(f, strict);
    query_int(f, strict, "SELECT SUM(v) FROM t");
    must(f, f->a, "UPDATE t SET v = v + 1 WHERE id = 1");
    assert_int_equal(run(f, strict, "UPDATE t SET v = v + 1 WHERE id = 1"), LB_CONFLICT);
    assert_code(strict, "40001", "1020");
    rollback(f, strict);
    f->db->close(strict);
}

/* Write skew: each reads what the other writes. */
static void serializable_refuses_write_skew_in_some_way(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *a = connect_with(f, PATIENCE_MS, LB_ISO_SERIALIZABLE),
                   *b = connect_with(f, PATIENCE_MS, LB_ISO_SERIALIZABLE);
    begin(f, a);
    begin(f, b);
    query_int(f, a, "SELECT SUM(v) FROM t");
    query_int(f, b, "SELECT SUM(v) FROM t");
    must(f, a, "UPDATE t SET v = 0 WHERE id = 1");
    int r = run(f, b, "UPDATE t SET v = 0 WHERE id = 2");
    assert_int_equal(f->db->commit(a, &f->err), LB_OK);
    if (r == LB_OK)
        r = f->db->commit(b, &f->err);
    assert_int_equal(r, LB_CONFLICT);
    rollback(f, b);
    f->db->close(a);
    f->db->close(b);
}

static void the_commit_of_a_failed_transaction_is_not_ok(void **state)
{
    struct fixture *f = *state;
    begin(f, f->a);
    must(f, f->a, "UPDATE t SET v = 0");
    assert_int_equal(run(f, f->a, "INSERT INTO t VALUES (1, 1)"), LB_DUPLICATE);
    assert_int_equal(f->db->commit(f->a, &f->err), LB_OTHER);
    rollback(f, f->a);
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 30);
}

static void an_ended_session_is_lost(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *victim = connect_with(f, 0, LB_ISO_DEFAULT);
    begin(f, victim);
    must(f, victim, "UPDATE t SET v = 0");
    assert_int_equal(f->db->terminate(f->a, f->db->session_id(victim), &f->err), 0);
    int r = LB_OK; /* the server may let a statement through before it obeys */
    for (int i = 0; i < PATIENCE_MS / 5 && r == LB_OK; i++, pause_ms(5))
        r = run(f, victim, "UPDATE t SET v = 0");
    assert_int_equal(r, LB_LOST);
    assert_true(lb_conn_head(victim)->lost);
    assert_string_not_equal(lb_conn_head(victim)->native, "");
    f->db->close(victim);
    must(f, f->b, "UPDATE t SET v = v"); /* its locked rows are free */
    assert_int_equal(query_int(f, f->a, "SELECT SUM(v) FROM t"), 30);
}

/* Waits until a row has the value, as seen by another session. */
static bool comes_to(struct fixture *f, int id, int64_t v)
{
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT v FROM t WHERE id = %d", id);
    for (int i = 0; i < PATIENCE_MS / 5; i++, pause_ms(5))
        if (query_int(f, f->a, sql) == v)
            return true;
    return false;
}

static void a_cut_connection_leaves_its_work_done(void **state)
{
    struct fixture *f = *state;
    struct lb_rows rows = {0};
    struct lb_conn *conn = connect_with(f, 0, LB_ISO_DEFAULT);
    struct lb_stmt *stmt = NULL;
    assert_int_equal(
        f->db->prepare(conn, "UPDATE t SET v = 77 WHERE id = 1", 0, NULL, &stmt, &f->err), LB_OK);
    f->db->cut(conn);
    assert_int_equal(f->db->execute(conn, stmt, NULL, &rows, &f->err), LB_LOST);
    assert_true(lb_conn_head(conn)->lost);
    assert_string_not_equal(lb_conn_head(conn)->native, "");
    f->db->close(conn);
    assert_true(comes_to(f, 1, 77));

    conn = connect_with(f, 0, LB_ISO_DEFAULT);
    begin(f, conn);
    must(f, conn, "UPDATE t SET v = 78 WHERE id = 2");
    f->db->cut(conn);
    assert_int_equal(f->db->commit(conn, &f->err), LB_LOST);
    f->db->close(conn);
    assert_true(comes_to(f, 2, 78));
}

static void all_rows_can_be_locked(void **state)
{
    struct fixture *f = *state;
    must(f, f->a, "CREATE TABLE second (id integer PRIMARY KEY)");
    must(f, f->a, "INSERT INTO second VALUES (1)");
    begin(f, f->a);
    assert_int_equal(f->db->lock_rows(f->a, 0, &f->err), LB_OK);
    static const char *const sql[] = {"SELECT * FROM t WHERE id = 2 FOR UPDATE NOWAIT",
                                      "SELECT * FROM second WHERE id = 1 FOR UPDATE NOWAIT"};
    for (int i = 0; i < 2; i++) {
        begin(f, f->b);
        assert_int_equal(run(f, f->b, sql[i]), LB_BUSY);
        rollback(f, f->b);
    }
    rollback(f, f->a);
    must(f, f->b, sql[0]);
}

/* The function is called for every row that is scanned, and a sort comes before the LIMIT. */
static void a_lock_in_where_locks_every_row_scanned(void **state)
{
    struct fixture *f = *state;
    must(f, f->a,
         "CREATE TABLE job AS SELECT i AS id, -i AS rank FROM generate_series(1, 1000) AS i");
    assert_int_equal(query_int(f, f->a,
                               "SELECT count(*) FROM (SELECT id FROM job WHERE "
                               "pg_try_advisory_lock(4711, id) ORDER BY rank LIMIT 1) AS one"),
                     1);
    static const char count[] = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND "
                                "classid = 4711 AND pid = pg_backend_pid()";
    assert_int_equal(query_int(f, f->a, count), 1000);
    /* In an index's order it is called for one row after the other, until one is enough. */
    must(f, f->a, "CREATE INDEX job_rank ON job (rank)");
    must(f, f->a, "ANALYZE job");
    must(f, f->a, "SET enable_seqscan = off");
    assert_int_equal(query_int(f, f->b,
                               "SELECT count(*) FROM (SELECT id FROM job WHERE rank < 0 AND "
                               "pg_try_advisory_lock(4712, id) ORDER BY rank LIMIT 1) AS one"),
                     1);
    must(f, f->a, "SELECT pg_advisory_unlock_all()");
}

static void advisory_locks_block_and_are_seen(void **state)
{
    struct fixture *f = *state;
    bool pg = is_engine(f, "postgres");
    struct lb_conn *control = connect_with(f, 0, LB_ISO_DEFAULT);
    struct task task;
    must(f, f->a, pg ? "SELECT pg_advisory_lock(77, 5)" : "SELECT GET_LOCK('lb_t', 300)");
    task_start_blocked(&task, f, f->b,
                       pg ? "SELECT pg_advisory_lock(77, 5)" : "SELECT GET_LOCK('lb_t', 300)",
                       control);
    must(f, f->a, pg ? "SELECT pg_advisory_unlock(77, 5)" : "SELECT RELEASE_LOCK('lb_t')");
    assert_int_equal(task_join(&task), LB_OK);
    f->db->close(control);
}

int main(void)
{
    static const struct engine_test tests[] = {
#define each(test, engines) {#test, test, engines}
        each(a_second_key_is_a_duplicate, NULL),
        each(other_constraints_are_answers_and_bad_sql_is_an_error, NULL),
        each(rollback_undoes_and_may_be_repeated, NULL),
        each(sqlite_refuses_waits_and_conflicts, "sqlite"),
        each(sqlite_tells_a_full_disk, "sqlite"),
        each(nowait_is_busy_and_a_bounded_wait_a_timeout, "postgres mariadb"),
        each(skip_locked_skips, "postgres mariadb"),
        each(a_waiter_is_seen_and_goes_on, NULL),
        each(a_waiter_is_told_from_its_holder, NULL),
        each(a_waiter_can_be_cancelled, NULL),
        each(cancelling_an_idle_session_does_no_harm, NULL),
        each(a_deadlock_has_one_victim, "postgres mariadb"),
        each(a_stale_snapshot_is_a_conflict, "postgres"),
        each(a_lock_in_where_locks_every_row_scanned, "postgres"),
        each(serializable_refuses_write_skew_in_some_way, "postgres"),
        each(the_commit_of_a_failed_transaction_is_not_ok, "postgres"),
        each(an_ended_session_is_lost, "postgres mariadb"),
        each(a_cut_connection_leaves_its_work_done, "postgres mariadb"),
        each(all_rows_can_be_locked, "postgres mariadb"),
        each(advisory_locks_block_and_are_seen, "postgres mariadb"),
        {NULL, NULL, NULL},
    };
    return run_for_each_engine(tests);
}
