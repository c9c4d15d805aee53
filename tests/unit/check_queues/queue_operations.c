/* From a history to operations that can be put in order: each with the earliest and latest moment
 * at which it can have taken place. */
#include "queue_search.h"

struct claim_info claims[BRUTE_OPS];

uint32_t n_claims, first_claim; /* first: of the item that is being translated */

uint32_t place_now; /* in the log, from 1 */

void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional, uint64_t a,
               uint32_t log)
{
    uint64_t most = UINT64_MAX - uncertainty_ns;
    brute_add(&brute, (struct brute_op){.low = low > uncertainty_ns ? low - uncertainty_ns : 0,
                                        .high = high < most ? high + uncertainty_ns : UINT64_MAX,
                                        .optional = optional,
                                        .kind = kind,
                                        .who = who,
                                        .a = a,
                                        .place = place_now,
                                        .log = log == DATABASE ? 0 : log + 1});
}

static uint64_t after_ms(uint64_t low, uint64_t ms)
{
    uint64_t length = ms * UINT64_C(1000000), margin = 1000000 + ms * UINT64_C(1000);
    return low + (length > margin ? length - margin : 0);
}

static uint64_t lease_low(uint64_t low)
{
    return after_ms(low, LEASE_MS);
}

const struct lb_event *end_of(uint32_t log, size_t i)
{
    for (size_t k = i + 1; k < history.n[log]; k++)
        if (history.events[log][k].type != LB_EV_NOTE)
            return &history.events[log][k];
    return NULL;
}

static void translate_claim(uint32_t log, const struct lb_event *invoke, const struct lb_event *end,
                            uint64_t id)
{
    if (end == NULL || end->type != LB_EV_OK)
        return;
    for (const struct lb_event *note = invoke + 1; note < end; note++) {
        if (note->value != id)
            continue;
        struct claim_info *c = &claims[n_claims++];
        *c = (struct claim_info){
            .log = log, .note = note, .low = invoke->time_ns, .high = end->time_ns};
        /* An item that is there twice was claimed twice, in this order. */
        place_now = (uint32_t)(note - history.events[log]) + 1;
        add_brute(CLAIM, n_claims, invoke->time_ns, end->time_ns, false, 0, log);
        c->renewed_low[0] = c->low;
        if (note->arg > 0) {
            c->expiry_low = lease_low(invoke->time_ns);
            add_brute(EXPIRE, n_claims, c->expiry_low, UINT64_MAX, true, 0, DATABASE);
        }
    }
}

uint32_t claim_before(uint32_t log, const struct lb_event *event)
{
    uint32_t found = 0;
    for (uint32_t i = first_claim; i < n_claims; i++)
        if (claims[i].log == log && claims[i].note < event)
            found = i + 1;
    return found;
}

static void translate_op(uint32_t log, const struct lb_event *invoke, const struct lb_event *end,
                         uint64_t id)
{
    int type = end == NULL ? LB_EV_NONE : end->type, op = invoke->op;
    bool mine = invoke->value == id;
    uint64_t high = type == LB_EV_OK ? end->time_ns : UINT64_MAX;
    uint32_t who = claim_before(log, invoke);
    if (type == LB_EV_FAIL)
        return;
    if (op == LB_OP_RESET_ALL || op == LB_OP_CLEAR_ALL || (op == LB_OP_CLEAR_ERROR && mine))
        add_brute(op == LB_OP_RESET_ALL ? RESET : CLEAR, 0, invoke->time_ns, high, type != LB_EV_OK,
                  0, log);
    bool renews = op == LB_OP_RENEW_ITEM && mine && who > 0 &&
                  (type != LB_EV_OK || (end->flags & LB_EVF_EFFECTIVE) != 0);
    if (renews && type == LB_EV_OK) {
        struct claim_info *c = &claims[who - 1];
        bool is_told = end->arg > 0; /* else it was as long as before at least, and nobody knows */
        uint64_t low = is_told ? lease_low(invoke->time_ns) : invoke->time_ns;
        uint32_t number = ++c->n_renewals;
        int kind = c->is_closed ? KEEP : RENEW;
        c->aged = is_told && kind == RENEW ? number : c->aged;
        c->renewed_low[number] = c->aged == number ? invoke->time_ns : UINT64_MAX;
        c->expiry_low = is_told || low > c->expiry_low ? low : c->expiry_low;
        add_brute(kind, who, invoke->time_ns, high, false, number, log);
        brute.ops[brute.n - 1].b = c->aged;
        if (c->note->arg > 0)
            add_brute(EXPIRE, who, c->expiry_low, UINT64_MAX, true, number, log);
    }
    if ((op == LB_OP_FREE || op == LB_OP_ERROR || op == LB_OP_COMPLETE) && mine) {
        bool certain = type == LB_EV_OK && (end->flags & LB_EVF_EFFECTIVE) != 0;
        if (who > 0 && claims[who - 1].is_ended)
            who = 0; /* it has it no more */
        bool is_first = certain && who > 0;
        if (who > 0)
            claims[who - 1].is_closed = true;
        if (is_first)
            claims[who - 1].is_ended = true;
        /* Who does not have it may have ended anybody's claim, or nobody's. */
        add_brute(is_first ? END : CLOSE, who, invoke->time_ns, high, !certain || who == 0,
                  (uint64_t)op, log);
    }
}

/* A recovery, for each claim that can have been old enough. */
static void translate_recovery(uint32_t log, const struct lb_event *invoke,
                               const struct lb_event *end, uint32_t number)
{
    bool ok = end != NULL && end->type == LB_EV_OK;
    if (end != NULL && end->type == LB_EV_FAIL)
        return;
    for (uint32_t i = 0; i < n_claims && invoke->arg > 0; i++)
        for (uint32_t k = 0; k <= claims[i].n_renewals; k++) {
            if (claims[i].renewed_low[k] == UINT64_MAX)
                continue;
            uint64_t old = after_ms(claims[i].renewed_low[k], invoke->arg);
            uint64_t low = old > invoke->time_ns ? old : invoke->time_ns;
            if (ok && low > end->time_ns)
                continue;
            add_brute(RECOVER, i + 1, low, ok ? end->time_ns : UINT64_MAX, true, number, log);
            brute.ops[brute.n - 1].b = k;
        }
}

void translate_recoveries(void)
{
    uint32_t number = 0;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            place_now = (uint32_t)i + 1;
            if (e->type == LB_EV_INVOKE && e->op == LB_OP_RECOVER)
                translate_recovery(log, e, end_of(log, i), number++);
        }
}

void translate_one(uint64_t id)
{
    first_claim = n_claims;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *invoke = &history.events[log][i], *end = end_of(log, i);
            place_now = (uint32_t)i + 1;
            if (invoke->type != LB_EV_INVOKE)
                continue;
            if (invoke->op == LB_OP_CLAIM)
                translate_claim(log, invoke, end, id);
            else
                translate_op(log, invoke, end, id);
            uint32_t who = claim_before(log, invoke);
            /* The connection is gone, and with it what this worker held. */
            for (; end != NULL && end->type == LB_EV_INFO && who > first_claim; who--)
                if (claims[who - 1].log == log && (claims[who - 1].note->flags & LB_EVF_FINAL) == 0)
                    add_brute(GONE, who, invoke->time_ns, UINT64_MAX, true, 0, DATABASE);
        }
}

void translate_item(uint64_t id)
{
    brute.n = n_claims = 0;
    translate_one(id);
    translate_recoveries();
}
