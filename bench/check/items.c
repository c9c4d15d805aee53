/* no-duplicate, and owner-release of queues: what happened to each item.
 *
 * An item that was handed out is taken until it is given back, so its claims are holds of a lock of
 * capacity 1: the core of a claim is the open interval from its ok to the earliest time at which
 * the item can have become claimable again, and two cores that meet are a duplicate in every order
 * of the operations (the proof is that of exclusive.c). The item can be claimable again from
 *   - a free: its invoke,
 *   - an error and a clear: the later of both invokes, for any clear of the item, or of all, that
 *     can have come after the error,
 *   - a complete and a reset: the same,
 *   - its lease: the earliest end, unless the item was certainly finished before,
 *   - its claimer's death: when somebody recovers, or the server ended the session,
 *   - its claimer's unknown outcome: the invoke of that operation, since the connection is gone and
 *     with it what a transaction held.
 * Operations that failed did not happen; those of unknown outcome may have.
 *
 * Only the events of odd ids are here (see ids.c), sorted by id; nearly all ids have one claim and
 * one end, and need no look.
 */
#include "check_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct group {
    struct lb_case *c;
    const struct lb_item_event **events; /* of one id */
    size_t n;
    uint64_t first_duplicate; /* when it was first claimed twice; LB_NEVER */
};

struct core {
    uint64_t start, end;
    const struct lb_item_event *claim;
};

static bool is_closer(int op)
{
    return op == LB_OP_COMPLETE || op == LB_OP_ERROR || op == LB_OP_FREE;
}

/* Did the end certainly take effect? Without the flag, an answer ok may mean that nothing changed.
 */
static bool is_certain(const struct lb_item_event *e)
{
    return e->type == LB_EV_OK && (e->flags & LB_EVF_EFFECTIVE) != 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The earliest time at which an item, closed from low on by a complete or an error, can be open
 * again. */
static uint64_t reopened(const struct group *group, const struct lb_item_event *closer,
                         uint64_t low)
{
    const struct lb_case *c = group->c;
    const struct lb_world_event *world = c->world.items;
    int one = closer->op == LB_OP_ERROR ? LB_OP_CLEAR_ERROR : 0;
    int all = closer->op == LB_OP_ERROR ? LB_OP_CLEAR_ALL : LB_OP_RESET_ALL;
    uint64_t best = LB_NEVER;
    if (closer->op == LB_OP_COMPLETE && c->model->period_ns > 0)
        best = low + c->model->period_ns; /* recurring: due again by itself */
    for (size_t i = 0; i < group->n; i++)
        if (group->events[i]->op == one && group->events[i]->high >= low)
            best = earlier(best, later(low, group->events[i]->low));
    for (size_t i = 0; i < c->world.n; i++)
        if (world[i].op == all && world[i].high >= low && world[i].target == closer->class_no)
            best = earlier(best, later(low, world[i].low));
    return best;
}

/* Is the event at i the end of that claim? Ends belong to the newest claim of their log; one of a
 * log that never claimed the item may end anybody's that it can have come after. */
static bool ends_claim(const struct group *group, size_t i, const struct lb_item_event *claim)
{
    const struct lb_item_event *e = group->events[i];
    if (!is_closer(e->op))
        return false;
    for (size_t k = i; k > 0 && group->events[k - 1]->log == e->log; k--)
        if (group->events[k - 1]->op == LB_OP_ITEM)
            return group->events[k - 1] == claim;
    return e->log != claim->log && e->high >= claim->low;
}

/* The claim's lease, as far as its own log prolonged it: earliest and latest end. */
static void lease_of(const struct group *group, const struct lb_item_event *claim,
                     uint64_t *ret_low, uint64_t *ret_high)
{
    *ret_low = lb_lease_low(claim->low, claim->lease_ms);
    *ret_high = lb_lease_high(claim->high, claim->lease_ms);
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (e->op == LB_OP_ITEM && e->log == claim->log && e->event > claim->event)
            break; /* the next claim of the same worker */
        if (e->op != LB_OP_RENEW_ITEM || e->log != claim->log || e->event < claim->event)
            continue;
        if (e->type != LB_EV_OK) {
            *ret_high = LB_NEVER;
            continue;
        }
        *ret_high = later(*ret_high, lb_lease_high(e->high, e->lease_ms));
        /* Renewed too late, it was claimable in between: the first gap ends the core. */
        if (e->high < *ret_low)
            *ret_low = lb_lease_low(e->low, e->lease_ms);
    }
}

/* Was the item certainly finished by its claimer before low? */
static bool finished_before(const struct group *group, const struct lb_item_event *claim,
                            uint64_t low)
{
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (e->log == claim->log && e->event > claim->event && is_certain(e) &&
            (e->op == LB_OP_COMPLETE || e->op == LB_OP_ERROR) && e->high < low)
            return true;
    }
    return false;
}

/* The earliest time at which the claimer was gone with what it held; LB_NEVER. */
static uint64_t gone(const struct group *group, const struct lb_item_event *claim)
{
    const struct lb_case *c = group->c;
    const struct lb_world_event *world = c->world.items;
    const struct lb_info *infos = c->infos.items;
    uint64_t best = LB_NEVER, death = c->logs[claim->log].gone_ns;
    size_t low = 0, high = c->infos.n;
    while (low < high) { /* the first unknown outcome of the log after the claim */
        size_t middle = low + (high - low) / 2;
        if (infos[middle].log < claim->log ||
            (infos[middle].log == claim->log && infos[middle].event < claim->event))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < c->infos.n && infos[low].log == claim->log)
        best = infos[low].low;
    if (death != LB_NEVER)
        best = earlier(best, lb_world_recovered(c, death));
    for (size_t i = 0; i < c->world.n; i++)
        if (world[i].op == LB_OP_SESSION_END && world[i].target == claim->log &&
            world[i].high >= claim->high)
            best = earlier(best, lb_world_session_end(c, &world[i]));
    return best;
}

static struct core core_of(const struct group *group, const struct lb_item_event *claim)
{
    struct core core = {.start = claim->high, .end = LB_NEVER, .claim = claim};
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (!ends_claim(group, i, claim))
            continue;
        uint64_t low = later(e->low, claim->low);
        core.end = earlier(core.end, e->op == LB_OP_FREE ? low : reopened(group, e, low));
        /* Once it was ended for certain, its worker has no more to say about it. */
        while (is_certain(e) && e->log == claim->log && i + 1 < group->n &&
               group->events[i + 1]->log == claim->log)
            i++;
    }
    if (claim->lease_ms > 0) {
        uint64_t lease_low, lease_high;
        lease_of(group, claim, &lease_low, &lease_high);
        if (!finished_before(group, claim, lease_low))
            core.end = earlier(core.end, lease_low);
    }
    uint64_t lost = gone(group, claim);
    if (!finished_before(group, claim, lost))
        core.end = earlier(core.end, lost);
    return core;
}

/* --- duplicates --- */

static void report_duplicate(const struct group *group, const struct core *first,
                             const struct core *second)
{
    struct lb_case *c = group->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_NO_DUPLICATE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT];
    lb_witness_add(c, witness, first->claim->log, first->claim->event);
    lb_witness_add(c, witness, second->claim->log, second->claim->event);
    witness->at_ns = second->start;
    if (first->end != LB_NEVER)
        witness->overlap_ns = earlier(first->end, second->end) > second->start
                                  ? earlier(first->end, second->end) - second->start
                                  : 0;
    lb_witness_text(
        witness,
        "item %lld was claimed by worker %u, answered at %s, and again by worker %u, "
        "answered at %s, %s",
        (long long)first->claim->id, c->history->logs[first->claim->log].number,
        lb_at(c, first->start, before, sizeof before), c->history->logs[second->claim->log].number,
        lb_at(c, second->start, at, sizeof at),
        c->model->period_ns > 0 ? "before it was due again" : "without having been given back");
}

static int by_start(const void *a, const void *b)
{
    const struct core *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* What one worker did first came first, even within a tick. */
static bool is_before(const struct lb_item_event *a, const struct lb_item_event *b)
{
    return a->log == b->log && a->event < b->event;
}

/* Cores by start. Those that are not empty are swept; an empty one meets what covers it: see
 * exclusive.c. */
static void judge_cores(struct group *group, const struct core *cores, size_t n)
{
    const struct core *latest = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct core *other = NULL;
        bool is_empty = cores[i].end <= cores[i].start;
        if (!is_empty && latest != NULL && latest->end > cores[i].start)
            other = latest;
        for (size_t k = 0; k < n && is_empty; k++)
            if (cores[k].end > cores[i].start &&
                (cores[k].start < cores[i].end || is_before(cores[k].claim, cores[i].claim)))
                other = &cores[k];
        if (other != NULL) {
            report_duplicate(group, other, &cores[i]);
            if (group->first_duplicate == LB_NEVER)
                group->first_duplicate = cores[i].start;
        }
        if (!is_empty && (latest == NULL || cores[i].end > latest->end))
            latest = &cores[i];
    }
}

/* The one complete or error that ended a claim, for certain and by its own worker; NULL if anything
 * else may have ended it. */
static const struct lb_item_event *plain_end(const struct group *group,
                                             const struct lb_item_event *claim)
{
    const struct lb_item_event *found = NULL;
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (!ends_claim(group, i, claim))
            continue;
        if (found != NULL || !is_certain(e) || e->op == LB_OP_FREE || e->log != claim->log)
            return NULL;
        found = e;
    }
    return claim->lease_ms == 0 && gone(group, claim) == LB_NEVER ? found : NULL;
}

/* Something that can open an item again, once. */
struct opener {
    uint64_t low, high;
    int opens; /* the operation that it undoes */
    bool is_used;
};

static int collect_openers(const struct group *group, struct lb_array *openers)
{
    const struct lb_world_event *world = group->c->world.items;
    for (size_t i = 0; i < group->c->world.n + group->n; i++) {
        struct opener one = {0};
        if (i < group->c->world.n) {
            if ((world[i].op != LB_OP_RESET_ALL && world[i].op != LB_OP_CLEAR_ALL) ||
                world[i].target != group->events[0]->class_no)
                continue;
            one = (struct opener){world[i].low, world[i].high,
                                  world[i].op == LB_OP_RESET_ALL ? LB_OP_COMPLETE : LB_OP_ERROR, 0};
        } else {
            const struct lb_item_event *e = group->events[i - group->c->world.n];
            if (e->op != LB_OP_CLEAR_ERROR)
                continue;
            one = (struct opener){e->low, e->high, LB_OP_ERROR, 0};
        }
        struct opener *slot = lb_array_push(openers, sizeof *slot);
        if (slot == NULL)
            return lb_out_of_memory(group->c);
        *slot = one;
    }
    return 0;
}

/* Of the openers that can open an item, finished by kind, between low and high, the one that can be
 * used later the least; NULL: there is none. */
static struct opener *choose_opener(const struct lb_array *openers, int kind, uint64_t low,
                                    uint64_t high)
{
    struct opener *best = NULL;
    for (size_t i = 0; i < openers->n; i++) {
        struct opener *o = (struct opener *)openers->items + i;
        if (!o->is_used && o->opens == kind && o->high >= low && o->low <= high &&
            (best == NULL || o->high < best->high))
            best = o;
    }
    return best;
}

/* The cores leave out that one reset opens an item only once. Cores that are not empty and do not
 * meet have one possible order, and the gap between two of them lies between the invoke of the
 * first claim's end and the ok of the second claim. Giving each gap, in order, the opener that fits
 * and ends first succeeds if anything does. A claim that something else may have ended needs no
 * opener: that may let a violation pass, but invents none. */
static int judge_openers(const struct group *group, const struct core *cores, size_t n)
{
    struct lb_array openers = {0};
    int rc = collect_openers(group, &openers);
    for (size_t i = 0; i + 1 < n && rc == 0; i++) {
        if (cores[i].end <= cores[i].start || cores[i + 1].end <= cores[i + 1].start) {
            if (openers.n > 0)
                group->c->doubt[LB_G_NO_DUPLICATE] =
                    "an item was claimed, finished and reset several times within one tick of the "
                    "clock: whether one reset served two claims is not judged";
            break;
        }
        const struct lb_item_event *end = plain_end(group, cores[i].claim);
        if (end == NULL || (end->op == LB_OP_COMPLETE && group->c->model->period_ns > 0))
            continue; /* a period opens it as often as it is complete */
        struct opener *opener = choose_opener(&openers, end->op, end->low, cores[i + 1].start);
        if (opener == NULL) {
            report_duplicate(group, &cores[i], &cores[i + 1]);
            break;
        }
        opener->is_used = true;
    }
    free(openers.items);
    return rc;
}

static int judge_claims(struct group *group, size_t n_claims)
{
    struct core *cores = malloc(n_claims * sizeof *cores);
    if (cores == NULL)
        return lb_out_of_memory(group->c);
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++)
        if (group->events[i]->op == LB_OP_ITEM)
            cores[n++] = core_of(group, group->events[i]);
    qsort(cores, n, sizeof *cores, by_start);
    int rc = 0;
    judge_cores(group, cores, n);
    if (group->first_duplicate == LB_NEVER && n > 2)
        rc = judge_openers(group, cores, n);
    free(cores);
    return rc;
}

/* --- owners --- */

static void report_owner(const struct group *group, const struct lb_item_event *op,
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

/* A claim of another log that certainly owned the item while op took effect: see owner.c. */
static const struct lb_item_event *other_owner(const struct group *group,
                                               const struct lb_item_event *op)
{
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *claim = group->events[i];
        if (claim->op != LB_OP_ITEM || claim->log == op->log || claim->high >= op->low)
            continue;
        /* Only its own ends count here: op itself must not end the core that it is held against. */
        uint64_t low, high;
        lease_of(group, claim, &low, &high);
        bool kept = low > op->high && gone(group, claim) > op->high;
        for (size_t k = 0; k < group->n && kept; k++) {
            const struct lb_item_event *e = group->events[k];
            if (e != op && ends_claim(group, k, claim) && e->low <= op->high)
                kept = false;
        }
        if (kept)
            return claim;
    }
    return NULL;
}

/* The events of one log on this item, in order: claim, one effective end, claim, ... */
static void judge_owner(const struct group *group)
{
    const struct lb_item_event *mine = NULL; /* the claim that is out */
    bool unclear = false;
    for (size_t i = 0; i < group->n; i++) {
        const struct lb_item_event *e = group->events[i];
        if (i > 0 && group->events[i - 1]->log != e->log) {
            mine = NULL;
            unclear = false;
        }
        if (e->op == LB_OP_ITEM) {
            mine = e;
            unclear = false;
        } else if (is_closer(e->op) && e->type != LB_EV_OK) {
            unclear = true; /* it may be asked again after an unknown outcome */
        } else if (is_closer(e->op) && (e->flags & LB_EVF_EFFECTIVE) != 0) {
            uint64_t low, high = 0;
            const struct lb_item_event *owner = NULL;
            group->c->n_releases++;
            if (mine == NULL && !unclear && !e->is_unclear)
                report_owner(group, e, NULL, "the worker did not have it");
            if (mine != NULL && mine->lease_ms > 0 && group->first_duplicate >= e->high) {
                lease_of(group, mine, &low, &high);
                if (high < e->low)
                    owner = other_owner(group, e);
            }
            if (owner != NULL)
                report_owner(group, e, owner, "its lease was over");
            mine = NULL;
        }
    }
}

static int judge_group(struct group *group)
{
    size_t n_claims = 0;
    for (size_t i = 0; i < group->n; i++)
        n_claims += group->events[i]->op == LB_OP_ITEM;
    /* The ordinary case, in short: claimed, and ended once by the same worker. */
    if (n_claims == 1 && group->n == 2 && group->events[0]->op == LB_OP_ITEM &&
        group->events[1]->log == group->events[0]->log) {
        group->c->n_releases +=
            is_closer(group->events[1]->op) && (group->events[1]->flags & LB_EVF_EFFECTIVE) != 0;
        return 0;
    }
    int rc = n_claims > 1 ? judge_claims(group, n_claims) : 0;
    if (rc == 0)
        judge_owner(group);
    return rc;
}

/* c->items are in order of log and event; sorted by id, they still are within one id. */
int lb_judge_items(struct lb_case *c)
{
    size_t n = c->items.n;
    const struct lb_item_event *items = c->items.items;
    struct lb_array events = {0};
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0;) {
        events.n = 0;
        for (uint64_t id = c->by_id[i].key; i < n && c->by_id[i].key == id && rc == 0; i++) {
            const struct lb_item_event **slot = lb_array_push(&events, sizeof *slot);
            if (slot == NULL)
                rc = lb_out_of_memory(c);
            else
                *slot = &items[c->by_id[i].index];
        }
        if (rc == 0)
            rc = judge_group(&(struct group){
                .c = c, .events = events.items, .n = events.n, .first_duplicate = LB_NEVER});
    }
    lb_finding_of(c, LB_G_NO_DUPLICATE)->n_tested = c->out->measures.n_claims;
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested = c->n_releases;
    free(events.items);
    return rc;
}
