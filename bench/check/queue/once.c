/* once: no item is executed twice, whatever becomes of its worker.
 *
 * Most queues promise that an item is not lost, and pay with executions: who dies, or is too slow,
 * has begun to work on it, and another begins again. A queue that promises `once` does not.
 *
 * An execution begins when a claim is answered: from then on its worker has the item and works,
 * outside of the database, where nothing undoes it. So neither the end of a lease, nor a recovery,
 * nor the loss of a session, nor a rollback gives an item back undone. Only these do:
 *   - a free by the claimer, which had an effect, or may have had one: he says that it is undone;
 *   - a clear after his error, and a reset after his complete: somebody asked for it to be done
 *     again, and so does a period.
 * The core of a claim is the open interval from its ok to the earliest time of those, and two that
 * meet are a violation in every order: the proof is that of exclusive.c. What a worker that never
 * claimed the item did to it gives nobody's work back.
 *
 * That one reset opens an item only once is not in the cores, nor what one worker did within a tick
 * of the clock: where two claims may have needed the same reset, item_order.c looks for an order.
 */
#include "items.h"

#include <stdlib.h>

static void report(struct lb_item_group *group, const struct lb_item_core *first,
                   const struct lb_item_core *second)
{
    struct lb_case *c = group->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_ONCE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT];
    lb_witness_add(c, witness, first->claim->log, first->claim->event);
    lb_witness_add(c, witness, second->claim->log, second->claim->event);
    witness->at_ns = second->start;
    lb_witness_text(witness,
                    "%s began to work on item %s at %s, and %s did so again at %s: nobody had "
                    "given it back undone",
                    lb_who(c, first->claim->log, LB_WHOM), LB_ITEM_OF(c, first->claim->id),
                    lb_at(c, first->start, before, sizeof before),
                    lb_who(c, second->claim->log, LB_WHOM), lb_at(c, second->start, at, sizeof at));
}

/* From the ok of a claim to the earliest time at which it was given back undone, or asked for
 * again. Its field alone is the end if nobody else is needed for that. */
static struct lb_item_core execution(const struct lb_item_group *item, size_t place)
{
    const struct lb_item_event *claim = item->events[place];
    uint64_t known = item->c->known_ns;
    struct lb_item_core core = {.start = claim->high,
                                .end = known,
                                .alone = known,
                                .done = LB_NEVER,
                                .place = place,
                                .claim = claim};
    for (size_t i = place + 1; lb_item_own(item, place, i); i++) {
        const struct lb_item_event *e = item->events[i];
        if (!lb_item_closes(e->op))
            continue;
        uint64_t low = e->low > claim->low ? e->low : claim->low;
        uint64_t open = lb_item_reopened(item, e->op, e->class_no, low);
        core.end = open < core.end ? open : core.end;
        if (e->op == LB_OP_FREE && low < core.alone)
            core.alone = low;
        if (lb_item_certain(e))
            break;
    }
    return core;
}

/* One reset may have opened the item both before a claim and after it, or come too early in its own
 * log: the orders are searched. */
static int judge_order(struct lb_item_group *group)
{
    const struct lb_item_core *core = NULL;
    bool gave_up = false;
    if (lb_item_plain(group))
        return 0;
    int rc = lb_item_order(group, false, &core, &gave_up);
    if (gave_up)
        group->c->doubt[LB_G_ONCE] = "too much happened to an item at one time: whether one reset "
                                     "served two claims is not judged";
    if (rc == 0 && core != NULL)
        report(group, core > group->cores ? core - 1 : core + 1, core);
    return rc;
}

int lb_judge_once(const struct lb_item_group *item)
{
    struct lb_item_group group = *item;
    group.is_once = true;
    group.cores = malloc(item->n * sizeof *group.cores);
    group.n_cores = 0;
    if (group.cores == NULL)
        return lb_out_of_memory(item->c);
    uint64_t before = 0;
    for (size_t i = 0; i < item->n; i++) {
        const struct lb_item_event *e = item->events[i];
        if (i > 0 && e->log != item->events[i - 1]->log)
            before = 0;
        if (e->op != LB_OP_ITEM || e->is_resumed)
            continue;
        struct lb_item_core core = execution(&group, i);
        core.before = before;
        before = core.end > before ? core.end : before;
        group.cores[group.n_cores++] = core;
    }
    uint64_t n_before = lb_finding_of(item->c, LB_G_ONCE)->n_violations;
    int rc = lb_item_sort_cores(&group);
    if (rc == 0)
        rc = lb_item_sweep(&group, report);
    if (rc == 0 && lb_finding_of(item->c, LB_G_ONCE)->n_violations == n_before)
        rc = judge_order(&group);
    free(group.cores);
    return rc;
}
