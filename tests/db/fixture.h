/* Shared by the tests that run against every engine: a target with a space and two connections, and
 * a main() that repeats a list of tests for embedded SQLite in both journal modes and for each URI
 * in LB_TEST_URIS (separated by newlines).
 */
#ifndef LB_TEST_FIXTURE_H
#define LB_TEST_FIXTURE_H

#include "clock.h"
#include "session.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MAX_TARGETS = 16, MAX_TESTS = 64 };

struct fixture {
    const char *uri;
    struct lb_target target;
    const struct lb_db *db;
    struct lb_space *space;
    struct lb_conn *a, *b; /* lock waits are bounded by minutes: a test that hangs ends */
    struct lb_error err;
};

enum { PATIENCE_MS = 300000 }; /* longer than any machine keeps a thread waiting */

/* A test and the engines that it is about: "sqlite", "postgres mariadb"; NULL: all. */
struct engine_test {
    const char *name;
    CMUnitTestFunction function;
    const char *engines;
};

static inline struct lb_conn *connect_with(struct fixture *f, uint32_t lock_timeout_ms,
                                           enum lb_isolation isolation)
{
    const struct lb_conn_options options = {
        .role = "test", .lock_timeout_ms = lock_timeout_ms, .isolation = isolation};
    struct lb_conn *conn = NULL;
    if (f->db->open(f->space, &options, &conn, &f->err) != 0)
        fail_msg("%s: %s", f->target.label, f->err.message);
    return conn;
}

static inline int run(struct fixture *f, struct lb_conn *conn, const char *sql)
{
    f->err.message[0] = '\0';
    return f->db->run(conn, sql, &f->err);
}

static inline void must(struct fixture *f, struct lb_conn *conn, const char *sql)
{
    int r = run(f, conn, sql);
    if (r != LB_OK)
        fail_msg("%s: %s: answer %d %s %s", f->target.label, sql, r, f->err.message,
                 lb_conn_head(conn)->message);
}

/* Prepares and executes once, without parameters. */
static inline int query(struct fixture *f, struct lb_conn *conn, const char *sql,
                        struct lb_rows *rows)
{
    struct lb_stmt *stmt = NULL;
    int r = f->db->prepare(conn, sql, 0, NULL, &stmt, &f->err);
    return r != 0 ? r : f->db->execute(conn, stmt, NULL, rows, &f->err);
}

static inline int64_t query_int(struct fixture *f, struct lb_conn *conn, const char *sql)
{
    struct lb_rows rows = {0};
    int64_t n = 0;
    int r = query(f, conn, sql, &rows);
    if (r != LB_OK)
        fail_msg("%s: %s: %d %s", f->target.label, sql, r, f->err.message);
    assert_int_equal(rows.n_rows, 1);
    struct lb_value value = f->db->value(conn, 0, 0);
    assert_true(lb_value_int(&value, &n));
    return n;
}

static inline void begin(struct fixture *f, struct lb_conn *conn)
{
    assert_int_equal(f->db->begin(conn, LB_BEGIN_DEFAULT, &f->err), LB_OK);
}

static inline void rollback(struct fixture *f, struct lb_conn *conn)
{
    assert_int_equal(f->db->rollback(conn, &f->err), LB_OK);
}

static inline bool is_engine(const struct fixture *f, const char *name)
{
    return strcmp(f->db->name, name) == 0;
}

static inline void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* A statement run by a thread of its own. */
struct task {
    struct fixture *f;
    struct lb_conn *conn;
    const char *sql;
    int64_t session_id;
    pthread_t thread;
    int answer;
};

static inline void *task_main(void *arg)
{
    struct task *task = arg;
    struct lb_error err;
    task->answer = task->f->db->run(task->conn, task->sql, &err);
    return NULL;
}

/* Starts it and returns when the engine says that it waits for a lock. */
static inline void task_start_blocked(struct task *task, struct fixture *f, struct lb_conn *conn,
                                      const char *sql, struct lb_conn *control)
{
    int blocked = 0;
    *task = (struct task){.f = f, .conn = conn, .sql = sql, .session_id = f->db->session_id(conn)};
    assert_int_equal(pthread_create(&task->thread, NULL, task_main, task), 0);
    for (int i = 0; i < PATIENCE_MS / 5 && blocked == 0; i++) {
        blocked = f->db->is_blocked(control, task->session_id, &f->err);
        if (blocked == 0)
            pause_ms(5);
    }
    if (blocked != 1)
        fail_msg("%s: %s does not wait: %d", f->target.label, sql, blocked);
}

static inline int task_join(struct task *task)
{
    pthread_join(task->thread, NULL);
    return task->answer;
}

static inline int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->uri = *state;
    *state = f;
    if (lb_target_parse(f->uri, &f->target, &f->err) != 0 ||
        f->target.db->space_open(&f->target, "engine-test", &f->space, &f->err) != 0) {
        print_message("# %s: %s\n", f->uri, f->err.message);
        return -1;
    }
    f->db = f->target.db;
    f->a = connect_with(f, PATIENCE_MS, LB_ISO_DEFAULT);
    f->b = connect_with(f, PATIENCE_MS, LB_ISO_DEFAULT);
    must(f, f->a, "CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL)");
    must(f, f->a, "INSERT INTO t VALUES (1, 10), (2, 20)");
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    f->db->close(f->a);
    f->db->close(f->b);
    int r = f->db->space_close(f->space, false, &f->err);
    if (r != 0)
        print_message("# %s: %s\n", f->uri, f->err.message);
    lb_target_release(&f->target);
    free(f);
    return r;
}

/* Adds the tests for one target. Returns how many there are now. */
static inline size_t add_target(char *uri, const struct engine_test *tests, struct CMUnitTest *all,
                                char (*names)[200], size_t n)
{
    struct lb_target target = {0};
    struct lb_error err;
    if (lb_target_parse(uri, &target, &err) != 0) {
        print_message("Bail out! LB_TEST_URIS: %s\n", err.message);
        exit(1);
    }
    for (; tests->name != NULL; tests++) {
        if (tests->engines != NULL && strstr(tests->engines, target.db->name) == NULL)
            continue;
        snprintf(names[n], sizeof names[n], "%s: %s", tests->name, target.label);
        all[n] = (struct CMUnitTest){.name = names[n],
                                     .test_func = tests->function,
                                     .setup_func = set_up,
                                     .teardown_func = tear_down,
                                     .initial_state = uri};
        n++;
    }
    lb_target_release(&target);
    return n;
}

/* uris: separated by newlines, may be NULL. */
static inline size_t add_targets(char *uris, const struct engine_test *tests,
                                 struct CMUnitTest *all, char (*names)[200], size_t n)
{
    char *uri;
    for (size_t i = 0; (uri = strsep(&uris, "\n")) != NULL && i < MAX_TARGETS; i++)
        if (uri[0] != '\0' && strncmp(uri, "sqlite:", 7) != 0)
            n = add_target(uri, tests, all, names, n);
    return n;
}

/* Runs the tests for embedded SQLite (unless without_sqlite) and the given URIs. */
static inline int run_for_uris(const char *uris, bool without_sqlite,
                               const struct engine_test *tests)
{
    static char wal[] = "sqlite:", delete[] = "sqlite:?journal=delete";
    static struct CMUnitTest all[(MAX_TARGETS + 2) * MAX_TESTS];
    static char names[(MAX_TARGETS + 2) * MAX_TESTS][200];
    size_t n = 0;
    if (!without_sqlite) {
        n = add_target(wal, tests, all, names, n);
        n = add_target(delete, tests, all, names, n);
    }
    char *list = strdup(uris != NULL ? uris : "");
    n = add_targets(list, tests, all, names, n);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = _cmocka_run_group_tests("engines", all, n, NULL, NULL);
    free(list);
    return failed;
}

static inline int run_for_each_engine(const struct engine_test *tests)
{
    return run_for_uris(getenv("LB_TEST_URIS"), false, tests);
}

#endif
