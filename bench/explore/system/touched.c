/* Which rows a task's statement, or the end of its transaction, has touched: see rows.h.
 *
 * The server is asked, and only for a move that the search makes for the first time: of a move that
 * is made again it knows.
 */
#include "testbed.h"

#include <stdio.h>
#include <string.h>

static uint64_t digest_of(const char *text, size_t n, uint64_t digest)
{
    for (size_t i = 0; i < n; i++)
        digest = lb_mix(digest, (unsigned char)text[i]);
    return digest;
}

#define NO_DIGEST UINT64_C(0xcbf29ce484222325)

bool lb_task_tells_rows(const struct lb_task *task)
{
    return task->testbed->rules.own_sql != NULL && !task->testbed->again &&
           task->testbed->rules.fine != 0 && task->role != LB_ROLE_BLOCKER;
}

/* --- asking --- */

static void take_row(struct lb_task *task, struct lb_session *session, size_t row, bool is_own,
                     char *xid, size_t size)
{
    const struct lb_db *db = session->db;
    struct lb_value table = db->value(session->conn, row, 0),
                    key = db->value(session->conn, row, 1),
                    order = db->value(session->conn, row, 2),
                    meets = db->value(session->conn, row, 3), id = db->value(session->conn, row, 4);
    int64_t number = -1, bits = 0;
    lb_value_int(&table, &number);
    lb_value_int(&meets, &bits);
    if (number < 0) {
        snprintf(xid, size, "%.*s", id.type == LB_TEXT ? (int)id.length : 0, id.text);
        return;
    }
    struct lb_own_rows *own = &task->own;
    uint64_t digest = digest_of(key.text, key.length, NO_DIGEST);
    size_t i = 0;
    while (i < own->n && (own->rows[i].table != number || own->rows[i].key != digest))
        i++;
    if (i == LB_OWN_ROWS) {
        own->too_many = true;
        return;
    }
    struct lb_own_row *it = &own->rows[i];
    if (i == own->n) {
        own->n++;
        *it = (struct lb_own_row){.table = (uint8_t)number, .key = digest};
    }
    uint64_t of_order = digest_of(order.text, order.length, NO_DIGEST);
    if (is_own) {
        it->is_after = true;
        it->meets_after = (uint32_t)bits;
        it->order_after = of_order;
    } else {
        it->is_before = true;
        it->meets_before = (uint32_t)bits;
        it->order_before = of_order;
    }
}

/* Executes it past the gate. The answer to the last statement is set aside: the task has not read
 * it yet. */
static int execute_aside(struct lb_task *task, struct lb_session *session,
                         struct lb_prepared *prepared, const char *sql,
                         const struct lb_value *param, struct lb_rows *ret)
{
    struct lb_step step = {
        .kind = LB_STEP_EXECUTE, .sql = sql, .params = param, .n_params = param != NULL ? 1 : 0};
    const struct lb_gate *gate = session->gate;
    session->gate = NULL;
    if (session->db->set_aside != NULL)
        session->db->set_aside(session->conn);
    int r = lb_session_execute(session, prepared, &step, sql, ret, &task->error);
    session->gate = gate;
    return r <= LB_OK
               ? r
               : lb_fail(&task->error, LB_E_ENV, "its rows cannot be told: %s", session->message);
}

static void take_back(struct lb_session *session)
{
    if (session->db->take_back != NULL && session->conn != NULL)
        session->db->take_back(session->conn);
}

static int ask(struct lb_task *task, struct lb_session *session, struct lb_prepared *prepared,
               const char *sql, const struct lb_value *param, bool is_own, char *xid, size_t size)
{
    struct lb_rows rows = {0};
    int r = execute_aside(task, session, prepared, sql, param, &rows);
    for (size_t row = 0; r == 0 && row < rows.n_rows; row++)
        take_row(task, session, row, is_own, xid, size);
    take_back(session);
    return r;
}

bool lb_task_has_no_row(struct lb_task *task)
{
    struct lb_session *session = &task->session;
    const char *sql = lb_exploring(session->db)->has_no_row;
    struct lb_rows rows = {0};
    if (sql == NULL || !session->in_tx || session->conn == NULL)
        return false;
    int r = execute_aside(task, session, &task->has_no_row, sql, NULL, &rows);
    take_back(session);
    return r == LB_OK && rows.n_rows > 0;
}

void lb_task_ask_rows(struct lb_task *task)
{
    struct lb_testbed *testbed = task->testbed;
    char xid[40] = "";
    task->own = (struct lb_own_rows){.n = 0};
    if (!task->session.in_tx || task->session.conn == NULL)
        return;
    int r = ask(task, &task->session, &task->own_rows, testbed->rules.own_sql, NULL, true, xid,
                sizeof xid);
    if (r != 0 || xid[0] == '\0')
        return;
    struct lb_value param = lb_text(xid, strlen(xid));
    char ignored[40];
    ask(task, &testbed->control, &testbed->committed_rows, testbed->rules.committed_sql, &param,
        false, ignored, sizeof ignored);
}

/* --- footprints --- */

static void add_own_rows(const struct lb_task *task, struct lb_footprint *touched)
{
    const struct lb_own_rows *own = &task->own;
    for (size_t i = 0; i < own->n; i++) {
        struct lb_touched_row row = {.key = own->rows[i].key,
                                     .meets = own->rows[i].meets_before | own->rows[i].meets_after,
                                     .table = own->rows[i].table};
        lb_footprint_add_row(touched, &row);
    }
    if (own->too_many)
        touched->by_row = 0;
}

void lb_task_tell_end(struct lb_task *task, struct lb_footprint *touched)
{
    const struct lb_row_rules *rules = &task->testbed->rules;
    if (!lb_task_tells_rows(task))
        return;
    touched->by_row = (rules->fine | rules->fixed) & touched->commits;
    add_own_rows(task, touched);
}

/* The key that the parameters say; false: it cannot be told. */
static bool key_of(const struct lb_row_table *table, const struct lb_row_ref *ref,
                   const struct lb_step *step, uint64_t *ret)
{
    uint64_t digest = NO_DIGEST;
    for (size_t k = 0; k < table->n_keys; k++) {
        char number[24];
        if (ref->param[k] < 0 || (size_t)ref->param[k] >= step->n_params)
            return false;
        const struct lb_value *value = &step->params[ref->param[k]];
        if (k > 0)
            digest = digest_of("\x1f", 1, digest);
        if (value->type == LB_TEXT) {
            digest = digest_of(value->text, value->length, digest);
        } else if (value->type == LB_INT) {
            int n = snprintf(number, sizeof number, "%lld", (long long)value->integer);
            digest = digest_of(number, (size_t)n, digest);
        } else {
            return false;
        }
    }
    *ret = digest;
    return true;
}

static void add_ref(const struct lb_task *task, const struct lb_row_ref *ref,
                    const struct lb_step *step, struct lb_footprint *touched)
{
    const struct lb_row_table *table = &task->testbed->rules.tables[ref->table];
    struct lb_touched_ref told = {
        .table = ref->table, .condition = ref->condition, .is_keyed = ref->is_keyed};
    bool is_joined = ref->is_joined && !ref->is_keyed; /* told by what it changed */
    bool is_left_out = (task->testbed->plan.without & LB_WITHOUT_CONDITIONS) != 0;
    if (!ref->is_keyed && !is_joined && is_left_out)
        return;
    bool ok = is_joined ? touched->writes != 0 || ref->follows_lock
                        : !ref->is_keyed || key_of(table, ref, step, &told.key);
    if (!ok)
        touched->by_row &= ~(1u << ref->table);
    else if (!is_joined)
        lb_footprint_add_ref(touched, &told);
}

/* A scan joined with the changed table touched the one changed row. */
static void add_joined(const struct lb_task *task, const struct lb_row_ref *ref,
                       struct lb_footprint *touched)
{
    struct lb_touched_ref told = {.table = ref->table, .condition = -1, .is_keyed = true};
    size_t n = 0;
    if (!ref->is_joined || ref->is_keyed)
        return;
    for (size_t i = 0; i < task->own.n; i++)
        if (task->own.rows[i].table == ref->table) {
            told.key = task->own.rows[i].key;
            n++;
        }
    if (n == 1)
        lb_footprint_add_ref(touched, &told);
    else
        touched->by_row &= ~(1u << ref->table);
}

/* A row that begins to meet the condition of a statement that takes the first by an order gets its
 * place in that order from the values stored now: a statement can observe the time of storing. A
 * row that returns with old values is assumed not to be observed. A clock that stands still gives
 * all of them the same time, up to its next step, which no move commutes with. */
static bool stores_order(struct lb_task *task, const struct lb_row_statement *told)
{
    struct lb_testbed *testbed = task->testbed;
    bool stands_still = testbed->plan.still_unix_ms != 0;
    bool stores = !task->tx_is_one;
    if ((testbed->plan.without & LB_WITHOUT_ORDER) != 0)
        return false;
    for (size_t i = 0; i < task->own.n && !stands_still; i++) {
        const struct lb_own_row *row = &task->own.rows[i];
        const struct lb_row_table *table = &testbed->rules.tables[row->table];
        uint32_t after = row->is_after ? row->meets_after & table->ordered : 0;
        bool is_new = !row->is_before || row->order_after != row->order_before;
        if ((after & ~row->meets_before) != 0 && !is_new)
            testbed->doubts = true;
        stores = stores || (after != 0 && is_new);
    }
    for (size_t i = 0; i < LB_FOOTPRINT_TABLES; i++)
        if ((told->changes >> i & 1) != 0)
            stores = stores || (testbed->rules.fine >> i & 1) == 0 ||
                     testbed->rules.tables[i].has_numbers;
    return stores;
}

/* More than one row of those that are not put in order: which is the first depends on where they
 * stand. */
static bool is_several(const struct lb_row_statement *told, const struct lb_rows *rows)
{
    bool is_conditional = false;
    for (size_t i = 0; i < told->n_refs; i++)
        is_conditional = is_conditional || (!told->refs[i].is_keyed && !told->refs[i].is_joined);
    return is_conditional && (rows->n_rows > 1 || rows->n_changed > 1);
}

bool lb_task_tell_statement(struct lb_task *task, const struct lb_step *step, int answer,
                            const struct lb_rows *rows, struct lb_footprint *touched)
{
    struct lb_testbed *testbed = task->testbed;
    const struct lb_row_rules *rules = &testbed->rules;
    task->owed = NULL;
    task->own_is_last = false;
    if (testbed->rules.own_sql == NULL || answer != LB_OK || rows == NULL)
        return true;
    /* One that is none of the program's is behind the others, and not told. */
    const struct lb_row_statement *told =
        &rules->statements[lb_testbed_statement(testbed, step->sql)];
    if (!told->is_told)
        return true;
    if (is_several(told, rows))
        testbed->doubts = true;
    if (!lb_task_tells_rows(task) || task->has_waited || touched->writes == LB_TOUCHES_ALL)
        return true;
    touched->by_row = (rules->fine | rules->fixed) & (touched->reads | touched->writes);
    for (size_t i = 0; i < told->n_refs; i++)
        if ((rules->fine >> told->refs[i].table & 1) != 0)
            add_ref(task, &told->refs[i], step, touched);
    if (touched->writes == 0 || !task->session.in_tx)
        return true;
    task->owed = told;
    task->owed_touched = *touched;
    return false;
}

void lb_task_add_touched(struct lb_task *task, const struct lb_footprint *touched)
{
    lb_footprint_add(&task->touched, touched);
    lb_footprint_add(&task->try_touched, touched);
}

void lb_task_touch(struct lb_task *task, struct lb_footprint *touched)
{
    if (task->session.in_tx)
        task->tx_writes |= touched->writes & ~(touched->commits & LB_BIT_ADVISORY);
    else
        touched->commits |= touched->writes;
    lb_task_add_touched(task, touched);
}

void lb_task_tell_rows(struct lb_task *task)
{
    struct lb_testbed *testbed = task->testbed;
    const struct lb_row_statement *told = task->owed;
    struct lb_footprint *touched = &task->owed_touched;
    if (told == NULL)
        return;
    task->owed = NULL;
    if (task->state == LB_TASK_STANDS && task->session.in_tx) {
        lb_task_ask_rows(task);
        task->own_is_last = true;
        for (size_t i = 0; i < told->n_refs; i++)
            if ((testbed->rules.fine >> told->refs[i].table & 1) != 0)
                add_joined(task, &told->refs[i], touched);
        add_own_rows(task, touched);
        if (touched->draws && !stores_order(task, told))
            touched->writes &= ~LB_BIT_SEQUENCES;
    } else {
        touched->by_row = 0;
    }
    lb_task_touch(task, touched);
}
