/* The guarded row: the data that the lock protects, in the database itself.
 *
 * Each exclusive holder reads its resource's row and later writes value + 1 back. Two holders at
 * once lose an update, independent of any clock. Where the strategy has tokens, the write carries
 * the holder's token and is refused when a later token has been seen: the fence at the resource
 * (Kleppmann 2016, "How to do distributed locking"). A holder shows its token before it reads: else
 * a predecessor that wakes up between its read and its write would still be let in.
 */
#include "guard.h"

#include "memory.h"

#include <stdio.h>

struct lb_guard {
    char read_sql[160], stamp_sql[160], plain_sql[160], fenced_sql[200];
    struct lb_prepared read, stamp, plain, fenced;
    int64_t value;
    bool pending; /* written inside the strategy's transaction: counts once that has committed */
};

int lb_guard_setup(struct lb_session *control, uint32_t n_resources, struct lb_error *err)
{
    const struct lb_db *db = control->db;
    int rc = db->run(control->conn,
                     "CREATE TABLE lockbench_guard (resource integer PRIMARY KEY,"
                     " value bigint NOT NULL, token bigint NOT NULL)",
                     err);
    for (uint32_t i = 0; rc == LB_OK && i < n_resources; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "INSERT INTO lockbench_guard VALUES (%u, 0, 0)", i);
        rc = db->run(control->conn, sql, err);
    }
    if (rc > LB_OK)
        return lb_fail(err, LB_E_ENV, "the guarded table could not be made: %s",
                       lb_answer_name(rc));
    return rc;
}

struct lb_guard *lb_guard_new(const struct lb_db *db)
{
    struct lb_guard *guard = lb_calloc(1, sizeof *guard);
    char p[4][8];
    for (size_t i = 0; i < 4; i++)
        db->placeholder(i, p[i], sizeof p[i]);
    snprintf(guard->read_sql, sizeof guard->read_sql,
             "SELECT value FROM lockbench_guard WHERE resource = %s", p[0]);
    snprintf(guard->stamp_sql, sizeof guard->stamp_sql,
             "UPDATE lockbench_guard SET token = %s WHERE resource = %s AND token <= %s", p[0],
             p[1], p[2]);
    snprintf(guard->plain_sql, sizeof guard->plain_sql,
             "UPDATE lockbench_guard SET value = %s WHERE resource = %s", p[0], p[1]);
    snprintf(
        guard->fenced_sql, sizeof guard->fenced_sql,
        "UPDATE lockbench_guard SET value = %s, token = %s WHERE resource = %s AND token <= %s",
        p[0], p[1], p[2], p[3]);
    return guard;
}

/* The row learns the token before anything is read. */
static int stamp(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                 struct lb_error *err)
{
    struct lb_guard *guard = worker->guard;
    struct lb_value params[3] = {lb_int(grant->token), lb_int(resource), lb_int(grant->token)};
    struct lb_step step = {.kind = LB_STEP_EXECUTE,
                           .sql = guard->stamp_sql,
                           .section = "guard",
                           .params = params,
                           .n_params = 3};
    struct lb_rows rows;
    uint64_t start_ns = lb_now_ns();
    int answer = lb_session_execute(&worker->session, &guard->stamp, &step, step.sql, &rows, err);
    if (answer != LB_OK || rows.n_changed > 0)
        return answer;
    lb_operator_note_write(&worker->op, resource, grant, start_ns, LB_REFUSED);
    return LB_REFUSED;
}

int lb_guard_read(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                  struct lb_error *err)
{
    struct lb_guard *guard = worker->guard;
    int shown = grant->has_token ? stamp(worker, resource, grant, err) : LB_OK;
    if (shown != LB_OK)
        return shown;
    struct lb_value params[1] = {lb_int(resource)};
    struct lb_step step = {.kind = LB_STEP_EXECUTE,
                           .sql = guard->read_sql,
                           .section = "guard",
                           .params = params,
                           .n_params = 1};
    struct lb_rows rows;
    int answer =
        lb_session_execute(&worker->session, &guard->read, &step, guard->read_sql, &rows, err);
    if (answer != LB_OK)
        return answer;
    struct lb_value value = worker->team->db->value(worker->session.conn, 0, 0);
    if (rows.n_rows != 1 || !lb_value_int(&value, &guard->value))
        return lb_fail(err, LB_E_INTERNAL, "the guarded row of resource %u is missing", resource);
    return LB_OK;
}

int lb_guard_write(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                   struct lb_error *err)
{
    struct lb_guard *guard = worker->guard;
    int64_t next = guard->value + 1;
    struct lb_value fenced[4] = {lb_int(next), lb_int(grant->token), lb_int(resource),
                                 lb_int(grant->token)};
    struct lb_value plain[2] = {lb_int(next), lb_int(resource)};
    bool token = grant->has_token;
    struct lb_step step = {.kind = LB_STEP_EXECUTE,
                           .sql = token ? guard->fenced_sql : guard->plain_sql,
                           .section = "guard",
                           .params = token ? fenced : plain,
                           .n_params = token ? 4 : 2};
    struct lb_rows rows;
    uint64_t start_ns = lb_now_ns();
    int answer = lb_session_execute(&worker->session, token ? &guard->fenced : &guard->plain, &step,
                                    step.sql, &rows, err);
    if (answer < 0)
        return answer;
    if (answer == LB_OK && rows.n_changed == 0)
        answer = LB_REFUSED;
    if (answer == LB_OK && worker->session.in_tx)
        guard->pending = true;
    else if (answer == LB_OK)
        worker->n_guarded++;
    lb_operator_note_write(&worker->op, resource, grant, start_ns, answer);
    return answer;
}

void lb_guard_released(struct lb_worker *worker, bool committed)
{
    if (worker->guard == NULL)
        return;
    worker->n_guarded += worker->guard->pending && committed;
    worker->guard->pending = false;
}

int lb_guard_lost_updates(struct lb_session *control, const struct lb_worker *workers,
                          uint32_t n_workers, uint64_t elsewhere, uint64_t *ret_lost,
                          struct lb_error *err)
{
    uint64_t accepted = elsewhere;
    for (uint32_t i = 0; i < n_workers; i++)
        accepted += workers[i].n_guarded;
    static const char sql[] = "SELECT sum(value) FROM lockbench_guard";
    struct lb_prepared prepared = {0};
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql, .section = "guard"};
    struct lb_rows rows;
    int answer = lb_session_execute(control, &prepared, &step, sql, &rows, err);
    if (answer < 0)
        return answer;
    if (answer != LB_OK)
        return lb_fail(err, LB_E_ENV, "the guarded rows could not be read: %s",
                       lb_answer_name(answer));
    struct lb_value value = control->db->value(control->conn, 0, 0);
    int64_t sum = 0;
    if (rows.n_rows != 1 || !lb_value_int(&value, &sum))
        return lb_fail(err, LB_E_INTERNAL, "the guarded rows have no sum");
    *ret_lost = accepted > (uint64_t)sum ? accepted - (uint64_t)sum : 0;
    return 0;
}
