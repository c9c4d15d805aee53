/* priority: no item is claimed while a more urgent one waits.
 *
 * An item waits for certain from the answer to its put to the request of its first claim, in the
 * open interval between. A claim takes effect at a moment of its time at which no more urgent item
 * waits. The intervals of more urgent items that overlap make blocks (those that only touch leave a
 * moment between them), so there is such a moment unless the claim lies strictly inside one block.
 * If each claim has one, let it take effect at the first. An item that then waits on after the
 * request of its claim does so inside a block of more urgent items, which less urgent claims have
 * avoided already: so there is an order. Items of one claim have moments of their own here, which
 * can only let a violation pass.
 *
 * Items that may be due later do not wait for certain, nor those that claims of unknown outcome may
 * have had. Where an item that was given back stands in line is not promised.
 */
#include "guarantee_kind.h"
#include "items.h"
#include "order.h"

#include <stdio.h>
#include <stdlib.h>

#define PRIORITY_UNKNOWN INT64_MAX /* an enumerator would have to fit an int */

struct one {
    const struct lb_id *id;
    int64_t rank;      /* less is more urgent; PRIORITY_UNKNOWN */
    uint64_t from, to; /* it waits for certain; from not before to: never */
    uint64_t end;      /* the latest `to`: of an unclaimed item, LB_NEVER */
};

struct block {
    uint64_t from, to;
};

/* One pass over the items. */
struct pass {
    struct lb_case *c;
    struct one *all;
    size_t n;
    bool is_excused; /* claims of unknown outcome had what they can have had */
    bool is_closed;  /* intervals contain their ends */
    bool is_tried;   /* violations are counted, and not reported */
    struct lb_array blocks, level, merged; /* struct block: in order; those of one rank */
    uint64_t n_found;
};

/* --- the items --- */

static uint64_t claimed_low(const struct lb_case *c, const struct lb_id *id)
{
    uint64_t low = id->claim_low > id->put_low ? id->claim_low : id->put_low;
    return low < c->known_ns ? low : c->known_ns;
}

static bool is_due(const struct lb_case *c, uint64_t id)
{
    uint32_t due = 0;
    return c->attributes[LB_A_DUE].n == 0 || (lb_attribute_of(c, LB_A_DUE, id, &due) && due == 0);
}

static struct one one_of(const struct lb_case *c, const struct lb_id *id, uint64_t number)
{
    uint32_t value;
    struct one one = {.id = id, .rank = PRIORITY_UNKNOWN, .from = LB_NEVER, .end = LB_NEVER};
    if (lb_attribute_of(c, LB_A_PRIORITY, number, &value))
        one.rank = c->model->priority == LB_PRIORITY_HIGHEST ? -(int64_t)(int32_t)value
                                                             : (int64_t)(int32_t)value;
    if (id->is_claimed)
        one.end = claimed_low(c, id);
    else if (!c->model->complete || c->history->truncated)
        return one; /* the missing part may have its claim */
    if (lb_id_acknowledged(id) && is_due(c, number))
        one.from = id->put_high;
    return one;
}

static int by_rank(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    if (one->id->class_no != other->id->class_no)
        return one->id->class_no > other->id->class_no ? 1 : -1;
    if (one->rank != other->rank)
        return one->rank > other->rank ? 1 : -1;
    return (one->id > other->id) - (one->id < other->id);
}

static void collect(const struct lb_case *c, struct lb_array *all)
{
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        for (uint32_t i = 0; i < id->n && id->is_put && !id->is_put_again; i++) {
            struct one *slot = lb_array_push(all, sizeof *slot);
            *slot = one_of(c, id, id->id + i);
        }
    if (all->n > 0)
        qsort(all->items, all->n, sizeof(struct one), by_rank);
}

/* --- violations --- */

/* One more urgent item that waited all the time; NULL: now one, now another. */
static const struct one *one_waiting(const struct pass *pass, const struct one *claimed)
{
    for (const struct one *a = claimed; a-- > pass->all;)
        if (a->id->class_no == claimed->id->class_no && a->rank < claimed->rank &&
            a->from < claimed->end && a->to > claimed->id->claim_high)
            return a;
    return NULL;
}

static void report(const struct pass *pass, const struct one *claimed)
{
    struct lb_case *c = pass->c;
    const struct lb_id *id = claimed->id;
    struct lb_witness *witness = lb_violation(c, LB_G_PRIORITY);
    if (witness == NULL)
        return;
    const int64_t sign = c->model->priority == LB_PRIORITY_HIGHEST ? -1 : 1;
    const struct one *a = one_waiting(pass, claimed);
    char asked[LB_AT], at[LB_AT], put[LB_AT], later[LB_AT];
    lb_witness_add(c, witness, id->claim_log, id->claim_event);
    witness->at_ns = id->claim_high;
    if (a == NULL) {
        lb_witness_text(witness,
                        "item %s of priority %lld was claimed by %s, requested at %s and answered "
                        "at %s, though at each moment between some more urgent item waited",
                        LB_ITEM_OF(c, id->id), (long long)sign * claimed->rank,
                        lb_who(c, id->claim_log, LB_WHOM), lb_at(c, claimed->end, asked, LB_AT),
                        lb_at(c, id->claim_high, at, LB_AT));
        return;
    }
    lb_witness_add(c, witness, a->id->put_log, a->id->put_event);
    if (a->id->is_claimed)
        lb_witness_add(c, witness, a->id->claim_log, a->id->claim_event);
    lb_witness_text(witness,
                    "item %s of priority %lld was claimed by %s, requested at %s and answered at "
                    "%s, while item %s of priority %lld waited: it was put by %s, and %s%s",
                    LB_ITEM_OF(c, id->id), (long long)sign * claimed->rank,
                    lb_who(c, id->claim_log, LB_WHOM), lb_at(c, claimed->end, asked, LB_AT),
                    lb_at(c, id->claim_high, at, LB_AT), LB_ITEM_OF(c, a->id->id),
                    (long long)sign * a->rank, lb_at(c, a->from, put, LB_AT),
                    a->id->is_claimed ? "its claim was requested at " : "it never was claimed",
                    a->id->is_claimed ? lb_at(c, a->to, later, LB_AT) : "");
}

/* --- a pass --- */

/* Appends a block that begins no earlier than the last. */
static void append(struct lb_array *blocks, const struct block *block)
{
    struct block *last = blocks->n > 0 ? (struct block *)blocks->items + blocks->n - 1 : NULL;
    if (last != NULL && block->from < last->to) {
        last->to = block->to > last->to ? block->to : last->to;
        return;
    }
    last = lb_array_push(blocks, sizeof *last);
    *last = *block;
}

/* Adds the intervals of the level to the blocks. */
static void add_level(struct pass *pass)
{
    const struct block *old = pass->blocks.items, *new = pass->level.items;
    size_t i = 0, k = 0;
    if (pass->level.n == 0)
        return;
    qsort(pass->level.items, pass->level.n, sizeof *new, lb_order_u64);
    pass->merged.n = 0;
    while (i < pass->blocks.n || k < pass->level.n) {
        bool is_old = k == pass->level.n || (i < pass->blocks.n && old[i].from <= new[k].from);
        append(&pass->merged, is_old ? &old[i++] : &new[k++]);
    }
    struct lb_array spare = pass->blocks;
    pass->blocks = pass->merged;
    pass->merged = spare;
    pass->level.n = 0;
}

/* True if all the time from the first to the last is strictly inside of one block. */
static bool lies_inside(const struct pass *pass, uint64_t first, uint64_t last)
{
    const struct block *blocks = pass->blocks.items;
    size_t n = lb_order_find(blocks, pass->blocks.n, sizeof *blocks, first); /* begin before it */
    return n > 0 && blocks[n - 1].to > last;
}

/* Before which time no claim of unknown outcome can have had an item, or taken it for good. */
static uint64_t untouched(const struct pass *pass, bool is_claimed)
{
    const struct lb_unknown_claim *unknown = pass->c->unknown.items;
    uint64_t time = LB_NEVER;
    for (size_t i = 0; i < pass->c->unknown.n && pass->is_excused; i++)
        if ((!is_claimed || !unknown[i].is_final) && unknown[i].low < time)
            time = unknown[i].low;
    return time;
}

static void judge_one(struct pass *pass, struct one *one)
{
    uint64_t most = untouched(pass, one->id->is_claimed);
    one->to = one->end < most ? one->end : most;
    if (one->id->is_claimed && one->end <= one->id->claim_high && /* else it is a phantom */
        lies_inside(pass, one->end, one->id->claim_high)) {
        pass->n_found++;
        if (!pass->is_tried)
            report(pass, one);
    }
    if (one->from >= one->to)
        return;
    struct block *block = lb_array_push(&pass->level, sizeof *block);
    *block = (struct block){one->from, one->to};
    if (pass->is_closed) {
        block->from -= block->from > 0;
        block->to += block->to < LB_NEVER;
    }
}

/* Counts the claims that have no moment. */
static void run_pass(struct pass *pass)
{
    pass->n_found = 0;
    for (size_t first = 0, end; first < pass->n; first = end) {
        const struct one *begin = &pass->all[first];
        if (first == 0 || begin[-1].id->class_no != begin->id->class_no)
            pass->blocks.n = 0;
        for (end = first; end < pass->n && pass->all[end].rank == begin->rank &&
                          pass->all[end].id->class_no == begin->id->class_no;
             end++)
            if (begin->rank != PRIORITY_UNKNOWN)
                judge_one(pass, &pass->all[end]);
        add_level(pass);
    }
    free(pass->blocks.items);
    free(pass->level.items);
    free(pass->merged.items);
    pass->blocks = pass->level = pass->merged = (struct lb_array){0};
}

/* How many claims took an item while a less urgent one waited: nothing else shows an order. */
static void count_choices(struct pass *pass)
{
    pass->is_tried = true;
    for (size_t i = 0; i < pass->n; i++)
        pass->all[i].rank =
            pass->all[i].rank == PRIORITY_UNKNOWN ? PRIORITY_UNKNOWN : -pass->all[i].rank;
    if (pass->n > 0)
        qsort(pass->all, pass->n, sizeof *pass->all, by_rank);
    run_pass(pass);
}

/* Without a violation for certain: is there one if nothing excuses it? */
static void find_doubts(struct pass *pass)
{
    struct lb_case *c = pass->c;
    bool is_unsure = false;
    pass->is_tried = true;
    pass->is_excused = false;
    if (c->unknown.n > 0)
        run_pass(pass);
    if (pass->n_found > 0)
        c->doubt[LB_G_PRIORITY] = "a claim of unknown outcome may have had the more urgent items";
    if (!c->has_queue_ties)
        return;
    /* A worker's own order within a tick can only add to these. */
    for (size_t i = 0; i < c->history->n_logs; i++)
        is_unsure = is_unsure || lb_slack(c, (uint32_t)i) > 0;
    pass->is_closed = true;
    run_pass(pass);
    if (is_unsure || pass->n_found > 0)
        c->doubt[LB_G_PRIORITY] =
            "a worker put or claimed several items within a tick of the clock";
    pass->is_closed = false;
}

static int judge(struct lb_case *c)
{
    struct lb_array all = {0};
    struct lb_finding *finding = lb_finding_of(c, LB_G_PRIORITY);
    if (c->model->priority == LB_PRIORITY_NONE || (c->model->claims & LB_G_BIT(LB_G_PRIORITY)) == 0)
        return 0;
    collect(c, &all);
    struct pass pass = {.c = c, .all = all.items, .n = all.n, .is_excused = true};
    for (size_t i = 0; i < pass.n; i++)
        if (pass.all[i].rank == PRIORITY_UNKNOWN)
            c->doubt[LB_G_PRIORITY] = "the history does not say the priority of each item";
    run_pass(&pass);
    finding->n_tested = pass.n_found;
    if (pass.n_found == 0)
        find_doubts(&pass);
    pass.is_excused = true;
    count_choices(&pass);
    finding->n_tested += pass.n_found;
    free(all.items);
    return 0;
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->priority == LB_PRIORITY_NONE
               ? "it is not known which priority is urgent (-- priority: highest-first)"
           : c->attributes[LB_A_PRIORITY].n == 0
               ? "the history does not say the priorities of items"
               : c->doubt[LB_G_PRIORITY];
}

/* What keeps an item from being claimed, without the history showing it. */
static const char *overrule(const struct lb_case *c, char *buf, size_t size)
{
    const char *due = c->model->doubts[LB_DOUBT_DUE].reason;
    if (lb_wants_limits(c))
        snprintf(buf, size, "more urgent items may wait for their group or key");
    else if (due[0] != '\0' && c->attributes[LB_A_DUE].n == 0)
        snprintf(buf, size, "more urgent items may not have been due");
    return buf;
}

const struct lb_guarantee_kind lb_guarantee_priority = {
    .judge_queue = judge,
    .cannot_say = cannot_say,
    .nothing = "no item was claimed while one of another priority waited",
    .overrule = overrule};
