/* The chunked update: a large table whose ranges are the items of the queue.
 *
 * Item i of n stands for the i-th n-th of the table's rows, and is processed by adding 1 to each of
 * them, on the session that claimed it, before it is completed. In the end every row must have been
 * updated exactly once: the sum and a count say so without any history, and without any clock. An
 * item that is to end in error, or to be given back, is not updated; once the queue is drained, the
 * errors are cleared and failed items are done again, until nothing failed.
 *
 * Where the claim is held in a transaction, the update is a part of it. Elsewhere it is committed
 * by itself, so a worker that dies between the two leaves a range that is done again: such faults
 * are refused with this scenario.
 *
 * The table is filled by doubling it: the same statement on every engine, about log2(rows) of them.
 * Source: article of 1999 on a list of tasks in Oracle, which splits a large update among
 * processes.
 */
#include "chunks.h"

#include "memory.h"

#include <stdio.h>

struct lb_chunks {
    char sql[160];
    struct lb_prepared update;
};

int lb_chunks_setup(struct lb_session *control, uint64_t n_rows, struct lb_error *err)
{
    const struct lb_db *db = control->db;
    int rc = db->run(control->conn,
                     "CREATE TABLE lockbench_chunks (id bigint PRIMARY KEY, value bigint NOT NULL)",
                     err);
    if (rc == LB_OK)
        rc = db->run(control->conn, "INSERT INTO lockbench_chunks VALUES (1, 0)", err);
    for (uint64_t n = 1; rc == LB_OK && n < n_rows; n *= 2) {
        char sql[160];
        snprintf(sql, sizeof sql,
                 "INSERT INTO lockbench_chunks SELECT id + %llu, 0 FROM lockbench_chunks"
                 " WHERE id <= %llu",
                 (unsigned long long)n, (unsigned long long)(n_rows - n));
        rc = db->run(control->conn, sql, err);
    }
    if (rc > LB_OK)
        return lb_fail(err, LB_E_ENV, "the table of chunks could not be filled: %s",
                       lb_answer_name(rc));
    return rc;
}

struct lb_chunks *lb_chunks_new(const struct lb_db *db)
{
    struct lb_chunks *chunks = lb_calloc(1, sizeof *chunks);
    char p[2][8];
    for (size_t i = 0; i < 2; i++)
        db->placeholder(i, p[i], sizeof p[i]);
    snprintf(chunks->sql, sizeof chunks->sql,
             "UPDATE lockbench_chunks SET value = value + 1 WHERE id > %s AND id <= %s", p[0],
             p[1]);
    return chunks;
}

/* The last row of the first n ranges; without overflow for what a scenario admits. */
static int64_t last_row(const struct lb_scenario *scenario, int64_t n)
{
    return (int64_t)(scenario->rows * (uint64_t)n / scenario->backlog);
}

int lb_chunks_update(struct lb_worker *worker, int64_t id, bool half, struct lb_error *err)
{
    struct lb_chunks *chunks = worker->chunks;
    const struct lb_scenario *scenario = worker->team->scenario;
    if (id < 1 || (uint64_t)id > scenario->backlog)
        return LB_OK; /* no range has this number: the judge will report that it was never put */
    int64_t first = last_row(scenario, id - 1), last = last_row(scenario, id);
    struct lb_value params[2] = {lb_int(first), lb_int(half ? first + (last - first) / 2 : last)};
    struct lb_step step = {.kind = LB_STEP_EXECUTE,
                           .sql = chunks->sql,
                           .section = "chunk",
                           .params = params,
                           .n_params = 2};
    bool in_tx = worker->session.in_tx;
    unsigned n_refusals = 0;
    for (;;) {
        struct lb_rows rows;
        int answer =
            lb_session_execute(&worker->session, &chunks->update, &step, step.sql, &rows, err);
        if (answer <= LB_OK || answer == LB_LOST || in_tx)
            return answer;
        if (!lb_worker_refused(worker, answer, ++n_refusals, err) &&
            lb_team_phase(worker->team) >= LB_PHASE_ABORT)
            return answer;
    }
}

/* The first three columns of one row, by the control session. */
static int read_sums(struct lb_session *control, int64_t *sums, struct lb_error *err)
{
    static const char sql[] =
        "SELECT count(*), sum(value), sum(CASE WHEN value = 0 THEN 1 ELSE 0 END),"
        " sum(CASE WHEN value > 1 THEN 1 ELSE 0 END), max(value) FROM lockbench_chunks";
    struct lb_prepared prepared = {0};
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql, .section = "chunk"};
    struct lb_rows rows;
    int answer = lb_session_execute(control, &prepared, &step, sql, &rows, err);
    if (answer < 0)
        return answer;
    if (answer != LB_OK)
        return lb_fail(err, LB_E_ENV, "the table of chunks could not be read: %s",
                       lb_answer_name(answer));
    for (size_t i = 0; i < LB_CHUNK_SUMS; i++) {
        struct lb_value value = control->db->value(control->conn, 0, i);
        if (rows.n_rows != 1 || !lb_value_int(&value, &sums[i]))
            return lb_fail(err, LB_E_INTERNAL, "the table of chunks has no sum");
    }
    return 0;
}

int lb_chunks_prove(struct lb_session *control, const struct lb_team *team, uint64_t n_lost,
                    struct lb_proof *ret_proof, struct lb_error *err)
{
    int64_t sums[LB_CHUNK_SUMS];
    int rc = read_sums(control, sums, err);
    if (rc != 0)
        return rc;
    const uint64_t n_rows = team->scenario->rows;
    bool right =
        sums[0] == (int64_t)n_rows && sums[1] == (int64_t)n_rows && sums[2] == 0 && sums[3] == 0;
    const char *unknown = !atomic_load(&team->drained) ? "the queue was not drained"
                          : n_lost > 0
                              ? "a connection was lost: the effect of its update is unknown"
                              : NULL;
    /* Nobody knows whether the rest would have been done; too much is too much at any time. */
    if (unknown != NULL && (sums[3] == 0 || n_lost > 0))
        ret_proof->verdict = LB_V_NOT_TESTED;
    else
        ret_proof->verdict = right ? LB_V_HELD : LB_V_VIOLATED;
    snprintf(ret_proof->name, sizeof ret_proof->name, "chunks");
    snprintf(ret_proof->text, sizeof ret_proof->text,
             "%s: %lld rows, sum %lld (wanted %llu), %lld never updated, %lld updated more than "
             "once (at most %lld times); errors were cleared %llu times%s%s",
             ret_proof->verdict == LB_V_HELD       ? "every row was updated exactly once"
             : ret_proof->verdict == LB_V_VIOLATED ? "not every row was updated exactly once"
                                                   : "not judged",
             (long long)sums[0], (long long)sums[1], (unsigned long long)n_rows, (long long)sums[2],
             (long long)sums[3], (long long)sums[4],
             (unsigned long long)atomic_load(&team->n_restarts), unknown != NULL ? "; " : "",
             unknown != NULL ? unknown : "");
    return 0;
}
