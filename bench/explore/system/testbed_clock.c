/* The clock of a testbed, and the start of its sessions: statements whose words for the time are
 * replaced, and the statements that move the server's clock. See testbed.h.
 */
#include "testbed.h"

#include "array.h"

#include <stdio.h>

int lb_testbed_run_clock(struct lb_testbed *testbed, struct lb_session *session, const char *format,
                         int64_t n, struct lb_error *err)
{
    char sql[2000];
    if (format == NULL)
        return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int length = snprintf(sql, sizeof sql, format, (long long)n);
#pragma GCC diagnostic pop
    if (length < 0 || (size_t)length >= sizeof sql)
        return lb_fail(err, LB_E_INTERNAL, "the statement that moves the clock is too long");
    int r = testbed->db->run(session->conn, sql, err);
    return r > LB_OK ? lb_fail(err, LB_E_ENV, "the server's clock cannot be moved: %s",
                               lb_conn_head(session->conn)->message)
                     : r;
}

int lb_testbed_state_time(struct lb_testbed *testbed, struct lb_session *session,
                          struct lb_error *err)
{
    const struct lb_server_clock *clock = testbed->clock;
    const int64_t still_ms = testbed->plan.still_unix_ms;
    if (!testbed->states_time)
        return 0;
    if (still_ms != 0 && clock->still_statement != NULL)
        return lb_testbed_run_clock(testbed, session, clock->still_statement,
                                    still_ms + testbed->clock_ms, err);
    bool is_back = testbed->clock_ms == 0 && clock->statement_back != NULL;
    return lb_testbed_run_clock(testbed, session,
                                is_back ? clock->statement_back : clock->statement,
                                testbed->clock_ms, err);
}

enum { EXACT_MS = 675000 };

void lb_explore_stand_still(struct lb_explore_plan *plan, int64_t unix_ms)
{
    plan->skew_ms = plan->skew_ms / plan->ttl_ms * EXACT_MS;
    plan->period_ms = plan->period_ms / plan->ttl_ms * EXACT_MS;
    plan->ttl_ms = EXACT_MS;
    plan->still_unix_ms = unix_ms - unix_ms % EXACT_MS;
}

void lb_explore_equal_times(struct lb_explore_plan *plan, int64_t unix_ms)
{
    lb_explore_stand_still(plan, unix_ms);
    plan->tick_ms = plan->period_ms = plan->ttl_ms;
}

void lb_explore_half_leases(struct lb_explore_plan *plan)
{
    plan->ticks = 2;
    plan->tick_ms = plan->ttl_ms / 10 * 6;
}

static int64_t tick_ms(const struct lb_testbed *testbed)
{
    /* Two leases: the judge allows for clocks that run at different rates. */
    const struct lb_explore_plan *plan = &testbed->plan;
    return plan->tick_ms > 0 ? plan->tick_ms : 2 * (int64_t)plan->ttl_ms;
}

const char *lb_testbed_native(void *arg, const char *native)
{
    struct lb_testbed *testbed = arg;
    if (testbed->clock == NULL || testbed->clock->words == NULL)
        return native;
    for (size_t i = 0; i < testbed->n_rewritten; i++)
        if (testbed->rewritten[i].native == native)
            return testbed->rewritten[i].text;
    struct lb_rewritten *rewritten =
        lb_array_add(&testbed->rewritten, &testbed->n_rewritten, sizeof *rewritten);
    *rewritten = (struct lb_rewritten){
        native, lb_clock_rewrite(testbed->clock, testbed->db->dialect, native, tick_ms(testbed),
                                 testbed->plan.still_unix_ms)};
    return rewritten->text;
}

int lb_testbed_use_clock(struct lb_testbed *testbed, struct lb_session *session,
                         struct lb_error *err)
{
    char sql[200];
    const int64_t still_ms = testbed->plan.still_unix_ms;
    if (still_ms != 0) {
        int r =
            lb_testbed_run_clock(testbed, session, testbed->clock->session_still, still_ms, err);
        if (r == 0)
            r = lb_testbed_run_clock(testbed, session, testbed->clock->still_statement, still_ms,
                                     err);
        if (r != 0)
            return r;
    }
    if (testbed->clock->session == NULL)
        return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sql, sizeof sql, testbed->clock->session, testbed->db->space_name(testbed->space));
#pragma GCC diagnostic pop
    int r = testbed->db->run(session->conn, sql, err);
    return r > LB_OK ? lb_fail(err, LB_E_ENV, "%s", lb_conn_head(session->conn)->message) : r;
}

int lb_testbed_begin_session(struct lb_testbed *testbed, struct lb_task *task, struct lb_error *err)
{
    const char *opening = lb_exploring(testbed->db)->opening;
    int r = opening != NULL ? testbed->db->run(task->session.conn, opening, err) : 0;
    if (r >= 0 && testbed->clock != NULL)
        r = lb_testbed_use_clock(testbed, &task->session, err);
    task->session_id = testbed->db->session_id(task->session.conn);
    return r < 0 ? r : 0;
}

/* True if a statement may ask for a time other than these. */
static bool asks_others(const struct lb_testbed *testbed, const char *const *words)
{
    const struct lb_program *program = testbed->program;
    char ignored[32];
    if (words == NULL || testbed->tables.opaque || lb_testbed_has_programs(testbed) ||
        testbed->program_before != NULL)
        return true;
    for (size_t i = 0; i < program->n_statements; i++)
        if (lb_footprint_reads_clock(&testbed->tables, program->statements[i].sql, words, ignored,
                                     sizeof ignored))
            return true;
    return false;
}

void lb_testbed_know_times(struct lb_testbed *testbed)
{
    const struct lb_server_clock *clock = testbed->clock;
    testbed->fixes_time = clock != NULL && asks_others(testbed, clock->runs_on);
    testbed->states_time =
        clock != NULL && clock->statement != NULL && asks_others(testbed, clock->unstated);
}

/* The tables that the statement names, one bit each; ret_first: the first of them; ret_n: how often
 * it names one. */
static uint32_t named_tables(const struct lb_testbed *testbed, const char *sql, uint32_t *ret_first,
                             size_t *ret_n)
{
    struct lb_tokens tokens;
    uint32_t named = 0;
    *ret_first = 0;
    *ret_n = 0;
    lb_tokens_read(&tokens, sql, testbed->db->dialect);
    for (size_t i = 0; i < tokens.n; i++)
        for (size_t table = 0; table < testbed->tables.n; table++)
            if (lb_token_names(&tokens.at[i], testbed->tables.name[table])) {
                named |= 1u << table;
                *ret_first = *ret_n == 0 ? 1u << table : *ret_first;
                ++*ret_n;
            }
    lb_tokens_free(&tokens);
    return testbed->tables.opaque ? LB_ALL_TABLES : named;
}

/* A default of SYSDATE() is that of the statement's begin here (see default_words). It differs
 * where the statement waits before it asks for the default: an UPDATE, or an INSERT that reads
 * other rows, or finds its key. InnoDB locks what INSERT ... SELECT reads. */
static bool defaults_too_early(const struct lb_testbed *testbed, const char *sql)
{
    static const char
        *const inserting[] = {"insert", "replace", NULL},
               *const waiting[] = {"for", "lock", NULL},
               *const patient[] = {"skip", "nowait", NULL}, *const calling[] = {"get_lock", NULL},
               *const duplicate[] = {"duplicate", NULL}, *const asking[] = {"default", NULL};
    const enum lb_dialect dialect = testbed->db->dialect;
    size_t n;
    uint32_t first, named = named_tables(testbed, sql, &first, &n);
    const bool is_insert = lb_sql_begins(sql, dialect, inserting),
               asks = lb_sql_has_any(sql, dialect, asking),
               is_patient = n == 2 && lb_sql_has_any(sql, dialect, patient);
    if ((testbed->with_default & (is_insert && !testbed->tables.opaque ? first : named)) == 0)
        return false;
    if (!is_insert)
        return asks;
    return ((n > 1 || lb_sql_has_any(sql, dialect, waiting)) && !is_patient) ||
           lb_sql_has_any(sql, dialect, calling) ||
           (asks && lb_sql_has_any(sql, dialect, duplicate));
}

static bool asks_unmoved(struct lb_testbed *testbed, const char *sql, enum lb_section_name section)
{
    const struct lb_server_clock *clock = testbed->clock;
    char *buf = testbed->unmoved;
    const size_t size = sizeof testbed->unmoved;
    const char *word = lb_clock_hidden(clock, testbed->db->dialect, sql);
    if (word != NULL)
        snprintf(buf, size, "%s in quotes", word);
    else if (section != LB_S_SETUP && section != LB_S_MIGRATE && defaults_too_early(testbed, sql))
        snprintf(buf, size, "a default behind a wait");
    return buf[0] != '\0' ||
           lb_footprint_reads_clock(&testbed->tables, sql, clock->moved, buf, size);
}

/* Rows of set-up are there before the first step of the clock. Workers use its definitions later.
 */
static bool is_before_steps(const struct lb_testbed *testbed, const char *sql,
                            enum lb_section_name section)
{
    static const char *const rows[] = {"insert", "replace", "update",   "delete",
                                       "merge",  "select",  "truncate", NULL};
    return section == LB_S_SETUP && testbed->plan.still_unix_ms == 0 &&
           testbed->plan.putters == 0 && lb_sql_begins(sql, testbed->db->dialect, rows);
}

static bool has_unmoved(struct lb_testbed *testbed, const struct lb_program *program)
{
    for (int s = 0; s < LB_SECTIONS; s++) {
        const enum lb_section_name section = (enum lb_section_name)s;
        if (section == LB_S_TEARDOWN || section == LB_S_COUNT || section == LB_S_AGE)
            continue; /* no exploration runs them, but when it is over */
        for (size_t i = 0; i < program->sections[s].n_statements; i++) {
            const char *sql = program->sections[s].statements[i].sql;
            if (!is_before_steps(testbed, sql, section) && asks_unmoved(testbed, sql, section))
                return true;
        }
    }
    return false;
}

/* Tables with a default that is that of a statement's begin. */
static uint32_t tables_with_default(const struct lb_testbed *testbed,
                                    const struct lb_program *program)
{
    uint32_t tables = 0, first;
    size_t n;
    for (size_t i = 0; i < program->n_statements; i++)
        if (lb_clock_is_default(testbed->clock, testbed->db->dialect, program->statements[i].sql))
            tables |= named_tables(testbed, program->statements[i].sql, &first, &n);
    return tables;
}

int lb_testbed_find_unmoved_clock(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_program *program = testbed->program, *before = testbed->program_before;
    if (testbed->clock == NULL)
        return 0;
    testbed->with_default = tables_with_default(testbed, program) |
                            (before != NULL ? tables_with_default(testbed, before) : 0);
    bool has = has_unmoved(testbed, program) || (before != NULL && has_unmoved(testbed, before));
    return has && testbed->plan.still_unix_ms != 0
               ? lb_fail(err, LB_E_UNSUPPORTED,
                         "the clock cannot stand still: a statement asks for %s", testbed->unmoved)
               : 0;
}

int64_t lb_task_skew_ms(const struct lb_task *task)
{
    const struct lb_explore_plan *plan = &task->testbed->plan;
    return plan->skews_all || task->number % 2 == 0 ? plan->skew_ms : -plan->skew_ms;
}

void lb_testbed_set_control(struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    testbed->control_actor.clock_skew_ms =
        testbed->clock_ms + (plan->skews_all ? plan->skew_ms : 0);
}

int lb_testbed_turn_clock_back(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_server_clock *clock = testbed->clock;
    testbed->clock_ms = 0;
    int r = lb_testbed_run_clock(testbed, &testbed->control,
                                 clock->set_back != NULL ? clock->set_back : clock->set, 0, err);
    if (r == 0)
        r = lb_testbed_state_time(testbed, &testbed->control, err);
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++)
        if (testbed->tasks[i].session.conn != NULL)
            r = lb_testbed_state_time(testbed, &testbed->tasks[i].session, err);
    return r;
}

void lb_testbed_begin_leases(struct lb_testbed *testbed)
{
    testbed->outlived = false;
    testbed->n_before_leases = testbed->n_moves + 1;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        testbed->tasks[i].has_seen = testbed->tasks[i].saw_it_outlived = false;
}

static void leases_end(struct lb_testbed *testbed)
{
    testbed->outlived = true;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        testbed->tasks[i].saw_it_outlived = testbed->tasks[i].has_seen;
}

/* A clock of which some statement sees nothing would show violations that there are none of. */
bool lb_testbed_may_tick(const struct lb_testbed *testbed)
{
    return testbed->n_ticks < testbed->plan.ticks && testbed->unmoved[0] == '\0' &&
           (testbed->n_moves > 0 || testbed->is_born_with_time);
}

int lb_testbed_tick(struct lb_testbed *testbed, struct lb_error *err)
{
    testbed->n_ticks++;
    testbed->clock_ms += tick_ms(testbed);
    if (testbed->clock_ms >= (int64_t)testbed->plan.ttl_ms)
        leases_end(testbed);
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        testbed->tasks[i].actor.clock_skew_ms =
            testbed->clock_ms + lb_task_skew_ms(&testbed->tasks[i]);
    if (testbed->clock == NULL)
        return 0;
    testbed->clock_is_ahead = true;
    int r = lb_testbed_run_clock(testbed, &testbed->control, testbed->clock->set, testbed->clock_ms,
                                 err);
    return r != 0 ? r : lb_testbed_state_time(testbed, &testbed->control, err);
}
