/* fenced: tokens grow with each grant, and the guarded resource never accepts a smaller one after a
 * larger one.
 *
 * Grants: if A was answered before B's request, A's grant came first in every order, so its token
 * must be smaller. Conversely, if no such pair is wrong, ordering concurrent grants by their tokens
 * contradicts no real-time order. B is wrong iff the largest token among those answered before B's
 * request is not smaller than B's. In order of answers, growing tokens show at once that none is
 * wrong; the others are checked again, in order of requests.
 *
 * That leaves out which worker held when. Where the lock is seen to exclude, and A's grant was
 * answered before the end of B's core, B's grant was not the first one: had it been, B would have
 * held, from its grant until its core's end at least, also when A was granted. So where nothing
 * else ended holds (no server's end, no release by a worker that had nothing) A's token is smaller.
 * A's answer is before B's (a number that is drawn before the wait for the lock does not grow), or
 * after it, if A's lease was over before its grant was answered. Of a B whose lease may have been
 * over before its grant was answered, the core ends before that answer.
 *
 * A worker's own grants come one after another, also within a tick of its clock, where the times of
 * two look concurrent. Ordering by tokens contradicts no such order either if no such pair is
 * wrong.
 *
 * Writes: the same with accepted writes, where equal tokens are the same holder's and fine.
 */
#include "guarantee_kind.h"
#include "judges.h"

#include <stdlib.h>

struct largest {
    uint64_t token;
    uint32_t hold; /* or write */
    bool is_set;
};

static uint64_t token_of(const struct lb_case *c, uint32_t hold)
{
    return ((const uint64_t *)c->tokens.items)[hold];
}

static bool has_token(const struct lb_hold *hold)
{
    return hold->has_token && !hold->is_piece;
}

/* The reason for the order of two grants: the request of the second follows the answer of the
 * first; the second waited for the first; or the core of the second covers the answer of the first,
 * so that the first lease was over by then. */
enum why { ASKED_LATER, WAITED, COVERED };

static void report_grant(struct lb_case *c, uint32_t earlier, uint32_t later, enum why why)
{
    const struct lb_hold *a = &lb_holds(c)[earlier], *b = &lb_holds(c)[later];
    struct lb_finding *finding = lb_finding_of(c, LB_G_FENCED);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], asked[LB_AT];
    lb_witness_add(c, witness, a->log, a->event);
    lb_witness_add(c, witness, b->log, b->event);
    witness->at_ns = b->start;
    lb_witness_text(
        witness,
        "%s was granted resource %u with token %lld at %s%s; %s, which %s at %s, got "
        "token %lld, which is not larger",
        lb_who(c, a->log, LB_WHOM), a->resource, (long long)token_of(c, earlier),
        lb_at(c, a->start, at, sizeof at),
        why == COVERED ? ", by a lease that was over by then" : "", lb_who(c, b->log, LB_WHOM),
        why == WAITED    ? "waited for it until it was granted it"
        : why == COVERED ? "was granted it"
                         : "asked for it",
        lb_at(c, why == ASKED_LATER ? lb_hold_asked(c, b) : b->start, asked, sizeof asked),
        (long long)token_of(c, later));
}

static bool test_and_set(uint8_t *bits, uint32_t i)
{
    bool was = (bits[i / 8] >> (i % 8) & 1) != 0;
    bits[i / 8] |= (uint8_t)(1u << (i % 8));
    return was;
}

/* True if exclusion decides the order of grants. If it is broken, or a worker ended another's hold,
 * a hold may be over before its grant is answered. */
static bool is_ordered_by_exclusion(struct lb_case *c)
{
    const struct lb_model *model = c->model;
    return !model->queue && !model->reentrant && (model->claims & LB_G_BIT(LB_G_EXCLUSIVE)) != 0 &&
           lb_finding_of(c, LB_G_EXCLUSIVE)->n_violations == 0 &&
           lb_finding_of(c, LB_G_OWNER_RELEASE)->n_violations == 0 && c->late.n == 0 &&
           c->known_ns == LB_NEVER && c->out->measures.n_restarts == 0;
}

/* May exclusion say which of two grants came first? */
static bool excludes(const struct lb_case *c, const struct lb_hold *a, const struct lb_hold *b)
{
    bool alone = c->model->capacity == NULL || c->model->capacity[a->resource] <= 1;
    return alone && !a->is_shared && !b->is_shared && a->log != b->log && a->start != b->start;
}

/* cover: of the holds that were answered before, the one with the latest end. If its core covers
 * the answer of a hold with an empty core, then that hold was granted, and was over, before it. */
static void judge_covered(struct lb_case *c, uint32_t number, struct largest *cover,
                          uint8_t *reported)
{
    const struct lb_hold *hold = &lb_holds(c)[number], *other = &lb_holds(c)[cover->hold];
    if (cover->is_set && other->cut > hold->start && excludes(c, hold, other) && other->has_token &&
        hold->has_token && (int64_t)token_of(c, cover->hold) <= (int64_t)token_of(c, number) &&
        !test_and_set(reported, cover->hold))
        report_grant(c, number, cover->hold, COVERED);
    if (!cover->is_set || hold->cut > other->cut)
        *cover = (struct largest){.hold = number, .is_set = true};
}

/* From when on a grant can have come: from its invoke, or, where the lock excludes, from the end of
 * its core, if that is empty: had it come before another that was answered by then, both would have
 * held. */
static uint64_t after_others(const struct lb_case *c, const struct lb_hold *hold, bool by_exclusion)
{
    uint64_t asked = lb_hold_asked(c, hold), end = hold->cut;
    bool alone = c->model->capacity == NULL || c->model->capacity[hold->resource] <= 1;
    if (!by_exclusion || !alone || hold->is_shared || end < asked)
        return asked;
    return end < hold->start ? end : hold->start;
}

/* Grants whose token is not above all that were answered before them. */
static int find_suspects(struct lb_case *c, struct largest *largest, struct lb_array *suspects,
                         uint8_t *reported)
{
    const bool by_exclusion = is_ordered_by_exclusion(c);
    struct largest *covers = calloc((size_t)c->n_resources + 1, sizeof *covers);
    int rc = covers == NULL ? lb_out_of_memory(c) : 0;
    for (size_t i = 0; i < c->holds.n && rc == 0; i++) {
        uint32_t number = c->order[i];
        const struct lb_hold *hold = &lb_holds(c)[number];
        if (by_exclusion && !hold->is_piece)
            judge_covered(c, number, &covers[hold->resource], reported);
        if (!has_token(hold))
            continue;
        lb_finding_of(c, LB_G_FENCED)->n_tested++;
        struct largest *best = &largest[hold->resource];
        int64_t token = (int64_t)token_of(c, number);
        if (best->is_set && token <= (int64_t)best->token) {
            struct lb_key *suspect = lb_array_push(suspects, sizeof *suspect);
            if (suspect == NULL)
                rc = lb_out_of_memory(c);
            else
                *suspect =
                    (struct lb_key){.key = after_others(c, hold, by_exclusion), .index = number};
            continue;
        }
        *best = (struct largest){.token = (uint64_t)token, .hold = number, .is_set = true};
    }
    free(covers);
    return rc;
}

/* Compares suspects, by the time of their requests, with the largest token answered before. */
static void judge_order(struct lb_case *c, struct largest *largest, const struct lb_array *suspects,
                        uint8_t *reported)
{
    size_t next = 0;
    for (size_t i = 0; i < suspects->n; i++) {
        const struct lb_key *suspect = &((const struct lb_key *)suspects->items)[i];
        for (; next < c->holds.n && lb_holds(c)[c->order[next]].start < suspect->key; next++) {
            const struct lb_hold *hold = &lb_holds(c)[c->order[next]];
            struct largest *best = &largest[hold->resource];
            int64_t token = has_token(hold) ? (int64_t)token_of(c, c->order[next]) : 0;
            if (has_token(hold) && (!best->is_set || token > (int64_t)best->token))
                *best = (struct largest){(uint64_t)token, c->order[next], true};
        }
        const struct largest *best = &largest[lb_holds(c)[suspect->index].resource];
        if (best->is_set && (int64_t)best->token >= (int64_t)token_of(c, suspect->index) &&
            !test_and_set(reported, suspect->index))
            report_grant(c, best->hold, suspect->index,
                         lb_holds(c)[best->hold].start <
                                 lb_hold_asked(c, &lb_holds(c)[suspect->index])
                             ? ASKED_LATER
                             : WAITED);
    }
}

/* Exclusive grants of one resource that share a token, whatever their times. */
static int judge_equals(struct lb_case *c, uint8_t *reported)
{
    size_t n = 0;
    struct lb_key *keys = malloc((c->holds.n + 1) * sizeof *keys);
    if (keys == NULL)
        return lb_out_of_memory(c);
    for (size_t i = 0; i < c->holds.n; i++) {
        const struct lb_hold *hold = &lb_holds(c)[c->order[i]];
        bool alone = c->model->capacity == NULL || c->model->capacity[hold->resource] <= 1;
        if (has_token(hold) && !hold->is_shared && alone)
            keys[n++] = (struct lb_key){.key = token_of(c, c->order[i]), .index = c->order[i]};
    }
    int rc = lb_sort(keys, n);
    for (size_t i = 0; i < n; i++)
        keys[i].key = lb_holds(c)[keys[i].index].resource;
    rc = rc != 0 || lb_sort(keys, n) != 0 ? lb_out_of_memory(c) : 0;
    for (size_t i = 1; i < n && rc == 0; i++)
        if (keys[i].key == keys[i - 1].key &&
            token_of(c, keys[i].index) == token_of(c, keys[i - 1].index) &&
            !test_and_set(reported, keys[i].index))
            report_grant(c, keys[i - 1].index, keys[i].index, ASKED_LATER);
    free(keys);
    return rc;
}

/* The largest token so far of the log that is being looked at, per resource. */
struct own {
    uint64_t token;
    uint32_t number; /* of the hold, or write, that had it */
    uint32_t log;    /* whose; LB_NONE */
};

static struct own *own_new(const struct lb_case *c)
{
    struct own *own = malloc(((size_t)c->n_resources + 1) * sizeof *own);
    for (size_t i = 0; i <= c->n_resources && own != NULL; i++)
        own[i].log = LB_NONE;
    return own;
}

/* The number of the same log's earlier one with the largest token; LB_NONE. Remembers this one. */
static uint32_t own_before(struct own *own, uint32_t log, uint64_t token, uint32_t number)
{
    struct own before = *own;
    if (before.log != log || (int64_t)token > (int64_t)before.token)
        *own = (struct own){.token = token, .number = number, .log = log};
    return before.log == log ? before.number : LB_NONE;
}

/* Compares successive grants of one worker, at any times. */
static int judge_own_grants(struct lb_case *c, uint8_t *reported)
{
    struct own *own = own_new(c);
    if (own == NULL)
        return lb_out_of_memory(c);
    for (uint32_t i = 0; i < c->holds.n; i++) { /* grouped by log, and in its order */
        const struct lb_hold *hold = &lb_holds(c)[i];
        if (!has_token(hold))
            continue;
        uint32_t before = own_before(&own[hold->resource], hold->log, token_of(c, i), i);
        if (before != LB_NONE && (int64_t)token_of(c, before) >= (int64_t)token_of(c, i) &&
            !test_and_set(reported, i))
            report_grant(c, before, i, ASKED_LATER);
    }
    free(own);
    return 0;
}

static int judge_grants(struct lb_case *c)
{
    struct lb_array suspects = {0};
    uint8_t *reported = calloc(c->holds.n / 8 + 1, 1);
    struct largest *largest = calloc((size_t)c->n_resources + 1, sizeof *largest);
    int rc = largest == NULL || reported == NULL ? lb_out_of_memory(c)
                                                 : find_suspects(c, largest, &suspects, reported);
    if (rc == 0 && suspects.n > 0 && lb_sort(suspects.items, suspects.n) != 0)
        rc = lb_out_of_memory(c);
    if (rc == 0 && suspects.n > 0) {
        memset(largest, 0, ((size_t)c->n_resources + 1) * sizeof *largest);
        judge_order(c, largest, &suspects, reported);
        rc = judge_own_grants(c, reported);
        rc = rc != 0 ? rc : judge_equals(c, reported);
    }
    free(largest);
    free(reported);
    free(suspects.items);
    return rc;
}

static void report_write(struct lb_case *c, const struct lb_write *a, const struct lb_write *b)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_FENCED);
    finding->n_violations++;
    c->out->measures.n_stale_writes_accepted++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT];
    lb_witness_add(c, witness, a->log, a->event);
    lb_witness_add(c, witness, b->log, b->event);
    witness->at_ns = b->low;
    lb_witness_text(witness,
                    "%s's stale write to resource %u with token %lld was accepted at %s, "
                    "though %s's with token %lld had been accepted by %s",
                    lb_who(c, b->log, LB_WHOM), b->resource, (long long)b->token,
                    lb_at(c, b->low, at, sizeof at), lb_who(c, a->log, LB_WHOM),
                    (long long)a->token, lb_at(c, a->high, before, sizeof before));
}

/* Writes to one resource. by_low and by_high: the same writes in both orders. */
static void judge_resource(struct lb_case *c, const struct lb_key *by_low,
                           const struct lb_key *by_high, size_t n, uint8_t *reported)
{
    const struct lb_write *writes = c->writes.items;
    const struct lb_write *best = NULL;
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        const struct lb_write *write = &writes[by_low[i].index];
        for (; next < n && by_high[next].key < write->low; next++) {
            const struct lb_write *earlier = &writes[by_high[next].index];
            if (best == NULL || (int64_t)earlier->token > (int64_t)best->token)
                best = earlier;
        }
        if (best != NULL && (int64_t)best->token > (int64_t)write->token) {
            (void)test_and_set(reported, by_low[i].index);
            report_write(c, best, write);
        }
    }
}

/* Orders the writes by time and, the sort being stable, then by resource. */
static int order_writes(const struct lb_case *c, struct lb_key *keys, bool high)
{
    const struct lb_write *writes = c->writes.items;
    for (size_t i = 0; i < c->writes.n; i++)
        keys[i] =
            (struct lb_key){.key = high ? writes[i].high : writes[i].low, .index = (uint32_t)i};
    if (lb_sort(keys, c->writes.n) != 0)
        return LB_E_MEMORY;
    for (size_t i = 0; i < c->writes.n; i++)
        keys[i].key = writes[keys[i].index].resource;
    if (lb_sort(keys, c->writes.n) != 0)
        return LB_E_MEMORY;
    for (size_t i = 0; i < c->writes.n; i++)
        keys[i].key = high ? writes[keys[i].index].high : writes[keys[i].index].low;
    return 0;
}

/* A worker's writes after others of its own. */
static int judge_own_writes(struct lb_case *c, struct lb_key *keys, const uint8_t *reported)
{
    const struct lb_write *writes = c->writes.items;
    struct own own = {.log = LB_NONE};
    for (size_t i = 0; i < c->writes.n; i++) /* log by log, and in its order */
        keys[i] = (struct lb_key){.key = writes[i].resource, .index = (uint32_t)i};
    if (lb_sort(keys, c->writes.n) != 0)
        return lb_out_of_memory(c);
    for (size_t i = 0; i < c->writes.n; i++) {
        uint32_t number = keys[i].index;
        const struct lb_write *write = &writes[number];
        if (i > 0 && keys[i].key != keys[i - 1].key)
            own.log = LB_NONE;
        uint32_t before = own_before(&own, write->log, write->token, number);
        if (before != LB_NONE && (int64_t)writes[before].token > (int64_t)write->token &&
            (reported[number / 8] >> (number % 8) & 1) == 0)
            report_write(c, &writes[before], write);
    }
    return 0;
}

/* Do the tokens of one resource only grow, in order of answers? Then those of each worker do. */
static bool grow(const struct lb_case *c, const struct lb_key *by_high, size_t n)
{
    const struct lb_write *writes = c->writes.items;
    for (size_t i = 1; i < n; i++)
        if ((int64_t)writes[by_high[i].index].token < (int64_t)writes[by_high[i - 1].index].token)
            return false;
    return true;
}

static int judge_writes(struct lb_case *c)
{
    size_t n = c->writes.n;
    const struct lb_write *writes = c->writes.items;
    struct lb_key *low = malloc(n * sizeof *low), *high = malloc(n * sizeof *high);
    uint8_t *reported = calloc(n / 8 + 1, 1);
    bool all_grow = true;
    int rc = low == NULL || high == NULL || reported == NULL || order_writes(c, low, false) != 0 ||
                     order_writes(c, high, true) != 0
                 ? lb_out_of_memory(c)
                 : 0;
    for (size_t i = 0; i < n && rc == 0;) {
        size_t first = i;
        while (i < n && writes[low[i].index].resource == writes[low[first].index].resource)
            i++;
        judge_resource(c, low + first, high + first, i - first, reported);
        all_grow = all_grow && grow(c, high + first, i - first);
    }
    if (rc == 0 && !all_grow)
        rc = judge_own_writes(c, low, reported);
    free(low);
    free(high);
    free(reported);
    return rc;
}

int lb_judge_fenced(struct lb_case *c)
{
    int rc = c->has_tokens ? judge_grants(c) : 0;
    lb_finding_of(c, LB_G_FENCED)->n_tested += c->writes.n;
    if (rc == 0 && c->writes.n > 0)
        rc = judge_writes(c);
    return rc;
}

const struct lb_guarantee_kind lb_guarantee_fenced = {.judge_lock = lb_judge_fenced,
                                                      .judge_queue = lb_judge_fenced,
                                                      .is_last = true,
                                                      .needs_no_grant = true,
                                                      .nothing = "no token was seen"};
