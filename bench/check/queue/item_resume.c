/* What a claim's worker did to keep it: it renewed it, and its process beat.
 *
 * A renewal that took effect says that its worker has the item at that time. If it may have been
 * taken from it before, by the end of its lease or session, a recovery, or a stranger, the claim
 * goes on from there as another one, which nobody else's may meet. If not, it is the same claim, as
 * old as the renewal says.
 *
 * A beat says nothing of an item but that a recovery may not take it yet. It does not bring back
 * what may have been taken before it.
 *
 * Not of renewals by a worker that has not claimed the item, or that has asked to end it before:
 * what they say of the item nobody can tell.
 */
#include "items.h"

#include <stdlib.h>

/* The claim of a log that is being followed. */
struct kept {
    struct lb_item_event *claim; /* NULL: none, or its worker has certainly ended it */
    size_t place, next_beat;
    bool is_closed; /* its worker may have ended it */
};

static void begin(const struct lb_item_group *group, struct kept *kept, struct lb_item_event *claim,
                  size_t place)
{
    *kept = (struct kept){.claim = claim, .place = place};
    group->events[place] = claim;
    if (group->c->beats.n > 0 || group->c->has_unsure_beats)
        kept->next_beat = lb_beats_begin(group->c, claim);
}

/* The beats from *next on that were answered by a time keep recoveries off. */
static void hear_beats(const struct lb_item_group *group, struct lb_item_event *claim, size_t *next,
                       uint64_t until)
{
    const struct lb_case *c = group->c;
    const struct lb_beat *beats = c->beats.items;
    for (; *next < c->beats.n && beats[*next].log == claim->log && beats[*next].high <= until &&
           claim->revived == LB_NEVER;
         ++*next) {
        struct lb_item_event heard = *claim;
        lb_beats_heard(&heard, *next);
        uint64_t taken = lb_item_recovered(group, claim);
        if (taken <= beats[*next].high) {
            uint64_t after = lb_item_recovered(group, &heard);
            after = after < taken ? after : taken;
            claim->revived = after > beats[*next].low ? after : beats[*next].low;
            claim->exact = beats[*next].high;
        } else {
            *claim = heard;
        }
    }
}

static void hear(const struct lb_item_group *group, struct kept *kept, uint64_t until)
{
    if (kept->claim != NULL && group->c->beats.n > 0)
        hear_beats(group, kept->claim, &kept->next_beat, until);
}

/* What was taken from its worker, who has it again: there is room for one more claim. */
static void resume(const struct lb_item_group *group, struct kept *kept, size_t i,
                   struct lb_item_event *copy)
{
    const struct lb_item_event *e = group->events[i];
    struct lb_item_event *claim = kept->claim;
    /* It may have come in time, and made the lease shorter. */
    if (claim->lease_ms > 0 && e->lease_ms > 0)
        claim->cut = lb_lease_low(e->low, e->lease_ms);
    *copy = *e;
    copy->op = LB_OP_ITEM;
    copy->flags = claim->flags;
    copy->lease_ms = claim->lease_ms == 0 ? 0 : e->lease_ms > 0 ? e->lease_ms : 1;
    if (claim->lease_ms > 0 && e->lease_ms == 0)
        copy->least = lb_item_lease_until(group, kept->place, i);
    copy->is_resumed = true;
    copy->since = claim->since;
    copy->revived = copy->exact = copy->cut = LB_NEVER;
    copy->renewed = e->lease_ms > 0 ? e->low : claim->renewed;
    copy->safe_ms = e->lease_ms > 0 ? e->lease_ms : claim->safe_ms;
    begin(group, kept, copy, i);
}

static bool is_renewal(const struct lb_item_event *e)
{
    return e->op == LB_OP_RENEW_ITEM && e->type == LB_EV_OK;
}

/* Room for each claim, and each renewal that may become one; NULL: there is no memory. */
static struct lb_item_event *make_room(const struct lb_item_group *group)
{
    size_t n = 1;
    for (size_t i = 0; i < group->n; i++)
        n += group->events[i]->op == LB_OP_ITEM || is_renewal(group->events[i]);
    return malloc(n * sizeof(struct lb_item_event));
}

static void renew(const struct lb_item_group *group, struct kept *kept, size_t i, size_t *n)
{
    const struct lb_item_event *e = group->events[i];
    if (kept->claim == NULL || kept->is_closed)
        return;
    if (lb_item_taken(group, kept->place, i) <= e->high) {
        resume(group, kept, i, &group->resumed[(*n)++]);
    } else if (e->lease_ms > 0) {
        kept->claim->renewed = e->low;
        kept->claim->safe_ms = e->lease_ms;
    }
}

int lb_item_resume(struct lb_item_group *group)
{
    struct kept kept = {.claim = NULL};
    bool is_needed = group->c->beats.n > 0 || group->c->has_unsure_beats;
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++)
        is_needed = is_needed || is_renewal(group->events[i]);
    if (!is_needed)
        return 0;
    group->resumed = make_room(group);
    if (group->resumed == NULL)
        return lb_out_of_memory(group->c);
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        bool is_same_log = i > 0 && group->events[i - 1]->log == e->log;
        hear(group, &kept, is_same_log ? e->high : LB_NEVER);
        if (!is_same_log)
            kept.claim = NULL;
        if (e->op == LB_OP_ITEM) {
            group->resumed[n] = *e;
            begin(group, &kept, &group->resumed[n++], i);
        } else if (is_renewal(e)) {
            renew(group, &kept, i, &n);
        } else if (lb_item_closes(e->op)) {
            kept.is_closed = true;
            kept.claim = lb_item_certain(e) ? NULL : kept.claim;
        }
    }
    hear(group, &kept, LB_NEVER);
    return 0;
}

bool lb_item_revived(const struct lb_item_group *group)
{
    for (size_t i = 0; i < group->n_cores; i++)
        if (group->cores[i].claim->revived != LB_NEVER)
            return true;
    return false;
}
