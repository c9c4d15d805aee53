/* fifo, for queues: items are claimed in the order in which they were put.
 *
 * Let put.ok be at most the claim's ok, and claim.invoke at least the put's invoke (an item is put
 * before it is claimed, wherever in the two operations). b overtook a iff
 *     put_a.ok < put_b.invoke  and  claim_b.ok < claim_a.invoke:
 * a was in the queue before b in every order, and b was taken out before a in every order. If there
 * is no such pair, putting the items in order of the earliest of their puts and claims that these
 * intervals leave is legal (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability
 * proofs", 2013: the order violations of a queue are pairs).
 * An item that was never claimed has claim.invoke = infinity, or the first claim of unknown
 * outcome, which may have taken it. Only the first claim of an item counts: where an item that was
 * given back stands in line is not for this guarantee to say. Items of one put are concurrent, and
 * classes have nothing to do with each other.
 *
 * In order of put.invoke, b is wrong iff the latest claim.invoke among the items whose put.ok
 * is before it is later than claim_b.ok: two sorts in linear time and one pass.
 */
#include "check_internal.h"

#include <stdlib.h>

struct entry {
    uint64_t put_low, put_high, claim_low, claim_high;
    const struct lb_put *put;
    uint32_t item; /* position in c->items; LB_NONE: never claimed */
    uint32_t n;    /* never claimed: how many of the put */
};

static void report(struct lb_case *c, const struct entry *a, const struct entry *b)
{
    const struct lb_item_event *items = c->items.items;
    struct lb_finding *finding = lb_finding_of(c, LB_G_FIFO);
    finding->n_violations++;
    c->out->measures.n_overtakes++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    lb_witness_add(c, witness, a->put->log, a->put->event);
    lb_witness_add(c, witness, b->put->log, b->put->event);
    lb_witness_add(c, witness, items[b->item].log, items[b->item].event);
    if (a->item != LB_NONE)
        lb_witness_add(c, witness, items[a->item].log, items[a->item].event);
    witness->at_ns = b->claim_high;
    char at[LB_AT], before[LB_AT], later[LB_AT];
    lb_witness_text(witness,
                    "item %lld was put only after %s%lld had been put at %s, but claimed by worker "
                    "%u at %s, before the other%s%s",
                    (long long)items[b->item].id, a->item != LB_NONE ? "item " : "an item of put ",
                    (long long)(a->item != LB_NONE ? items[a->item].id : a->put->first),
                    lb_at(c, a->put_high, before, sizeof before),
                    c->history->logs[items[b->item].log].number,
                    lb_at(c, b->claim_high, at, sizeof at),
                    a->item != LB_NONE ? "'s claim was asked for at " : ", which never was",
                    a->item != LB_NONE ? lb_at(c, a->claim_low, later, sizeof later) : "");
}

static int add_claimed(struct lb_case *c, const struct lb_put_index *puts, struct lb_array *entries,
                       uint32_t *n_claimed_of)
{
    const struct lb_claimed *ids = c->claimed.items;
    size_t hint = 0;
    for (size_t i = 0; i < c->claimed.n; i++) {
        const struct lb_put *put = lb_put_find(puts, ids[i].id, &hint);
        if (put == NULL)
            continue; /* a phantom */
        n_claimed_of[put - puts->puts]++;
        struct entry *entry = lb_array_push(entries, sizeof *entry);
        if (entry == NULL)
            return lb_out_of_memory(c);
        *entry = (struct entry){.put_low = put->low,
                                .put_high = put->high < ids[i].high ? put->high : ids[i].high,
                                .claim_low = ids[i].low > put->low ? ids[i].low : put->low,
                                .claim_high = ids[i].high,
                                .put = put,
                                .item = ids[i].first};
    }
    return 0;
}

/* The items of each put that were never claimed are one entry: they share their times. */
static int add_unclaimed(struct lb_case *c, const struct lb_put_index *puts,
                         struct lb_array *entries, const uint32_t *n_claimed_of)
{
    if (!c->model->complete || c->history->truncated)
        return 0; /* the claim may be in what is missing */
    for (size_t i = 0; i < puts->n; i++) {
        const struct lb_put *put = &puts->puts[i];
        if (put->type != LB_EV_OK || n_claimed_of[i] >= put->n)
            continue;
        struct entry *entry = lb_array_push(entries, sizeof *entry);
        if (entry == NULL)
            return lb_out_of_memory(c);
        *entry = (struct entry){.put_low = put->low,
                                .put_high = put->high,
                                .claim_low = LB_NEVER,
                                .claim_high = LB_NEVER,
                                .put = put,
                                .item = LB_NONE,
                                .n = put->n - n_claimed_of[i]};
    }
    return 0;
}

/* Items that are overtaken by one that was claimed by the time (key) of entry extra. */
static int collect_overtaken(struct lb_case *c, const struct entry *entries,
                             const struct lb_key *by_low, const struct lb_key *by_high, size_t n,
                             struct lb_array *overtaken)
{
    const struct entry *first = NULL; /* of those put so late, the one that was claimed first */
    size_t next = n;
    for (size_t i = n; i-- > 0;) {
        const struct entry *a = &entries[by_high[i].index];
        for (; next > 0 && entries[by_low[next - 1].index].put_low > a->put_high; next--) {
            const struct entry *b = &entries[by_low[next - 1].index];
            if (b->item != LB_NONE && (first == NULL || b->claim_high < first->claim_high))
                first = b;
        }
        if (a->item != LB_NONE || first == NULL)
            continue;
        struct lb_key *key = lb_array_push(overtaken, sizeof *key);
        if (key == NULL)
            return lb_out_of_memory(c);
        *key = (struct lb_key){.key = first->claim_high,
                               .index = by_high[i].index,
                               .extra = (uint32_t)(first - entries)};
    }
    return lb_sort(overtaken->items, overtaken->n) == 0 ? 0 : lb_out_of_memory(c);
}

/* Gives the overtaken items, by deadline, to the claims of unknown outcome that can have taken
 * them; what is left was passed by for ever. */
static int judge_unclaimed(struct lb_case *c, const struct entry *entries,
                           const struct lb_key *by_low, const struct lb_key *by_high, size_t n)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    uint32_t class_no = entries[by_low[0].index].put->class_no;
    struct lb_array overtaken = {0};
    struct lb_key *claims = malloc((c->unknown.n + 1) * sizeof *claims);
    int rc = claims == NULL ? lb_out_of_memory(c)
                            : collect_overtaken(c, entries, by_low, by_high, n, &overtaken);
    size_t n_claims = 0, next = 0;
    for (size_t i = 0; i < c->unknown.n && rc == 0; i++)
        if (unknown[i].class_no == class_no)
            claims[n_claims++] = (struct lb_key){.key = unknown[i].low, .index = (uint32_t)i};
    if (rc == 0 && lb_sort(claims, n_claims) != 0)
        rc = lb_out_of_memory(c);
    uint64_t places = 0;
    for (size_t i = 0; i < overtaken.n && rc == 0; i++) {
        const struct lb_key *key = (const struct lb_key *)overtaken.items + i;
        for (; next < n_claims && claims[next].key <= key->key; next++)
            places += unknown[claims[next].index].n;
        uint32_t need = entries[key->index].n;
        if (need > places)
            report(c, &entries[key->index], &entries[key->extra]);
        places -= need < places ? need : places;
    }
    free(claims);
    free(overtaken.items);
    return rc;
}

/* by_low, by_high: entries of one class by put_low and by put_high. */
static int judge_class(struct lb_case *c, const struct entry *entries, const struct lb_key *by_low,
                       const struct lb_key *by_high, size_t n)
{
    const struct entry *latest = NULL;
    size_t next = 0;
    bool all_claimed = true;
    for (size_t i = 0; i < n; i++) {
        const struct entry *b = &entries[by_low[i].index];
        all_claimed = all_claimed && b->item != LB_NONE;
        for (; next < n && entries[by_high[next].index].put_high < b->put_low; next++) {
            const struct entry *a = &entries[by_high[next].index];
            if (a->item != LB_NONE && (latest == NULL || a->claim_low > latest->claim_low))
                latest = a;
        }
        if (latest != NULL && latest->claim_low > b->claim_high)
            report(c, latest, b);
    }
    return all_claimed ? 0 : judge_unclaimed(c, entries, by_low, by_high, n);
}

static int judge_entries(struct lb_case *c, const struct entry *entries, size_t n)
{
    struct lb_key *low = malloc((n + 1) * sizeof *low), *high = malloc((n + 1) * sizeof *high);
    int rc = low == NULL || high == NULL ? LB_E_MEMORY : 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        low[i] = (struct lb_key){.key = entries[i].put_low, .index = (uint32_t)i};
        high[i] = (struct lb_key){.key = entries[i].put_high, .index = (uint32_t)i};
    }
    rc = rc != 0 || lb_sort(low, n) != 0 || lb_sort(high, n) != 0 ? LB_E_MEMORY : 0;
    if (c->classes_differ && rc == 0) { /* stable: by time within each class */
        for (size_t i = 0; i < n; i++) {
            low[i].key = entries[low[i].index].put->class_no;
            high[i].key = entries[high[i].index].put->class_no;
        }
        rc = lb_sort(low, n) != 0 || lb_sort(high, n) != 0 ? LB_E_MEMORY : 0;
    }
    if (rc != 0)
        rc = lb_out_of_memory(c);
    for (size_t i = 0; i < n && rc == 0;) {
        size_t first = i;
        uint32_t class_no = entries[low[i].index].put->class_no;
        while (i < n && (!c->classes_differ || entries[low[i].index].put->class_no == class_no))
            i++;
        rc = judge_class(c, entries, low + first, high + first, i - first);
    }
    free(low);
    free(high);
    return rc;
}

int lb_judge_queue_fifo(struct lb_case *c)
{
    struct lb_put_index puts;
    struct lb_array entries = {0};
    int rc = lb_put_index_init(&puts, c);
    if (rc != 0)
        return rc;
    uint32_t *n_claimed_of = calloc(puts.n + 1, sizeof *n_claimed_of);
    rc = n_claimed_of == NULL ? lb_out_of_memory(c) : add_claimed(c, &puts, &entries, n_claimed_of);
    if (rc == 0)
        rc = add_unclaimed(c, &puts, &entries, n_claimed_of);
    if (rc == 0)
        rc = judge_entries(c, entries.items, entries.n);
    lb_finding_of(c, LB_G_FIFO)->n_tested = c->claimed.n;
    free(n_claimed_of);
    free(entries.items);
    lb_put_index_release(&puts);
    return rc;
}
