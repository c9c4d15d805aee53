/* PostgreSQL behind a transaction pooler (LB_TEST_PGBOUNCER_URI): sessions share backends, start-up
 * options are refused, and the effect of SET is lost; each transaction must carry its settings
 * itself.
 */
#include "fixture.h"

enum { N_SESSIONS = 12 };

static void find_pooled(void *arg, const char *name, const char *value)
{
    if (strcmp(name, "pooled") == 0)
        snprintf(arg, 8, "%s", value);
}

static void the_pooler_is_noticed(void **state)
{
    struct fixture *f = *state;
    char pooled[8] = "";
    assert_int_equal(f->db->facts(f->a, find_pooled, pooled, &f->err), 0);
    assert_string_equal(pooled, "yes");
    assert_int_equal(f->db->session_id(f->a), 0); /* its backend is another one each time */
}

/* The lock that says that a run lives is the backend's: the pooler must not give it to others, nor
 * end it for being idle. */
static void the_run_keeps_the_backend_with_its_lock(void **state)
{
    struct fixture *f = *state;
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
             "JOIN pg_namespace n ON n.oid = l.objid WHERE l.locktype = 'advisory' "
             "AND n.nspname = '%s' AND a.state = 'idle in transaction'",
             f->db->space_name(f->space));
    assert_int_equal(query_int(f, f->a, sql), 1);
}

/* Two runs, each with sessions of its own, take turns on the same backends. */
static void names_lead_into_the_own_space(void **state)
{
    struct fixture *f = *state;
    struct lb_space *spaces[2] = {f->space, NULL};
    struct lb_conn *conns[N_SESSIONS];
    const struct lb_conn_options options = {.role = "pool", .lock_timeout_ms = PATIENCE_MS};
    assert_int_equal(f->db->space_open(&f->target, "second", &spaces[1], &f->err), 0);
    for (int i = 0; i < N_SESSIONS; i++)
        assert_int_equal(f->db->open(spaces[i % 2], &options, &conns[i], &f->err), 0);
    must(f, conns[1], "CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL)");
    must(f, conns[1], "INSERT INTO t VALUES (1, 1000), (2, 2000)");
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < N_SESSIONS; i++) {
            struct lb_rows rows = {0};
            bool in_tx = (i + round) % 3 == 0;
            if (in_tx)
                begin(f, conns[i]);
            assert_int_equal(query(f, conns[i], "UPDATE t SET v = v + 1 WHERE id = 1", &rows),
                             LB_OK);
            assert_int_equal(rows.n_changed, 1);
            if (in_tx)
                assert_int_equal(f->db->commit(conns[i], &f->err), LB_OK);
        }
    const int64_t done = 5 * N_SESSIONS / 2;
    assert_int_equal(query_int(f, conns[0], "SELECT v FROM t WHERE id = 1"), 10 + done);
    assert_int_equal(query_int(f, conns[1], "SELECT v FROM t WHERE id = 1"), 1000 + done);
    for (int i = 0; i < N_SESSIONS; i++)
        f->db->close(conns[i]);
    assert_int_equal(f->db->space_close(spaces[1], false, &f->err), 0);
}

static void isolation_is_that_of_the_session(void **state)
{
    struct fixture *f = *state;
    struct lb_conn *conns[LB_ISOLATIONS];
    for (int i = LB_ISO_READ_COMMITTED; i < LB_ISOLATIONS; i++)
        conns[i] = connect_with(f, 0, (enum lb_isolation)i);
    for (int round = 0; round < 6; round++)
        for (int i = LB_ISO_READ_COMMITTED; i < LB_ISOLATIONS; i++) {
            struct lb_rows rows = {0};
            if (round % 2)
                begin(f, conns[i]);
            assert_int_equal(
                query(f, conns[i], "SELECT current_setting('transaction_isolation')", &rows),
                LB_OK);
            assert_string_equal(f->db->value(conns[i], 0, 0).text,
                                lb_isolation_name((enum lb_isolation)i));
            rollback(f, conns[i]);
        }
    for (int i = LB_ISO_READ_COMMITTED; i < LB_ISOLATIONS; i++)
        f->db->close(conns[i]);
}

static void answers_are_the_same_as_without(void **state)
{
    struct fixture *f = *state;
    struct lb_rows rows = {0};
    struct lb_conn *brief = connect_with(f, 100, LB_ISO_DEFAULT);
    assert_int_equal(query(f, f->a, "INSERT INTO t VALUES (1, 1)", &rows), LB_DUPLICATE);
    assert_int_equal(query(f, f->a, "SELECT nothing FROM t", &rows), LB_E_SQL);
    assert_int_equal(query_int(f, f->a, "SELECT COUNT(*) FROM t"), 2);
    begin(f, f->a);
    must(f, f->a, "SELECT * FROM t WHERE id = 1 FOR UPDATE");
    assert_int_equal(query(f, f->b, "SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT", &rows),
                     LB_BUSY);
    assert_int_equal(query(f, brief, "UPDATE t SET v = 0 WHERE id = 1", &rows), LB_TIMEOUT);
    rollback(f, f->a);
    assert_int_equal(query(f, brief, "UPDATE t SET v = 0 WHERE id = 1", &rows), LB_OK);
    f->db->close(brief);
}

/* Statements sent on a cut connection are executed: none may name a statement that the backend does
 * not know. */
static void what_was_cut_off_is_carried_out(void **state)
{
    struct fixture *f = *state;
    struct lb_rows rows = {0};
    struct lb_conn *victim = connect_with(f, 0, LB_ISO_DEFAULT);
    f->db->cut(victim);
    assert_int_equal(query(f, victim, "UPDATE t SET v = v + 7 WHERE id = 1", &rows), LB_LOST);
    f->db->close(victim);
    for (int i = 0;
         i < PATIENCE_MS / 10 && query_int(f, f->a, "SELECT v FROM t WHERE id = 1") == 10; i++)
        must(f, f->a, "SELECT pg_sleep(0.01)");
    assert_int_equal(query_int(f, f->a, "SELECT v FROM t WHERE id = 1"), 17);
}

int main(void)
{
    static const struct engine_test tests[] = {
#define each(test, engines) {#test, test, engines}
        each(the_pooler_is_noticed, "postgres"),
        each(the_run_keeps_the_backend_with_its_lock, "postgres"),
        each(names_lead_into_the_own_space, "postgres"),
        each(isolation_is_that_of_the_session, "postgres"),
        each(answers_are_the_same_as_without, "postgres"),
        each(what_was_cut_off_is_carried_out, "postgres"),
        {NULL, NULL, NULL},
    };
    const char *uri = getenv("LB_TEST_PGBOUNCER_URI");
    if (uri == NULL || uri[0] == '\0') {
        puts("1..0 # SKIP no pooler is given in LB_TEST_PGBOUNCER_URI");
        return 0;
    }
    return run_for_uris(uri, true, tests);
}
