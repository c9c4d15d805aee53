/* The gate of a task: where it stops, and the kind of each step.
 *
 * A task that is let go may use that for one statement, commit or rollback. On the way there it
 * passes begin and the harness's own steps without stopping, so that an operation is invoked right
 * before its first statement, and a hold given up right before the first statement of its release:
 * of all the moments at which that could happen, this one leaves the fewest excuses.
 */
#include "testbed.h"

#include "append.h"
#include "memory.h"
#include "random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- footprints of statements --- */

static enum lb_statement_kind kind_of(const struct lb_testbed *testbed, const char *sql,
                                      struct lb_footprint *ret)
{
    if (lb_testbed_has_programs(testbed))
        return lb_stepped_footprint(sql, testbed->db->dialect, ret);
    size_t i = lb_testbed_statement(testbed, sql);
    if (i == testbed->program->n_statements)
        return lb_footprint_of_sql(&testbed->tables, sql, ret);
    *ret = testbed->footprints[i];
    return testbed->kinds[i];
}

/* What the workers' statements do where locks are in their way. The words count in set-up, too,
 * where functions are defined. On MariaDB a statement that may touch anything may also look at
 * locks (IS_FREE_LOCK). */
static void know_locks(struct lb_testbed *testbed, const struct lb_program *program)
{
    for (size_t i = 0; i < program->n_statements; i++) {
        const char *sql = program->statements[i].sql;
        testbed->skips_rows |= lb_footprint_skips_rows(&testbed->tables, sql);
        testbed->skips_locks |= lb_footprint_skips_locks(&testbed->tables, sql);
    }
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; i < program->sections[s].n_statements; i++) {
            struct lb_footprint touched;
            if (lb_section_is_schema((enum lb_section_name)s) ||
                lb_section_is_for_lockbench((enum lb_section_name)s))
                continue;
            kind_of(testbed, program->sections[s].statements[i].sql, &touched);
            testbed->locks_tables |= (touched.commits & LB_ALL_TABLES) != 0;
            testbed->skips_rows |= touched.writes == LB_TOUCHES_ALL;
            testbed->skips_locks |= touched.writes == LB_TOUCHES_ALL && testbed->tables.scans_lock;
        }
}

void lb_testbed_know_locks(struct lb_testbed *testbed)
{
    const struct lb_program *before = testbed->program_before;
    bool hides = testbed->tables.one_writer || lb_testbed_has_programs(testbed);
    testbed->skips_locks = testbed->skips_rows = hides;
    testbed->locks_tables = false;
    know_locks(testbed, testbed->program);
    if (before != NULL)
        know_locks(testbed, before);
}

/* Can a statement that returned and changed nothing be taken for a read? Not if it looks at keys
 * that are not committed yet. At SERIALIZABLE what was looked for in vain is watched, too. Where
 * the engine cannot say whether rows are locked, not an insert: it may have drawn a number; and not
 * one that had to wait: it has locked the row that it waited for before it found that it does not
 * match any more. Nor where whole tables are locked: until its transaction ends it has a lock on
 * the table that is in their way. */
static bool leaves_nothing(struct lb_task *task, const struct lb_footprint *touched,
                           const char *sql)
{
    const struct lb_testbed *testbed = task->testbed;
    const struct lb_tables *tables = &testbed->tables;
    if (testbed->locks_tables || tables->scans_lock || tables->reads_lock ||
        (touched->commits & ~LB_BIT_SEQUENCES) != 0 || (touched->writes & LB_BIT_ADVISORY) != 0 ||
        touched->writes == LB_TOUCHES_ALL || lb_footprint_looks_at_keys(tables, sql))
        return false;
    return (!task->has_waited && touched->commits == 0 && !lb_footprint_inserts(tables, sql) &&
            lb_footprint_locks_its_rows(tables, sql)) ||
           (!lb_testbed_has_programs(testbed) && lb_task_has_no_row(task));
}

static void leave_trace(struct lb_task *task, enum lb_trace trace)
{
    if (task->trace < trace)
        task->trace = trace;
}

static bool found_something(const struct lb_rows *rows)
{
    return rows != NULL && (rows->n_rows > 0 || rows->n_changed > 0);
}

/* Did the engine say that the statement, or a trigger, changed no row? Not of an insert: it may
 * have drawn a number. */
static bool changed_none(const struct lb_task *task, const struct lb_rows *rows, const char *sql)
{
    static const char *const words[] = {"select", "with", "update", "delete", NULL};
    return rows != NULL && rows->changed_none &&
           lb_sql_begins(sql, task->testbed->db->dialect, words) &&
           !lb_footprint_inserts(&task->testbed->tables, sql);
}

/* Rows were changed; within a transaction, so far only for itself. */
static void count_change(struct lb_task *task)
{
    task->tx_changed = task->session.in_tx;
    leave_trace(task, task->session.in_tx ? LB_TRACE_LOCKS : LB_TRACE_CHANGES);
}

/* What a refused statement leaves behind depends on the engine. */
static void refused_statement(struct lb_task *task, const struct lb_step *step, int answer,
                              struct lb_footprint *touched)
{
    const struct lb_tables *tables = &task->testbed->tables;
    if (tables->one_writer) {
        touched->reads |= LB_BIT_WRITER; /* it was refused because of the write lock's holder */
        touched->writes = task->tx_writes & LB_BIT_WRITER;
    } else if (!tables->scans_lock || answer == LB_DEADLOCK) {
        /* The transaction is rolled back: its locks are free. */
        touched->commits |= task->tx_writes;
        task->tx_writes = task->tx_locks = 0;
        task->tx_changed = false;
        if (!lb_footprint_inserts(tables, step->sql))
            touched->writes = 0;
    }
}

/* Which items the claim will end with, as far as its answers say. */
static void note_claims(struct lb_task *task, const struct lb_step *step,
                        const struct lb_rows *rows)
{
    const struct lb_session *session = &task->session;
    if (rows == NULL || step->section == NULL || strcmp(step->section, "claim") != 0)
        return;
    for (size_t column = 0; column < rows->n_columns; column++)
        for (size_t row = 0; row < rows->n_rows; row++) {
            struct lb_value value = session->db->value(session->conn, row, column);
            int64_t id;
            if (strcmp(session->db->column(session->conn, column), "id") == 0 &&
                lb_value_int(&value, &id))
                task->claims |= lb_object_of(task->testbed, (uint64_t)id);
        }
}

static bool locks_tables(const struct lb_task *task, const char *sql, const char *const *words)
{
    const struct lb_testbed *testbed = task->testbed;
    return testbed->locks_tables && testbed->db->dialect == LB_SQL_MARIADB &&
           lb_sql_begins(sql, LB_SQL_MARIADB, words);
}

/* MariaDB's LOCK TABLES lasts up to UNLOCK TABLES, or the begin of a transaction. */
static void note_table_locks(struct lb_task *task, const char *sql)
{
    static const char *const locking[] = {"lock", NULL}, *const unlocking[] = {"unlock", NULL};
    task->has_tables = locks_tables(task, sql, locking) ||
                       (task->has_tables && !locks_tables(task, sql, unlocking));
}

/* GET_LOCK and RELEASE_LOCK: the server says only for one lock at a time whether a session has it.
 */
static void count_user_locks(struct lb_task *task, const struct lb_step *step, bool is_opaque,
                             int answer, const struct lb_rows *rows)
{
    const struct lb_session *session = &task->session;
    enum lb_user_lock lock = lb_footprint_user_lock(&task->testbed->tables, step->sql);
    int64_t number = 0;
    if (lock == LB_USER_LOCK_UNTOLD || is_opaque || task->n_user_locks < 0)
        task->n_user_locks = -1;
    else if (lock != LB_USER_LOCK_NONE && answer == LB_OK && rows != NULL && rows->n_rows == 1) {
        struct lb_value value = session->db->value(session->conn, 0, 0);
        if (lb_value_int(&value, &number) && number == 1)
            task->n_user_locks += lock == LB_USER_LOCK_TAKEN ? 1 : -1;
    }
}

static void count_execute(struct lb_task *task, const struct lb_step *step, int answer,
                          const struct lb_rows *rows)
{
    struct lb_testbed *testbed = task->testbed;
    struct lb_footprint touched;
    bool is_write = kind_of(testbed, step->sql, &touched) == LB_WRITE;
    if (task->tx_keeps_snapshot) /* which may be taken here, for any later read */
        touched.reads |= LB_ALL_TABLES;
    if (answer == LB_OK && is_write && changed_none(task, rows, step->sql)) {
        touched.reads |= touched.writes;
        touched.writes = touched.commits = 0;
    } else if (answer == LB_OK && is_write && !found_something(rows) &&
               leaves_nothing(task, &touched, step->sql)) {
        touched.writes = 0;
    }
    bool is_told = lb_task_tell_statement(task, step, answer, rows, &touched);
    note_claims(task, step, rows);
    if ((touched.commits & LB_BIT_ADVISORY) != 0)
        count_user_locks(task, step, touched.writes == LB_TOUCHES_ALL, answer, rows);
    if (answer == LB_OK)
        note_table_locks(task, step->sql);
    task->may_free = task->may_free || answer != LB_OK || touched.commits != 0;
    task->tx_failed = task->tx_failed || answer != LB_OK;
    task->tx_found = task->tx_found || found_something(rows);
    if (answer != LB_OK)
        refused_statement(task, step, answer, &touched);
    else if (touched.writes == LB_TOUCHES_ALL || (is_write && rows != NULL && rows->n_changed > 0))
        count_change(task);
    else if (touched.writes != 0)
        leave_trace(task, LB_TRACE_LOCKS);
    bool has_drawn = (answer != LB_OK && !touched.numbers) || found_something(rows);
    if ((touched.commits & LB_BIT_SEQUENCES) != 0 && has_drawn)
        leave_trace(task, LB_TRACE_CHANGES); /* no rollback takes a number back */
    if (task->session.in_tx && answer == LB_OK && touched.queues)
        task->tx_locks |= touched.writes;
    if (is_told)
        lb_task_touch(task, &touched);
    else /* the next gate reports it, and if it draws */
        task->tx_writes |= touched.draws ? touched.writes & ~LB_BIT_SEQUENCES : touched.writes;
}

static void count_end_of_tx(struct lb_task *task, enum lb_step_kind kind, int answer)
{
    struct lb_footprint touched = {.commits = task->tx_writes};
    if (answer == LB_OK && !task->tx_failed)
        lb_task_tell_end(task, &touched);
    task->own_is_last = false;
    if (task->testbed->tables.reads_lock) /* of two that cannot both commit, the first one does */
        touched.reads = task->tx_writes;
    task->may_free = true;
    lb_task_add_touched(task, &touched);
    if (kind == LB_STEP_COMMIT && answer == LB_OK && task->tx_changed)
        leave_trace(task, LB_TRACE_CHANGES);
    if (answer == LB_OK || answer == LB_LOST) {
        task->tx_writes = task->tx_locks = 0;
        task->tx_changed = false;
    }
}

static void count_begin(struct lb_task *task, int answer)
{
    struct lb_footprint touched = {0};
    task->has_tables = false;
    if (answer != LB_OK)
        task->may_go = false; /* that was the move */
    task->tx_keeps_snapshot =
        answer == LB_OK && task->testbed->keeps_snapshots && !task->tx_is_split;
    task->tx_is_one = task->tx_is_split;
    task->tx_failed = task->tx_found = false;
    task->tx_is_split = false;
    if (task->testbed->tables.one_writer) {
        if (answer == LB_OK) {
            task->tx_writes = touched.writes = LB_BIT_WRITER;
            leave_trace(task, LB_TRACE_LOCKS);
        }
        touched.reads = LB_BIT_WRITER;
    }
    struct lb_testbed *testbed = task->testbed;
    if (answer == LB_OK && testbed->fixes_time)
        lb_testbed_run_clock(testbed, &task->session, testbed->clock->begin, testbed->clock_ms,
                             &task->error);
    lb_task_add_touched(task, &touched);
}

/* --- records --- */

static void append_value(char *text, size_t size, const struct lb_value *value)
{
    size_t n = strlen(text);
    switch (value->type) {
    case LB_INT:
        lb_append(text, size, "%lld", (long long)value->integer);
        break;
    case LB_REAL:
        lb_append(text, size, "%g", value->real);
        break;
    case LB_TEXT: /* quotes doubled, as SQL has it */
        n += (size_t)snprintf(text + n, size - n, "'");
        for (uint32_t i = 0; i < value->length && n + 3 < size; i++) {
            if (value->text[i] == '\'')
                text[n++] = '\'';
            text[n++] = value->text[i];
        }
        snprintf(text + n, size - n, "'");
        break;
    case LB_NULL:
    default:
        lb_append(text, size, "NULL");
        break;
    }
}

/* Parameters: one literal per line of text. */
char *lb_gate_describe_params(const struct lb_step *step)
{
    char text[2000] = "";
    for (size_t i = 0; i < step->n_params && strlen(text) + 2 < sizeof text; i++) {
        append_value(text, sizeof text - 2, &step->params[i]);
        strcat(text, "\n");
    }
    return lb_strdup(text);
}

/* The rows: "id=1 payload='x'; id=2 ...". */
static char *describe_rows(const struct lb_task *task, const struct lb_rows *rows)
{
    enum { SHOWN = 4 };
    char text[600] = "";
    const struct lb_session *session = &task->session;
    for (size_t row = 0; row < rows->n_rows && row < SHOWN; row++)
        for (size_t column = 0; column < rows->n_columns; column++) {
            struct lb_value value = session->db->value(session->conn, row, column);
            lb_append(text, sizeof text, "%s%s=",
                      column > 0 ? " "
                      : row > 0  ? "; "
                                 : "",
                      session->db->column(session->conn, column));
            append_value(text, sizeof text, &value);
        }
    return lb_strdup(text);
}

/* The step under way: looked at when the task is blocked in it. */
static void set_pending(struct lb_task *task, const struct lb_step *step)
{
    char *params = task->testbed->details && step->kind == LB_STEP_EXECUTE
                       ? lb_gate_describe_params(step)
                       : NULL;
    free(task->pending.params);
    task->pending = (struct lb_step_record){.task = (uint8_t)task->number,
                                            .kind = (uint8_t)step->kind,
                                            .sql = step->sql,
                                            .params = params};
}

struct lb_footprint lb_task_pending(const struct lb_task *task)
{
    struct lb_footprint touches = {0};
    if (task->pending.kind == LB_STEP_EXECUTE)
        kind_of(task->testbed, task->pending.sql, &touches);
    return touches;
}

static void add_record(struct lb_task *task, const struct lb_step *step, int answer,
                       const struct lb_rows *rows)
{
    uint64_t digest = lb_mix(task->digest, (uint64_t)step->kind * 64 + (uint64_t)(answer + 16));
    if (rows != NULL && step->kind == LB_STEP_EXECUTE)
        digest = lb_mix(lb_mix(digest, rows->n_rows), (uint64_t)rows->n_changed);
    task->digest = digest;
    task->n_executed += step->kind <= LB_STEP_ROLLBACK;
    if (!task->testbed->details || task->n_records == LB_RECORDS_OF_MOVE)
        return;
    struct lb_step_record *record = &task->records[task->n_records++];
    *record = task->pending;
    task->pending.params = NULL;
    record->answer = (int8_t)answer;
    if (rows != NULL && step->kind == LB_STEP_EXECUTE) {
        record->n_rows = rows->n_rows;
        record->n_changed = rows->n_changed;
        record->rows = describe_rows(task, rows);
    }
}

void lb_task_note(struct lb_task *task, const char *format, ...)
{
    if (task->n_records == 0)
        return;
    struct lb_step_record *last = &task->records[task->n_records - 1];
    va_list args;
    va_start(args, format);
    vsnprintf(last->note, sizeof last->note, format, args);
    va_end(args);
}

/* The worker's answers are part of the state that a test compares. */
static void tell_story(struct lb_task *task, const struct lb_step *step, int answer,
                       const struct lb_rows *rows)
{
    if (task->story == NULL || step->kind != LB_STEP_EXECUTE)
        return;
    char *told = rows != NULL && answer == LB_OK ? describe_rows(task, rows) : NULL;
    size_t left = LB_STORY_BYTES - task->story_n;
    int n = snprintf(task->story + task->story_n, left, " %s %s %lld(%s)", step->section,
                     lb_answer_name(answer),
                     (long long)(rows != NULL && answer == LB_OK ? rows->n_changed : 0),
                     told != NULL ? told : "");
    task->story_n += n > 0 && (size_t)n < left ? (size_t)n : 0;
    free(told);
}

/* How many others hold it, too. */
void lb_task_tell_hold(struct lb_task *task)
{
    const struct lb_testbed *testbed = task->testbed;
    unsigned n = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        n += i != task->number && testbed->tasks[i].has_it;
    size_t left = LB_STORY_BYTES - task->story_n;
    if (task->story != NULL && testbed->plan.watch->tells_holds && left > 40)
        task->story_n += (size_t)snprintf(task->story + task->story_n, left, " holds beside %u", n);
}

static void forget(struct lb_step_record *records, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        free(records[i].params);
        free(records[i].rows);
    }
    *n = 0;
}

void lb_testbed_take_records(struct lb_testbed *testbed, struct lb_task *task, bool is_late)
{
    for (size_t i = 0; i < task->n_records; i++) {
        task->records[i].move = (uint16_t)testbed->n_moves;
        task->records[i].is_late = is_late;
    }
    if (testbed->n_records + task->n_records <= LB_MAX_RECORDS) {
        memcpy(testbed->records + testbed->n_records, task->records,
               task->n_records * sizeof *task->records);
        testbed->n_records += task->n_records;
        task->n_records = 0;
    }
    forget(task->records, &task->n_records);
}

void lb_testbed_forget_records(struct lb_testbed *testbed)
{
    forget(testbed->records, &testbed->n_records);
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        forget(testbed->tasks[i].records, &testbed->tasks[i].n_records);
}

/* --- stopping --- */

void lb_task_stand(struct lb_task *task)
{
    task->stands = true;
    lb_carrier_stand();
}

static int stop(struct lb_task *task, struct lb_error *err)
{
    lb_task_stand(task);
    return task->give_up ? lb_fail(err, LB_E_INTERRUPTED, "the schedule ends here") : 0;
}

/* The transaction has nothing but locks (InnoDB): all that it looked for was not there. The other
 * session can only wait for them, and nothing happens while it does: there is no third session, and
 * the clock stays. */
static bool was_in_vain(const struct lb_task *task)
{
    const struct lb_testbed *testbed = task->testbed;
    uint32_t n_sessions = testbed->n_tasks - (testbed->plan.workers - testbed->n_running);
    return testbed->tables.scans_lock && !testbed->skips_rows && !task->tx_found &&
           !task->tx_failed && n_sessions <= 2 &&
           (testbed->n_ticks == testbed->plan.ticks || testbed->unmoved[0] != '\0');
}

/* The end of a transaction that others cannot tell from its last statement. */
static bool passes_unseen(const struct lb_task *task, enum lb_step_kind kind)
{
    if (task->testbed->unreduced || task->testbed->tables.reads_lock)
        return false;
    if (kind != LB_STEP_COMMIT && kind != LB_STEP_ROLLBACK)
        return false;
    return (task->tx_writes & ~LB_BIT_WRITER) == 0 || was_in_vain(task);
}

/* The server commits, and the connection is cut before the answer comes. The worker does not get
 * the server's answer. The session's other locks are released before others go on: the time at
 * which a server notices the end of a connection is undefined. */
static int lose_answer(struct lb_task *task, struct lb_error *err)
{
    const struct lb_testbed *testbed = task->testbed;
    struct lb_conn *conn = task->session.conn;
    const char *sql = lb_exploring(testbed->db)->session;
    task->is_cut = false;
    task->is_lost = true;
    int r = testbed->db->commit(conn, err);
    if (r > LB_OK)
        r = testbed->db->rollback(conn, err);
    if (r == LB_OK && sql != NULL && testbed->used_advisory)
        r = testbed->db->run(conn, sql, err);
    return r < 0 ? r : LB_LOST;
}

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_task *task = arg;
    task->next_kind = (int)step->kind;
    bool consumes = step->kind == LB_STEP_EXECUTE || step->kind == LB_STEP_COMMIT ||
                    step->kind == LB_STEP_ROLLBACK;
    if (!task->testbed->is_open || !task->in_script)
        return 0;
    if (task->give_up)
        return lb_fail(err, LB_E_INTERRUPTED, "the schedule ends here");
    if (!task->may_go) {
        bool passes = (step->kind == LB_STEP_ENTER && !task->testbed->unreduced) ||
                      (task->testbed->plan.whole && task->session.in_tx) ||
                      passes_unseen(task, step->kind);
        int r = passes ? 0 : stop(task, err);
        if (r != 0)
            return r;
    }
    if (consumes || (task->testbed->unreduced && step->kind != LB_STEP_POLL))
        task->may_go = false;
    set_pending(task, step);
    if (step->kind == LB_STEP_COMMIT && task->is_cut)
        return lose_answer(task, err);
    return step->kind == LB_STEP_EXECUTE && task->testbed->clock_ms > 0
               ? lb_testbed_state_time(task->testbed, &task->session, err)
               : 0;
}

static const char *rewrite(void *arg, const char *native)
{
    const struct lb_task *task = arg;
    return lb_testbed_native(task->testbed, native);
}

static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    struct lb_task *task = arg;
    if (!task->testbed->is_open || !task->in_script)
        return;
    switch (step->kind) {
    case LB_STEP_EXECUTE:
        count_execute(task, step, answer, rows);
        break;
    case LB_STEP_BEGIN:
        count_begin(task, answer);
        break;
    case LB_STEP_COMMIT:
    case LB_STEP_ROLLBACK:
        count_end_of_tx(task, step->kind, answer);
        break;
    case LB_STEP_ENTER:
    case LB_STEP_LEAVE:
    case LB_STEP_POLL:
    default:
        break;
    }
    add_record(task, step, answer, rows);
    tell_story(task, step, answer, rows);
}

/* True if the autocommitted statement is run as begin, execute, commit. Plain reads are not: no
 * other move can come between their execution and their end. Nor are statements under LOCK TABLES:
 * a begin would unlock them, and no other session sees these tables. */
static bool splits(void *arg, const struct lb_step *step)
{
    static const char *const words[] = {"lock", "unlock", NULL};
    struct lb_task *task = arg;
    struct lb_footprint ignored;
    task->tx_is_split = task->in_script && task->testbed->is_open && !task->testbed->plan.whole &&
                        !task->has_tables && !locks_tables(task, step->sql, words) &&
                        kind_of(task->testbed, step->sql, &ignored) == LB_WRITE;
    return task->tx_is_split;
}

void lb_gate_of_testbed(struct lb_gate *gate)
{
    *gate = (struct lb_gate){.before = before,
                             .after = after,
                             .split_autocommit = true,
                             .splits = splits,
                             .rewrite = rewrite};
}

/* --- tries --- */

int lb_task_begin_try(struct lb_task *task, enum lb_step_kind kind, struct lb_error *err)
{
    task->trace = LB_TRACE_NOTHING;
    task->story_try = task->story_n;
    task->try_event = task->log.n_events;
    task->claims = 0;
    task->try_moves = task->may_go ? 1 : 0;
    task->try_touched = (struct lb_footprint){0};
    return lb_session_pass(&task->session, kind, err);
}

/* Has the refused try left a lock with the session? Where the engine cannot be asked, the answers
 * of its statements tell it. If they do not, a try of several statements is taken to have. The
 * session of a program is asked about over the task's own one, which has nothing else to do: the
 * fiber waits meanwhile. */
static bool keeps_session_locks(struct lb_task *task)
{
    struct lb_session *session = &task->session;
    const bool is_guest = lb_testbed_has_programs(task->testbed);
    const struct lb_exploring *exploring = lb_exploring(session->db);
    const char *sql = is_guest ? exploring->has_locks_of : exploring->has_locks;
    const struct lb_value id = {.type = LB_INT, .integer = task->session_id};
    if ((task->try_touched.commits & LB_BIT_ADVISORY) == 0 || session->conn == NULL)
        return false;
    if (sql == NULL && is_guest)
        return true;
    if (sql == NULL)
        return task->n_user_locks < 0 ? task->try_moves > 1 : task->n_user_locks > 0;
    struct lb_step step = {
        .kind = LB_STEP_EXECUTE, .sql = sql, .params = &id, .n_params = is_guest ? 1 : 0};
    struct lb_rows rows = {0};
    session->gate = NULL;
    int r = lb_session_execute(session, &task->has_locks, &step, sql, &rows, &task->error);
    session->gate = &task->testbed->gate;
    return r != LB_OK || rows.n_rows > 0;
}

/* The same refusals count as in a run: see bench/run/outcome/refused.c. But here no worker repeats
 * its request: a share of the schedules means more than a share of the tries. */
static void count_refusal(struct lb_task *task, int answer)
{
    const struct lb_session *session = &task->session;
    enum lb_op op = task->op.last;
    enum lb_measure measure = op == LB_OP_ENQUEUE                           ? LB_M_ENQUEUE
                              : op == LB_OP_ACQUIRE || op == LB_OP_CLAIM    ? LB_M_ACQUIRE
                              : op == LB_OP_RELEASE || op == LB_OP_COMPLETE ? LB_M_RELEASE
                              : op == LB_OP_PUT                             ? LB_M_PUT
                                                                            : LB_MEASURES;
    if (measure == LB_MEASURES || answer < 0)
        return;
    struct lb_server_refusals *refusals = &task->testbed->refusals[measure];
    bool takes = measure == LB_M_ENQUEUE || measure == LB_M_ACQUIRE;
    if (answer != LB_OTHER && (takes || answer != LB_DUPLICATE))
        return;
    refusals->is_there = true;
    if (refusals->first[0] != '\0')
        return;
    char place[120] = "";
    if (session->refused_file != NULL)
        snprintf(place, sizeof place, "%.100s:%d: ", session->refused_file, session->refused_line);
    snprintf(refusals->first, sizeof refusals->first, "%s%.150s", place, session->message);
}

enum lb_measure lb_testbed_refused(const struct lb_testbed *testbed, uint64_t n_schedules)
{
    enum { SHARE = 3 };
    if (testbed->plan.cuts > 0) /* a worker without an answer puts, and takes, again */
        return LB_MEASURES;
    for (int m = 0; m < LB_MEASURES; m++) {
        const struct lb_server_refusals *refusals = &testbed->refusals[m];
        if (refusals->n > 0 && SHARE * refusals->n >= n_schedules)
            return (enum lb_measure)m;
    }
    return LB_MEASURES;
}

bool lb_task_retries(struct lb_task *task, int answer, bool learned)
{
    count_refusal(task, answer);
    if (answer <= LB_OK || answer == LB_LOST)
        return false;
    task->last_refusal = answer;
    task->has_seen = !learned && task->try_first >= task->testbed->n_before_leases;
    task->story_n = task->story_try;
    if (task->session.in_tx || learned || keeps_session_locks(task))
        leave_trace(task, LB_TRACE_CHANGES);
    task->refused_event = task->try_event;
    task->refused = (struct lb_refused){.is_refused = true,
                                        .is_own = true,
                                        .first = task->try_first,
                                        .trace = task->trace,
                                        .touched = task->try_touched};
    return true;
}
