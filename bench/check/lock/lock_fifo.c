/* fifo, for locks: grants follow the order of tickets.
 *
 * Grant b overtook waiter a iff a's ticket is smaller and b was certainly granted before a: b's
 * acquire was answered before the request of a's granted one (tries that were refused do not count:
 * a waits until it is granted, gives up, or its outcome becomes unknown). Tickets are given in
 * order, so a was in line before b, at any times of their answers. They may start again when
 * the line is empty: then the waiters before and after that moment are judged apart. Where tickets
 * contradict the order of their draws otherwise, they say nothing.
 *
 * Allowed overtakes: a resource of capacity K admits the first K in line at any time, so b breaks
 * the order iff it passed a waiter and at least K with smaller tickets were still in line, waiting
 * or holding, when it was granted. A reader may enter from anywhere unless a writer is ahead; so it
 * breaks the order iff it passed a writer, or passed a waiter in front of a writer that was
 * granted: that writer cannot have been granted before the one in front, and not after the reader.
 * All overtakes among these are counted, with the most that one waiter suffered.
 *
 * Growing tickets in order of answers show at once that there was no overtake; resources where they
 * do not are counted with a Fenwick tree over tickets: O(n log n).
 */
#include "judges.h"

#include "order.h"

#include <stdlib.h>

struct person {
    const struct lb_waiter *waiter;
    uint64_t leaves; /* earliest time at which the place in line was left: release, or giving up */
    uint32_t rank;   /* of the ticket */
    uint32_t behind; /* reader: rank of the last granted writer with a smaller ticket; 0: none */
};

/* A Fenwick tree of how many have been put in at each rank. */
struct tree {
    uint32_t *sums;
    uint32_t n;
};

static void tree_add(struct tree *tree, uint32_t rank)
{
    for (uint32_t i = rank + 1; i <= tree->n; i += i & (~i + 1))
        tree->sums[i]++;
}

/* How many below rank. */
static uint32_t tree_below(const struct tree *tree, uint32_t rank)
{
    uint32_t sum = 0;
    for (uint32_t i = rank; i > 0; i -= i & (~i + 1))
        sum += tree->sums[i];
    return sum;
}

struct line {
    struct lb_case *c;
    struct person *people;
    size_t n;
    struct lb_key *by_high; /* grants, latest first */
    struct lb_key *by_low;  /* all, latest first */
    struct lb_key *by_leave;
    struct tree trees[4];
    uint32_t *sums;
    uint32_t capacity;
};

enum { WAITING, WAITING_WRITERS, IN_LINE, GRANTED };

/* The end of the hold that a waiter was granted. */
static uint64_t hold_end(const struct lb_case *c, const struct lb_waiter *waiter)
{
    const struct lb_log_facts *facts = &c->logs[waiter->log];
    const struct lb_hold *holds = lb_holds(c) + facts->first_hold;
    for (size_t i = lb_order_find(holds, facts->n_holds, sizeof *holds, waiter->high);
         i < facts->n_holds; i++)
        if (holds[i].event == waiter->grant && !holds[i].is_piece)
            return holds[i].cut;
    return waiter->high;
}

static void report(struct line *line, const struct lb_waiter *b, uint32_t behind)
{
    struct lb_case *c = line->c;
    struct lb_witness *witness = lb_violation(c, LB_G_FIFO);
    if (witness == NULL)
        return;
    const struct lb_waiter *a = NULL; /* the first in line whom b passed */
    for (size_t i = 0; i < line->n; i++) {
        const struct lb_waiter *w = line->people[i].waiter;
        if (w->low > b->high && (int64_t)w->ticket < (int64_t)b->ticket &&
            (!b->is_shared || !w->is_shared || line->people[i].rank < behind) &&
            (a == NULL || (int64_t)w->ticket < (int64_t)a->ticket))
            a = w;
    }
    if (a == NULL)
        return;
    char at[LB_AT], later[LB_AT];
    lb_witness_add(c, witness, a->log, a->event);
    if (a->grant != LB_NONE)
        lb_witness_add(c, witness, a->log, a->grant);
    lb_witness_add(c, witness, b->log, b->event);
    lb_witness_add(c, witness, b->log, b->grant);
    witness->at_ns = b->high;
    lb_witness_text(witness,
                    "%s with ticket %lld was granted resource %u at %s, before %s "
                    "with ticket %lld, which %s%s",
                    lb_who(c, b->log, LB_WHOM), (long long)b->ticket, b->resource,
                    lb_at(c, b->high, at, sizeof at), lb_who(c, a->log, LB_WHOM),
                    (long long)a->ticket,
                    a->high != LB_NEVER ? "was granted it no earlier than " : "was still waiting",
                    a->high != LB_NEVER ? lb_at(c, a->low, later, sizeof later) : "");
}

/* Finds forbidden overtakes, from the passing side. */
static void judge_grants(struct line *line)
{
    size_t next_low = 0, next_leave = 0;
    for (size_t i = 0; i < line->n; i++) {
        const struct person *b = &line->people[line->by_high[i].index];
        uint64_t at = b->waiter->high;
        if (at == LB_NEVER)
            continue;
        for (; next_low < line->n && line->people[line->by_low[next_low].index].waiter->low > at;
             next_low++) {
            const struct person *a = &line->people[line->by_low[next_low].index];
            tree_add(&line->trees[WAITING], a->rank);
            if (!a->waiter->is_shared)
                tree_add(&line->trees[WAITING_WRITERS], a->rank);
        }
        for (; next_leave < line->n && line->people[line->by_leave[next_leave].index].leaves > at;
             next_leave++)
            tree_add(&line->trees[IN_LINE], line->people[line->by_leave[next_leave].index].rank);
        uint32_t passed =
            tree_below(&line->trees[b->waiter->is_shared ? WAITING_WRITERS : WAITING], b->rank);
        line->c->out->measures.n_overtakes += passed;
        if (b->waiter->is_shared && passed == 0 && line->capacity <= 1)
            passed = tree_below(&line->trees[WAITING], b->behind);
        if (passed > 0 &&
            (b->waiter->is_shared || tree_below(&line->trees[IN_LINE], b->rank) >= line->capacity))
            report(line, b->waiter, b->behind);
    }
}

/* From the suffering side: how often was each passed? */
static void count_suffered(struct line *line)
{
    struct tree *all = &line->trees[WAITING], *writers = &line->trees[WAITING_WRITERS];
    memset(line->sums, 0, 4 * (line->n + 1) * sizeof *line->sums);
    uint32_t n_all = 0, n_writers = 0;
    size_t next = line->n; /* by_high backwards: earliest first */
    for (size_t i = line->n; i-- > 0;) {
        const struct person *a = &line->people[line->by_low[i].index];
        for (;
             next > 0 && line->people[line->by_high[next - 1].index].waiter->high < a->waiter->low;
             next--) {
            const struct person *b = &line->people[line->by_high[next - 1].index];
            if (b->waiter->high == LB_NEVER)
                continue;
            tree_add(all, b->rank);
            n_all++;
            if (!b->waiter->is_shared) {
                tree_add(writers, b->rank);
                n_writers++;
            }
        }
        uint32_t passed = a->waiter->is_shared ? n_writers - tree_below(writers, a->rank + 1)
                                               : n_all - tree_below(all, a->rank + 1);
        if (passed > line->c->out->measures.max_overtakes)
            line->c->out->measures.max_overtakes = passed;
    }
}

/* Positions by key, largest first. */
static void descending(struct lb_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i].key = ~keys[i].key;
    lb_sort(keys, n);
}

static void line_order(struct line *line)
{
    size_t n = line->n;
    for (size_t i = 0; i < n; i++) /* signed order */
        line->by_low[i] = (struct lb_key){
            .key = line->people[i].waiter->ticket ^ (UINT64_C(1) << 63), .index = (uint32_t)i};
    lb_sort(line->by_low, n);
    uint32_t rank = 0;
    for (size_t i = 0; i < n; i++) { /* equal tickets share a rank: neither is ahead */
        if (i > 0 && line->by_low[i].key != line->by_low[i - 1].key)
            rank = (uint32_t)i;
        line->people[line->by_low[i].index].rank = rank;
    }
    uint32_t writer = 0; /* the rank of the last granted writer so far, in order of tickets */
    for (size_t i = 0, first = 0; i < n; i++) {
        if (i > 0 && line->by_low[i].key != line->by_low[i - 1].key)
            for (; first < i; first++) {
                const struct person *p = &line->people[line->by_low[first].index];
                if (!p->waiter->is_shared && p->waiter->high != LB_NEVER)
                    writer = p->rank;
            }
        line->people[line->by_low[i].index].behind = writer;
    }
    for (size_t i = 0; i < n; i++) {
        const struct person *p = &line->people[i];
        line->by_high[i] = (struct lb_key){.key = p->waiter->high, .index = (uint32_t)i};
        line->by_low[i] = (struct lb_key){.key = p->waiter->low, .index = (uint32_t)i};
        line->by_leave[i] = (struct lb_key){.key = p->leaves, .index = (uint32_t)i};
    }
    descending(line->by_high, n);
    descending(line->by_low, n);
    descending(line->by_leave, n);
}

/* Counting who is in line is exact where each place admits one: with readers beside writers, or
 * with several permits per worker, it finds only some of the passed waiters. */
static void note_doubt(struct line *line)
{
    bool mixed = line->c->has_weights;
    for (size_t i = 0; i < line->n; i++)
        mixed = mixed || line->people[i].waiter->is_shared;
    if (mixed && line->capacity > 1)
        line->c->doubt[LB_G_FIFO] = "tickets were granted out of order, which is judged only in "
                                    "part for readers or permits on a capacity above 1";
}

/* keys[0..n): waiters of one resource, from an empty line to the next one. */
static void judge_line(struct lb_case *c, const struct lb_key *keys, size_t n)
{
    const struct lb_waiter *waiters = c->waiters.items;
    uint32_t resource = waiters[keys[0].index].resource;
    struct line line = {.c = c,
                        .n = n,
                        .people = lb_malloc(n * sizeof *line.people),
                        .by_high = lb_malloc(n * sizeof *line.by_high),
                        .by_low = lb_malloc(n * sizeof *line.by_low),
                        .by_leave = lb_malloc(n * sizeof *line.by_leave),
                        .sums = lb_calloc(4 * (n + 1), sizeof *line.sums),
                        .capacity = lb_capacity_of(c->model, resource)};
    for (size_t i = 0; i < n; i++) {
        const struct lb_waiter *w = &waiters[keys[i].index];
        line.people[i] =
            (struct person){.waiter = w, .leaves = w->grant == LB_NONE ? w->low : hold_end(c, w)};
    }
    for (size_t i = 0; i < 4; i++)
        line.trees[i] = (struct tree){.sums = line.sums + i * (n + 1), .n = (uint32_t)n};
    line_order(&line);
    note_doubt(&line);
    judge_grants(&line);
    count_suffered(&line);
    free(line.people);
    free(line.by_high);
    free(line.by_low);
    free(line.by_leave);
    free(line.sums);
}

/* Settles waiters still in line when their log ended: dead, still waiting, or with a cut log. */
static void settle_waiters(struct lb_case *c)
{
    struct lb_waiter *waiters = c->waiters.items;
    bool whole = c->model->complete && !c->history->truncated;
    for (size_t i = 0; i < c->waiters.n; i++) {
        const struct lb_log_facts *facts = &c->logs[waiters[i].log];
        if (waiters[i].low > c->known_ns)
            waiters[i].low = c->known_ns;
        if (waiters[i].low != LB_NEVER)
            continue;
        if (facts->gone_ns != LB_NEVER)
            waiters[i].low = facts->gone_ns;
        else if (!whole)
            waiters[i].low = lb_low(facts->last_ns, lb_slack(c, waiters[i].log));
    }
}

/* keys: by time of the answers. Marks the resources where tickets do not only grow. */
static void find_suspects(const struct lb_case *c, const struct lb_key *keys, uint64_t *largest,
                          bool *is_suspect)
{
    const struct lb_waiter *waiters = c->waiters.items;
    for (size_t i = 0; i < c->waiters.n; i++) {
        const struct lb_waiter *w = &waiters[keys[i].index];
        uint64_t ticket = (w->ticket ^ (UINT64_C(1) << 63));
        if (ticket < largest[w->resource])
            is_suspect[w->resource] = true;
        else if (w->high != LB_NEVER)
            largest[w->resource] = ticket;
    }
}

/* By when it was granted, or left. Where several may hold, a holder is in line until it releases.
 */
static uint64_t gone_by(const struct lb_case *c, const struct lb_waiter *w)
{
    uint64_t end =
        w->high != LB_NEVER && lb_capacity_of(c->model, w->resource) > 1 ? hold_end(c, w) : 0;
    return w->high == LB_NEVER ? w->low : end > w->high ? end : w->high;
}

/* Was a ticket drawn that is smaller than one that had certainly been drawn before? by_low,
 * by_high: waiters by the request for their tickets, and by its answer. */
static bool contradicts(const struct lb_case *c, const struct lb_key *by_low,
                        const struct lb_key *by_high, size_t n)
{
    const struct lb_waiter *waiters = c->waiters.items;
    int64_t largest = INT64_MIN;
    for (size_t i = 0, next = 0; i < n; i++) {
        const struct lb_waiter *w = &waiters[by_low[i].index];
        for (; next < n && by_high[next].key < by_low[i].key; next++)
            if ((int64_t)waiters[by_high[next].index].ticket > largest)
                largest = (int64_t)waiters[by_high[next].index].ticket;
        if ((int64_t)w->ticket < largest)
            return true;
    }
    return false;
}

/* by_low: the waiters of a busy time, by the requests for their tickets. by_high: room for as many.
 */
static void judge_busy(struct lb_case *c, const struct lb_key *by_low, struct lb_key *by_high,
                       size_t n)
{
    const struct lb_waiter *waiters = c->waiters.items;
    for (size_t i = 0; i < n; i++) {
        const struct lb_waiter *w = &waiters[by_low[i].index];
        uint64_t answer_ns = lb_case_event(c, w->log, w->event)->time_ns;
        by_high[i] = (struct lb_key){.key = lb_high(answer_ns, lb_slack(c, w->log)),
                                     .index = by_low[i].index};
    }
    lb_sort(by_high, n);
    if (!contradicts(c, by_low, by_high, n)) {
        judge_line(c, by_low, n);
        return;
    }
    c->doubt[LB_G_FIFO] = "a ticket was smaller than one that was drawn before, while workers were "
                          "in line";
}

/* The waiters of one resource. Sorts keys. */
static void judge_resource(struct lb_case *c, struct lb_key *keys, size_t n)
{
    const struct lb_waiter *waiters = c->waiters.items;
    struct lb_key *by_high = lb_malloc(n * sizeof *by_high);
    uint64_t gone = 0;
    for (size_t i = 0; i < n; i++)
        keys[i].key = waiters[keys[i].index].drawn;
    lb_sort(keys, n);
    for (size_t first = 0, end = 0; first < n; first = end) {
        do {
            const struct lb_waiter *w = &waiters[keys[end++].index];
            uint64_t its = gone_by(c, w);
            gone = its > gone ? its : gone;
        } while (end < n && keys[end].key <= gone);
        judge_busy(c, keys + first, by_high, end - first);
    }
    free(by_high);
}

int lb_judge_lock_fifo(struct lb_case *c)
{
    size_t n = c->waiters.n, n_suspects = 0;
    lb_finding_of(c, LB_G_FIFO)->n_tested = n;
    if (n == 0)
        return 0;
    settle_waiters(c);
    const struct lb_waiter *waiters = c->waiters.items;
    struct lb_key *keys = lb_malloc(n * sizeof *keys);
    uint64_t *largest = lb_calloc((size_t)c->n_resources + 1, sizeof *largest);
    bool *is_suspect = lb_calloc((size_t)c->n_resources + 1, sizeof *is_suspect);
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct lb_key){.key = waiters[i].high, .index = (uint32_t)i};
    lb_sort(keys, n);
    find_suspects(c, keys, largest, is_suspect);
    for (size_t i = 0; i < n; i++)
        if (is_suspect[waiters[i].resource])
            keys[n_suspects++] = (struct lb_key){waiters[i].resource, (uint32_t)i, 0};
    lb_sort(keys, n_suspects);
    for (size_t i = 0; i < n_suspects;) {
        size_t first = i;
        while (i < n_suspects && keys[i].key == keys[first].key)
            i++;
        judge_resource(c, keys + first, i - first);
    }
    free(keys);
    free(largest);
    free(is_suspect);
    return 0;
}
