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

#include <stdlib.h>
#include <string.h>

/* No item of a run has this number. */
enum { ITEM = 2000000000 };

static int take(struct lb_outcome *outcome, const char *name, const struct lb_aged_cost *cost,
                struct lb_error *err)
{
    bool is_changed = strcmp(cost->plan, cost->settled_plan) != 0;
    char text[sizeof cost->plan * 2 + 16];
    if (cost->plan[0] == '\0')
        return 0;
    snprintf(text, sizeof text, "%s%s%s", cost->plan, is_changed ? "; later: " : "",
             is_changed ? cost->settled_plan : "");
    struct lb_fact *plan = lb_array_add(&outcome->plans, &outcome->n_plans, sizeof *plan);
    if (plan == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for a plan");
    *plan = (struct lb_fact){.name = strdup(name), .value = strdup(text)};
    return plan->name == NULL || plan->value == NULL
               ? lb_fail(err, LB_E_MEMORY, "out of memory for a plan")
               : 0;
}

static int acquire(struct lb_actor *actor, struct lb_error *err)
{
    const struct lb_flow *flow = actor->plan->strategy->flow;
    struct lb_request request = {.capacity = actor->plan->capacity[0]};
    struct lb_grant *grant = calloc(1, sizeof *grant);
    if (grant == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for a grant");
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

static int read_operations(struct lb_active_run *run, struct lb_actor *actor,
                           struct lb_aged_cost *cost, struct lb_error *err)
{
    const struct lb_flow *flow = actor->plan->strategy->flow;
    struct lb_item item = {0};
    uint32_t n = 0;
    int64_t marked = 0;
    if (actor->plan->strategy->shape == LB_LOCK) {
        int r = acquire(actor, err);
        return r == LB_OK ? take(run->outcome, "acquire", cost, err) : r;
    }
    int r = lb_strategy_has(actor->plan, LB_S_REGISTER) ? flow->class(actor, LB_S_REGISTER, err)
                                                        : LB_OK;
    lb_aged_cost_begin(cost);
    if (r == LB_OK)
        r = flow->put(actor, ITEM, 1, "payload", err);
    if (r == LB_OK)
        r = take(run->outcome, "put", cost, err);
    lb_aged_cost_begin(cost);
    if (r == LB_OK)
        r = flow->claim(actor, 1, &item, 1, &n, &marked, err);
    if (r == LB_OK)
        r = take(run->outcome, "claim", cost, err);
    lb_aged_cost_begin(cost);
    if (r == LB_OK && n > 0)
        r = complete(actor, &item, err);
    return r == LB_OK && n > 0 ? take(run->outcome, "complete", cost, err) : r;
}

int lb_plans_read(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_db *db = run->team->db;
    const struct lb_strategy *strategy = run->request->strategy;
    if (!run->request->read_plans || run->joining != NULL || db == NULL || db->aging == NULL ||
        run->program == NULL || run->program_before != NULL)
        return 0;
    struct lb_session session;
    struct lb_conn_options options = {.role = "plans", .lock_timeout_ms = 10000};
    struct lb_actor actor = {
        .plan = &run->plan, .session = &session, .name = "plans", .number = run->share.first_log};
    struct lb_aged_cost cost;
    struct lb_error failed = {0};
    if (lb_session_open(&session, db, run->space, &options, &failed) != 0)
        return 0; /* the run itself says so */
    int r = strategy->flow->open(&actor, &failed);
    bool is_open = r == LB_OK;
    if (r == LB_OK)
        r = lb_session_begin(&session, LB_BEGIN_DEFAULT, &failed);
    if (r == LB_OK) {
        lb_aged_cost_watch(&cost, run->program, &session);
        lb_aged_cost_begin(&cost);
        r = read_operations(run, &actor, &cost, &failed);
    }
    session.gate = NULL;
    struct lb_error ignored;
    lb_session_rollback(&session, &ignored);
    if (is_open)
        strategy->flow->close(&actor);
    lb_session_close(&session);
    return r == LB_E_MEMORY ? lb_fail(err, LB_E_MEMORY, "%s", failed.message) : 0;
}
