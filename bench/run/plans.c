/* Plans of the statements: see run_parts.h.
 *
 * Each operation is executed once on the tables of the run, in a transaction of a session of its
 * own. Before each statement, the gate of age (aged_cost.h) asks the server how it would execute
 * it. The transaction is rolled back, so that the run finds what the set-up has left. release is
 * not tried: it may end the transaction.
 */
#include "run_parts.h"

#include "aged_cost.h"
#include "array.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* No item of a run has this number. */
enum { ITEM = 2000000000 };

static void take(struct lb_outcome *outcome, const char *name, const struct lb_aged_cost *cost)
{
    bool is_changed = strcmp(cost->plan, cost->settled_plan) != 0;
    char text[sizeof cost->plan * 2 + 16];
    if (cost->plan[0] == '\0')
        return;
    snprintf(text, sizeof text, "%s%s%s", cost->plan, is_changed ? "; later: " : "",
             is_changed ? cost->settled_plan : "");
    struct lb_fact *plan = lb_array_add(&outcome->plans, &outcome->n_plans, sizeof *plan);
    *plan = (struct lb_fact){.name = lb_strdup(name), .value = lb_strdup(text)};
}

static int acquire(struct lb_actor *actor, struct lb_error *err)
{
    const struct lb_flow *flow = actor->plan->strategy->flow;
    struct lb_request request = {.capacity = actor->plan->capacity[0]};
    struct lb_grant *grant = lb_calloc(1, sizeof *grant);
    int r = flow->lock(actor, LB_S_ENQUEUE, &request, grant, err);
    if (r == LB_OK)
        r = flow->lock(actor, LB_S_ACQUIRE, &request, grant, err);
    free(grant);
    return r;
}

/* The transaction stays open, as the actor seems to have another item. */
static int complete(struct lb_actor *actor, struct lb_item *item, struct lb_error *err)
{
    actor->n_held = 2;
    return actor->plan->strategy->flow->item(actor, LB_S_COMPLETE, item, err);
}

/* Until one of them cannot be tried. */
static void read_operations(struct lb_active_run *run, struct lb_actor *actor,
                            struct lb_aged_cost *cost)
{
    const struct lb_flow *flow = actor->plan->strategy->flow;
    struct lb_item item = {0};
    struct lb_error ignored;
    uint32_t n = 0;
    int64_t marked = 0;
    if (actor->plan->strategy->shape == LB_LOCK) {
        if (acquire(actor, &ignored) == LB_OK)
            take(run->outcome, "acquire", cost);
        return;
    }
    if (lb_strategy_has(actor->plan, LB_S_REGISTER) &&
        flow->class(actor, LB_S_REGISTER, &ignored) != LB_OK)
        return;
    lb_aged_cost_begin(cost);
    if (flow->put(actor, ITEM, 1, "payload", &ignored) != LB_OK)
        return;
    take(run->outcome, "put", cost);
    lb_aged_cost_begin(cost);
    if (flow->claim(actor, 1, &item, 1, &n, &marked, &ignored) != LB_OK)
        return;
    take(run->outcome, "claim", cost);
    lb_aged_cost_begin(cost);
    if (n > 0 && complete(actor, &item, &ignored) == LB_OK)
        take(run->outcome, "complete", cost);
}

void lb_plans_read(struct lb_active_run *run)
{
    const struct lb_db *db = run->team->db;
    const struct lb_strategy *strategy = run->request->strategy;
    if (!run->request->read_plans || run->joining != NULL || db == NULL || db->aging == NULL ||
        run->program == NULL || run->program_before != NULL)
        return;
    struct lb_session session;
    struct lb_conn_options options = {.role = "plans", .lock_timeout_ms = 10000};
    struct lb_actor actor = {
        .plan = &run->plan, .session = &session, .name = "plans", .number = run->share.first_log};
    struct lb_aged_cost cost;
    struct lb_error ignored;
    if (lb_session_open(&session, db, run->space, &options, &ignored) != 0)
        return; /* the run itself says so */
    bool is_open = strategy->flow->open(&actor, &ignored) == LB_OK;
    if (is_open && lb_session_begin(&session, LB_BEGIN_DEFAULT, &ignored) == LB_OK) {
        lb_aged_cost_watch(&cost, run->program, &session);
        lb_aged_cost_begin(&cost);
        read_operations(run, &actor, &cost);
    }
    session.gate = NULL;
    lb_session_rollback(&session, &ignored);
    if (is_open)
        strategy->flow->close(&actor);
    lb_session_close(&session);
}
