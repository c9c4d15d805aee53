/* owner-release: every release that had an effect was by the current owner.
 *
 * Releases by workers that hold nothing are found while reading: nothing was granted, it was given
 * back, or a release of it was refused. Here: the holder whose hold ended before, because its lease
 * did, or because it had given it back (a release that failed, by belief). Worker A's release
 * certainly ended another's ownership if
 *   1. A's hold was over at the release's request; a lease: certainly, by the latest time it can
 *      have ended,
 *   2. another worker, B, certainly owned the lock all the time that the release took: its core,
 * cut at its own lease, covers the release (an end within the same tick counts if it was granted
 * another before),
 *   3. the release had an effect,
 *   4. until then the lock excluded: no grant before the release's answer broke `exclusive`, nor
 *      one of A's own in the tick of that answer.
 * By 4 there is an order of the operations until then in which the lock excludes, and in each of
 * them the owner at A's release is B: A's ownership was over before B's grant, and B's had not
 * ended by 2. Without 4, A and B may both own something of their own (two rows of a table that is
 * polled in order of numbers): both hold, which is for `exclusive` to say. For the same reason only
 * exclusive holds of resources of capacity 1 are judged: with more, B may own another slot than
 * A's.
 *
 * A release of its worker's own row (own_rows), of a lock with a row for each holder, removes an
 * unused row: it had an effect, but ended no other worker's ownership. A worker that is let in
 * beside the owner after it breaks `exclusive`.
 *
 * The sweep visits late releases among the holds in order of time; a resource keeps its holds that
 * have not ended, which are few.
 */
#include "guarantee_kind.h"
#include "judges.h"

#include <stdlib.h>

struct recent {
    uint32_t *holds;
    uint32_t n, room;
};

/* owner: the hold that it ended; NULL: of no one. */
static void report(struct lb_case *c, const struct lb_late_release *late,
                   const struct lb_hold *owner)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_OWNER_RELEASE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], from[LB_AT];
    lb_witness_add(c, witness, late->log, late->grant);
    lb_witness_add(c, witness, late->log, late->event);
    witness->at_ns = late->low;
    if (owner == NULL) {
        lb_witness_text(witness,
                        "%s released resource %u at %s with effect, though its session, which "
                        "had been granted it, had ended",
                        lb_who(c, late->log, LB_WHOM), (unsigned)late->id,
                        lb_at(c, late->low, at, sizeof at));
        return;
    }
    lb_witness_add_hold(c, witness, owner);
    lb_witness_text(witness,
                    "%s released resource %u at %s with effect, though %s and %s had owned the "
                    "lock since %s",
                    lb_who(c, late->log, LB_WHOM), (unsigned)late->id,
                    lb_at(c, late->low, at, sizeof at),
                    late->by_lease ? "its lease was over" : "it had given it back before",
                    lb_who(c, owner->log, LB_WHOM), lb_at(c, owner->start, from, sizeof from));
}

/* Had the worker been granted the lock beside the owner before its release, but in the same tick as
 * that was answered? By the clock alone, that grant may have come later. */
static bool has_own_beside(const struct lb_case *c, const struct lb_late_release *late,
                           const struct lb_hold *owner)
{
    const struct lb_log_facts *facts = &c->logs[late->log];
    size_t low = facts->first_hold, end = low + facts->n_holds, high = end;
    while (low < high) { /* the first that starts with the release's answer, or later */
        size_t middle = low + (high - low) / 2;
        if (lb_holds(c)[middle].start < late->high)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && lb_holds(c)[low].start == late->high; low++) {
        const struct lb_hold *own = &lb_holds(c)[low];
        if (own->resource == owner->resource && own->event < late->event &&
            (own->end < own->start ? own->end : own->start) > owner->start)
            return true;
    }
    return false;
}

/* True if the hold lasts beyond the release's answer, in each order in which the lock excludes
 * until then. Also if it ends in the tick of that answer, but only after its worker was granted
 * another beside it: before that grant it did not end, and after it the lock excludes no more. */
static bool outlasts(const struct lb_case *c, uint32_t hold, const struct lb_late_release *late)
{
    uint64_t cut = lb_holds(c)[hold].cut;
    return cut > late->high || (cut == late->high && lb_hold_ends_behind_grant(c, hold));
}

static void judge_release(struct lb_case *c, const struct recent *recent,
                          const struct lb_late_release *late)
{
    for (uint32_t i = 0; i < recent->n; i++) {
        const struct lb_hold *hold = &lb_holds(c)[recent->holds[i]];
        if (hold->log == late->log || hold->is_shared || hold->start >= late->low ||
            !outlasts(c, recent->holds[i], late) || has_own_beside(c, late, hold))
            continue;
        report(c, late, hold);
        return;
    }
}

static int remember(struct lb_case *c, struct recent *recent, uint32_t number)
{
    uint64_t now = lb_holds(c)[number].start;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recent->n; i++)
        if (lb_holds(c)[recent->holds[i]].cut > now)
            recent->holds[kept++] = recent->holds[i];
    recent->n = kept;
    if (kept == recent->room) {
        uint32_t room = kept == 0 ? 4 : kept * 2;
        uint32_t *holds = realloc(recent->holds, room * sizeof *holds);
        if (holds == NULL)
            return lb_out_of_memory(c);
        recent->holds = holds;
        recent->room = room;
    }
    recent->holds[recent->n++] = number;
    return 0;
}

static int by_low(const void *a, const void *b)
{
    const struct lb_late_release *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static int sweep(struct lb_case *c, struct recent *resources)
{
    const struct lb_late_release *late = c->late.items;
    size_t next = 0, i = 0;
    int rc = 0;
    while (next < c->late.n && rc == 0) {
        const struct lb_hold *hold = i < c->holds.n ? &lb_holds(c)[c->order[i]] : NULL;
        if (hold != NULL && hold->start < late[next].low) {
            if (hold->cut > hold->start)
                rc = remember(c, &resources[hold->resource], c->order[i]);
            i++;
            continue;
        }
        bool alone = c->model->capacity == NULL || c->model->capacity[late[next].id] <= 1;
        /* Whether it excluded is not known where something is missing. */
        bool excluded =
            c->first_violation[late[next].id] >= late[next].high && late[next].high < c->known_ns;
        /* Nor whom it excluded, where a lease went on that its session's end had ended. */
        bool is_known = late[next].high < c->had_again;
        if (late[next].by_session && late[next].high < c->known_ns)
            report(c, &late[next], NULL);
        else if (alone && excluded && !is_known)
            c->doubt[LB_G_OWNER_RELEASE] =
                "a session may have ended, or not, while a lock was held: its owner is not judged";
        else if (alone && excluded)
            judge_release(c, &resources[late[next].id], &late[next]);
        next++;
    }
    return rc;
}

int lb_judge_owner(struct lb_case *c)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_OWNER_RELEASE);
    finding->n_tested = c->n_releases;
    if (c->late.n == 0 || c->model->own_rows)
        return 0;
    qsort(c->late.items, c->late.n, sizeof(struct lb_late_release), by_low);
    struct recent *resources = calloc((size_t)c->n_resources + 1, sizeof *resources);
    if (resources == NULL)
        return lb_out_of_memory(c);
    int rc = sweep(c, resources);
    for (uint32_t i = 0; i < c->n_resources; i++)
        free(resources[i].holds);
    free(resources);
    return rc;
}

const struct lb_guarantee_kind lb_guarantee_owner_release = {
    .judge_lock = lb_judge_owner, /* of queues: lb_judge_items */
    .has_shortcut = true,
    .nothing = "nothing was released",
    .doubts = 1u << LB_DOUBT_ROWS};
