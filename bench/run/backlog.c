/* Items that are there before the first worker starts, put by the control session and in the
 * history too; and what makes a table of items slow:
 *
 *   dead rows    that many items are put, claimed and completed first, while another session keeps
 * a snapshot from before: the server cannot remove what they leave behind locked rows  the first
 * items of the backlog are locked by another session, which changes nothing: every claim has to
 * step over them, or waits
 *
 * Both sessions stand until the measured part is over and nothing is counted any more; then the
 * locked items are there for all.
 */
#include "run_parts.h"

#include "aged_table.h"
#include "classes.h"
#include "control.h"
#include "memory.h"

#include <stdlib.h>

enum { CLAIMS = 256 };

int lb_backlog_check(const struct lb_scenario *scenario, const struct lb_db *db,
                     struct lb_error *err)
{
    bool locked = scenario->locked_ahead > 0, dead = scenario->dead_rows > 0;
    if ((locked || dead) && db == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s has no meaning for a strategy without a database: it has no rows",
                       locked ? "locked-ahead" : "dead-rows");
    if (scenario->aged[0] != '\0' && (db == NULL || db->aging == NULL))
        return lb_fail(err, LB_E_UNSUPPORTED, "aged: %s has no rows that age",
                       db == NULL ? "a strategy without a database" : db->product);
    if (locked && db->lock_rows == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "locked-ahead has no meaning on %s: who writes locks the whole database, "
                       "never some rows of it",
                       db->product);
    if (dead && !db->purges_later)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "dead-rows has no meaning on %s: row versions for an old snapshot are kept "
                       "outside the table, where no claim meets them",
                       db->product);
    return 0;
}

static int stand(struct lb_active_run *run, struct lb_session *session, bool *has,
                 enum lb_isolation isolation, const char *role, struct lb_error *err)
{
    struct lb_conn_options options = {.role = role, .isolation = isolation};
    int rc = lb_session_open(session, run->team->db, run->space, &options, err);
    *has = rc == 0;
    return rc == 0 ? lb_session_begin(session, LB_BEGIN_DEFERRED, err) : rc;
}

int lb_backlog_take_snapshot(struct lb_active_run *run, struct lb_error *err)
{
    if (run->has_snapshot)
        return 0;
    int rc =
        stand(run, &run->snapshot, &run->has_snapshot, LB_ISO_REPEATABLE_READ, "old snapshot", err);
    return rc == LB_OK ? run->team->db->take_snapshot(run->snapshot.conn, err) : rc;
}

static void leave(struct lb_active_run *run, struct lb_session *session, bool *has)
{
    struct lb_error ignored;
    if (!*has)
        return;
    lb_session_rollback(session, &ignored);
    lb_session_close(session);
    *has = false;
    atomic_fetch_add(&run->team->epoch, 1); /* the locked items can be claimed */
}

void lb_backlog_drop_snapshot(struct lb_active_run *run)
{
    leave(run, &run->snapshot, &run->has_snapshot);
}

void lb_backlog_free(struct lb_active_run *run)
{
    leave(run, &run->locker, &run->has_locker);
    lb_backlog_drop_snapshot(run);
    if (run->team != NULL)
        atomic_store(&run->team->ahead_is_locked, false);
}

static int complete(struct lb_operator *op, struct lb_item *items, uint32_t n,
                    struct lb_batch *batch, struct lb_error *err)
{
    int rc = LB_OK;
    if (lb_strategy_takes_batch(op->actor->plan, LB_S_COMPLETE) && n > 0) {
        for (batch->n = 0; batch->n < n; batch->n++)
            batch->items[batch->n] = &items[batch->n];
        return lb_operate_batch(op, LB_OP_COMPLETE, batch, err);
    }
    for (uint32_t i = 0; i < n && rc == LB_OK; i++)
        rc = lb_operate_item(op, LB_OP_COMPLETE, &items[i], err);
    return rc;
}

/* Claims and completes all that is there. */
static int use_up(struct lb_active_run *run, struct lb_operator *op, struct lb_error *err)
{
    struct lb_item *items = lb_calloc(CLAIMS, sizeof *items);
    struct lb_batch batch;
    int rc = lb_batch_init(&batch, CLAIMS, err);
    while (rc == LB_OK) {
        uint32_t n = 0;
        rc = lb_operate_claim(op, CLAIMS, items, CLAIMS, &n, err);
        if (rc == LB_OK)
            rc = complete(op, items, n, &batch, err);
        if (lb_control_interrupted(run))
            rc = lb_fail(err, LB_E_INTERRUPTED, "interrupted during set-up");
        if (rc == LB_OK && n == 0)
            break;
    }
    lb_batch_release(&batch);
    free(items);
    return rc == LB_EMPTY || rc == LB_BUSY ? LB_OK : rc;
}

/* Rows of items that no worker can claim; the history does not have them. */
static int age(struct lb_active_run *run, struct lb_actor *actor, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_aged_table_plan plan;
    int rc = lb_aged_table_parse(scenario->aged, &plan, err);
    if (rc == 0 && lb_strategy_has(actor->plan, LB_S_REGISTER))
        rc = run->request->strategy->flow->class(actor, LB_S_REGISTER, err);
    if (rc == 0 && plan.n_items[LB_AGED_DEAD] > 0)
        rc = lb_backlog_take_snapshot(run, err);
    if (rc == 0)
        rc = lb_aged_table_fill(&plan, (enum lb_aged_statistics)scenario->statistics, actor,
                                run->space, run->stop != NULL ? &run->stop->requested : NULL, err);
    if (rc == 0 && lb_control_interrupted(run))
        rc = lb_fail(err, LB_E_INTERRUPTED, "interrupted during set-up");
    if (rc == 0 && lb_strategy_has(actor->plan, LB_S_UNREGISTER))
        rc = run->request->strategy->flow->class(actor, LB_S_UNREGISTER, err);
    return rc;
}

/* Each class has its part of the ids. */
static int put_classes(struct lb_active_run *run, struct lb_operator *op, const char *payload,
                       struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const int64_t n = (int64_t)scenario->backlog;
    char name[LB_CLASS_NAME];
    int rc = LB_OK;
    for (int64_t first = 1, end; first <= n && rc == LB_OK; first = end) {
        uint64_t number = lb_class_of(scenario, first);
        for (end = first + 1; end <= n && lb_class_of(scenario, end) == number;)
            end++;
        op->actor->task_class = lb_class_name(scenario, number, name);
        rc = lb_putters_put(run, op, first, (uint64_t)(end - first), payload, err);
    }
    op->actor->task_class = NULL;
    return rc;
}

/* Three parts of the ids: dead, locked, and the others. */
static int fill(struct lb_active_run *run, struct lb_operator *op, const char *payload,
                struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t dead = scenario->dead_rows, locked = scenario->locked_ahead;
    int rc = lb_putters_put(run, op, 1, dead, payload, err);
    if (rc == LB_OK && dead > 0)
        rc = lb_backlog_take_snapshot(run, err);
    if (rc == LB_OK && dead > 0)
        rc = use_up(run, op, err);
    if (rc == LB_OK)
        rc = lb_putters_put(run, op, (int64_t)dead + 1, locked, payload, err);
    if (rc == LB_OK &&
        locked > 0) /* read committed: without locks of gaps, into which others put */
        rc = stand(run, &run->locker, &run->has_locker, LB_ISO_READ_COMMITTED, "locked rows", err);
    if (rc == LB_OK && locked > 0)
        rc = run->team->db->lock_rows(run->locker.conn, locked, err);
    atomic_store(&run->team->ahead_is_locked, rc == LB_OK && locked > 0);
    if (rc == LB_OK && scenario->classes > 1)
        rc = put_classes(run, op, payload, err);
    else if (rc == LB_OK)
        rc = lb_putters_put(run, op, (int64_t)(dead + locked) + 1, scenario->backlog - locked,
                            payload, err);
    return rc;
}

int lb_backlog_put(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const bool is_aged = scenario->aged[0] != '\0';
    if (scenario->shape != LB_QUEUE ||
        (scenario->backlog == 0 && scenario->dead_rows == 0 && !is_aged))
        return 0;
    char *payload = lb_worker_payload(scenario->payload_bytes);
    struct lb_counts counts[LB_MEASURES] = {0};
    struct lb_actor actor = {.plan = lb_run_first_plan(run),
                             .session = run->has_control ? &run->control : NULL,
                             .name = "setup",
                             .number = run->share.first_log};
    struct lb_operator op = {.actor = &actor,
                             .log = run->history != NULL ? &run->control_log : NULL,
                             .process = run->share.first_log,
                             .n_processes = run->share.n_logs,
                             .counts = counts};
    const struct lb_flow *flow = run->request->strategy->flow;
    int rc = flow->open(&actor, err);
    if (rc == LB_OK && is_aged)
        rc = age(run, &actor, err);
    if (rc == LB_OK)
        rc = fill(run, &op, payload, err);
    flow->close(&actor);
    free(payload);
    if (rc > LB_OK)
        return lb_fail(err, LB_E_ENV, "the backlog could not be put: %s %s", lb_answer_name(rc),
                       run->control.message);
    lb_common_skip_ids(&run->team->common, (int64_t)(scenario->dead_rows + scenario->backlog));
    return rc;
}
