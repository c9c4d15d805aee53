/* no-duplicate: what happened to each item.
 *
 * An item that was handed out is taken until it is given back, so its claims are holds of a lock of
 * capacity 1, and two cores (item_cores.c) that meet are a duplicate in every order of the
 * operations: the proof is that of exclusive.c. That a reset opens an item only once is not in the
 * cores: item_gaps.c and item_order.c look at it,
 * where it matters.
 *
 * Only the events of odd ids are here (see ids.c), sorted by id; nearly all ids have one claim and
 * one end, and need no look.
 */
#include "items.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>

/* What the last recovery before the second claim was answered can say about it; else "". */
static void tell_recovery(const struct lb_item_group *group, const struct lb_item_core *first,
                          const struct lb_item_core *second, char *text, size_t size)
{
    const struct lb_moment *end, *found = NULL;
    const struct lb_moment *m =
        lb_moments_from(&group->world->openers, LB_OP_RECOVER, 0, first->claim->low, &end);
    for (; m != NULL && m < end && m->op == LB_OP_RECOVER && m->least <= second->start; m++)
        if (m->low <= second->start)
            found = m;
    text[0] = '\0';
    if (found == NULL)
        return;
    char at[LB_AT], after[LB_AT], ttl[LB_AT];
    uint64_t since = found->low > first->claim->low ? found->low - first->claim->low : 0;
    int n = snprintf(text, size, "; recover ran at %s, %s after the first of them was asked for; ",
                     lb_at(group->c, found->low, at, sizeof at),
                     lb_format_ns(since, after, sizeof after));
    if (n < 0 || (size_t)n >= size)
        return;
    if (found->age_ms > 0)
        snprintf(text + n, size - (size_t)n, "ttl %s",
                 lb_format_ns((uint64_t)found->age_ms * 1000000u, ttl, sizeof ttl));
    else
        snprintf(text + n, size - (size_t)n, "it takes what the dead had");
}

static void report_duplicate(const struct lb_item_group *group, const struct lb_item_core *first,
                             const struct lb_item_core *second)
{
    struct lb_case *c = group->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_NO_DUPLICATE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT], recovery[160];
    tell_recovery(group, first, second, recovery, sizeof recovery);
    lb_witness_add(c, witness, first->claim->log, first->claim->event);
    lb_witness_add(c, witness, second->claim->log, second->claim->event);
    witness->at_ns = second->start;
    uint64_t end = first->end < second->end ? first->end : second->end;
    if (first->end != LB_NEVER)
        witness->overlap_ns = end > second->start ? end - second->start : 0;
    lb_witness_text(witness,
                    "item %s was claimed by %s, answered at %s, and %s by %s, "
                    "answered at %s, %s%s",
                    LB_ITEM_OF(c, first->claim->id), lb_who(c, first->claim->log, LB_WHOM),
                    lb_at(c, first->start, before, sizeof before),
                    second->claim->is_resumed ? "its older claim renewed" : "again",
                    lb_who(c, second->claim->log, LB_WHOM), lb_at(c, second->start, at, sizeof at),
                    c->model->period_ns > 0 ? "before it was due again"
                                            : "without having been given back",
                    recovery);
}

static void meet(struct lb_item_group *group, const struct lb_item_core *first,
                 const struct lb_item_core *second)
{
    report_duplicate(group, first, second);
    if (group->first_duplicate == LB_NEVER)
        group->first_duplicate = second->start;
}

/* Does the core end in the tick of its worker's own end, or of a claim's answer? What ended it may
 * be of one log with these, and that log's order then says more than the times. */
static bool ends_in_tick(const struct lb_item_group *group, const struct lb_item_core *core)
{
    for (size_t i = core->place + 1; lb_item_own(group, core->place, i); i++)
        if (lb_item_closes(group->events[i]->op) && group->events[i]->low == core->end)
            return true;
    size_t first = lb_item_cores_from(group, core->end);
    return first < group->n_cores && group->cores[first].start == core->end;
}

/* Cores that end where they do only because somebody else did something, once: two may have needed
 * the same, or one may have come too early in its own log. Or one that ended before its worker
 * finished the item, with effect: it is done then, and what took the claim back before has opened
 * it no longer. Or a process beat again after a recovery may have taken its claim. */
static bool may_share(const struct lb_item_group *group)
{
    const struct lb_item_core *ended = NULL;
    size_t n = 0;
    bool was_done = false;
    for (size_t i = 0; i < group->n_cores; i++) {
        if (group->cores[i].end < group->cores[i].alone) {
            ended = &group->cores[i];
            n++;
        }
        was_done = was_done || lb_item_was_done(group, &group->cores[i]);
    }
    return n > 1 || was_done || group->n_strangers > 0 || lb_item_revived(group) ||
           (n == 1 && (group->n_owners > 0 || ends_in_tick(group, ended)));
}

static int judge_order(struct lb_item_group *group)
{
    const struct lb_item_core *core = NULL, *doubtful = NULL;
    bool gave_up = false;
    if (lb_item_plain(group))
        return 0;
    int rc = lb_item_order(group, false, &core, &gave_up);
    if (rc == 0 && core == NULL && !gave_up && lb_item_revived(group))
        rc = lb_item_order(group, true, &doubtful, &gave_up);
    if (gave_up || doubtful != NULL)
        group->c->doubt[LB_G_NO_DUPLICATE] =
            gave_up ? "too much happened to an item at one time: whether one reset served two "
                      "claims is not judged"
                    : "a process beat again after a recovery may have taken what it had: whether "
                      "one recovery served two claims is not judged";
    if (core == NULL)
        return rc;
    group->first_duplicate = core->start;
    report_duplicate(group, core > group->cores ? core - 1 : core + 1, core);
    return rc;
}

/* Claims that others got from a worker that was alive and had not ended them: by a recovery, or the
 * end of a lease. It is what the protocol promises, and the work is done twice all the same. */
static void count_taken(const struct lb_item_group *group)
{
    struct lb_measures *measures = &group->c->out->measures;
    uint64_t n_taken = 0;
    for (size_t i = 0; i + 1 < group->n_cores; i++) {
        const struct lb_item_core *core = &group->cores[i];
        uint64_t until = core[1].start;
        uint64_t lease = core->claim->lease_ms > 0 ? lb_item_lease(group, core->place) : LB_NEVER;
        bool is_taken = core[1].claim->log != core->claim->log &&
                        (lease <= until || lb_item_recovered(group, core->claim) <= until) &&
                        lb_item_lost(group, core->claim) > until &&
                        group->c->logs[core->claim->log].gone_ns > until;
        for (size_t k = core->place + 1; is_taken && lb_item_own(group, core->place, k); k++)
            is_taken = !lb_item_closes(group->events[k]->op) || group->events[k]->low > until;
        n_taken += is_taken;
    }
    measures->n_taken_items += n_taken > 0;
    measures->n_taken_claims += n_taken > 0 ? group->n_cores : 0;
}

static int judge_claims(struct lb_item_group *group, size_t n_claims)
{
    group->cores = malloc(n_claims * sizeof *group->cores);
    if (group->cores == NULL)
        return lb_out_of_memory(group->c);
    uint64_t before = 0;
    for (size_t i = 0; i < group->n; i++) {
        if (i > 0 && group->events[i]->log != group->events[i - 1]->log)
            before = 0;
        if (group->events[i]->op != LB_OP_ITEM)
            continue;
        struct lb_item_core core = lb_item_core_of(group, i);
        core.before = before;
        before = core.end > before ? core.end : before;
        group->cores[group->n_cores++] = core;
    }
    int rc = lb_item_sort_cores(group);
    if (rc == 0)
        rc = lb_item_sweep(group, meet);
    if (rc == 0 && group->first_duplicate == LB_NEVER && may_share(group))
        rc = judge_order(group);
    count_taken(group);
    if (rc == 0 && (group->c->model->claims & LB_G_BIT(LB_G_ONCE)) != 0)
        rc = lb_judge_once(group);
    return rc;
}

static int judge_group(struct lb_item_group *group)
{
    size_t n_claims = 0;
    int rc = 0;
    /* The ordinary case, in short: claimed, and ended or renewed once by the same worker. */
    bool is_ordinary = group->n == 2 && group->events[0]->op == LB_OP_ITEM &&
                       group->events[1]->op != LB_OP_ITEM &&
                       group->events[1]->log == group->events[0]->log;
    if (is_ordinary)
        group->c->n_releases += lb_item_closes(group->events[1]->op) &&
                                (group->events[1]->flags & LB_EVF_EFFECTIVE) != 0;
    if (!is_ordinary || group->hand != NULL)
        rc = lb_item_others(group);
    if (rc == 0 && (!is_ordinary || group->hand != NULL))
        rc = lb_item_resume(group);
    for (size_t i = 0; i < group->n; i++)
        n_claims += group->events[i]->op == LB_OP_ITEM;
    if (rc == 0 && n_claims > 1)
        rc = judge_claims(group, n_claims);
    if (rc == 0 && group->hand != NULL)
        rc = lb_in_hand_add(group->hand, group);
    if (rc == 0 && !is_ordinary)
        rc = lb_judge_item_owner(group);
    free(group->cores);
    if (group->hand == NULL) /* else its cores speak of them */
        free(group->resumed);
    group->cores = NULL;
    group->resumed = NULL;
    group->n_cores = 0;
    return rc;
}

/* Ids come in order: so do those that were put again. */
static bool is_put_again(const struct lb_case *c, uint64_t id, size_t *next)
{
    const uint64_t *ids = c->put_again.items;
    while (*next < c->put_again.n && ids[*next] < id)
        ++*next;
    return *next < c->put_again.n && ids[*next] == id;
}

/* A claim's ages count from when it was asked for, as long as nothing else is known. */
static struct lb_item_event event_of(const struct lb_item_record *record)
{
    bool is_claim = record->op == LB_OP_ITEM;
    uint64_t never = is_claim ? LB_NEVER : 0;
    return (struct lb_item_event){.id = record->id,
                                  .low = record->low,
                                  .high = record->high,
                                  .since = is_claim ? record->low : 0,
                                  .revived = never,
                                  .exact = never,
                                  .cut = never,
                                  .log = record->log,
                                  .event = record->event,
                                  .lease_ms = record->lease_ms,
                                  .class_no = record->class_no,
                                  .op = record->op,
                                  .type = record->type,
                                  .flags = record->flags,
                                  .is_unclear = record->is_unclear};
}

/* The events of one item, which are judged, and where they stand. */
struct room {
    struct lb_item_event *events;
    const struct lb_item_event **places;
    size_t n;
};

static int make_room(struct room *room, size_t n, struct lb_case *c)
{
    if (n <= room->n)
        return 0;
    free(room->events);
    free(room->places);
    room->n = room->n > 0 ? n + n / 2 : n;
    room->events = malloc(room->n * sizeof *room->events);
    room->places = malloc(room->n * sizeof *room->places);
    return room->events == NULL || room->places == NULL ? lb_out_of_memory(c) : 0;
}

/* Takes the n items from a place on. They lie far apart in memory: they are fetched ahead. */
static void take(const struct lb_case *c, size_t first, size_t n, const struct room *room)
{
    enum { AHEAD = 16 };
    const struct lb_item_record *items = c->items.items;
    for (size_t i = 0; i < n; i++) {
        if (first + i + AHEAD < c->items.n)
            __builtin_prefetch(&items[c->by_id[first + i + AHEAD].index]);
        room->events[i] = event_of(&items[c->by_id[first + i].index]);
        room->places[i] = &room->events[i];
    }
}

/* Judges the items whose records lie between two places, which are whole items. */
static int judge_range(struct lb_item_group *group, size_t from, size_t until)
{
    enum { OFTEN = 256 };
    struct lb_case *c = group->c;
    struct room room = {.events = NULL};
    int rc = 0;
    for (size_t i = from, end = from, next = 0, next_look = 0; i < until && rc == 0; i = end) {
        uint64_t id = c->by_id[i].key;
        while (end < until && c->by_id[end].key == id)
            end++;
        if (next_look-- == 0) {
            rc = lb_case_goes_on(c);
            next_look = OFTEN;
        }
        if (rc != 0 || is_put_again(c, id, &next))
            continue;
        rc = make_room(&room, end - i, c);
        if (rc != 0)
            continue;
        take(c, i, end - i, &room);
        group->events = room.places;
        group->n = end - i;
        group->first_duplicate = LB_NEVER;
        rc = judge_group(group);
        if (rc == 0 && group->hand != NULL) { /* its cores speak of these events */
            rc = lb_in_hand_keep(group->hand, room.events, c);
            free(room.places);
            room = (struct room){.events = NULL};
        }
    }
    free(room.events);
    free(room.places);
    return rc;
}

/* c->items are in order of log and event; sorted by id, they still are within one id. */
int lb_judge_items(struct lb_case *c)
{
    struct lb_item_world world = {.old_ms = 0};
    struct lb_in_hand hand = {0};
    struct lb_item_group group = {
        .c = c, .world = &world, .hand = lb_wants_groups(c) ? &hand : NULL};
    int rc = c->items.n > 0 ? lb_item_world_init(&world, c) : 0;
    lb_beats_sort(c);
    if (rc == 0)
        rc = judge_range(&group, 0, c->items.n);
    if (rc == 0 && group.hand != NULL)
        rc = lb_judge_groups(&hand, &world, c);
    lb_item_world_release(&world);
    lb_moments_release(&group.others);
    lb_in_hand_release(&hand);
    lb_finding_of(c, LB_G_NO_DUPLICATE)->n_tested = c->out->measures.n_claims;
    lb_finding_of(c, LB_G_ONCE)->n_tested = c->out->measures.n_claims;
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested = c->n_releases;
    return rc;
}
