/* What happened to one item, as operations that can be put in order: each with the earliest and the
 * latest time at which it can have taken effect, and what it says of which claim.
 */
#include "item_operations.h"

int lb_item_operations_add(struct operations *s, const struct operation *operation)
{
    if (s->group->world->operations_left == 0)
        s->gave_up = true;
    if (s->gave_up)
        return 0;
    s->group->world->operations_left--;
    struct operation *slot = lb_array_push(&s->array, sizeof *slot);
    if (slot == NULL)
        return lb_out_of_memory(s->group->c);
    *slot = *operation;
    return 0;
}

static enum state state_after(int op)
{
    return op == LB_OP_FREE ? FREE : op == LB_OP_ERROR ? FAILED : DONE;
}

/* A complete, error or free. bound: the claim's number. */
static int add_close(struct operations *s, const struct lb_item_event *e, bool is_bound,
                     uint32_t owner)
{
    const struct lb_item_group *group = s->group;
    uint32_t number = (uint32_t)s->array.n;
    const struct operation *operations = s->array.items;
    bool lets_go = is_bound && !s->gave_up && e->type == LB_EV_INFO && !group->is_once &&
                   (operations[owner].core->claim->flags & LB_EVF_FINAL) == 0;
    int rc =
        lb_item_operations_add(s, &(struct operation){.low = e->low,
                                                      .high = e->high,
                                                      .kind = CLOSE,
                                                      .to = state_after(e->op),
                                                      .is_certain = is_bound && lb_item_certain(e),
                                                      .is_bound = is_bound,
                                                      .lets_go = lets_go,
                                                      .owner = owner,
                                                      .log = e->log,
                                                      .position = e->event});
    if (rc != 0 || e->op != LB_OP_COMPLETE || group->c->model->period_ns == 0)
        return rc;
    return lb_item_operations_add(s, &(struct operation){.low = e->low + group->c->model->period_ns,
                                                         .high = LB_NEVER,
                                                         .kind = DUE,
                                                         .is_bound = true,
                                                         .owner = number,
                                                         .log = LB_NONE});
}

static int add_claim(struct operations *s, const struct lb_item_core *core)
{
    const struct lb_item_group *group = s->group;
    const struct lb_item_event *claim = core->claim;
    uint32_t number = (uint32_t)s->array.n;
    int rc = lb_item_operations_add(s, &(struct operation){.low = claim->low,
                                                           .high = claim->high,
                                                           .kind = CLAIM,
                                                           .is_certain = true,
                                                           .log = claim->log,
                                                           .position = claim->event,
                                                           .core = core});
    for (size_t i = core->place + 1; lb_item_own(group, core->place, i) && rc == 0; i++) {
        if (!lb_item_closes(group->events[i]->op))
            continue;
        rc = add_close(s, group->events[i], true, number);
        if (lb_item_certain(group->events[i]))
            break;
    }
    uint64_t let_go = LB_NEVER;
    if (!group->is_once) {
        uint64_t lease = claim->lease_ms > 0 ? lb_item_lease(group, core->place) : LB_NEVER;
        let_go = lb_item_lost_before(group, core->place);
        let_go = lease < let_go ? lease : let_go;
    }
    let_go = group->c->known_ns < let_go ? group->c->known_ns : let_go;
    if (let_go != LB_NEVER && rc == 0)
        rc = lb_item_operations_add(
            s, &(struct operation){.low = let_go > claim->low ? let_go : claim->low,
                                   .high = LB_NEVER,
                                   .kind = LET_GO,
                                   .is_bound = true,
                                   .owner = number,
                                   .log = LB_NONE});
    return rc;
}

static int add_opener(struct operations *s, const struct lb_moment *moment)
{
    return lb_item_operations_add(
        s, &(struct operation){.low = moment->low,
                               .high = moment->high,
                               .kind = OPEN,
                               .to = moment->op == LB_OP_RESET_ALL ? DONE : FAILED,
                               .is_certain = moment->is_certain,
                               .log = moment->log,
                               .position = moment->position});
}

/* Recoveries that can take one of the claims, each once: it is one moment. */
static int add_recoveries(struct operations *s, uint64_t last)
{
    const struct lb_item_group *group = s->group;
    const struct lb_item_core *cores = group->cores;
    const struct lb_moment *end, *first = NULL;
    int rc = 0;
    for (size_t i = 0; i < group->n_cores; i++) {
        const struct lb_moment *m = lb_item_recoveries(group, cores[i].claim, &end);
        first = m != NULL && (first == NULL || m < first) ? m : first;
    }
    if (first == NULL)
        return 0;
    end =
        (const struct lb_moment *)group->world->openers.array.items + group->world->openers.array.n;
    for (; first < end && first->op == LB_OP_RECOVER && rc == 0; first++) {
        uint64_t low = LB_NEVER;
        if (first->least > last)
            break;
        for (size_t i = 0; i < group->n_cores; i++) {
            uint64_t one = lb_item_recovery(group, first, cores[i].claim);
            low = one < low ? one : low;
        }
        if (low <= last)
            rc = lb_item_operations_add(s, &(struct operation){.low = low,
                                                               .high = first->high,
                                                               .kind = RECOVER,
                                                               .log = first->log,
                                                               .position = first->position,
                                                               .recovery = first});
    }
    return rc;
}

int lb_item_operations(struct operations *s, uint64_t last)
{
    static const int ops[] = {LB_OP_RESET_ALL, LB_OP_CLEAR_ALL};
    const struct lb_item_group *group = s->group;
    const struct lb_moment *others = group->others.array.items, *end;
    uint64_t first = LB_NEVER;
    int rc = 0;
    for (size_t i = 0; i < group->n_cores && rc == 0; i++) {
        const struct lb_item_event *claim = group->cores[i].claim;
        first = claim->low < first ? claim->low : first;
        last = claim->high > last ? claim->high : last;
        rc = add_claim(s, &group->cores[i]);
    }
    for (size_t i = 0; i < group->others.array.n && rc == 0; i++)
        if (others[i].is_owner)
            continue; /* it came with its claim */
        else if (others[i].event->op == LB_OP_CLEAR_ERROR)
            rc = add_opener(s, &others[i]);
        else if (!group->is_once)
            rc = add_close(s, others[i].event, false, LB_NONE);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        const struct lb_moments *openers = &group->world->openers;
        uint32_t class_no = group->cores[0].claim->class_no;
        const struct lb_moment *m = lb_moments_from(openers, ops[i], class_no, first, &end);
        for (; m != NULL && m < end && m->op == ops[i] && m->class_no == class_no && rc == 0; m++) {
            if (m->least > last)
                break;
            if (m->low <= last)
                rc = add_opener(s, m);
        }
    }
    return rc == 0 && !group->is_once ? add_recoveries(s, last) : rc;
}
