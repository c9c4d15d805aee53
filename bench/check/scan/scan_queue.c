/* Takes the puts, claimed items and operations on items of a queue out of one log; what it finds
 * goes to ids.c.
 *
 * A claim's items are notes just before its end; they count only if it ended ok. A claim whose
 * outcome is unknown may have taken as many items as it asked for, and one that returned more items
 * than were noted took some that the history does not name: both are kept as numbers, for the tests
 * that would otherwise miss an item.
 */
#include "guarantee_kind.h"
#include "items.h"
#include "judges.h"
#include "scan_logs.h"

int lb_scan_item(struct lb_scan *scan, const struct lb_event *note)
{
    struct lb_case *c = scan->c;
    if (!c->model->queue || scan->invoke == NULL || scan->invoke->op != LB_OP_CLAIM)
        return lb_scan_bad(scan, "an item outside of a claim");
    struct lb_noted *noted = lb_array_push(&scan->noted, sizeof *noted);
    *noted = (struct lb_noted){.id = note->value, .event = scan->index};
    return 0;
}

static void judge_bounds(struct lb_scan *scan, const struct lb_event *ok)
{
    struct lb_case *c = scan->c;
    uint32_t wanted = scan->invoke->arg;
    lb_finding_of(c, LB_G_BOUNDED_CLAIM)->n_tested++;
    if (ok->arg <= wanted && ok->arg == ok->value)
        return;
    struct lb_witness *witness = lb_violation(c, LB_G_BOUNDED_CLAIM);
    if (witness == NULL)
        return;
    char at[LB_AT];
    lb_witness_add(c, witness, scan->log, scan->index);
    witness->at_ns = ok->time_ns;
    lb_witness_text(witness, "%s asked for %u item%s at %s; %u row%s marked and %llu returned",
                    lb_who(c, scan->log, LB_WHOM), wanted, wanted == 1 ? "" : "s",
                    lb_at(c, scan->invoke->time_ns, at, sizeof at), ok->arg,
                    ok->arg == 1 ? " was" : "s were", (unsigned long long)ok->value);
}

static void push_unknown(struct lb_scan *scan, const struct lb_event *end, uint64_t n,
                         bool is_beyond)
{
    struct lb_unknown_claim *unknown = lb_array_push(&scan->c->unknown, sizeof *unknown);
    *unknown = (struct lb_unknown_claim){.low = lb_low(scan->invoke->time_ns, scan->slack),
                                         .high = end != NULL ? lb_high(end->time_ns, scan->slack)
                                                             : LB_NEVER,
                                         .n = n,
                                         .class_no = scan->invoke->object,
                                         .log = scan->log,
                                         .is_final = (scan->invoke->flags & LB_EVF_FINAL) != 0,
                                         .is_beyond = is_beyond};
}

/* Did it begin in the tick in which its worker's last put, claim or "empty" ended? Then their order
 * is certain, but their times do not show it. Of puts, and of claims, queue_ties.c knows it. */
static void note_tie(struct lb_scan *scan, const struct lb_event *ok)
{
    uint64_t low = lb_low(scan->invoke->time_ns, scan->slack);
    if (scan->has_queued && low <= scan->queue_high)
        scan->c->has_queue_ties = true;
    if (scan->invoke->op == LB_OP_PUT && scan->has_claimed && low <= scan->claimed_high)
        scan->c->doubt[LB_G_FIFO] = "a worker claimed and then put within one tick of the clock";
    if (ok == NULL)
        return;
    scan->queue_high = lb_high(ok->time_ns, scan->slack);
    scan->has_queued = true;
    if (scan->invoke->op == LB_OP_CLAIM && ok->type == LB_EV_OK) {
        scan->claimed_high = scan->queue_high;
        scan->has_claimed = true;
    }
}

/* It began as many items as it says, also those without a record. */
static void keep_begun(struct lb_scan *scan, const struct lb_item_record *claim, uint64_t returned)
{
    uint64_t n = returned > scan->noted.n ? returned : scan->noted.n;
    if (!lb_wants_rate(scan->c) || n == 0)
        return;
    struct lb_begun *begun = lb_array_push(&scan->c->begun, sizeof *begun);
    *begun = (struct lb_begun){claim->low, claim->high, (uint32_t)n, claim->log, scan->index};
}

static void claimed(struct lb_scan *scan, const struct lb_event *ok)
{
    struct lb_case *c = scan->c;
    const struct lb_noted *items = scan->noted.items;
    uint64_t noted = scan->noted.n;
    struct lb_item_record claim = {.low = lb_low(scan->invoke->time_ns, scan->slack),
                                   .high = lb_high(ok->time_ns, scan->slack),
                                   .log = scan->log};
    keep_begun(scan, &claim, ok->value);
    note_tie(scan, ok);
    lb_scan_wait_end(scan, ok->time_ns, true);
    for (size_t i = 0; i < noted; i++) {
        claim.id = items[i].id;
        claim.event = items[i].event;
        lb_ids_claim(c, &claim);
    }
    c->out->measures.n_claims += noted;
    c->logs[scan->log].n_successes += noted;
    judge_bounds(scan, ok);
    uint64_t returned = ok->value > noted ? ok->value : noted;
    if (returned > noted)
        push_unknown(scan, ok, returned - noted, true);
    if (ok->arg > returned) /* marked, and not returned */
        push_unknown(scan, ok, ok->arg - returned, false);
}

static void end_claim(struct lb_scan *scan, const struct lb_event *end, int type)
{
    struct lb_case *c = scan->c;
    c->logs[scan->log].n_attempts++;
    if (type == LB_EV_OK) {
        claimed(scan, end);
        return;
    }
    if (type != LB_EV_FAIL) {
        push_unknown(scan, end, scan->invoke->arg, false);
        return;
    }
    if (end->answer != LB_EMPTY) {
        c->out->measures.n_refusals += end->answer == LB_BUSY || end->answer == LB_TIMEOUT;
        return;
    }
    c->out->measures.n_empty++;
    lb_scan_wait_end(scan, end->time_ns, true); /* there was nothing to wait for */
    struct lb_refusal *refusal = lb_array_push(&c->refusals, sizeof *refusal);
    *refusal = (struct lb_refusal){.low = lb_low(scan->invoke->time_ns, scan->slack),
                                   .high = lb_high(end->time_ns, scan->slack),
                                   .object = end->object,
                                   .log = scan->log,
                                   .event = scan->index};
    note_tie(scan, end);
}

/* One entry for each item; of a refused one n is 0. */
static void keep_unique(struct lb_scan *scan, const struct lb_event *end, int type)
{
    struct lb_case *c = scan->c;
    const struct lb_event *invoke = scan->invoke;
    const bool is_refused = type == LB_EV_FAIL && end->answer == LB_DUPLICATE;
    if (!lb_wants_unique(c) || (type == LB_EV_FAIL && !is_refused))
        return;
    for (uint32_t i = 0; i < invoke->arg; i++) {
        struct lb_put *slot = lb_array_push(&c->unique_puts, sizeof *slot);
        *slot = (struct lb_put){
            .first = invoke->value + i,
            .low = lb_low(invoke->time_ns, scan->slack),
            .high = type == LB_EV_OK || is_refused ? lb_high(end->time_ns, scan->slack) : LB_NEVER,
            .n = is_refused ? 0 : 1,
            .log = scan->log,
            .event = end != NULL ? scan->index : scan->invoke_index};
    }
}

static int end_put(struct lb_scan *scan, const struct lb_event *end, int type)
{
    const struct lb_event *invoke = scan->invoke;
    keep_unique(scan, end, type);
    if (type == LB_EV_FAIL || invoke->arg == 0)
        return 0;
    note_tie(scan, type == LB_EV_OK ? end : NULL);
    if (invoke->value > UINT64_MAX - (invoke->arg - 1))
        return lb_scan_bad(scan, "a put of more ids than there are");
    lb_finding_of(scan->c, LB_G_NO_LOSS)->n_tested += invoke->arg;
    lb_ids_put(
        scan->c,
        &(struct lb_put){.first = invoke->value,
                         .low = lb_low(invoke->time_ns, scan->slack),
                         .high = type == LB_EV_OK ? lb_high(end->time_ns, scan->slack) : LB_NEVER,
                         .n = invoke->arg,
                         .log = scan->log,
                         .event = end != NULL ? scan->index : scan->invoke_index,
                         .class_no = invoke->object});
    return 0;
}

static void end_item(struct lb_scan *scan, const struct lb_event *end, int type)
{
    if (type == LB_EV_FAIL && end->answer == LB_REFUSED && scan->c->model->refused_free &&
        lb_item_closes(scan->invoke->op))
        lb_ids_refused(scan->c, scan->invoke->value, scan->log);
    if (type == LB_EV_FAIL)
        return;
    lb_ids_end(scan->c, &(struct lb_item_record){.id = scan->invoke->value,
                                                 .log = scan->log,
                                                 .op = scan->invoke->op,
                                                 .type = (uint8_t)type,
                                                 .flags = type == LB_EV_OK ? end->flags : 0});
}

int lb_scan_queue_end(struct lb_scan *scan, const struct lb_event *end, int type)
{
    switch (scan->invoke->op) {
    case LB_OP_CLAIM:
        end_claim(scan, end, type);
        break;
    case LB_OP_PUT:
        return end_put(scan, end, type);
    case LB_OP_CLEAR_ALL:
    case LB_OP_RESET_ALL: /* there may be millions, perhaps not needed: see scan_items.c */
        scan->c->has_reopened = scan->c->has_reopened || type == LB_EV_OK;
        scan->c->may_have_reopened = true;
        break;
    case LB_OP_RECOVER:
        lb_scan_world(scan->c, scan->log, &(struct lb_invoked){scan->invoke, scan->index}, end,
                      type);
        break;
    case LB_OP_BEAT:
        return lb_scan_beat(scan, end, type);
    case LB_OP_WRITE:
        lb_scan_write(scan, end, type);
        break;
    default:
        end_item(scan, end, type);
    }
    return 0;
}

/* --- the ordinary case, in short --- */

/* Is it the answer ok of that invoke? */
static bool is_answer(const struct lb_event *invoke, const struct lb_event *e)
{
    return e->type == LB_EV_OK && e->op == invoke->op && e->process == invoke->process &&
           e->object == invoke->object && e->time_ns <= LB_TIME_MAX;
}

/* Where the answer of a claim stands, behind its items, which are noted; 0: not among these. */
static size_t find_answer(struct lb_scan *scan, const struct lb_event *e, size_t n)
{
    size_t k = 1;
    scan->noted.n = 0;
    for (; k < n && e[k].type == LB_EV_NOTE && e[k].op == LB_OP_ITEM; k++) {
        if (e[k].time_ns < e[k - 1].time_ns)
            return 0; /* the long way says what is wrong */
        struct lb_noted *noted = lb_array_push(&scan->noted, sizeof *noted);
        *noted = (struct lb_noted){.id = e[k].value, .event = scan->index + (uint32_t)k};
    }
    return k < n && e[k].time_ns >= e[k - 1].time_ns && is_answer(e, &e[k]) ? k : 0;
}

/* The whole operation that begins with e; how many events it has, 0: it is none that is known
 * here. */
static size_t take_operation(struct lb_scan *scan, const struct lb_event *e, size_t n, int *ret_rc)
{
    struct lb_case *c = scan->c;
    bool is_claim = e->op == LB_OP_CLAIM;
    bool is_known = is_claim || e->op == LB_OP_PUT || e->op == LB_OP_COMPLETE ||
                    e->op == LB_OP_ERROR || e->op == LB_OP_FREE;
    if (e->type != LB_EV_INVOKE || !is_known || e->time_ns < scan->last_ns)
        return 0;
    size_t k = is_claim ? find_answer(scan, e, n) : is_answer(e, &e[1]);
    if (k == 0 || e[k].time_ns < e->time_ns)
        return 0;
    scan->invoke = e;
    scan->invoke_index = scan->index;
    if (is_claim) {
        lb_scan_wait_begin(scan);
        c->logs[scan->log].n_attempts++;
    }
    scan->index += (uint32_t)k;
    if (is_claim)
        claimed(scan, &e[k]);
    else if (e->op == LB_OP_PUT)
        *ret_rc = end_put(scan, &e[k], LB_EV_OK);
    else
        end_item(scan, &e[k], LB_EV_OK);
    scan->index++;
    scan->last_ns = e[k].time_ns;
    scan->answered_low = lb_low(e->time_ns, scan->slack);
    scan->invoke = NULL;
    return k + 1;
}

int lb_scan_operations(struct lb_scan *scan, const struct lb_event *events, size_t n, size_t *ret_n)
{
    enum { AHEAD = 24 }; /* events: an id's place is fetched in time */
    size_t i = 0;
    int rc = 0;
    while (i + 1 < n && rc == 0 && scan->invoke == NULL && !scan->has_retired) {
        size_t taken = take_operation(scan, events + i, n - i, &rc);
        if (taken == 0)
            break;
        for (size_t k = i + AHEAD; k < i + AHEAD + taken && k < n; k++)
            __builtin_prefetch(lb_id_place(scan->c, events[k].value), 1);
        i += taken;
    }
    *ret_n = i;
    return rc;
}

const struct lb_guarantee_kind lb_guarantee_bounded_claim = {.nothing = "nothing was claimed"};
