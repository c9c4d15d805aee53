/* owner-release of queues: who completes, fails or frees an item has it. The proof is that of
 * owner.c: if until then nothing was claimed twice, and another's claim certainly lasted while the
 * end took effect, then in every order in which no claim is a duplicate the item was the other's.
 * It does not matter how it had been taken from the first worker: by a lease, a recovery, a
 * stranger.
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
    char at[LB_AT], who[LB_WHO + 20] = "";
    if (owner != NULL) {
        lb_witness_add(c, witness, owner->log, owner->event);
        snprintf(who, sizeof who, " and %s owned it", lb_who(c, owner->log, LB_WHOM));
    }
    lb_witness_add(c, witness, op->log, op->event);
    witness->at_ns = op->low;
    lb_witness_text(witness, "%s's %s of item %s at %s had an effect, though %s%s",
                    lb_who(c, op->log, LB_WHOM), lb_op_name(invoke->op), LB_ITEM_OF(c, op->id),
                    lb_at(c, invoke->time_ns, at, sizeof at), why, who);
}

/* A claim of another log that can have been the item's while op took effect, which ends mine; NULL:
 * none can, as nearly always. *near: where the core of an earlier claim of the log is. */
static const struct lb_item_event *rival(const struct lb_item_group *group,
                                         const struct lb_item_event *mine,
                                         const struct lb_item_event *op, size_t *near)
{
    const struct lb_item_event *found = NULL;
    /* Where an end may have ended another's claim, that may be what opened the item to others. */
    uint64_t until = group->n_owners > 0 ? op->high : op->low;
    *near = lb_item_cores_near(group, mine->low, *near);
    for (size_t i = *near; i < group->n_cores && group->cores[i].start < until; i++) {
        const struct lb_item_core *core = &group->cores[i];
        if (core->claim->log != op->log && core->done >= op->low)
            found = core->claim;
    }
    return found;
}

/* Stores who else certainly owned the item while op took effect, or NULL. */
static int find_owner(struct lb_item_group *group, const struct lb_item_event *mine,
                      const struct lb_item_event *op, size_t *near,
                      const struct lb_item_event **ret_owner)
{
    const struct lb_item_event *owner =
        op->high < group->c->known_ns ? rival(group, mine, op, near) : NULL;
    bool is_others = false, gave_up = false;
    int rc = owner != NULL ? lb_item_others_claim(group, op, &is_others, &gave_up) : 0;
    if (gave_up)
        group->c->doubt[LB_G_OWNER_RELEASE] =
            "too much happened to an item at one time: whose it was is not judged";
    *ret_owner = is_others ? owner : NULL;
    return rc;
}

/* The events of one log on this item, in order: claim, one effective end, claim, ... */
int lb_judge_item_owner(struct lb_item_group *group)
{
    const struct lb_item_event *mine = NULL; /* the claim that is out */
    size_t near = 0;
    int rc = 0;
    for (size_t i = 0; i < group->n && rc == 0; i++) {
        const struct lb_item_event *e = group->events[i];
        if (i > 0 && group->events[i - 1]->log != e->log) {
            mine = NULL;
        }
        if (e->op == LB_OP_ITEM) {
            mine = e;
        } else if (lb_item_closes(e->op) && (e->flags & LB_EVF_EFFECTIVE) != 0) {
            const struct lb_item_event *owner = NULL;
            group->c->n_releases++;
            if (mine == NULL && !e->is_unclear)
                report_owner(group, e, NULL, "the worker did not have it");
            if (mine != NULL)
                rc = find_owner(group, mine, e, &near, &owner);
            if (owner != NULL)
                report_owner(group, e, owner, "the item had been taken from it");
            mine = NULL;
        }
    }
    return rc;
}
