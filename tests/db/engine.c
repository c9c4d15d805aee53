/* The duties of every engine besides answering contention: values, results, spaces, facts, and
 * clear errors for impossible requests.
 */
#include "fixture.h"

#include <ctype.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- values --------------------------------------------------------------------------------- */

static void values_pass_both_ways(void **state)
{
    struct fixture *f = *state;
    char p[4][8], sql[300];
    for (size_t i = 0; i < 4; i++)
        f->db->placeholder(i, p[i], sizeof p[i]);
    must(f, f->a,
         "CREATE TABLE w (k integer PRIMARY KEY, i bigint, x double precision, s varchar(100))");
    snprintf(sql, sizeof sql, "INSERT INTO w VALUES (%s, %s, %s, %s)", p[0], p[1], p[2], p[3]);
    static const enum lb_type types[] = {LB_INT, LB_INT, LB_REAL, LB_TEXT};
    struct lb_stmt *stmt = NULL;
    struct lb_rows rows = {0};
    assert_int_equal(f->db->prepare(f->a, sql, 4, types, &stmt, &f->err), 0);
    const struct lb_value real = {.type = LB_REAL, .real = 0.1};
    const struct lb_value first[] = {lb_int(1), lb_int(INT64_MIN), real,
                                     lb_text("it's \xc3\xa9 x", 8)};
    const struct lb_value second[] = {lb_int(2), lb_null(), lb_null(), lb_null()};
    const struct lb_value third[] = {lb_int(3), lb_int(INT64_MAX), real, lb_text("", 0)};
    assert_int_equal(f->db->execute(f->a, stmt, first, &rows, &f->err), LB_OK);
    assert_int_equal(rows.n_changed, 1);
    assert_int_equal(rows.n_rows, 0);
    assert_int_equal(f->db->execute(f->a, stmt, second, &rows, &f->err), LB_OK);
    assert_int_equal(f->db->execute(f->a, stmt, third, &rows, &f->err), LB_OK);

    assert_int_equal(query(f, f->a, "SELECT k, i, x, s FROM w ORDER BY k", &rows), LB_OK);
    assert_int_equal(rows.n_rows, 3);
    assert_int_equal(rows.n_columns, 4);
    assert_int_equal(rows.n_changed, 0);
    assert_string_equal(f->db->column(f->a, 1), "i");
    assert_string_equal(f->db->column(f->a, 3), "s");
    struct lb_value v = f->db->value(f->a, 0, 1);
    assert_int_equal(v.type, LB_INT);
    assert_true(v.integer == INT64_MIN);
    v = f->db->value(f->a, 2, 1);
    assert_true(v.integer == INT64_MAX);
    v = f->db->value(f->a, 0, 2);
    assert_int_equal(v.type, LB_REAL);
    assert_true(v.real == 0.1);
    v = f->db->value(f->a, 0, 3);
    assert_int_equal(v.type, LB_TEXT);
    assert_int_equal(v.length, 8);
    assert_memory_equal(v.text, "it's \xc3\xa9 x", 8);
    for (size_t c = 1; c < 4; c++)
        assert_int_equal(f->db->value(f->a, 1, c).type, LB_NULL);
    assert_int_equal(f->db->value(f->a, 2, 3).type, LB_TEXT);
    assert_int_equal(f->db->value(f->a, 2, 3).length, 0);
}

static void changes_are_counted(void **state)
{
    struct fixture *f = *state;
    struct lb_rows rows = {0};
    assert_int_equal(query(f, f->a, "UPDATE t SET v = v + 1", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 2);
    assert_int_equal(query(f, f->a, "CREATE TABLE c (x integer)", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 0);
    assert_int_equal(query(f, f->a, "UPDATE t SET v = v + 1 WHERE id = 99", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 0);
    assert_int_equal(query(f, f->a, "SELECT v FROM t", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 0);
    assert_int_equal(rows.n_rows, 2);
    assert_int_equal(query(f, f->a, "CREATE TABLE u (x integer)", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 0);
    if (f->db->caps(f->a) & LB_CAP_RETURNING) {
        assert_int_equal(query(f, f->a, "UPDATE t SET v = 5 WHERE id = 2 RETURNING v", &rows),
                         LB_OK);
        assert_int_equal(rows.n_changed, 1);
        assert_int_equal(rows.n_rows, 1);
        assert_int_equal(f->db->value(f->a, 0, 0).integer, 5);
    }
    assert_int_equal(query(f, f->a, "DELETE FROM t WHERE id = 2 RETURNING v", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 1);
    assert_int_equal(rows.n_rows, 1);
    assert_int_equal(query(f, f->a, "UPDATE t SET v = v", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 1); /* found, if not different */
    assert_int_equal(query(f, f->a, "DELETE FROM t", &rows), LB_OK);
    assert_int_equal(rows.n_changed, 1);
}

static void large_results_are_whole(void **state)
{
    struct fixture *f = *state;
    must(f, f->a, "CREATE TABLE big (k integer PRIMARY KEY, s varchar(2000))");
    char p[2][8], sql[200], text[1500];
    f->db->placeholder(0, p[0], sizeof p[0]);
    f->db->placeholder(1, p[1], sizeof p[1]);
    snprintf(sql, sizeof sql, "INSERT INTO big VALUES (%s, %s)", p[0], p[1]);
    static const enum lb_type types[] = {LB_INT, LB_TEXT};
    struct lb_stmt *stmt = NULL;
    struct lb_rows rows = {0};
    memset(text, 'x', sizeof text);
    assert_int_equal(f->db->prepare(f->a, sql, 2, types, &stmt, &f->err), 0);
    assert_int_equal(f->db->begin(f->a, LB_BEGIN_DEFAULT, &f->err), LB_OK);
    for (int64_t i = 0; i < 500; i++) {
        const struct lb_value params[] = {lb_int(i), lb_text(text, (size_t)(i * 3))};
        assert_int_equal(f->db->execute(f->a, stmt, params, &rows, &f->err), LB_OK);
    }
    assert_int_equal(f->db->commit(f->a, &f->err), LB_OK);
    assert_int_equal(query(f, f->a, "SELECT k, s FROM big ORDER BY k", &rows), LB_OK);
    assert_int_equal(rows.n_rows, 500);
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(f->db->value(f->a, i, 0).integer, i);
        struct lb_value v = f->db->value(f->a, i, 1);
        assert_int_equal(v.length, i * 3);
        assert_memory_equal(v.text, text, v.length);
    }
}

static void results_outlive_the_end_of_the_transaction(void **state)
{
    struct fixture *f = *state;
    struct lb_rows rows = {0};
    begin(f, f->a);
    assert_int_equal(query(f, f->a, "SELECT v FROM t ORDER BY id", &rows), LB_OK);
    assert_int_equal(f->db->commit(f->a, &f->err), LB_OK);
    assert_int_equal(f->db->value(f->a, 1, 0).integer, 20);
}

static void isolation_is_what_was_asked_for(void **state)
{
    struct fixture *f = *state;
    const char *sql = is_engine(f, "postgres") ? "SELECT current_setting('transaction_isolation')"
                                               : "SELECT LOWER(REPLACE(@@tx_isolation, '-', ' '))";
    for (int level = LB_ISO_READ_COMMITTED; level < LB_ISOLATIONS; level++) {
        struct lb_conn *conn = connect_with(f, 0, (enum lb_isolation)level);
        struct lb_rows rows = {0};
        for (int in_tx = 0; in_tx < 2; in_tx++) {
            if (in_tx)
                begin(f, conn);
            assert_int_equal(query(f, conn, sql, &rows), LB_OK);
            assert_string_equal(f->db->value(conn, 0, 0).text,
                                lb_isolation_name((enum lb_isolation)level));
        }
        f->db->close(conn);
    }
}

/* --- spaces --------------------------------------------------------------------------------- */

static bool space_exists(struct fixture *f, const char *name)
{
    char sql[300];
    if (is_engine(f, "sqlite"))
        return access(name, F_OK) == 0;
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '%s'", name);
    return query_int(f, f->a, sql) == 1;
}

static void two_runs_at_once_do_not_meet(void **state)
{
    struct fixture *f = *state;
    struct lb_space *other = NULL;
    assert_int_equal(f->db->space_open(&f->target, "engine-test", &other, &f->err), 0);
    assert_string_not_equal(f->db->space_name(other), f->db->space_name(f->space));
    if (!is_engine(f, "sqlite"))
        assert_int_not_equal(f->db->space_number(other), f->db->space_number(f->space));
    const struct lb_conn_options options = {.role = "test"};
    struct lb_conn *conn = NULL;
    assert_int_equal(f->db->open(other, &options, &conn, &f->err), 0);
    must(f, conn, "CREATE TABLE t (id integer PRIMARY KEY)"); /* the other run has one too */
    assert_int_equal(query_int(f, conn, "SELECT COUNT(*) FROM t"), 0);
    assert_int_equal(query_int(f, f->a, "SELECT COUNT(*) FROM t"), 2);
    char name[300];
    snprintf(name, sizeof name, "%s", f->db->space_name(other));
    f->db->close(conn);
    assert_int_equal(f->db->space_close(other, false, &f->err), 0);
    assert_false(space_exists(f, name));
    assert_int_equal(query_int(f, f->a, "SELECT COUNT(*) FROM t"), 2);
}

static void a_space_is_named_after_its_hint(void **state)
{
    struct fixture *f = *state;
    struct lb_space *other = NULL;
    assert_int_equal(
        f->db->space_open(&f->target, "x\"; DROP `it'\\ Skip-Locked_2", &other, &f->err), 0);
    const char *name = f->db->space_name(other);
    assert_non_null(strstr(name, "lockbench_xdropitskip_locked_2_"));
    for (; *name != '\0'; name++)
        assert_true(islower((unsigned char)*name) || isdigit((unsigned char)*name) || *name == '_');
    assert_int_equal(f->db->space_close(other, false, &f->err), 0);
}

/* A run in a process of its own, which dies without a word in the middle of a transaction. */
static void die_in_a_run(struct fixture *f, char *name, size_t size)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process behind */
        struct lb_error err;
        struct lb_space *space = NULL;
        struct lb_conn *conn = NULL;
        const struct lb_conn_options options = {.role = "test"};
        if (f->db->space_open(&f->target, "dead", &space, &err) != 0 ||
            f->db->open(space, &options, &conn, &err) != 0 ||
            f->db->run(conn, "CREATE TABLE d (id integer PRIMARY KEY)", &err) != LB_OK ||
            f->db->begin(conn, LB_BEGIN_DEFAULT, &err) != LB_OK ||
            f->db->run(conn, "INSERT INTO d VALUES (1)", &err) != LB_OK)
            _exit(1);
        const char *text = f->db->space_name(space);
        if (write(fds[1], text, strlen(text) + 1) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    close(fds[1]);
    ssize_t n = read(fds[0], name, size);
    close(fds[0]);
    assert_true(n > 1);
    assert_true(space_exists(f, name));
    /* While it lives, another run leaves it alone. */
    struct lb_space *other = NULL;
    assert_int_equal(f->db->space_open(&f->target, "live", &other, &f->err), 0);
    assert_int_equal(f->db->space_close(other, false, &f->err), 0);
    assert_true(space_exists(f, name));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void what_a_dead_run_left_is_dropped(void **state)
{
    struct fixture *f = *state;
    char name[300] = "";
    die_in_a_run(f, name, sizeof name);
    /* The server needs a moment to notice that the client is gone. */
    for (int i = 0; i < PATIENCE_MS / 50 && (i == 0 || space_exists(f, name)); i++) {
        struct lb_space *other = NULL;
        pause_ms(i == 0 ? 0 : 50);
        assert_int_equal(f->db->space_open(&f->target, "after", &other, &f->err), 0);
        assert_int_equal(f->db->space_close(other, false, &f->err), 0);
    }
    assert_false(space_exists(f, name));
    assert_int_equal(query_int(f, f->a, "SELECT COUNT(*) FROM t"), 2); /* ours is still there */
}

static void a_kept_space_stays(void **state)
{
    struct fixture *f = *state;
    struct lb_space *kept = NULL, *other = NULL;
    char name[300], sql[400];
    assert_int_equal(f->db->space_open(&f->target, "kept", &kept, &f->err), 0);
    snprintf(name, sizeof name, "%s", f->db->space_name(kept));
    assert_int_equal(f->db->space_close(kept, true, &f->err), 0);
    assert_true(space_exists(f, name));
    assert_int_equal(f->db->space_open(&f->target, "kept", &other, &f->err), 0);
    assert_int_equal(f->db->space_close(other, false, &f->err), 0);
    assert_true(space_exists(f, name));
    if (is_engine(f, "sqlite")) {
        unlink(name);
        char *slash = strrchr(name, '/');
        snprintf(sql, sizeof sql, "%.*s/kept", (int)(slash - name), name);
        unlink(sql);
        *slash = '\0';
        assert_int_equal(rmdir(name), 0); /* nothing else was left in it */
    } else {
        snprintf(sql, sizeof sql, "DROP SCHEMA %s %s", name,
                 is_engine(f, "postgres") ? "CASCADE" : "");
        must(f, f->a, sql);
    }
}

static void a_schema_of_somebody_else_is_not_touched(void **state)
{
    struct fixture *f = *state;
    struct lb_space *other = NULL;
    must(f, f->a, "CREATE SCHEMA lockbench_of_somebody_else");
    must(f, f->a, "CREATE TABLE lockbench_of_somebody_else.precious (x integer)");
    assert_int_equal(f->db->space_open(&f->target, "x", &other, &f->err), 0);
    assert_int_equal(f->db->space_close(other, false, &f->err), 0);
    assert_int_equal(query_int(f, f->a, "SELECT COUNT(*) FROM lockbench_of_somebody_else.precious"),
                     0);
    /* Names without a schema lead into the space only. */
    assert_int_equal(run(f, f->a, "SELECT * FROM precious"), LB_E_SQL);
    must(f, f->a, "DROP TABLE lockbench_of_somebody_else.precious");
    must(f, f->a, "DROP SCHEMA lockbench_of_somebody_else");
}

/* --- facts ---------------------------------------------------------------------------------- */

struct found {
    const char *name;
    char value[100];
};

static void find_fact(void *arg, const char *name, const char *value)
{
    struct found *found = arg;
    assert_string_not_equal(name, "");
    if (strcmp(name, found->name) == 0)
        snprintf(found->value, sizeof found->value, "%s", value);
}

static void facts_say_how_durable_it_is(void **state)
{
    struct fixture *f = *state;
    const char *setting = is_engine(f, "postgres")  ? "fsync"
                          : is_engine(f, "mariadb") ? "innodb_flush_log_at_trx_commit"
                                                    : "synchronous";
    struct found version = {.name = "version"}, durability = {.name = setting};
    assert_int_equal(f->db->facts(f->a, find_fact, &version, &f->err), 0);
    assert_true(isdigit((unsigned char)version.value[0]));
    assert_int_equal(f->db->facts(f->a, find_fact, &durability, &f->err), 0);
    assert_string_not_equal(durability.value, "");
    if (is_engine(f, "sqlite")) {
        struct found journal = {.name = "journal_mode"};
        assert_string_equal(durability.value, "normal");
        assert_int_equal(f->db->facts(f->a, find_fact, &journal, &f->err), 0);
        assert_string_equal(journal.value, strstr(f->uri, "delete") ? "delete" : "wal");
    }
}

static void counters_grow(void **state)
{
    struct fixture *f = *state;
    const char *name = is_engine(f, "sqlite") ? "database_bytes" : "wal_bytes";
    struct found before = {.name = name}, after = {.name = name};
    assert_int_equal(f->db->counters(f->a, find_fact, &before, &f->err), 0);
    must(f, f->b, "CREATE TABLE c (id integer PRIMARY KEY, s varchar(4000))");
    begin(f, f->b);
    for (int i = 0; i < 50; i++) {
        char sql[1200];
        snprintf(sql, sizeof sql, "INSERT INTO c VALUES (%d, '%01000d')", i, i);
        must(f, f->b, sql);
    }
    assert_int_equal(f->db->commit(f->b, &f->err), LB_OK);
    assert_int_equal(f->db->counters(f->a, find_fact, &after, &f->err), 0);
    assert_true(strtoll(before.value, NULL, 10) > 0);
    assert_true(strtoll(after.value, NULL, 10) - strtoll(before.value, NULL, 10) > 40000);
}

static void there_is_room_for_more(void **state)
{
    struct fixture *f = *state;
    size_t limit = 0, more = 0;
    size_t room = f->db->space_room(f->space, &limit);
    assert_true(room > 0 && room < limit);
    struct lb_conn *conns[5];
    for (int i = 0; i < 5; i++)
        conns[i] = connect_with(f, 0, LB_ISO_DEFAULT);
    more = f->db->space_room(f->space, &limit);
    for (int i = 0; i < 5; i++)
        f->db->close(conns[i]);
    assert_true(more < room); /* others may come and go, but not all five */
}

/* --- what cannot work ----------------------------------------------------------------------- */

/* The fixture's target with another user. */
static void uri_of(const struct fixture *f, const char *user, char *buf, size_t size)
{
    const char *label = f->target.label, *rest = strstr(label, "://") + 3;
    const char *at = strchr(rest, '@');
    snprintf(buf, size, "%.*s%s@%s", (int)(rest - label), label, user, at ? at + 1 : rest);
}

static int try_open(const char *uri, struct lb_error *err)
{
    struct lb_target target = {0};
    struct lb_space *space = NULL;
    int r = lb_target_parse(uri, &target, err);
    if (r == 0)
        r = target.db->space_open(&target, "try", &space, err);
    if (r == 0) {
        struct lb_error ignored;
        target.db->space_close(space, false, &ignored);
    }
    lb_target_release(&target);
    return r;
}

static void who_may_not_create_is_told_what_to_grant(void **state)
{
    struct fixture *f = *state;
    bool pg = is_engine(f, "postgres");
    char uri[600];
    run(f, f->a, pg ? "DROP ROLE lb_nobody" : "DROP USER lb_nobody");
    must(f, f->a,
         pg ? "CREATE ROLE lb_nobody LOGIN PASSWORD 'right-word'"
            : "CREATE USER lb_nobody IDENTIFIED BY 'right-word'");
    if (!pg) /* which is not asked for here: to enter the database that the URI names */
        must(f, f->a, "GRANT SELECT ON *.* TO lb_nobody");
    uri_of(f, "lb_nobody:right-word", uri, sizeof uri);
    int r = try_open(uri, &f->err);
    if (r == 0 || strstr(f->err.message, "GRANT") == NULL ||
        strstr(f->err.message, "lb_nobody") == NULL)
        fail_msg("%d %s", r, f->err.message);
    assert_int_equal(r, LB_E_ENV);
    /* And with a wrong password; a server that trusts every user does not check it. */
    uri_of(f, "lb_nobody:wrong-word", uri, sizeof uri);
    assert_int_equal(try_open(uri, &f->err), LB_E_ENV);
    assert_null(strstr(f->err.message, "wrong-word"));
    struct lb_target target = {0};
    assert_int_equal(lb_target_parse(uri, &target, &f->err), 0);
    assert_null(strstr(target.label, "wrong-word"));
    assert_non_null(strstr(target.label, "lb_nobody"));
    lb_target_release(&target);
    must(f, f->a, pg ? "DROP ROLE lb_nobody" : "DROP USER lb_nobody");
}

int main(void)
{
    static const struct engine_test tests[] = {
#define each(test, engines) {#test, test, engines}
        each(values_pass_both_ways, NULL),
        each(changes_are_counted, NULL),
        each(large_results_are_whole, NULL),
        each(results_outlive_the_end_of_the_transaction, NULL),
        each(isolation_is_what_was_asked_for, "postgres mariadb"),
        each(two_runs_at_once_do_not_meet, NULL),
        each(a_space_is_named_after_its_hint, "postgres mariadb"),
        each(what_a_dead_run_left_is_dropped, NULL),
        each(a_kept_space_stays, NULL),
        each(a_schema_of_somebody_else_is_not_touched, "postgres mariadb"),
        each(facts_say_how_durable_it_is, NULL),
        each(counters_grow, NULL),
        each(there_is_room_for_more, "postgres mariadb"),
        each(who_may_not_create_is_told_what_to_grant, "postgres mariadb"),
        {NULL, NULL, NULL},
    };
    return run_for_each_engine(tests);
}
