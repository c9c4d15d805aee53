/* permits: a stored count of permits is the capacity less what holders have, whenever it is asked.
 *
 * The count is read when all is quiet, and is a note in the history: the number of free permits. Of
 * the grants of that resource some are certainly held then, namely those whose core (exclusive.c)
 * covers the question; and some may be held: those that were requested by then and have not
 * certainly ended, by an effective release with an answer, or by a lease that is over at its latest
 * end. A grant of unknown outcome may be held, for ever if it is neither released nor a lease. If
 * the capacity minus the free permits lies outside of these two numbers, no order of the operations
 * explains it.
 *
 * A release ends the grant whose token, or permits, it names. Where it names none, and its worker
 * may have several of different numbers, or it gives back other permits than were granted at once,
 * all of them may still be held, and without a violation even then, the guarantee is not tested.
 *
 * Where readers share it, or something of the history is missing, nothing is judged.
 */
#include "guarantee_kind.h"
#include "judges.h"
#include "scan_logs.h"

#include <stdio.h>
#include <stdlib.h>

/* A grant that may be held from low to high. */
struct maybe {
    uint64_t low, high;
    uint32_t resource, log, event;
    uint64_t permits, token;
    bool has_token;
    bool is_certain; /* it was answered */
    bool is_fixed;   /* its worker does not believe in it any more, though nothing ended it */
};

int lb_scan_permits(struct lb_scan *scan, const struct lb_event *note)
{
    struct lb_case *c = scan->c;
    if (c->model->queue || note->object >= c->n_resources)
        return lb_scan_bad(scan, "permits of a resource that is none");
    int64_t n_free = (int64_t)note->value;
    if (n_free < INT32_MIN || n_free > UINT32_MAX)
        return lb_scan_bad(scan, "not a number of permits");
    struct lb_asked *asked = lb_array_push(&c->asked, sizeof *asked);
    uint64_t took_ns = (uint64_t)note->arg * 1000u;
    uint64_t from_ns = note->time_ns > took_ns ? note->time_ns - took_ns : 0;
    *asked = (struct lb_asked){.low = lb_low(from_ns, scan->slack),
                               .high = lb_high(note->time_ns, scan->slack),
                               .free = n_free,
                               .resource = note->object};
    return 0;
}

/* --- what may be held --- */

struct holders {
    struct lb_case *c;
    struct lb_array all; /* struct maybe */
    struct lb_array
        open; /* uint32_t, of all: grants of the log that it may still release or renew */
    uint32_t log;
    uint64_t slack;
    bool is_crowded; /* the log had too many to remember */
    bool is_unclear; /* a renewal may have been of another grant than its core says */
};

static struct maybe *open_at(const struct holders *holders, size_t i)
{
    const uint32_t *open = holders->open.items;
    return (struct maybe *)holders->all.items + open[i];
}

static void forget(struct holders *holders, const struct maybe *grant)
{
    uint32_t *open = holders->open.items;
    size_t n = 0;
    for (size_t i = 0; i < holders->open.n; i++)
        if (open_at(holders, i) != grant)
            open[n++] = open[i];
    holders->open.n = n;
}

/* Of many, none that its worker gave up is expected to be released any more. */
static void forget_fixed(struct holders *holders)
{
    for (size_t i = holders->open.n; i-- > 0;)
        if (open_at(holders, i)->is_fixed)
            forget(holders, open_at(holders, i));
}

/* How well the words of a release or renewal fit a grant: its token says most; 0: they do not. */
static unsigned fit(const struct lb_event *invoke, const struct maybe *grant)
{
    if (grant->resource != invoke->object || !grant->is_certain)
        return 0;
    unsigned believed = grant->is_fixed ? 1 : 2;
    if ((invoke->flags & LB_EVF_TOKEN) != 0 && grant->has_token)
        return grant->token == invoke->value ? 4 + believed : 0;
    bool has_permits = invoke->arg > 0 && invoke->op != LB_OP_RENEW; /* there it is the length */
    return !has_permits || invoke->arg == grant->permits ? believed : 0;
}

/* The grant that a release or renewal refers to, if that is clear. Among equal ones it may be any:
 * if the one that ends first is taken, no more than the held ones are left. If they differ, or
 * grants that the worker may have without an answer do, it is unknown: NULL. */
static struct maybe *spoken_of(const struct holders *holders, const struct lb_event *invoke,
                               bool *ret_clear)
{
    struct maybe *best = NULL;
    unsigned best_fit = 0;
    bool differ = holders->is_crowded, has_any = differ;
    for (size_t i = 0; i < holders->open.n; i++) {
        struct maybe *grant = open_at(holders, i);
        unsigned its = fit(invoke, grant);
        has_any = has_any || grant->resource == invoke->object;
        if (its == 0 || its < best_fit)
            continue;
        if (its > best_fit || grant->high < best->high)
            best = grant;
        best_fit = its;
    }
    for (size_t i = 0; best != NULL && i < holders->open.n; i++) {
        const struct maybe *grant = open_at(holders, i);
        bool may_be = grant->resource == invoke->object &&
                      (grant->is_certain ? fit(invoke, grant) == best_fit
                                         : invoke->arg == 0 || invoke->op == LB_OP_RENEW);
        differ = differ || (may_be && grant->permits != best->permits);
    }
    bool is_named = best_fit > 4;
    *ret_clear = is_named || (best != NULL ? !differ : !has_any);
    return *ret_clear ? best : NULL;
}

static void granted(struct holders *holders, const struct lb_event *invoke, uint32_t at,
                    const struct lb_event *end)
{
    enum { MANY = 64 };
    struct maybe *slot = lb_array_push(&holders->all, sizeof *slot);
    if (holders->open.n >= MANY)
        forget_fixed(holders);
    holders->is_crowded = holders->is_crowded || holders->open.n >= MANY;
    if (!holders->is_crowded) {
        uint32_t *open = lb_array_push(&holders->open, sizeof *open);
        *open = (uint32_t)(holders->all.n - 1);
    }
    bool is_certain = end != NULL && end->type == LB_EV_OK;
    *slot = (struct maybe){.low = lb_low(invoke->time_ns, holders->slack),
                           .high = LB_NEVER,
                           .resource = invoke->object,
                           .log = holders->log,
                           .event = at,
                           .permits = invoke->arg > 0 ? invoke->arg : 1,
                           .token = is_certain ? end->value : 0,
                           .has_token = is_certain && (end->flags & LB_EVF_TOKEN) != 0,
                           .is_certain = is_certain};
    if (is_certain && holders->c->model->lease && end->arg > 0)
        slot->high = lb_lease_high(holders->c, lb_high(end->time_ns, holders->slack), end->arg);
}

static void leave_open(const struct holders *holders)
{
    holders->c->doubt[LB_G_PERMITS] =
        "a release or renewal did not say which of its worker's grants it was of, or a release "
        "gave back other permits than were granted at once";
}

/* Of several that it may speak of, each may be held longer. */
static void renewed(struct holders *holders, const struct lb_event *invoke, uint64_t high)
{
    bool is_clear;
    struct maybe *grant = spoken_of(holders, invoke, &is_clear);
    size_t n = 0;
    for (size_t i = 0; i < holders->open.n; i++) {
        struct maybe *its = open_at(holders, i);
        bool may_be = grant == NULL || fit(invoke, its) == fit(invoke, grant);
        if (its->resource != invoke->object || !may_be)
            continue;
        n += its->is_certain;
        its->high = high > its->high ? high : its->high;
    }
    if (n <= 1 && !holders->is_crowded)
        return;
    holders->is_unclear = true;
    leave_open(holders);
}

static void released(struct holders *holders, const struct lb_event *invoke, uint64_t high,
                     bool has_effect)
{
    bool is_clear;
    struct maybe *grant = spoken_of(holders, invoke, &is_clear);
    if (!is_clear)
        leave_open(holders);
    if (grant == NULL)
        return;
    if (has_effect && high < grant->high)
        grant->high = high;
    forget(holders, grant);
}

/* A worker that was retired does not count upon what it had. */
static void retired(struct holders *holders)
{
    for (size_t i = 0; i < holders->open.n; i++)
        open_at(holders, i)->is_fixed = true;
}

static void note_end(struct holders *holders, const struct lb_event *invoke, uint32_t at,
                     const struct lb_event *end)
{
    bool is_ok = end != NULL && end->type == LB_EV_OK,
         is_failed = end != NULL && end->type == LB_EV_FAIL;
    uint64_t high = is_ok ? lb_high(end->time_ns, holders->slack) : LB_NEVER;
    if (invoke->op == LB_OP_ACQUIRE && !is_failed)
        granted(holders, invoke, at, end);
    if (invoke->op == LB_OP_RENEW && !is_failed) {
        uint32_t lease_ms = is_ok && end->arg > 0 ? end->arg : invoke->arg;
        renewed(holders, invoke,
                is_ok && lease_ms > 0 ? lb_lease_high(holders->c, high, lease_ms) : LB_NEVER);
    }
    if (invoke->op == LB_OP_RELEASE && (is_ok || (is_failed && end->answer == LB_REFUSED)))
        released(holders, invoke, high, is_ok && (end->flags & LB_EVF_EFFECTIVE) != 0);
    if (!is_ok && !is_failed)
        retired(holders);
}

static void read_log(struct holders *holders, const struct lb_log_view *view)
{
    const struct lb_event *invoke = NULL;
    uint32_t index = 0, at = 0;
    holders->slack = view->uncertainty_ns;
    holders->open.n = 0;
    holders->is_crowded = false;
    for (size_t s = 0; s < view->n_spans; s++)
        for (size_t k = 0; k < view->spans[s].n; k++, index++) {
            const struct lb_event *e = &view->spans[s].events[k];
            if (e->type == LB_EV_INVOKE) {
                invoke = e;
                at = index;
            } else if (e->type != LB_EV_NOTE && invoke != NULL) {
                note_end(holders, invoke, at, e);
                invoke = NULL;
            }
        }
    if (invoke != NULL)
        note_end(holders, invoke, at, NULL);
}

/* --- the test --- */

static uint64_t certainly_held(const struct lb_case *c, const struct lb_asked *asked)
{
    const struct lb_hold *holds = lb_holds(c);
    uint64_t n = 0;
    for (size_t i = 0; i < c->holds.n; i++)
        if (holds[i].resource == asked->resource && holds[i].start < asked->low &&
            holds[i].cut > asked->high)
            n += holds[i].permits;
    return n;
}

static void judge_one(struct holders *holders, const struct lb_asked *asked)
{
    struct lb_case *c = holders->c;
    const struct maybe *all = holders->all.items, *last = NULL;
    uint32_t capacity = c->model->capacity != NULL ? c->model->capacity[asked->resource] : 1;
    uint64_t least = holders->is_unclear ? 0 : certainly_held(c, asked), most = 0;
    for (size_t i = 0; i < holders->all.n; i++) {
        if (all[i].resource != asked->resource || all[i].low > asked->high)
            continue;
        most += all[i].high >= asked->low ? all[i].permits : 0;
        last = last == NULL || all[i].low > last->low ? &all[i] : last;
    }
    int64_t taken = (int64_t)capacity - asked->free;
    lb_finding_of(c, LB_G_PERMITS)->n_tested++;
    if (taken >= (int64_t)least && taken <= (int64_t)most)
        return;
    struct lb_witness *witness = lb_violation(c, LB_G_PERMITS);
    if (witness == NULL)
        return;
    char at[LB_AT];
    if (last != NULL)
        lb_witness_add(c, witness, last->log, last->event);
    witness->at_ns = asked->high;
    char held[60];
    if (least == most)
        snprintf(held, sizeof held, "%llu %s", (unsigned long long)most, most == 1 ? "is" : "are");
    else
        snprintf(held, sizeof held, "between %llu and %llu are", (unsigned long long)least,
                 (unsigned long long)most);
    lb_witness_text(witness,
                    "at %s the tables say that %lld of %u permits of resource %u can be taken, "
                    "while %s held",
                    lb_at(c, asked->high, at, sizeof at), (long long)asked->free, capacity,
                    asked->resource, held);
}

static int judge_permits(struct lb_case *c)
{
    const struct lb_asked *asked = c->asked.items;
    struct holders holders = {.c = c};
    if (c->asked.n == 0 || (c->model->claims & LB_G_BIT(LB_G_PERMITS)) == 0 ||
        c->history->truncated)
        return 0;
    if (c->has_shared) {
        c->doubt[LB_G_PERMITS] = "readers share it: they have no number of permits";
        lb_finding_of(c, LB_G_PERMITS)->n_tested = c->asked.n;
        return 0;
    }
    for (size_t i = 0; i < c->history->n_logs; i++) {
        holders.log = (uint32_t)i;
        read_log(&holders, &c->history->logs[i]);
    }
    for (size_t i = 0; i < c->asked.n; i++)
        judge_one(&holders, &asked[i]);
    free(holders.all.items);
    free(holders.open.items);
    return 0;
}

const struct lb_guarantee_kind lb_guarantee_permits = {
    .judge_lock = judge_permits,
    .has_shortcut = true,
    .nothing = "the count was not read when all was quiet"};
