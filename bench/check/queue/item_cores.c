/* The core of a claim: the open interval from its ok to the earliest time at which the item can
 * have become claimable again. That is from
 *   - a free: its invoke,
 *   - an error and a clear: the later of both invokes, for any clear of the item, or of all, that
 *     can have come after the error,
 *   - a complete and a reset: the same,
 *   - its lease: the earliest end, unless the item was certainly finished before,
 *   - the end of its claimer's session, or its unknown outcome: the invoke of that operation, since
 *     the connection is gone and with it what a transaction held; unless it was taken out for good,
 *   - a recovery of what was claimed long ago, of the dead or the slow: its invoke, or when the
 *     claim was old enough, which a renewal in time begins anew, whichever is later. It is one
 *     moment: it serves one claim of an item, as a reset does (item_gaps.c, item_order.c).
 * Ends belong to the newest claim of their log; one of a log that had not claimed the item may end
 * anybody's claim that it can have come after, unless that was certainly finished before.
 * Operations that failed did not happen; those of unknown outcome may have.
 *
 * Each claim looks at what its own worker did next, and looks the rest up: an item that is claimed
 * a million times takes no longer than a million items.
 */
#include "items.h"

#include <stdlib.h>

static const int closing_ops[] = {LB_OP_COMPLETE, LB_OP_ERROR, LB_OP_FREE};
enum { CLOSING_OPS = sizeof closing_ops / sizeof closing_ops[0] };

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- what concerns all items --- */

static int by_log(const void *a, const void *b)
{
    const struct lb_session_end *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static int add_world(struct lb_item_world *world, const struct lb_case *c,
                     const struct lb_world_event *e)
{
    bool recovers_old = e->op == LB_OP_RECOVER && e->age_ms > 0;
    if (recovers_old && (world->old_ms == 0 || e->age_ms < world->old_ms))
        world->old_ms = e->age_ms;
    if (e->op == LB_OP_RESET_ALL || e->op == LB_OP_CLEAR_ALL || e->op == LB_OP_RECOVER)
        return lb_moments_add(
            &world->openers, &(struct lb_moment){.low = e->low,
                                                 .high = e->high,
                                                 .class_no = e->op == LB_OP_RECOVER ? 0 : e->target,
                                                 .log = e->log,
                                                 .position = e->event,
                                                 .age_ms = e->age_ms,
                                                 .op = e->op,
                                                 .is_certain = e->type == LB_EV_OK});
    if (e->op != LB_OP_SESSION_END || e->target >= c->history->n_logs)
        return 0;
    struct lb_session_end *slot = lb_array_push(&world->session_ends, sizeof *slot);
    if (slot == NULL)
        return LB_E_MEMORY;
    *slot = (struct lb_session_end){.log = e->target,
                                    .event = e->log == e->target ? e->event : LB_NONE,
                                    .low = lb_world_session_end(c, e),
                                    .high = e->high};
    return 0;
}

int lb_item_world_init(struct lb_item_world *world, struct lb_case *c)
{
    const struct lb_world_event *events = c->world.items;
    *world = (struct lb_item_world){.operations_left = (1 << 20) + 4 * c->history->n_events,
                                    .steps_left = (1 << 22) + 16 * c->history->n_events};
    int rc = 0;
    for (size_t i = 0; i < c->world.n && rc == 0; i++)
        rc = add_world(world, c, &events[i]);
    if (rc != 0)
        return lb_out_of_memory(c);
    if (lb_moments_sort(&world->openers) != 0)
        return lb_out_of_memory(c);
    if (world->session_ends.n > 0)
        qsort(world->session_ends.items, world->session_ends.n, sizeof(struct lb_session_end),
              by_log);
    return 0;
}

void lb_item_world_release(struct lb_item_world *world)
{
    lb_moments_release(&world->openers);
    free(world->session_ends.items);
}

/* Calls what for each end by who had claimed the item, until it says so. place: of the claim. */
static bool each_owners_end(struct lb_item_group *group,
                            bool (*what)(struct lb_item_group *group, size_t place, size_t i))
{
    size_t place = LB_NONE; /* of the newest claim of the log that is not certainly ended */
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (i > 0 && group->events[i - 1]->log != e->log)
            place = LB_NONE;
        if (e->op == LB_OP_ITEM)
            place = i;
        if (!lb_item_closes(e->op) || place == LB_NONE)
            continue;
        if (what(group, place, i))
            return true;
        if (lb_item_certain(e))
            place = LB_NONE;
    }
    return false;
}

/* The earliest time at which a recovery can have taken the claim, whatever its worker did since to
 * keep it: a renewal only keeps it longer, but with a beat it may be older than by itself. */
static uint64_t first_recovery(const struct lb_item_group *group, const struct lb_item_event *claim)
{
    if (group->c->beats.n == 0 && !group->c->has_unsure_beats)
        return lb_item_recovered(group, claim);
    return lb_moments_earliest(&group->world->openers, LB_OP_RECOVER, 0, claim->low);
}

/* The earliest time at which the claim, as it stood before place i, was its worker's no more, since
 * it had been lost or recovered by then, its lease was over, or another had ended it. */
static uint64_t taken_by(const struct lb_item_group *group, size_t place, size_t i, uint64_t lost,
                         uint64_t recovered)
{
    const struct lb_item_event *claim = group->events[place];
    uint64_t lease = claim->lease_ms > 0 ? lb_item_lease_until(group, place, i) : LB_NEVER;
    uint64_t taken = earlier(lease, earlier(lost, recovered));
    for (size_t k = 0; k < CLOSING_OPS; k++)
        taken = earlier(taken, lb_item_ended(group, claim, closing_ops[k]));
    return taken;
}

/* May the claim have been over before this end of it? */
static bool was_over(struct lb_item_group *group, size_t place, size_t i)
{
    uint64_t over = taken_by(group, place, i, lb_item_lost_before(group, place),
                             first_recovery(group, group->events[place]));
    for (size_t k = place + 1; k < i; k++) /* by an end of its own that may have had an effect */
        over = lb_item_closes(group->events[k]->op) ? 0 : over;
    return over != LB_NEVER && over <= group->events[i]->high;
}

static bool add_owners_end(struct lb_item_group *group, size_t place, size_t i)
{
    const struct lb_item_event *e = group->events[i];
    struct lb_moment one = {.low = e->low,
                            .high = e->high,
                            .event = e,
                            .log = e->log,
                            .position = e->event,
                            .op = e->op,
                            .is_owner = true};
    (void)place;
    group->n_owners++;
    return lb_moments_add(&group->others, &one) != 0;
}

/* Who may have lost an item before it ended it may have ended another's claim. That may lose it as
 * well: where there is one such end, all are kept. */
static int lost_owners(struct lb_item_group *group)
{
    if (!each_owners_end(group, was_over))
        return 0;
    if (each_owners_end(group, add_owners_end) || lb_moments_sort(&group->others) != 0)
        return lb_out_of_memory(group->c);
    return 0;
}

int lb_item_others(struct lb_item_group *group)
{
    const struct lb_item_event *claim = NULL; /* the newest of the log */
    group->others.array.n = group->n_strangers = group->n_owners = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (claim != NULL && claim->log != e->log)
            claim = NULL;
        claim = e->op == LB_OP_ITEM ? e : claim;
        bool stranger = lb_item_closes(e->op) && claim == NULL;
        if (lb_item_closes(e->op) && lb_item_certain(e)) /* it has it no more */
            claim = NULL;
        if (!stranger && e->op != LB_OP_CLEAR_ERROR)
            continue;
        group->n_strangers += stranger;
        struct lb_moment one = {.low = e->low,
                                .high = e->high,
                                .event = e,
                                .log = e->log,
                                .position = e->event,
                                .op = e->op,
                                .is_certain = !stranger && e->type == LB_EV_OK};
        if (lb_moments_add(&group->others, &one) != 0)
            return lb_out_of_memory(group->c);
    }
    if (lb_moments_sort(&group->others) != 0)
        return lb_out_of_memory(group->c);
    return lost_owners(group);
}

/* --- the core --- */

/* The earliest time at which an item, closed from low on by op, can be open again. */
uint64_t lb_item_reopened(const struct lb_item_group *group, int op, uint32_t class_no,
                          uint64_t low)
{
    if (op == LB_OP_FREE)
        return low;
    int all = op == LB_OP_ERROR ? LB_OP_CLEAR_ALL : LB_OP_RESET_ALL;
    uint64_t best = lb_moments_earliest(&group->world->openers, all, class_no, low);
    if (op == LB_OP_ERROR)
        best = earlier(best, lb_moments_earliest(&group->others, LB_OP_CLEAR_ERROR, 0, low));
    if (op == LB_OP_COMPLETE && group->c->model->period_ns > 0)
        best = earlier(best, low + group->c->model->period_ns); /* due again by itself */
    return best;
}

/* The earliest end of the lease of the claim at a place, as prolonged before place i. A renewal
 * that says no length leaves it no shorter than it was. */
uint64_t lb_item_lease_until(const struct lb_item_group *group, size_t place, size_t i)
{
    const struct lb_item_event *claim = group->events[place];
    uint64_t low = later(claim->least, lb_lease_low(claim->low, claim->lease_ms));
    for (size_t k = place + 1; k < i && lb_item_own(group, place, k); k++) {
        const struct lb_item_event *e = group->events[k];
        if (e->op != LB_OP_RENEW_ITEM)
            continue;
        if (e->type != LB_EV_OK) /* it may have made it shorter, as far as it says */
            low = earlier(low, e->lease_ms > 0 ? lb_lease_low(e->low, e->lease_ms) : e->low);
        if (e->type != LB_EV_OK || e->lease_ms == 0)
            continue;
        /* Renewed too late, it was claimable in between: lb_item_resume makes a claim of that. It
         * may have been in time all the same, and have made the lease shorter. */
        uint64_t next = lb_lease_low(e->low, e->lease_ms);
        if (e->high < low || next < low)
            low = next;
    }
    return earlier(low, claim->cut);
}

uint64_t lb_item_lease(const struct lb_item_group *group, size_t place)
{
    return lb_item_lease_until(group, place, group->n);
}

/* The latest time by which the claimer certainly finished the item; LB_NEVER. */
static uint64_t finished(const struct lb_item_group *group, size_t place)
{
    for (size_t i = place + 1; lb_item_own(group, place, i); i++)
        if (lb_item_certain(group->events[i]) && lb_item_closes(group->events[i]->op))
            return group->events[i]->op != LB_OP_FREE ? group->events[i]->high : LB_NEVER;
    return LB_NEVER;
}

/* When the claim is old enough for a recovery by age: a renewal keeps it as long as it says, and so
 * does a beat of its process; neither shortens what the other says. */
static uint64_t old_enough(const struct lb_case *c, const struct lb_item_event *claim,
                           uint32_t age_ms)
{
    uint64_t from =
        claim->is_heard ? lb_beats_kept(c, claim, age_ms) : lb_lease_low(claim->since, age_ms);
    from = later(from, lb_kept_off(claim->renewed, claim->safe_ms, age_ms));
    return later(from, claim->low);
}

static uint64_t recovery_from(const struct lb_item_group *group, const struct lb_moment *recovery,
                              const struct lb_item_event *claim, uint64_t revived)
{
    uint64_t from = group->c->logs[claim->log].gone_ns;
    bool is_before = recovery->log == claim->log && recovery->position < claim->event;
    if (is_before && recovery->is_certain) /* its own worker's, and answered: also within a tick */
        return LB_NEVER;
    if (recovery->age_ms > 0)
        from = earlier(from, earlier(old_enough(group->c, claim, recovery->age_ms), revived));
    return recovery->high < from ? LB_NEVER : later(from, recovery->low);
}

uint64_t lb_item_recovery(const struct lb_item_group *group, const struct lb_moment *recovery,
                          const struct lb_item_event *claim)
{
    return recovery_from(group, recovery, claim, claim->revived);
}

uint64_t lb_item_recovery_before(const struct lb_item_group *group,
                                 const struct lb_moment *recovery,
                                 const struct lb_item_event *claim)
{
    uint64_t from = recovery_from(group, recovery, claim, LB_NEVER);
    return from <= claim->exact ? from : LB_NEVER;
}

const struct lb_moment *lb_item_recoveries(const struct lb_item_group *group,
                                           const struct lb_item_event *claim,
                                           const struct lb_moment **ret_end)
{
    uint64_t from = group->c->logs[claim->log].gone_ns;
    if (group->world->old_ms > 0)
        from = earlier(from,
                       earlier(old_enough(group->c, claim, group->world->old_ms), claim->revived));
    *ret_end = NULL;
    return from == LB_NEVER
               ? NULL
               : lb_moments_from(&group->world->openers, LB_OP_RECOVER, 0, from, ret_end);
}

uint64_t lb_item_recovered(const struct lb_item_group *group, const struct lb_item_event *claim)
{
    const struct lb_moment *end, *m = lb_item_recoveries(group, claim, &end);
    uint64_t best = LB_NEVER;
    for (; m != NULL && m < end && m->op == LB_OP_RECOVER && m->least < best; m++)
        best = earlier(best, lb_item_recovery(group, m, claim));
    return best;
}

/* Did an end of the claim by its own worker have the unknown outcome number i? A batch is one. */
static bool is_own_end(const struct lb_item_group *group, size_t place, size_t i)
{
    const struct lb_info *infos = group->c->infos.items;
    bool is_last = i + 1 == group->c->infos.n || infos[i + 1].log != infos[i].log;
    for (size_t k = place + 1; lb_item_own(group, place, k); k++) {
        const struct lb_item_event *e = group->events[k];
        if (lb_item_closes(e->op) && e->type == LB_EV_INFO && e->event >= infos[i].event &&
            (is_last || e->event < infos[i + 1].event))
            return true;
        if (lb_item_closes(e->op) && lb_item_certain(e)) /* what comes after is a stranger's */
            return false;
    }
    return false;
}

/* The place of the first unknown outcome of the log after the claim, or of what follows. */
static size_t first_info(const struct lb_case *c, const struct lb_item_event *claim)
{
    const struct lb_info *infos = c->infos.items;
    size_t low = 0, high = c->infos.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (infos[middle].log < claim->log ||
            (infos[middle].log == claim->log && infos[middle].event < claim->event))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* by_info: when its process had an unknown outcome. */
static uint64_t lost(const struct lb_item_group *group, const struct lb_item_event *claim,
                     uint64_t by_info)
{
    const struct lb_case *c = group->c;
    const struct lb_session_end *ends = group->world->session_ends.items;
    uint64_t best = by_info;
    if ((claim->flags & LB_EVF_FINAL) != 0)
        return LB_NEVER;
    if ((claim->flags & LB_EVF_COMMITTED) != 0)
        return best;
    /* Of a history that was cut, the note that its session had ended may be missing. */
    if (c->known_ns != LB_NEVER)
        best = earlier(best, later(c->logs[claim->log].unnoted, claim->low));
    size_t low = 0, high = group->world->session_ends.n;
    /* The first end of the session since the claim was asked for: its answer may have been on its
     * way when another saw the session end. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ends[middle].log < claim->log ||
            (ends[middle].log == claim->log && ends[middle].high < claim->low))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < group->world->session_ends.n && ends[low].log == claim->log; low++)
        if (ends[low].event > claim->event) /* of its own notes, those that came after */
            best = earlier(best, later(ends[low].low, claim->low));
    return best;
}

uint64_t lb_item_lost(const struct lb_item_group *group, const struct lb_item_event *claim)
{
    const struct lb_info *infos = group->c->infos.items;
    size_t i = first_info(group->c, claim);
    bool found = i < group->c->infos.n && infos[i].log == claim->log;
    return lost(group, claim, found ? later(infos[i].low, claim->low) : LB_NEVER);
}

uint64_t lb_item_lost_before(const struct lb_item_group *group, size_t place)
{
    const struct lb_item_event *claim = group->events[place];
    const struct lb_info *infos = group->c->infos.items;
    size_t i = first_info(group->c, claim);
    while (i < group->c->infos.n && infos[i].log == claim->log && is_own_end(group, place, i))
        i++;
    bool found = i < group->c->infos.n && infos[i].log == claim->log;
    return lost(group, claim, found ? later(infos[i].low, claim->low) : LB_NEVER);
}

/* Can the end be of that claim? What its worker had asked for before, and was answered, came before
 * it, also within a tick. */
static bool may_be_of(const struct lb_moment *end, const struct lb_item_event *claim)
{
    return end->log != claim->log || end->high == LB_NEVER;
}

uint64_t lb_item_ended(const struct lb_item_group *group, const struct lb_item_event *claim, int op)
{
    const struct lb_moment *end, *m;
    uint64_t best = LB_NEVER;
    if (group->n_strangers == 0 && group->n_owners == 0)
        return LB_NEVER;
    m = lb_moments_from(&group->others, op, 0, claim->low, &end);
    for (; m != NULL && m < end && m->op == op && later(m->least, claim->low) < best; m++)
        if (may_be_of(m, claim))
            best = earlier(best, later(m->low, claim->low));
    return best;
}

/* The earliest time at which the item was open again because of such an end; it cannot have been
 * after the claimer finished the item. */
static uint64_t opened_by_others(const struct lb_item_group *group,
                                 const struct lb_item_event *claim, uint64_t done)
{
    uint64_t best = LB_NEVER;
    for (size_t i = 0; i < CLOSING_OPS; i++) {
        uint64_t at = lb_item_ended(group, claim, closing_ops[i]);
        if (at != LB_NEVER && at <= done)
            best = earlier(best, lb_item_reopened(group, closing_ops[i], claim->class_no, at));
    }
    return best;
}

uint64_t lb_item_taken(const struct lb_item_group *group, size_t place, size_t i)
{
    const struct lb_item_event *claim = group->events[place];
    return taken_by(group, place, i, lb_item_lost(group, claim), lb_item_recovered(group, claim));
}

struct lb_item_core lb_item_core_of(const struct lb_item_group *group, size_t place)
{
    const struct lb_item_event *claim = group->events[place];
    struct lb_item_core core = {
        .start = claim->high, .end = LB_NEVER, .alone = LB_NEVER, .place = place, .claim = claim};
    uint64_t taken = LB_NEVER;
    size_t i = place + 1;
    for (; lb_item_own(group, place, i); i++) {
        const struct lb_item_event *e = group->events[i];
        if (!lb_item_closes(e->op))
            continue;
        uint64_t low = later(e->low, claim->low);
        uint64_t reopened = lb_item_reopened(group, e->op, e->class_no, low);
        core.end = earlier(core.end, reopened);
        if (e->op == LB_OP_FREE || !lb_item_certain(e)) /* else it is what finished the item */
            taken = earlier(taken, reopened);
        if (e->op == LB_OP_FREE)
            core.alone = earlier(core.alone, low);
        if (e->op == LB_OP_COMPLETE && group->c->model->period_ns > 0)
            core.alone = earlier(core.alone, low + group->c->model->period_ns);
        if (lb_item_certain(e)) /* its worker has no more to say about it */
            break;
    }
    /* It goes on as another claim from where it was renewed, and had not been given back before. */
    if (i < group->n && group->events[i]->log == claim->log && group->events[i]->is_resumed)
        core.end = earlier(core.end, group->events[i]->high);
    uint64_t done = finished(group, place);
    uint64_t lease = claim->lease_ms > 0 ? lb_item_lease(group, place) : LB_NEVER;
    if (lease <= done) {
        core.alone = earlier(core.alone, lease);
        taken = earlier(taken, lease);
    }
    uint64_t lost = lb_item_lost(group, claim), recovered = lb_item_recovered(group, claim);
    if (lost <= done)
        core.alone = earlier(core.alone, lost);
    core.end = earlier(core.end, core.alone);
    core.done = done;
    taken = earlier(taken, earlier(lost, recovered));
    uint64_t others = opened_by_others(group, claim, done);
    taken = earlier(taken, others);
    if (taken <= done)
        core.end = earlier(core.end, taken);
    core.end = earlier(core.end, others);
    core.is_finished_late = taken <= done && done < group->c->known_ns;
    core.alone = earlier(core.alone, group->c->known_ns); /* what gave it back may be missing */
    core.end = earlier(core.end, group->c->known_ns);
    return core;
}

bool lb_item_was_done(const struct lb_item_group *group, const struct lb_item_core *core)
{
    const struct lb_item_core *last = &group->cores[group->n_cores - 1];
    return core->is_finished_late && core->done <= last->start;
}
