/* The open grants of the log that is being read, and which of them a release or a renewal is of. */
#include "scan_logs.h"

void lb_grant_close(struct lb_scan *scan, uint32_t i)
{
    struct lb_open *grant = lb_grant_at(scan, i);
    uint32_t resource = lb_holds(scan->c)[grant->hold].resource;
    if (grant->newer == LB_NONE)
        scan->newest[resource] = grant->older;
    else
        lb_grant_at(scan, grant->newer)->older = grant->older;
    if (grant->older != LB_NONE)
        lb_grant_at(scan, grant->older)->newer = grant->newer;
    grant->is_closed = true;
    scan->n_fixed -= grant->is_fixed;
    while (scan->grants.n > 0 && lb_grant_at(scan, (uint32_t)scan->grants.n - 1)->is_closed)
        scan->grants.n--;
}

/* Another grant of the same worker was answered in the tick in which this hold ends: see ties.c. */
static void note_tie(struct lb_scan *scan, uint32_t hold, uint64_t time)
{
    struct lb_tie *tie = lb_array_push(&scan->c->ties, sizeof *tie);
    *tie = (struct lb_tie){.time = time,
                           .resource = lb_holds(scan->c)[hold].resource,
                           .hold = hold,
                           .position = scan->invoke_index};
}

void lb_grant_end(struct lb_scan *scan, struct lb_open *grant, uint64_t low)
{
    struct lb_hold *hold = &lb_holds(scan->c)[grant->hold];
    struct lb_hold *piece = &lb_holds(scan->c)[grant->piece];
    uint32_t newer = scan->last_hold[hold->resource]; /* the latest that its log got beside it */
    bool in_tick = (newer > grant->hold && lb_holds(scan->c)[newer].start == low) ||
                   (grant->is_crowded && hold->start == low);
    if (in_tick && scan->slack == 0 && hold->cut > low) /* else its lease may have ended it first */
        note_tie(scan, grant->hold, low);
    hold->end = low;
    if (hold->cut > low)
        hold->cut = low;
    if (piece->cut > low)
        piece->end = piece->cut = low;
    if (piece != hold && piece->end > low)
        piece->end = low;
    scan->n_fixed += !grant->is_fixed;
    grant->is_fixed = true;
}

bool lb_holds_alike(const struct lb_case *c, uint32_t hold, uint32_t other)
{
    const struct lb_hold *holds = lb_holds(c);
    return holds[hold].permits == holds[other].permits &&
           holds[hold].is_shared == holds[other].is_shared;
}

bool lb_fits_words(const struct lb_hold *hold, const struct lb_event *invoke)
{
    return hold->permits == invoke->arg &&
           hold->is_shared == ((invoke->flags & LB_EVF_SHARED) != 0);
}

/* Does a release or renewal name the token of this grant? */
static bool names(const struct lb_scan *scan, const struct lb_event *invoke, uint32_t number)
{
    uint32_t hold = lb_grant_at(scan, number)->hold;
    return (invoke->flags & LB_EVF_TOKEN) != 0 && lb_holds(scan->c)[hold].has_token &&
           lb_token_of(scan->c, hold) == invoke->value;
}

/* Does it name the token of a grant that its worker had, and that is closed? Not of one of very
 * long ago. */
static bool names_past(const struct lb_scan *scan, const struct lb_event *invoke)
{
    enum { MOST = 10000 };
    const struct lb_case *c = scan->c;
    size_t first = c->logs[scan->log].first_hold, n = c->holds.n;
    if ((invoke->flags & LB_EVF_TOKEN) == 0 || !c->has_tokens)
        return false;
    for (size_t i = n; i > first && n - i < MOST; i--) {
        const struct lb_hold *hold = &lb_holds(c)[i - 1];
        if (hold->resource == invoke->object && hold->has_token &&
            lb_token_of(c, i - 1) == invoke->value)
            return true;
    }
    return false;
}

/* Does it name permits? A renewal has its length there. */
static bool has_words(const struct lb_event *invoke)
{
    return invoke->arg > 0 && invoke->op == LB_OP_RELEASE;
}

static unsigned score_of(const struct lb_scan *scan, const struct lb_event *invoke, uint32_t number)
{
    const struct lb_open *grant = lb_grant_at(scan, number);
    return (names(scan, invoke, number) ? 4u : 0) +
           (has_words(invoke) && lb_fits_words(&lb_holds(scan->c)[grant->hold], invoke) ? 2u : 0) +
           (grant->is_fixed ? 0 : 1u);
}

uint32_t lb_grant_find(const struct lb_scan *scan, const struct lb_event *invoke)
{
    uint32_t best = scan->newest[invoke->object];
    unsigned best_score = 0; /* what tells more counts for more; the newest of equals */
    unsigned most = ((invoke->flags & LB_EVF_TOKEN) != 0 && scan->c->has_tokens ? 4u : 0) +
                    (has_words(invoke) ? 2u : 0) + 1u;
    if (best != LB_NONE && lb_grant_at(scan, best)->older == LB_NONE &&
        (invoke->flags & LB_EVF_TOKEN) == 0)
        return best;
    for (uint32_t i = best; i != LB_NONE && best_score < most; i = lb_grant_at(scan, i)->older) {
        unsigned score = score_of(scan, invoke, i);
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    return best_score < 4 && !scan->has_dropped && names_past(scan, invoke) ? LB_NONE : best;
}

void lb_grant_end_any(struct lb_scan *scan, uint32_t number)
{
    const struct lb_event *invoke = scan->invoke;
    struct lb_case *c = scan->c;
    uint32_t hold = lb_grant_at(scan, number)->hold;
    bool differ = false;
    if (invoke->arg > 0 || names(scan, invoke, number) || lb_grant_at(scan, number)->is_fixed ||
        !scan->is_mixed)
        return;
    for (uint32_t i = scan->newest[invoke->object]; i != LB_NONE; i = lb_grant_at(scan, i)->older) {
        const struct lb_open *other = lb_grant_at(scan, i);
        differ = differ || (!other->is_fixed && !lb_holds_alike(c, other->hold, hold));
    }
    if (!differ)
        return;
    for (uint32_t i = scan->newest[invoke->object]; i != LB_NONE; i = lb_grant_at(scan, i)->older)
        if (!lb_grant_at(scan, i)->is_fixed && i != number)
            lb_grant_end(scan, lb_grant_at(scan, i), lb_low(invoke->time_ns, scan->slack));
    c->doubt[LB_G_EXCLUSIVE] = "a release did not say which of its worker's grants it was of";
}

bool lb_grant_renews_any(struct lb_scan *scan, uint32_t number, bool is_refused)
{
    const struct lb_event *invoke = scan->invoke;
    unsigned n = 0;
    for (uint32_t i = scan->newest[invoke->object]; i != LB_NONE; i = lb_grant_at(scan, i)->older)
        n += !lb_grant_at(scan, i)->is_fixed;
    if (names(scan, invoke, number) || n < 2 || lb_grant_at(scan, number)->is_fixed)
        return false;
    for (uint32_t i = scan->newest[invoke->object]; i != LB_NONE; i = lb_grant_at(scan, i)->older)
        if (!lb_grant_at(scan, i)->is_fixed && is_refused)
            lb_grant_end(scan, lb_grant_at(scan, i), lb_low(invoke->time_ns, scan->slack));
        else if (!lb_grant_at(scan, i)->is_fixed)
            lb_grant_at(scan, i)->expiry_high = LB_NEVER;
    scan->c->doubt[LB_G_EXCLUSIVE] = "a renewal did not say which of its worker's grants it was of";
    return true;
}
