/* The model for the judge of a run, and its text in the history: see model.h. */
#include "model.h"

#include "attributes.h"
#include "check_meta.h"
#include "demand.h"
#include "facts.h"

#include <stdio.h>
#include <string.h>

struct lb_model lb_run_model(const struct lb_active_run *run, bool complete, uint64_t end_ns)
{
    const struct lb_strategy *strategy = run->request->strategy;
    const struct lb_scenario *scenario = run->request->scenario;
    /* Each class may have an order, keys and limits of its own, and the history knows no class. */
    static const unsigned within_class = LB_G_BIT(LB_G_FIFO) | LB_G_BIT(LB_G_PRIORITY) |
                                         LB_G_BIT(LB_G_UNIQUE) | LB_G_BIT(LB_G_KEY_LIMIT) |
                                         LB_G_BIT(LB_G_GROUP_EXCLUSIVE) | LB_G_BIT(LB_G_RATE) |
                                         LB_G_BIT(LB_G_SHARE);
    enum { CLOCKS_NS = 2000000 }; /* the database's clock need not tick as finely as ours */
    uint64_t period_ns = scenario->period_ns > CLOCKS_NS ? scenario->period_ns - CLOCKS_NS : 0;
    struct lb_scenario whole = *scenario; /* of all ranks */
    whole.workers = run->share.n_consumers;
    const uint64_t demand_ns = lb_scenario_demand_ns(&whole, strategy->is_lease);
    struct lb_model model = {
        .queue = strategy->shape == LB_QUEUE,
        .n_resources = run->plan.n_resources,
        .capacity = run->capacity,
        .lease = strategy->is_lease,
        .claims = strategy->claims &
                  ~(scenario->shape == LB_QUEUE && scenario->classes > 1 ? within_class : 0U),
        .release = LB_RELEASE_BELIEF,
        .drained = run->team != NULL && atomic_load(&run->team->drained),
        .complete = complete,
        .end_ns = end_ns,
        .progress_bound_ns = lb_scenario_bound_ns(scenario, demand_ns),
        .progress_demand_ns = demand_ns,
        .item_waits = scenario->fault == LB_FAULT_POISON && scenario->producers > 0 &&
                      scenario->backlog == 0 && run->plan.attributes == NULL &&
                      run->plan.groups == 0,
        .recovery_bound_ns = scenario->recovery_bound_ns,
        .groups = run->plan.groups,
        .period_ns = strategy->shape == LB_QUEUE ? period_ns : 0};
    const struct lb_program *stated = lb_strategy_stated(&run->plan);
    if (stated != NULL && (stated->attributes >> LB_A_DUE & 1) != 0 &&
        lb_attributes_delay(scenario))
        lb_facts_doubt_due(&model, "some items were not claimed, and may be due later, as the "
                                   "scenario's due says");
    model.returned = model.drained && run->team != NULL && lb_team_has_returned(run->team);
    lb_facts_take(stated, &model);
    if (strategy->guest != NULL && stated != NULL && stated->due_later)
        lb_facts_doubt_due(&model, "some items were not claimed, and may be due later, as the "
                                   "program's first line says");
    model.attempts = lb_strategy_attempts(&run->plan);
    if (scenario->duplicate_ids || scenario->ids != LB_IDS_UNIQUE) { /* no row is one worker's */
        model.own_rows = false;
        model.doubts[LB_DOUBT_ROWS].reason[0] = '\0';
    }
    lb_facts_ask_strangers(run->plan.program, &model);
    /* A protocol that pushes does not say that there is nothing left. */
    if (strategy->is_pushed)
        lb_facts_doubt_due(&model, "some items were not claimed, and may still come: the protocol "
                                   "pushes them");
    return model;
}

int lb_run_write_meta(struct lb_active_run *run, const struct lb_model *model, struct lb_error *err)
{
    const struct lb_run_plan *request = run->request;
    char head[400], text[LB_META_BYTES];
    int n = snprintf(head, sizeof head, "strategy=%s\nscenario=%s\nseed=%llu\n",
                     request->strategy->name, request->scenario->name,
                     (unsigned long long)request->seed);
    size_t length = n > 0 && (size_t)n < sizeof head ? (size_t)n : 0;
    memcpy(text, head, length);
    text[length] = '\0';
    lb_model_format(model, text + length, sizeof text - length);
    return lb_history_set_meta(run->history, text, err);
}
