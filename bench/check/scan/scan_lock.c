/* Takes the holds, tickets and guarded writes of a lock out of one log.
 *
 * The core of a hold is the open interval (acquire's ok, release's invoke): the time in which the
 * lock was certainly held, wherever within their operations the grant and the release took effect.
 * An acquire of unknown outcome never forces a hold. Ends of a core:
 *
 *   release ok, info, unanswered   the release's invoke: it may have taken effect at once
 *   release refused (not ours)     the same: until then the holder believed in it. The grant is
 *                                  gone: a later release is not of this one
 *   release failed                 belief: the same, but it may be tried again; state: nothing, the
 *                                  lock is still held
 *   renew refused                  the renew's invoke: the holder learned it
 *   info of any other operation    that operation's invoke: the connection is gone, and the worker
 *                                  lets go; unless a later release of this hold by the same log had
 *                                  an effect, which shows that it went on (of this hold: it names
 *                                  its token, or the log cannot have been granted anything else)
 *   nothing                        the end of the run; for the dead see world.c
 *
 * The cut of a hold is the earliest time at which the database may have ended it by itself: the
 * lease was granted no earlier than the acquire's request, or the last time at which the engine
 * reported that it waited. A lease that was renewed when it may have been over leaves a gap, after
 * which the hold goes on as a piece.
 *
 * A release is matched with the grant of its token, or of its permits and mode, or with the newest
 * of its log that is believed in. A release that says neither token nor permits may be of any: the
 * cores of all end with it if they differ, and without a violation nothing was tested.
 */
#include "judges.h"
#include "scan_logs.h"

#include <stdlib.h>

/* --- grants --- */

/* Holds before the first token have none. */
static void pad_tokens(struct lb_case *c)
{
    while (c->tokens.n < c->holds.n) {
        uint64_t *token = lb_array_push(&c->tokens, sizeof *token);
        *token = 0;
    }
}

static void push_token(struct lb_case *c, const struct lb_event *ok)
{
    bool has_token = (ok->flags & LB_EVF_TOKEN) != 0;
    lb_holds(c)[c->holds.n - 1].has_token = has_token;
    if (!has_token && !c->has_tokens)
        return;
    c->has_tokens = true;
    pad_tokens(c);
    ((uint64_t *)c->tokens.items)[c->holds.n - 1] = has_token ? ok->value : 0;
}

static int push_hold(struct lb_scan *scan, const struct lb_event *ok, struct lb_open *grant)
{
    struct lb_case *c = scan->c;
    const struct lb_event *invoke = scan->invoke;
    if (c->holds.n >= LB_NONE)
        return lb_fail(c->err, LB_E_FILE, "more than %u holds", LB_NONE - 1);
    struct lb_hold *hold = lb_array_push(&c->holds, sizeof *hold);
    uint32_t permits = invoke->arg == 0 ? 1 : invoke->arg;
    *hold = (struct lb_hold){.start = lb_high(ok->time_ns, scan->slack),
                             .end = LB_NEVER,
                             .cut = grant->expiry_low,
                             .resource = ok->object,
                             .log = scan->log,
                             .event = scan->index,
                             .permits = (permits < LB_PERMITS_MAX ? permits : LB_PERMITS_MAX) &
                                        LB_PERMITS_MAX,
                             .is_shared = ((ok->flags | invoke->flags) & LB_EVF_SHARED) != 0,
                             .is_committed = (ok->flags & LB_EVF_COMMITTED) != 0};
    c->has_shared = c->has_shared || hold->is_shared;
    c->has_weights = c->has_weights || hold->permits > 1;
    c->logs[scan->log].keeps = c->logs[scan->log].keeps || hold->is_committed;
    grant->hold = grant->piece = (uint32_t)c->holds.n - 1;
    push_token(c, ok);
    return 0;
}

/* Grants that were given up without a release that took effect could pile up: of many, none is
 * expected to be released any more. */
static void drop_fixed(struct lb_scan *scan, uint32_t resource)
{
    enum { MANY = 8 };
    unsigned n = 0;
    for (uint32_t i = scan->newest[resource]; scan->n_fixed > 0 && i != LB_NONE && n < MANY; n++)
        i = lb_grant_at(scan, i)->older;
    uint32_t i = n < MANY ? LB_NONE : scan->newest[resource];
    scan->has_dropped = scan->has_dropped || i != LB_NONE;
    while (i != LB_NONE) {
        uint32_t older = lb_grant_at(scan, i)->older;
        if (lb_grant_at(scan, i)->is_fixed)
            lb_grant_close(scan, i);
        i = older;
    }
}

static void set_lease(struct lb_scan *scan, struct lb_open *grant, const struct lb_event *ok,
                      uint32_t lease_ms)
{
    grant->expiry_low = grant->expiry_high = LB_NEVER;
    if (!scan->c->model->lease || lease_ms == 0)
        return;
    scan->lease_ms = lease_ms;
    /* Granted no earlier than its request, nor while it was waiting for another session. */
    uint64_t from_ns =
        scan->waited_ns > scan->invoke->time_ns ? scan->waited_ns : scan->invoke->time_ns;
    grant->expiry_low = lb_lease_low(scan->c, lb_low(from_ns, scan->slack), lease_ms);
    grant->expiry_high = lb_lease_high(scan->c, lb_high(ok->time_ns, scan->slack), lease_ms);
    scan->c->has_cuts = true;
}

/* A renewal that says no length: the lease is no shorter than it was, nor over before that. */
static void keep_lease(struct lb_scan *scan, struct lb_open *grant)
{
    uint64_t low = lb_low(scan->invoke->time_ns, scan->slack);
    grant->expiry_low = low > grant->expiry_low ? low : grant->expiry_low;
    grant->expiry_high = LB_NEVER;
}

/* lease_ms: told, or asked for; 0: unknown. */
static void renewed(struct lb_scan *scan, const struct lb_event *ok, uint32_t lease_ms,
                    struct lb_open *grant)
{
    struct lb_case *c = scan->c;
    if (!c->model->lease || grant->is_fixed || (grant->expiry_low == LB_NEVER && lease_ms == 0))
        return;
    uint64_t old_low = grant->expiry_low;
    uint64_t high = lb_high(ok->time_ns, scan->slack);
    if (lease_ms > 0)
        set_lease(scan, grant, ok, lease_ms);
    else
        keep_lease(scan, grant);
    struct lb_hold *piece = &lb_holds(c)[grant->piece];
    if (high < old_low || grant->expiry_low < old_low) { /* no gap */
        piece->cut = grant->expiry_low;
        if (piece->is_piece)
            piece->end = piece->cut;
        return;
    }
    struct lb_hold copy = lb_holds(c)[grant->hold];
    copy.start = high;
    copy.end = copy.cut = grant->expiry_low;
    copy.is_piece = 1;
    struct lb_hold *next = lb_array_push(&c->holds, sizeof *next);
    *next = copy;
    c->logs[scan->log].n_pieces++;
    grant->piece = (uint32_t)c->holds.n - 1;
    push_token(c, lb_case_event(c, copy.log, copy.event));
}

/* A grant of a re-entrant lock to the worker that has it: it ends with the outermost one, and its
 * lease counts from now on. */
static void acquired_again(struct lb_scan *scan, const struct lb_event *ok, struct lb_open *outer)
{
    struct lb_case *c = scan->c;
    const struct lb_hold *hold = &lb_holds(c)[outer->hold];
    bool is_shared = ((ok->flags | scan->invoke->flags) & LB_EVF_SHARED) != 0;
    outer->depth++;
    if (is_shared != hold->is_shared)
        c->doubt[LB_G_EXCLUSIVE] = "a worker was granted what it had in another mode";
    if ((ok->flags & LB_EVF_TOKEN) != 0 &&
        (!hold->has_token || ok->value != lb_token_of(c, outer->hold)))
        c->doubt[LB_G_FENCED] = "a worker was granted what it had with another token";
    struct lb_inner *inner = lb_array_push(&c->inner, sizeof *inner);
    *inner = (struct lb_inner){.start = lb_high(ok->time_ns, scan->slack), .hold = outer->hold};
    renewed(scan, ok, ok->arg, outer);
}

static int acquired(struct lb_scan *scan, const struct lb_event *ok)
{
    struct lb_case *c = scan->c;
    lb_scan_wait_end(scan, ok->time_ns, true);
    if (scan->has_ticket && scan->ticket.resource == ok->object) {
        /* It is in line for certain until it is silent; its grant may overtake others all the same.
         */
        bool is_silent = lb_scan_was_silent(scan, ok->time_ns);
        uint64_t until_ns = is_silent ? scan->alive_ns : scan->invoke->time_ns;
        lb_scan_leave_line(scan, lb_low(until_ns, scan->slack), lb_high(ok->time_ns, scan->slack),
                           scan->index);
    }
    uint32_t older = scan->newest[ok->object];
    if (older != LB_NONE) {
        struct lb_open *outer = lb_grant_at(scan, older);
        if (c->model->reentrant && !outer->is_fixed) {
            acquired_again(scan, ok, outer);
            return 0;
        }
        drop_fixed(scan, ok->object);
        older = scan->newest[ok->object];
    }
    struct lb_open grant = {.newer = LB_NONE, .older = older};
    set_lease(scan, &grant, ok, ok->arg);
    int rc = push_hold(scan, ok, &grant);
    if (rc != 0)
        return rc;
    if ((ok->flags & LB_EVF_OVER) != 0 && c->model->lease) {
        uint32_t *over = lb_array_push(&c->over, sizeof *over);
        *over = grant.hold;
    }
    struct lb_open *slot = lb_array_push(&scan->grants, sizeof *slot);
    *slot = grant;
    uint32_t number = (uint32_t)scan->grants.n - 1;
    if (older != LB_NONE) {
        scan->is_mixed =
            scan->is_mixed || !lb_holds_alike(c, grant.hold, lb_grant_at(scan, older)->hold);
        lb_grant_at(scan, older)->newer = number;
        lb_grant_at(scan, older)->is_crowded = slot->is_crowded = true;
    }
    scan->newest[ok->object] = number;
    scan->last_hold[ok->object] = grant.hold;
    return 0;
}

static int end_acquire(struct lb_scan *scan, const struct lb_event *end, int type)
{
    struct lb_case *c = scan->c;
    c->logs[scan->log].n_attempts++;
    lb_scan_others_lease(scan);
    if (scan->has_ticket && scan->ticket.resource == scan->invoke->object && type != LB_EV_OK)
        lb_scan_miss_try(scan, scan->invoke->time_ns, end != NULL ? end->time_ns : c->end_ns);
    if (type == LB_EV_OK)
        return acquired(scan, end);
    if (type == LB_EV_INFO || type == LB_EV_NONE) {
        struct lb_unknown_grant *unknown = lb_array_push(&c->unknown_grants, sizeof *unknown);
        c->logs[scan->log].keeps = true;
        *unknown = (struct lb_unknown_grant){
            .low = lb_low(scan->invoke->time_ns, scan->slack),
            .high = end != NULL ? lb_high(end->time_ns, scan->slack) : LB_NEVER,
            .resource = scan->invoke->object,
            .log = scan->log,
            .permits = scan->invoke->arg > 0 ? scan->invoke->arg : 1};
        if (type == LB_EV_NONE)
            lb_scan_leave_line(scan, lb_low(scan->invoke->time_ns, scan->slack), LB_NEVER, LB_NONE);
        return 0;
    }
    if (end->answer == LB_BUSY || end->answer == LB_TIMEOUT)
        c->out->measures.n_refusals++;
    if (end->answer != LB_BUSY)
        return 0;
    struct lb_refusal *refusal = lb_array_push(&c->refusals, sizeof *refusal);
    *refusal = (struct lb_refusal){.low = lb_low(scan->invoke->time_ns, scan->slack),
                                   .high = lb_high(end->time_ns, scan->slack),
                                   .object = end->object,
                                   .log = scan->log};
    return 0;
}

static void end_enqueue(struct lb_scan *scan, const struct lb_event *end, int type)
{
    if (type != LB_EV_OK || (end->flags & LB_EVF_TOKEN) == 0)
        return;
    if (scan->has_ticket && scan->ticket.resource != end->object)
        scan->c->doubt[LB_G_FIFO] = "a worker had places in the lines of two resources at once";
    /* A second ticket before a grant: the first one's place was left. */
    lb_scan_leave_line(scan, lb_low(scan->invoke->time_ns, scan->slack), LB_NEVER, LB_NONE);
    scan->has_ticket = true;
    scan->alive_ns = scan->invoke->time_ns;
    scan->ticket =
        (struct lb_waiter){.ticket = end->value,
                           .drawn = lb_low(scan->invoke->time_ns, scan->slack),
                           .resource = end->object,
                           .log = scan->log,
                           .event = scan->index,
                           .is_shared = ((end->flags | scan->invoke->flags) & LB_EVF_SHARED) != 0};
}

/* --- releases --- */

/* A grant of unknown outcome of the resource that its worker has not given back; NULL: none. */
static struct lb_unknown_grant *unknown_grant(const struct lb_scan *scan, uint32_t resource)
{
    struct lb_unknown_grant *unknown = scan->c->unknown_grants.items;
    for (size_t i = scan->first_unknown; i < scan->c->unknown_grants.n; i++)
        if (unknown[i].resource == resource && !unknown[i].is_given_back)
            return &unknown[i];
    return NULL;
}

/* Other permits are given back than were granted at once: it is unknown what the worker still has:
 * maybe nothing, maybe the hold that it releases next. */
static void end_unknown(struct lb_scan *scan)
{
    uint64_t low = lb_low(scan->invoke->time_ns, scan->slack);
    for (uint32_t i = scan->newest[scan->invoke->object]; i != LB_NONE;
         i = lb_grant_at(scan, i)->older)
        if (!lb_grant_at(scan, i)->is_fixed)
            lb_grant_end(scan, lb_grant_at(scan, i), low);
    scan->is_unclear = true;
    scan->c->doubt[LB_G_EXCLUSIVE] = scan->c->doubt[LB_G_OWNER_RELEASE] =
        "a release gave back more or fewer permits than its worker had got at once";
}

static void released_nothing(struct lb_scan *scan, const struct lb_event *end)
{
    struct lb_case *c = scan->c;
    struct lb_unknown_grant *unknown = unknown_grant(scan, end->object);
    if ((end->flags & LB_EVF_EFFECTIVE) == 0 || scan->is_unclear)
        return;
    if (unknown != NULL && scan->invoke->arg > 0 && scan->invoke->arg != unknown->permits) {
        end_unknown(scan);
        return;
    }
    if (unknown != NULL) { /* it gives back a grant that it was not told of, once */
        unknown->is_given_back = true;
        const struct lb_unknown_grant *all = c->unknown_grants.items;
        while (scan->first_unknown < c->unknown_grants.n && all[scan->first_unknown].is_given_back)
            scan->first_unknown++;
        return;
    }
    c->n_releases++;
    struct lb_witness *witness = lb_violation(c, LB_G_OWNER_RELEASE);
    if (witness == NULL)
        return;
    char at[LB_AT];
    lb_witness_add(c, witness, scan->log, scan->index);
    witness->at_ns = end->time_ns;
    lb_witness_text(
        witness, "%s released resource %u at %s with effect, though it %s",
        lb_who(c, scan->log, LB_WHOM), end->object, lb_at(c, end->time_ns, at, sizeof at),
        scan->newest[end->object] == LB_NONE ? "held nothing there" : "no longer had that grant");
}

static void push_late(struct lb_scan *scan, const struct lb_open *grant, const struct lb_event *end)
{
    const struct lb_hold *hold = &lb_holds(scan->c)[grant->hold];
    struct lb_late_release *late = lb_array_push(&scan->c->late, sizeof *late);
    *late = (struct lb_late_release){.low = lb_low(scan->invoke->time_ns, scan->slack),
                                     .high = lb_high(end->time_ns, scan->slack),
                                     .id = hold->resource,
                                     .log = scan->log,
                                     .event = scan->index,
                                     .grant = hold->event,
                                     .by_lease = grant->expiry_high < hold->end};
}

static bool names_token(const struct lb_scan *scan, const struct lb_open *grant)
{
    return (scan->invoke->flags & LB_EVF_TOKEN) != 0 && lb_holds(scan->c)[grant->hold].has_token;
}

/* Is the release certainly of this grant, which had lapsed? It names it, or it can be of no other:
 * all that its worker may have are of one kind, and lapsed together. */
static bool speaks_of(const struct lb_scan *scan, const struct lb_open *grant)
{
    const struct lb_event *invoke = scan->invoke;
    const struct lb_hold *hold = &lb_holds(scan->c)[grant->hold];
    if (names_token(scan, grant))
        return lb_token_of(scan->c, grant->hold) == invoke->value;
    if (scan->is_unclear || unknown_grant(scan, hold->resource) != NULL ||
        (invoke->arg > 0 && !lb_fits_words(hold, invoke)))
        return false;
    for (uint32_t i = scan->newest[hold->resource]; i != LB_NONE; i = lb_grant_at(scan, i)->older) {
        const struct lb_open *other = lb_grant_at(scan, i);
        if (!other->is_lapsed || !lb_holds_alike(scan->c, other->hold, grant->hold))
            return false;
    }
    return true;
}

static void released(struct lb_scan *scan, const struct lb_event *end, uint32_t number)
{
    struct lb_open *grant = lb_grant_at(scan, number);
    bool effective = (end->flags & LB_EVF_EFFECTIVE) != 0;
    uint64_t low = lb_low(scan->invoke->time_ns, scan->slack);
    if (grant->depth > 0) {
        grant->depth--;
        if (grant->depth < grant->n_failed && !grant->is_fixed) /* by belief */
            lb_grant_end(scan, grant, low);
        return;
    }
    bool went_on = grant->is_lapsed && effective && speaks_of(scan, grant);
    bool was_over = grant->is_fixed && !went_on;
    if (went_on) {
        struct lb_hold *piece = &lb_holds(scan->c)[grant->piece];
        piece->cut = grant->lapsed_cut;
        if (piece->is_piece)
            piece->end = piece->cut;
    }
    if (!grant->is_fixed || went_on)
        lb_grant_end(scan, grant, low);
    if (effective) {
        scan->c->n_releases++;
        if (was_over || grant->expiry_high < low)
            push_late(scan, grant, end);
    }
    lb_grant_close(scan, number);
}

/* Which of the releases ended this hold is plain where the next one did. */
static void push_crowded_end(struct lb_scan *scan, uint32_t hold, const struct lb_event *end,
                             int type)
{
    if (lb_holds(scan->c)[hold].end != lb_low(scan->invoke->time_ns, scan->slack))
        return;
    struct lb_crowded_end *crowded = lb_array_push(&scan->c->crowded_ends, sizeof *crowded);
    *crowded = (struct lb_crowded_end){
        .hold = hold, .answered = type == LB_EV_OK ? lb_high(end->time_ns, scan->slack) : LB_NEVER};
}

/* Permits that were granted at once are given back in parts, or the other way round. */
static bool fits_none(const struct lb_scan *scan)
{
    const struct lb_event *invoke = scan->invoke;
    bool fits = invoke->arg == 0;
    for (uint32_t i = scan->newest[invoke->object]; !fits && i != LB_NONE;
         i = lb_grant_at(scan, i)->older)
        fits = lb_holds(scan->c)[lb_grant_at(scan, i)->hold].permits == invoke->arg;
    return !fits;
}

static void end_release_of(struct lb_scan *scan, const struct lb_event *end, int type,
                           uint32_t number)
{
    struct lb_open *grant = lb_grant_at(scan, number);
    if (type == LB_EV_OK) {
        released(scan, end, number);
        return;
    }
    bool unknown = type != LB_EV_FAIL;
    bool ends =
        unknown || end->answer == LB_REFUSED || scan->c->model->release == LB_RELEASE_BELIEF;
    bool is_inner = grant->depth > 0 && (unknown || end->answer != LB_REFUSED);
    if (is_inner && unknown)
        grant->depth--;
    else if (is_inner) /* re-entrant: it may be tried again */
        grant->n_failed += ends;
    else if (ends && !is_inner && !grant->is_fixed)
        lb_grant_end(scan, grant, lb_low(scan->invoke->time_ns, scan->slack));
    if (!unknown && end->answer == LB_REFUSED)
        lb_grant_close(scan, number); /* the answer was that it has nothing */
}

static void end_release(struct lb_scan *scan, const struct lb_event *end, int type)
{
    uint32_t number = lb_grant_find(scan, scan->invoke);
    if (number == LB_NONE) {
        if (type == LB_EV_OK)
            released_nothing(scan, end);
        return;
    }
    if (type != LB_EV_FAIL && fits_none(scan)) {
        end_unknown(scan);
        return;
    }
    uint32_t hold = lb_grant_at(scan, number)->hold;
    bool was_open = !lb_grant_at(scan, number)->is_fixed,
         crowded = lb_grant_at(scan, number)->is_crowded;
    if (type != LB_EV_FAIL || end->answer == LB_REFUSED ||
        scan->c->model->release == LB_RELEASE_BELIEF)
        lb_grant_end_any(scan, number);
    end_release_of(scan, end, type, number);
    if (was_open && crowded)
        push_crowded_end(scan, hold, end, type);
}

/* --- leases --- */

/* A renewal of unknown outcome may have made the lease longer, or as short as it asked for. */
static void may_be_renewed(struct lb_scan *scan, struct lb_open *grant)
{
    struct lb_hold *piece = &lb_holds(scan->c)[grant->piece];
    uint64_t low = lb_low(scan->invoke->time_ns, scan->slack);
    low = scan->invoke->arg > 0 ? lb_lease_low(scan->c, low, scan->invoke->arg) : low;
    grant->expiry_high = LB_NEVER;
    if (!scan->c->model->lease || grant->is_fixed || grant->expiry_low < low)
        return;
    scan->c->has_cuts = true;
    grant->expiry_low = piece->cut = low;
    if (piece->is_piece)
        piece->end = low;
}

static void end_renew(struct lb_scan *scan, const struct lb_event *end, int type)
{
    uint32_t number = lb_grant_find(scan, scan->invoke);
    if (number == LB_NONE)
        return;
    struct lb_open *grant = lb_grant_at(scan, number);
    bool is_refused = type == LB_EV_FAIL && end->answer == LB_REFUSED;
    if ((type == LB_EV_OK || is_refused) && lb_grant_renews_any(scan, number, is_refused))
        return;
    if (type == LB_EV_OK) {
        renewed(scan, end, end->arg > 0 ? end->arg : scan->invoke->arg, grant);
        return;
    }
    if (type != LB_EV_FAIL)
        may_be_renewed(scan, grant);
    else if (is_refused && !grant->is_fixed)
        lb_grant_end(scan, grant, lb_low(scan->invoke->time_ns, scan->slack));
}

void lb_scan_write(struct lb_scan *scan, const struct lb_event *end, int type)
{
    struct lb_case *c = scan->c;
    if (type != LB_EV_OK || end->answer != LB_OK) {
        if (end != NULL && end->answer == LB_REFUSED)
            c->out->measures.n_stale_writes_refused++;
        return;
    }
    if (((end->flags | scan->invoke->flags) & LB_EVF_TOKEN) == 0)
        return;
    struct lb_write *write = lb_array_push(&c->writes, sizeof *write);
    *write = (struct lb_write){.token = (end->flags & LB_EVF_TOKEN) != 0 ? end->value
                                                                         : scan->invoke->value,
                               .low = lb_low(scan->invoke->time_ns, scan->slack),
                               .high = lb_high(end->time_ns, scan->slack),
                               .resource = end->object,
                               .log = scan->log,
                               .event = scan->index};
}

/* --- the log --- */

int lb_scan_lock_end(struct lb_scan *scan, const struct lb_event *end, int type)
{
    switch (scan->invoke->op) {
    case LB_OP_ACQUIRE:
        return end_acquire(scan, end, type);
    case LB_OP_RELEASE:
        end_release(scan, end, type);
        break;
    case LB_OP_ENQUEUE:
        end_enqueue(scan, end, type);
        break;
    case LB_OP_RENEW:
        end_renew(scan, end, type);
        break;
    case LB_OP_WRITE:
        lb_scan_write(scan, end, type);
        break;
    case LB_OP_RECOVER:
        lb_scan_world(scan->c, scan->log, &(struct lb_invoked){scan->invoke, scan->index}, end,
                      type);
        break;
    default: /* LB_OP_CANCEL: the line is left at its request, with any answer */
        if (scan->wait_object == scan->invoke->object)
            lb_scan_wait_end(scan, scan->invoke->time_ns, false);
        if (scan->has_ticket && scan->ticket.resource == scan->invoke->object)
            lb_scan_leave_line(scan, lb_low(scan->invoke->time_ns, scan->slack), LB_NEVER, LB_NONE);
    }
    return 0;
}

void lb_scan_retire(struct lb_scan *scan, uint64_t low)
{
    struct lb_info *info = lb_array_push(&scan->c->infos, sizeof *info);
    *info = (struct lb_info){.low = low, .log = scan->log, .event = scan->invoke_index};
    for (uint32_t i = 0; i < scan->grants.n; i++) {
        struct lb_open *grant = lb_grant_at(scan, i);
        if (grant->is_closed || grant->is_fixed)
            continue;
        grant->lapsed_cut = lb_holds(scan->c)[grant->piece].cut;
        lb_grant_end(scan, grant, low);
        grant->is_lapsed = true;
    }
    lb_scan_leave_line(scan, low, LB_NEVER, LB_NONE);
}

void lb_scan_lock_finish(struct lb_scan *scan)
{
    struct lb_case *c = scan->c;
    for (uint32_t i = 0; i < scan->grants.n; i++) {
        const struct lb_open *grant = lb_grant_at(scan, i);
        if (grant->is_closed)
            continue;
        scan->newest[lb_holds(c)[grant->hold].resource] = LB_NONE;
        if (grant->is_fixed)
            continue;
        uint32_t *open = lb_array_push(&c->open, sizeof *open);
        *open = grant->hold;
    }
    if (c->has_tokens)
        pad_tokens(c);
    lb_scan_others_lease(scan);
    lb_scan_miss_try(scan, scan->alive_ns, c->end_ns);
    lb_scan_leave_line(scan, LB_NEVER, LB_NEVER, LB_NONE);
}
