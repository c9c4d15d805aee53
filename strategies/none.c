/* A control that must be caught: no lock at all. Every acquire is granted.
 *
 * What the harness itself costs, and whether the judge is awake.
 */
#include "strategy.h"

static int nothing_to_set_up(struct lb_strategy_plan *plan, struct lb_session *session,
                             struct lb_error *err)
{
    (void)plan;
    (void)session;
    (void)err;
    return LB_OK;
}

static int grant_always(struct lb_actor *actor, enum lb_section_name section,
                        const struct lb_request *request, struct lb_grant *grant,
                        struct lb_error *err)
{
    (void)actor;
    (void)section;
    (void)request;
    (void)err;
    grant->has_token = grant->has_ticket = false;
    grant->effective = true;
    return LB_OK;
}

static const struct lb_flow flow = {
    .setup = nothing_to_set_up,
    .open = lb_open_nothing,
    .lock = grant_always,
    .close = lb_close_nothing,
    .teardown = nothing_to_set_up,
};

const struct lb_strategy lb_strategy_none = {
    .name = "none",
    .summary = "control: no lock at all, every acquire is granted",
    .origin = "lockbench",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_shared_capable = true,
    .is_capacity_capable = true,
    .no_database = true,
    .claims = LB_G_BIT(LB_G_EXCLUSIVE),
    .breaks = LB_BREAKS({.guarantee = LB_G_EXCLUSIVE, .why = "there is no lock"}),
    .twin = "pthread-mutex",
    .flow = &flow,
};
