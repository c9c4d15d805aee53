/* fifo, for queues: items are claimed in the order in which they were put.
 *
 * Let put.ok be at most the claim's ok, and claim.invoke at least the put's invoke (an item is put
 * before it is claimed, wherever in the two operations). b overtook a iff
 *     put_a.ok < put_b.invoke  and  claim_b.ok < claim_a.invoke:
 * a was in the queue before b in every order, and b was taken out before a in every order. If there
 * is no such pair, putting the items in order of the earliest of their puts and claims that these
 * intervals leave is legal (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability
 * proofs", 2013: the order violations of a queue are pairs).
 * An item that was never claimed has claim.invoke = infinity. Only the first claim of an item
 * counts: where an item that was given back stands in line is not for this guarantee to say. Items
 * of one put are concurrent, and classes have nothing to do with each other.
 *
 * The first claim of an item may be one of unknown outcome: its claim.invoke is then that of the
 * unknown one, which took it for good, or gave it back before the claim that is known. That only
 * ever makes claim.invoke smaller, and no b is wrong for it that was not wrong before. So a is
 * excused iff an unknown claim was invoked by the earliest claim_b.ok of those b that were put
 * after a (its deadline), and each unknown claim excuses as many items as it asked for: given out
 * by deadline, they go as far as they can. One that takes for good (a dequeue) excuses only
 * unclaimed items, and such items use it first.
 *
 * A worker's own puts, and claims, are in order also where their times are equal: queue_ties.c.
 *
 * In order of put.invoke, b is wrong iff the latest claim.invoke among the items whose put.ok
 * is before it is later than claim_b.ok: two sorts in linear time and one pass.
 *
 * Most histories need no sort. Time is cut into as many slices as there are items; each keeps the
 * latest claim.invoke of the items with a put.ok in it or before. If no item was claimed before the
 * latest of the slice of its own put's request, then none was before the latest of the items with a
 * put.ok before that request, which are fewer: nothing was overtaken. For a few that were, the
 * items with a put.ok in that same slice are compared one by one.
 */
#include "guarantee_kind.h"
#include "judges.h"

#include <stdlib.h>

/* When the item was certainly in the queue. */
static uint64_t put_high(const struct lb_id *id)
{
    return id->is_claimed && id->claim_high < id->put_high ? id->claim_high : id->put_high;
}

/* The earliest time at which it can have been taken out; LB_NEVER. */
static uint64_t claim_low(const struct lb_case *c, const struct lb_id *id)
{
    if (!id->is_claimed)
        return LB_NEVER;
    uint64_t low = id->claim_low > id->put_low ? id->claim_low : id->put_low;
    return low < c->known_ns ? low : c->known_ns; /* it may not have been the first claim */
}

static bool counts(const struct lb_case *c, const struct lb_id *id)
{
    if (!id->is_put || id->is_put_again) /* a phantom; two items of one name */
        return false;
    /* The claim of an unclaimed item may be in the missing part. */
    return id->is_claimed ||
           (id->put_high != LB_NEVER && c->model->complete && !c->history->truncated);
}

static void report(struct lb_case *c, const struct lb_id *a, const struct lb_id *b)
{
    c->out->measures.n_overtakes++;
    struct lb_witness *witness = lb_violation(c, LB_G_FIFO);
    if (witness == NULL)
        return;
    lb_witness_add(c, witness, a->put_log, a->put_event);
    lb_witness_add(c, witness, b->put_log, b->put_event);
    lb_witness_add(c, witness, b->claim_log, b->claim_event);
    if (a->is_claimed)
        lb_witness_add(c, witness, a->claim_log, a->claim_event);
    witness->at_ns = b->claim_high;
    char at[LB_AT], before[LB_AT], later[LB_AT];
    lb_witness_text(witness,
                    "item %s was put only after item %s had been put at %s, but claimed by "
                    "%s at %s, before the other%s%s",
                    LB_ITEM_OF(c, b->id), LB_ITEM_OF(c, a->id),
                    lb_at(c, put_high(a), before, sizeof before), lb_who(c, b->claim_log, LB_WHOM),
                    lb_at(c, b->claim_high, at, sizeof at),
                    a->is_claimed ? "'s claim was requested at " : ", which never was",
                    a->is_claimed ? lb_at(c, claim_low(c, a), later, sizeof later) : "");
}

/* Items that others overtook: the unclaimed ones, or all. Each comes with the first claimed one of
 * those put after it (extra), and the time of that claim (key). */
static void collect_overtaken(struct lb_case *c, const struct lb_key *by_low,
                              const struct lb_key *by_high, size_t n, bool all,
                              struct lb_array *overtaken)
{
    const struct lb_id *first = NULL; /* of those put so late, the one that was claimed first */
    size_t next = n;
    for (size_t i = n; i-- > 0;) {
        const struct lb_id *a = &c->ids[by_high[i].index];
        for (; next > 0 && c->ids[by_low[next - 1].index].put_low > put_high(a); next--) {
            const struct lb_id *b = &c->ids[by_low[next - 1].index];
            if (b->is_claimed && (first == NULL || b->claim_high < first->claim_high))
                first = b;
        }
        if (first == NULL || (a->is_claimed && !all) || claim_low(c, a) <= first->claim_high)
            continue;
        struct lb_key *key = lb_array_push(overtaken, sizeof *key);
        *key = (struct lb_key){.key = first->claim_high,
                               .index = by_high[i].index,
                               .extra = (uint32_t)(first - c->ids)};
    }
    lb_sort(overtaken->items, overtaken->n);
}

/* The claims of unknown outcome of a class, by invoke. */
static void collect_unknown(struct lb_case *c, uint32_t class_no, struct lb_array *claims)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    for (size_t i = 0; i < c->unknown.n; i++) {
        if (unknown[i].class_no != class_no)
            continue;
        struct lb_key *key = lb_array_push(claims, sizeof *key);
        *key = (struct lb_key){.key = unknown[i].low, .index = (uint32_t)i};
    }
    lb_sort(claims->items, claims->n);
}

/* How many items the claims that are known of so far can have taken: lent, or for good. */
struct places {
    uint64_t lent, final;
};

static uint64_t use(uint64_t *places, uint64_t wanted)
{
    uint64_t n = wanted < *places ? wanted : *places;
    *places -= n;
    return wanted - n;
}

/* Gives the overtaken items, by deadline, to the claims of unknown outcome that can have taken
 * them. Of the rest, unclaimed ones were passed by for ever; the others are set in accused. */
static void excuse(struct lb_case *c, const struct lb_array *overtaken,
                   const struct lb_array *claims, bool *accused)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    const struct lb_key *items = overtaken->items, *by_low = claims->items;
    struct places places = {0};
    for (size_t i = 0, next = 0; i < overtaken->n; i++) {
        const struct lb_id *a = &c->ids[items[i].index];
        for (; next < claims->n && by_low[next].key <= items[i].key; next++) {
            const struct lb_unknown_claim *claim = &unknown[by_low[next].index];
            *(claim->is_final ? &places.final : &places.lent) += claim->n;
            if (claim->low == items[i].key)
                c->doubt[LB_G_FIFO] = "a claim of unknown outcome may, or may not, have come "
                                      "before another within a tick of the clock";
        }
        uint64_t need = a->is_claimed ? 1 : use(&places.final, a->n);
        need = use(&places.lent, need);
        c->is_fifo_excused = c->is_fifo_excused || need == 0;
        if (need > 0 && a->is_claimed)
            accused[items[i].index] = true;
        else if (need > 0)
            report(c, a, &c->ids[items[i].extra]);
    }
}

/* Judges unclaimed items; with claims of unknown outcome, all. */
static void judge_overtaken(struct lb_case *c, const struct lb_key *by_low,
                            const struct lb_key *by_high, size_t n, bool *accused)
{
    struct lb_array overtaken = {0}, claims = {0};
    collect_overtaken(c, by_low, by_high, n, accused != NULL, &overtaken);
    collect_unknown(c, c->ids[by_low[0].index].class_no, &claims);
    excuse(c, &overtaken, &claims, accused);
    free(claims.items);
    free(overtaken.items);
}

/* by_low, by_high: ids of one class by the invoke and by the ok of their put. accused: of all ids,
 * those that no claim of unknown outcome excuses; NULL: no such claims. */
static void judge_class(struct lb_case *c, const struct lb_key *by_low,
                        const struct lb_key *by_high, size_t n, bool *accused)
{
    const struct lb_id *latest = NULL;
    uint64_t n_before = lb_finding_of(c, LB_G_FIFO)->n_violations;
    size_t next = 0;
    bool all_claimed = true;
    for (size_t i = 0; i < n && all_claimed; i++)
        all_claimed = c->ids[by_low[i].index].is_claimed;
    if (!all_claimed || accused != NULL)
        judge_overtaken(c, by_low, by_high, n, accused);
    for (size_t i = 0; i < n; i++) {
        const struct lb_id *b = &c->ids[by_low[i].index];
        for (; next < n && put_high(&c->ids[by_high[next].index]) < b->put_low; next++) {
            const struct lb_id *a = &c->ids[by_high[next].index];
            bool counted = a->is_claimed && (accused == NULL || accused[by_high[next].index]);
            if (counted && (latest == NULL || claim_low(c, a) > claim_low(c, latest)))
                latest = a;
        }
        if (latest != NULL && b->is_claimed && claim_low(c, latest) > b->claim_high)
            report(c, latest, b);
    }
    bool is_found = lb_finding_of(c, LB_G_FIFO)->n_violations > n_before;
    /* In a cut history it is unknown which claim was the first. */
    if (is_found || !c->has_queue_ties || c->history->truncated)
        return;
    lb_judge_queue_ties(c, by_low, n);
}

/* All ids that count, by class, in order of put.invoke and of put.ok. */
static void judge_sorted(struct lb_case *c, size_t n_ids)
{
    struct lb_key *low = lb_malloc((n_ids + 1) * sizeof *low);
    struct lb_key *high = lb_malloc((n_ids + 1) * sizeof *high);
    bool *accused = c->unknown.n > 0 ? lb_calloc(c->n_ids, sizeof *accused) : NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->n_ids; i++) {
        const struct lb_id *id = &c->ids[i];
        if (!counts(c, id))
            continue;
        low[n] = (struct lb_key){.key = id->put_low, .index = (uint32_t)i};
        high[n++] = (struct lb_key){.key = put_high(id), .index = (uint32_t)i};
    }
    lb_sort(low, n);
    lb_sort(high, n);
    if (c->classes_differ) { /* stable: by time within each class */
        for (size_t i = 0; i < n; i++) {
            low[i].key = c->ids[low[i].index].class_no;
            high[i].key = c->ids[high[i].index].class_no;
        }
        lb_sort(low, n);
        lb_sort(high, n);
    }
    for (size_t i = 0; i < n;) {
        size_t first = i;
        uint32_t class_no = c->ids[low[i].index].class_no;
        while (i < n && (!c->classes_differ || c->ids[low[i].index].class_no == class_no))
            i++;
        judge_class(c, low + first, high + first, i - first, accused);
    }
    free(accused);
    free(low);
    free(high);
}

/* --- without a sort --- */

struct slices {
    uint64_t *latest; /* claim.invoke of items put in each slice, or before */
    size_t n;
    uint64_t from;
    unsigned shift; /* a slice is 2^shift ns long */
};

static size_t slice_of(const struct slices *slices, uint64_t time_ns)
{
    return (size_t)((time_ns - slices->from) >> slices->shift);
}

/* Room for every put.invoke and put.ok between from and to. */
static void slices_init(struct slices *slices, uint64_t from, uint64_t to, size_t n)
{
    *slices = (struct slices){.from = from};
    while ((to - from) >> slices->shift > n)
        slices->shift++;
    slices->n = slice_of(slices, to) + 1;
    slices->latest = lb_calloc(slices->n, sizeof *slices->latest);
}

/* Items that are claimed before the latest of their slice, and which slices these are. */
struct suspects {
    struct lb_array ids; /* const struct lb_id * */
    uint64_t *slices;    /* a bit each */
};

static bool is_marked(const struct suspects *suspects, size_t slice)
{
    return (suspects->slices[slice / 64] >> slice % 64 & 1) != 0;
}

static void fill_slices(const struct lb_case *c, struct slices *slices)
{
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        if (!counts(c, id))
            continue;
        uint64_t *latest = &slices->latest[slice_of(slices, put_high(id))];
        *latest = claim_low(c, id) > *latest ? claim_low(c, id) : *latest;
    }
    for (size_t i = 1; i < slices->n; i++)
        if (slices->latest[i] < slices->latest[i - 1])
            slices->latest[i] = slices->latest[i - 1];
}

/* Equal times are no order: they may be one worker's, one after the other. Returns whether more can
 * be overtaken than suspects tell. */
static bool find_suspects(const struct lb_case *c, const struct slices *slices,
                          struct suspects *suspects)
{
    enum { MOST = 256 };
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        if (!counts(c, id) || !id->is_claimed)
            continue;
        size_t slice = slice_of(slices, id->put_low);
        if (id->claim_high > slices->latest[slice])
            continue;
        if ((slice > 0 && id->claim_high <= slices->latest[slice - 1]) || suspects->ids.n == MOST)
            return true;
        const struct lb_id **slot = lb_array_push(&suspects->ids, sizeof *slot);
        *slot = id;
        suspects->slices[slice / 64] |= UINT64_C(1) << slice % 64;
    }
    return false;
}

/* May one of them have overtaken another item? Then that was put in the same slice. */
static bool have_overtaken(const struct lb_case *c, const struct slices *slices,
                           const struct suspects *suspects)
{
    const struct lb_id *const *ids = suspects->ids.items;
    for (const struct lb_id *a = c->ids; a < c->ids + c->n_ids; a++) {
        if (!counts(c, a) || !is_marked(suspects, slice_of(slices, put_high(a))))
            continue;
        for (size_t i = 0; i < suspects->ids.n; i++)
            if (put_high(a) <= ids[i]->put_low && ids[i]->claim_high <= claim_low(c, a))
                return true;
    }
    return false;
}

/* May an item have been overtaken? */
static bool is_suspect(const struct lb_case *c, struct slices *slices)
{
    struct suspects suspects = {.slices = lb_calloc(slices->n / 64 + 1, sizeof *suspects.slices)};
    fill_slices(c, slices);
    bool may_be = find_suspects(c, slices, &suspects) ||
                  (suspects.ids.n > 0 && have_overtaken(c, slices, &suspects));
    free(suspects.ids.items);
    free(suspects.slices);
    return may_be;
}

static int judge_queue_fifo(struct lb_case *c)
{
    struct slices slices;
    uint64_t from = UINT64_MAX, to = 0, n_claimed = 0;
    size_t n = 0;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        n_claimed += id->is_claimed;
        if (!counts(c, id))
            continue;
        n++;
        /* A phantom's claim may be answered before its put's request. */
        uint64_t low = id->put_low, high = put_high(id);
        from = low < from ? low : from;
        from = high < from ? high : from;
        to = low > to ? low : to;
        to = high > to ? high : to;
    }
    lb_finding_of(c, LB_G_FIFO)->n_tested = n_claimed;
    if (n == 0)
        return 0;
    slices_init(&slices, from, to, n);
    bool is_unsure = false; /* times that were widened do not show a worker's own order */
    for (size_t i = 0; i < c->history->n_logs; i++)
        is_unsure = is_unsure || lb_slack(c, (uint32_t)i) > 0;
    if (is_unsure || is_suspect(c, &slices))
        judge_sorted(c, n);
    free(slices.latest);
    return 0;
}

static const char *cannot_say(const struct lb_case *c)
{
    if (c->out->findings[LB_G_FIFO].n_tested > 0)
        return NULL;
    return c->model->queue ? "nothing was claimed" : "no worker drew a ticket";
}

const struct lb_guarantee_kind lb_guarantee_fifo = {.judge_lock = lb_judge_lock_fifo,
                                                    .judge_queue = judge_queue_fifo,
                                                    .has_shortcut = true,
                                                    .cannot_say = cannot_say};
