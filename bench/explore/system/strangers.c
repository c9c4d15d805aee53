/* Sessions that are none of ours, and have locks that the tasks wait for.
 *
 * The meaning of "blocked" depends on the lock's holder: a task that waits for another task goes on
 * when that one is released. One that waits for a stranger goes on at any time: then the schedule
 * proves nothing about the strategy, and there is no verdict.
 */
#include "testbed.h"

#include "append.h"
#include "clock.h"
#include "program_lex.h"

#include <stdio.h>
#include <string.h>

#define LOOK_AGAIN_NS UINT64_C(10000000)
#define LATE_NS       UINT64_C(150000000) /* the engine's report is not older */
#define LEAST_MS      UINT32_C(2000)      /* an autovacuum that is in the way gives way after 1 s */
#define MOST_MS       UINT32_C(30000)

#define ADVICE "; end it, or keep others off the tables of an exploration"

enum { MOST_NAMED = 3 };

uint32_t lb_testbed_patience_ms(const struct lb_explore_plan *plan)
{
    uint64_t ms = plan->time_ns / 1000000;
    return plan->time_ns == 0 || ms > MOST_MS ? MOST_MS : ms < LEAST_MS ? LEAST_MS : (uint32_t)ms;
}

/* --- asking --- */

static bool is_ours(const struct lb_testbed *testbed, int64_t session)
{
    if (session == testbed->db->session_id(testbed->control.conn) ||
        (testbed->has_snapshot && session == testbed->db->session_id(testbed->snapshot.conn)))
        return true;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        if (testbed->tasks[i].session_id == session)
            return true;
    return false;
}

static int64_t number_at(struct lb_testbed *testbed, size_t row, size_t column)
{
    struct lb_value value = testbed->db->value(testbed->control.conn, row, column);
    int64_t number = 0;
    lb_value_int(&value, &number);
    return number;
}

static void text_at(struct lb_testbed *testbed, size_t row, size_t column, char *buf, size_t size)
{
    struct lb_value value = testbed->db->value(testbed->control.conn, row, column);
    snprintf(buf, size, "%.*s", value.type == LB_TEXT ? (int)value.length : 0,
             value.type == LB_TEXT ? value.text : "");
    for (char *c = buf; *c != '\0'; c++) /* chosen by whoever connected */
        if ((unsigned char)*c < ' ' || *c == '\x7f')
            *c = '?';
}

/* Over the control session; session: its parameter, -1: it has none. */
static int ask(struct lb_testbed *testbed, struct lb_prepared *prepared, const char *sql,
               int64_t session, struct lb_rows *ret, struct lb_error *err)
{
    const struct lb_value id = {.type = LB_INT, .integer = session};
    struct lb_step step = {
        .kind = LB_STEP_EXECUTE, .sql = sql, .params = &id, .n_params = session >= 0};
    *ret = (struct lb_rows){0};
    int r = lb_session_execute(&testbed->control, prepared, &step, sql, ret, err);
    return r > LB_OK ? lb_fail(err, LB_E_ENV, "cannot query the holders of locks: %s",
                               testbed->control.message)
                     : r;
}

/* A program may have more connections than one, of which the others are not known. */
static bool can_tell(const struct lb_testbed *testbed)
{
    return lb_exploring(testbed->db)->blockers != NULL && !lb_testbed_has_programs(testbed);
}

/* Is the task kept waiting by a session that is none of ours? 1, 0, or an error. */
static int waits_for_stranger(struct lb_testbed *testbed, const struct lb_task *task,
                              int64_t *ret_stranger, struct lb_error *err)
{
    struct lb_rows rows;
    int r = ask(testbed, &testbed->blockers, lb_exploring(testbed->db)->blockers, task->session_id,
                &rows, err);
    for (size_t row = 0; r == 0 && row < rows.n_rows; row++) {
        *ret_stranger = number_at(testbed, row, 0);
        if (!is_ours(testbed, *ret_stranger))
            return 1;
    }
    return r;
}

/* Its name; false: it is gone, or one that gives way by itself. */
static bool name_of(struct lb_testbed *testbed, int64_t session, char *buf, size_t size)
{
    struct lb_rows rows;
    struct lb_error ignored;
    struct lb_prepared once = {0};
    buf[0] = '\0';
    if (ask(testbed, &once, lb_exploring(testbed->db)->session_name, session, &rows, &ignored) ==
            0 &&
        rows.n_rows > 0)
        text_at(testbed, 0, 0, buf, size);
    return buf[0] != '\0';
}

static int fail_of(const struct lb_task *task, const char *name, struct lb_error *err)
{
    return lb_fail(err, LB_E_ENV,
                   "worker %u waits for a lock that none of lockbench's sessions has: %s" ADVICE,
                   task->number, name);
}

/* --- while tasks run --- */

int lb_testbed_look_for_strangers(struct lb_testbed *testbed, uint64_t *ends_ns,
                                  struct lb_error *err)
{
    const struct lb_exploring *exploring = lb_exploring(testbed->db);
    char name[120];
    int64_t stranger = 0;
    if (!can_tell(testbed) || exploring->tells_blockers_late || testbed->is_leaving)
        return 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        if (task->state != LB_TASK_RUNS)
            continue;
        int r = waits_for_stranger(testbed, task, &stranger, err);
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        const atomic_int *interrupt = testbed->plan.search.interrupt;
        if (interrupt != NULL && atomic_load(interrupt) != 0)
            return lb_fail(err, LB_E_INTERRUPTED, "interrupted");
        uint64_t now_ns = lb_now_ns();
        if (*ends_ns == 0)
            *ends_ns = now_ns + lb_testbed_patience_ms(&testbed->plan) * UINT64_C(1000000);
        if (now_ns >= *ends_ns && name_of(testbed, stranger, name, sizeof name))
            return fail_of(task, name, err);
        lb_carrier_turn(testbed->carrier, now_ns + LOOK_AGAIN_NS);
        return 1;
    }
    return 0;
}

/* --- strangers that a snapshot shows --- */

/* A stranger whose transaction is under way, with a number less than *below; 1: there is one, 0, or
 * an error. At first, with *below INT64_MAX, it becomes the number of the next transaction. */
static int find_older(struct lb_testbed *testbed, int64_t *below, int64_t *ret_stranger,
                      struct lb_error *err)
{
    struct lb_rows rows;
    int r =
        ask(testbed, &testbed->under_way, lb_exploring(testbed->db)->under_way, *below, &rows, err);
    for (size_t row = 0; r == 0 && row < rows.n_rows; row++) {
        *ret_stranger = number_at(testbed, row, 0);
        if (is_ours(testbed, *ret_stranger))
            continue;
        if (*below == INT64_MAX)
            *below = number_at(testbed, row, 1);
        return 1;
    }
    return r;
}

/* All that the tasks have written so far has lower numbers than a stranger who begins from here on:
 * of its rows he hides none. */
int lb_testbed_outlive_strangers(struct lb_testbed *testbed, struct lb_error *err)
{
    const atomic_int *interrupt = testbed->plan.search.interrupt;
    const uint64_t patience_ns = lb_testbed_patience_ms(&testbed->plan) * UINT64_C(1000000);
    uint64_t ends_ns = lb_now_ns() + patience_ns;
    int64_t below = INT64_MAX, stranger = 0;
    char name[120];
    int r = 0;
    while (testbed->sees_strangers && (r = find_older(testbed, &below, &stranger, err)) > 0) {
        if (interrupt != NULL && atomic_load(interrupt) != 0)
            return lb_fail(err, LB_E_INTERRUPTED, "interrupted");
        if (lb_now_ns() >= ends_ns) {
            bool is_named = name_of(testbed, stranger, name, sizeof name);
            return lb_fail(
                err, LB_E_ENV,
                "a statement asks which transactions are under way, and one that is none "
                "of lockbench's does not end: %s; end it, or explore on a server of "
                "your own",
                is_named ? name : "it has no session");
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NS / 4}, NULL);
    }
    return r;
}

/* --- when no worker can go on --- */

static bool locks_tables(const struct lb_program *program)
{
    static const char *const words[] = {"lock", NULL};
    for (size_t i = 0; i < program->n_statements; i++)
        if (lb_sql_begins(program->statements[i].sql, program->db->dialect, words))
            return true;
    return false;
}

int lb_testbed_expect_no_strangers(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_exploring *exploring = lb_exploring(testbed->db);
    char name[120];
    int r = 0;
    if (!can_tell(testbed) || !exploring->tells_blockers_late)
        return 0; /* was asked before */
    lb_carrier_turn(testbed->carrier, lb_now_ns() + LATE_NS);
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        struct lb_rows rows = {0};
        int64_t stranger = 0;
        if (task->state != LB_TASK_BLOCKED)
            continue;
        r = waits_for_stranger(testbed, task, &stranger, err);
        if (r > 0 && name_of(testbed, stranger, name, sizeof name))
            return fail_of(task, name, err);
        r = r > 0 ? 0 : r;
        if (r == 0 && !locks_tables(testbed->program))
            r = ask(testbed, &testbed->waits_for_table, exploring->waits_for_table,
                    task->session_id, &rows, err);
        if (r == 0 && rows.n_rows > 0)
            return fail_of(task, "one on a whole table", err);
    }
    return r;
}

/* --- who else has locks --- */

/* Those that have locks on the tables, or may have some, by name: how many. */
static size_t name_holders(struct lb_testbed *testbed, char *buf, size_t size)
{
    struct lb_rows rows;
    struct lb_error ignored;
    struct lb_prepared once = {0};
    size_t n = 0;
    const char *sql = lb_exploring(testbed->db)->holders;
    buf[0] = '\0';
    if (sql == NULL || testbed->control.conn == NULL ||
        ask(testbed, &once, sql, -1, &rows, &ignored) != 0)
        return 0;
    for (size_t row = 0; row < rows.n_rows; row++) {
        char name[120];
        if (is_ours(testbed, number_at(testbed, row, 0)))
            continue;
        text_at(testbed, row, 1, name, sizeof name);
        if (n++ < MOST_NAMED)
            lb_append(buf, size, "%s%s", n > 1 ? ", " : "", name);
    }
    return n;
}

int lb_testbed_name_holders(struct lb_testbed *testbed, struct lb_error *err)
{
    char names[400];
    struct lb_error before = *err;
    if (strstr(before.message, lb_answer_name(LB_TIMEOUT)) == NULL &&
        strstr(before.message, lb_answer_name(LB_DEADLOCK)) == NULL)
        return err->code; /* it was something else */
    if (name_holders(testbed, names, sizeof names) == 0)
        return lb_fail(err, before.code, "%s; see who else %s", before.message,
                       testbed->db->in_process ? "writes to the file"
                                               : "is connected to the server");
    if (!lb_exploring(testbed->db)->is_sure_of_holders)
        return lb_fail(err, before.code, "%s; none of lockbench's, and may have locks on it: %s",
                       before.message, names);
    return lb_fail(err, before.code,
                   "the space cannot be put back, for others have locks on it: %s" ADVICE, names);
}

int lb_testbed_expect_no_holders(struct lb_testbed *testbed, struct lb_error *err)
{
    char names[400];
    if (!lb_exploring(testbed->db)->is_sure_of_holders ||
        name_holders(testbed, names, sizeof names) == 0)
        return 0;
    return lb_fail(err, LB_E_ENV,
                   "something was violated while others had locks on the tables: %s" ADVICE, names);
}
