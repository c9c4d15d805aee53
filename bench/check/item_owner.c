/* owner-release of queues: who completes, fails or frees an item has it. Conditions and proof are
 * those of owner.c.
 */
#include "items.h"

#include <stdio.h>

static void report_owner(const struct lb_item_group *group, const struct lb_item_event *op,
                         const struct lb_item_event *owner, const char *why)
{
    struct lb_case *c = group->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_OWNER_RELEASE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    const struct lb_event *invoke = lb_case_event(c, op->log, op->event);
    char at[LB_AT], who[60] = "";
    if (owner != NULL) {
        lb_witness_add(c, witness, owner->log, owner->event);
        snprintf(who, sizeof who, " and worker %u owned it", c->history->logs[owner->log].number);
    }
    lb_witness_add(c, witness, op->log, op->event);
    witness->at_ns = op->low;
    lb_witness_text(witness, "worker %u's %s of item %lld at %s had an effect, though %s%s",
                    c->history->logs[op->log].number, lb_op_name(invoke->op), (long long)op->id,
                    lb_at(c, invoke->time_ns, at, sizeof at), why, who);
}

/* Did the claim certainly last until op was over? Its ends are others than op. */
static bool is_kept(const struct lb_item_group *group, const struct lb_item_core *core,
                    const struct lb_item_event *op)
{
    static const int ops[] = {LB_OP_COMPLETE, LB_OP_ERROR, LB_OP_FREE};
    uint64_t low = LB_NEVER, high;
    if (core->claim->lease_ms > 0)
        lb_item_lease(group, core->place, &low, &high);
    if (op->high >= group->c->known_ns)
        return false;
    if (low <= op->high || lb_item_lost(group, core->claim) <= op->high ||
        lb_item_recovered(group, core->claim) <= op->high)
        return false;
    for (size_t i = core->place + 1; lb_item_own(group, core->place, i); i++)
        if (lb_item_closes(group->events[i]->op) && group->events[i]->low <= op->high)
            return false;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (lb_moments_earliest(&group->others, ops[i], 0, core->claim->low) <= op->high)
            return false;
    return true;
}

/* A claim of another log that certainly owned the item while op took effect: see owner.c. Until
 * then no cores met, so it can only be the last that was answered before op was asked for. */
static const struct lb_item_event *other_owner(const struct lb_item_group *group,
                                               const struct lb_item_event *op)
{
    size_t low = 0, high = group->n_cores;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group->cores[middle].start < op->low)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && group->cores[i - 1].start == group->cores[low - 1].start; i--)
        if (group->cores[i - 1].claim->log != op->log && is_kept(group, &group->cores[i - 1], op))
            return group->cores[i - 1].claim;
    return NULL;
}

/* The events of one log on this item, in order: claim, one effective end, claim, ... */
void lb_judge_item_owner(const struct lb_item_group *group)
{
    const struct lb_item_event *mine = NULL; /* the claim that is out */
    size_t place = 0;                        /* ... and where it is */
    bool unclear = false;
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (i > 0 && group->events[i - 1]->log != e->log) {
            mine = NULL;
            unclear = false;
        }
        if (e->op == LB_OP_ITEM) {
            mine = e;
            place = i;
            unclear = false;
        } else if (lb_item_closes(e->op) && e->type != LB_EV_OK) {
            unclear = true; /* it may be asked again after an unknown outcome */
        } else if (lb_item_closes(e->op) && (e->flags & LB_EVF_EFFECTIVE) != 0) {
            uint64_t low, high = 0;
            const struct lb_item_event *owner = NULL;
            group->c->n_releases++;
            if (mine == NULL && !unclear && !e->is_unclear)
                report_owner(group, e, NULL, "the worker did not have it");
            if (mine != NULL && mine->lease_ms > 0 && group->first_duplicate >= e->high) {
                lb_item_lease(group, place, &low, &high);
                if (high < e->low)
                    owner = other_owner(group, e);
            }
            if (owner != NULL)
                report_owner(group, e, owner, "its lease was over");
            mine = NULL;
        }
    }
}
