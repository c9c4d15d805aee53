/* group-exclusive: never two items of one group in hand.
 *
 * A group is a lock of capacity 1, and a claim of one of its items is a hold of it: in hand from
 * its ok to the earliest time at which it can have ended. That is the earliest of
 *   - the invoke of an end by its worker (complete, error or free) that had an effect, or may have,
 *   - what opens the item to others (item_cores.c): lease, loss of the claimer, recovery,
 *   - the end of the item by somebody who had not claimed it, or whose claim of it was over.
 * Two cores of one group that meet are a violation in every order, and if none do there is an order
 * in which no two items are in hand: the proof is that of exclusive.c. Two claims of the same item
 * that meet are one, too.
 *
 * A recovery is one moment, and an end by a stranger ends one claim. Where the same one may have
 * ended two claims of the group, a violation may pass: not tested.
 *
 * The history does not name groups: item i is of group i % groups. One that is no number is of none
 * that is known: not tested.
 */
#include "items.h"

#include <stdlib.h>

bool lb_wants_groups(const struct lb_case *c)
{
    return c->model->groups > 0 && (c->model->claims & LB_G_BIT(LB_G_GROUP_EXCLUSIVE)) != 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The core of the claim at a place. Its field alone is the end if that is a recovery's, 0 if it is
 * a stranger's, who may have ended another claim instead; else LB_NEVER. Its field done is the
 * position of its worker's own end if nothing else can have ended it until then; else 0. */
static struct lb_item_core in_hand(const struct lb_item_group *item, size_t place)
{
    static const int ends[] = {LB_OP_COMPLETE, LB_OP_ERROR, LB_OP_FREE};
    struct lb_item_core core = lb_item_core_of(item, place);
    const struct lb_item_event *claim = core.claim, *own = NULL;
    for (size_t i = place + 1; lb_item_own(item, place, i) && own == NULL; i++)
        own = lb_item_closes(item->events[i]->op) ? item->events[i] : NULL;
    uint64_t lost = lb_item_lost_before(item, place), recovered = lb_item_recovered(item, claim);
    uint64_t closed = own != NULL ? own->low : LB_NEVER;
    uint64_t taken = earlier(earlier(lost, recovered), item->c->known_ns);
    if (claim->lease_ms > 0)
        taken = earlier(taken, lb_item_lease(item, place));
    uint64_t stranger = LB_NEVER;
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
        stranger = earlier(stranger, lb_item_ended(item, claim, ends[k]));
    taken = earlier(taken, stranger);
    core.end = earlier(taken, closed);
    core.alone = core.end == LB_NEVER    ? LB_NEVER
                 : core.end == stranger  ? 0
                 : core.end == recovered ? recovered
                                         : LB_NEVER;
    core.done = own != NULL && closed < taken ? own->event : 0;
    core.before = 0;
    core.may_be_owners = core.alone == 0 && item->n_owners > 0;
    return core;
}

void lb_in_hand_release(struct lb_in_hand *hand)
{
    struct lb_item_event **events = hand->events.items;
    for (size_t i = 0; i < hand->events.n; i++)
        free(events[i]);
    free(hand->events.items);
    free(hand->cores.items);
}

int lb_in_hand_keep(struct lb_in_hand *hand, struct lb_item_event *events, struct lb_case *c)
{
    struct lb_item_event **kept =
        events != NULL ? lb_array_push(&hand->events, sizeof *kept) : NULL;
    if (events != NULL && kept == NULL) {
        free(events);
        return lb_out_of_memory(c);
    }
    if (kept != NULL)
        *kept = events;
    return 0;
}

int lb_in_hand_add(struct lb_in_hand *hand, const struct lb_item_group *item)
{
    int rc = lb_in_hand_keep(hand, item->resumed, item->c);
    if (rc != 0)
        return rc;
    if (item->events[0]->id >> 63 != 0) { /* a text, or a number below 0 */
        item->c->doubt[LB_G_GROUP_EXCLUSIVE] =
            "some items have other names than numbers from 0 on: it is not known of which group";
        return 0;
    }
    for (size_t i = 0; i < item->n; i++) {
        if (item->events[i]->op != LB_OP_ITEM)
            continue;
        struct lb_item_core *slot = lb_array_push(&hand->cores, sizeof *slot);
        if (slot == NULL)
            return lb_out_of_memory(item->c);
        *slot = in_hand(item, i);
    }
    return 0;
}

static void report(struct lb_item_group *group, const struct lb_item_core *first,
                   const struct lb_item_core *second)
{
    struct lb_case *c = group->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_GROUP_EXCLUSIVE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT];
    uint64_t end = earlier(first->end, second->end);
    lb_witness_add(c, witness, first->claim->log, first->claim->event);
    lb_witness_add(c, witness, second->claim->log, second->claim->event);
    witness->at_ns = second->start;
    witness->overlap_ns = end != LB_NEVER && end > second->start ? end - second->start : 0;
    lb_witness_text(witness,
                    "item %s was claimed by %s, answered at %s, and item %s of the same group by "
                    "%s, answered at %s, while the first was still in hand",
                    LB_ITEM_OF(c, first->claim->id), lb_who(c, first->claim->log, LB_WHOM),
                    lb_at(c, first->start, before, sizeof before), LB_ITEM_OF(c, second->claim->id),
                    lb_who(c, second->claim->log, LB_WHOM), lb_at(c, second->start, at, sizeof at));
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* May one recovery, or one end by a stranger, have ended two claims of the group? Or may it be in
 * the tick of a claim, of which it is not known here whether it was its own worker's, and came
 * before? There is room for a time for each core. */
static bool may_share(const struct lb_item_group *group, uint64_t *times)
{
    size_t n = 0, n_strange = 0;
    for (size_t i = 0; i < group->n_cores; i++) {
        const struct lb_item_core *core = &group->cores[i];
        n_strange += core->may_be_owners ? 2 : core->alone == 0;
        size_t next = lb_item_cores_from(group, core->end);
        if (core->alone != LB_NEVER && next < group->n_cores &&
            group->cores[next].start == core->end)
            return true;
        if (core->alone == 0 || core->alone == LB_NEVER)
            continue;
        if (core->end <= core->start) /* it may have been claimed after the recovery as well */
            return true;
        times[n++] = core->alone;
    }
    qsort(times, n, sizeof *times, by_size);
    for (size_t i = 1; i < n; i++) {
        const struct lb_moment *end,
            *m = lb_moments_from(&group->world->openers, LB_OP_RECOVER, 0, times[i], &end);
        if (m != NULL && m->least <= times[i - 1])
            return true;
    }
    return n_strange > 1;
}

/* What the log of each core had in hand before, which came first within a tick as well: also where
 * it ended in that tick, but behind the claim. The keys are those of the group's cores, in order of
 * log and event. */
static void chain(struct lb_item_group *group, const struct lb_key *keys)
{
    struct lb_item_core *cores = group->cores, *open = NULL;
    uint64_t before = 0;
    for (size_t i = 0; i < group->n_cores; i++) {
        struct lb_item_core *core = &cores[keys[i].index];
        if (i > 0 && cores[keys[i - 1].index].claim->log != core->claim->log) {
            before = 0;
            open = NULL;
        }
        if (open != NULL && open->done > core->claim->event && open->end <= core->start)
            report(group, open, core);
        core->before = before;
        before = core->end > before ? core->end : before;
        open = open == NULL || core->done > open->done ? core : open;
    }
}

static int judge_group(struct lb_item_group *group, struct lb_key *keys, uint64_t *times)
{
    for (size_t i = 0; i < group->n_cores; i++) {
        const struct lb_item_event *claim = group->cores[i].claim;
        keys[i] =
            (struct lb_key){.key = (uint64_t)claim->log << 32 | claim->event, .index = (uint32_t)i};
    }
    if (lb_sort(keys, group->n_cores) != 0)
        return LB_E_MEMORY;
    chain(group, keys);
    if (lb_item_sort_cores(group) != 0)
        return LB_E_MEMORY;
    if (may_share(group, times))
        group->c->doubt[LB_G_GROUP_EXCLUSIVE] =
            "one recovery, or stranger, may have ended two claims of a group, one after the other";
    return lb_item_sweep(group, report);
}

int lb_judge_groups(struct lb_in_hand *hand, struct lb_item_world *world, struct lb_case *c)
{
    const struct lb_item_core *cores = hand->cores.items;
    size_t n = hand->cores.n;
    struct lb_key *keys = malloc((n + 1) * sizeof *keys);
    struct lb_item_core *sorted = malloc((n + 1) * sizeof *sorted);
    uint64_t *times = malloc((n + 1) * sizeof *times);
    int rc = keys == NULL || sorted == NULL || times == NULL ? LB_E_MEMORY : 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        keys[i] =
            (struct lb_key){.key = cores[i].claim->id % c->model->groups, .index = (uint32_t)i};
    if (rc == 0)
        rc = lb_sort(keys, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        sorted[i] = cores[keys[i].index];
    struct lb_item_group group = {.c = c, .world = world};
    for (size_t first = 0; first < n && rc == 0; first += group.n_cores) {
        uint64_t number = keys[first].key;
        group.cores = sorted + first;
        group.n_cores = 0;
        while (first + group.n_cores < n && keys[first + group.n_cores].key == number)
            group.n_cores++;
        rc = judge_group(&group, keys + first, times);
    }
    lb_finding_of(c, LB_G_GROUP_EXCLUSIVE)->n_tested = c->out->measures.n_claims;
    free(keys);
    free(sorted);
    free(times);
    return rc != 0 ? lb_out_of_memory(c) : 0;
}
