/* Were the answers "empty" of a queue justified? A rate; and, if the queue is to be judged
 * strictly, a part of fifo.
 *
 * empty, of a queue: justified iff there was a moment of the claim at which no item was certainly
 * there. An item is there for certain in the open interval (put's ok, first claim's invoke);
 * intervals that overlap make blocks (those that only touch leave a moment between them), and the
 * answer is not justified iff it lies strictly inside one block.
 *
 * Strictly: with no-duplicate, no phantom and fifo, this is all that a linearizable queue promises
 * (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", 2013: an "empty" has
 * no place iff a chain of items covers it, each put before the one before it was claimed). Where it
 * is not known when the queue was empty, it is not tested.
 */
#include "judges.h"
#include "scan_logs.h"

#include <stdio.h>
#include <stdlib.h>

struct stay {
    uint64_t from, to;
    uint32_t class_no;
};

static void add_stay(struct lb_array *stays, uint64_t from, uint64_t to, uint32_t class_no)
{
    if (from >= to)
        return;
    struct stay *stay = lb_array_push(stays, sizeof *stay);
    *stay = (struct stay){from, to, class_no};
}

/* When items were there for certain; or (not excused) if claims of unknown outcome took nothing. */
static void collect_stays(const struct lb_case *c, bool excused, struct lb_array *stays)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    /* A claim of unknown outcome may have taken an unclaimed item, or have had an item for a
     * while. */
    uint64_t taken = LB_NEVER, lent = LB_NEVER;
    for (size_t i = 0; i < c->unknown.n && excused; i++) {
        taken = unknown[i].low < taken ? unknown[i].low : taken;
        lent = !unknown[i].is_final && unknown[i].low < lent ? unknown[i].low : lent;
    }
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        uint64_t to = !id->is_claimed ? taken : id->claim_low < lent ? id->claim_low : lent;
        if (lb_id_acknowledged(id))
            add_stay(stays, id->put_high, to, id->class_no);
    }
}

/* Stays by class and time, those that overlap made one. */
static void merge_stays(const struct lb_array *stays, struct lb_array *blocks)
{
    const struct stay *s = stays->items;
    struct lb_key *keys = lb_malloc((stays->n + 1) * sizeof *keys);
    for (size_t i = 0; i < stays->n; i++)
        keys[i] = (struct lb_key){.key = s[i].from, .index = (uint32_t)i};
    lb_sort(keys, stays->n);
    for (size_t i = 0; i < stays->n; i++)
        keys[i].key = s[keys[i].index].class_no;
    lb_sort(keys, stays->n);
    struct stay *last = NULL;
    for (size_t i = 0; i < stays->n; i++) {
        const struct stay *stay = &s[keys[i].index];
        if (last != NULL && last->class_no == stay->class_no && stay->from < last->to) {
            last->to = stay->to > last->to ? stay->to : last->to;
            continue;
        }
        last = lb_array_push(blocks, sizeof *last);
        *last = (struct stay){stay->from, stay->to, stay->class_no};
    }
    free(keys);
}

/* Is there a block that the answer lies strictly inside of? Blocks are in order. */
static bool is_inside(const struct lb_array *blocks, const struct lb_refusal *refusal)
{
    const struct stay *b = blocks->items;
    size_t low = 0, high = blocks->n; /* the blocks that begin before the answer's claim */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b[middle].class_no < refusal->object ||
            (b[middle].class_no == refusal->object && b[middle].from < refusal->low))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && b[low - 1].class_no == refusal->object && b[low - 1].to > refusal->high;
}

/* --- as a violation of fifo --- */

/* An acknowledged item that was certainly there all the time; NULL: now this one, now that. */
static const struct lb_id *one_inside(const struct lb_case *c, const struct lb_refusal *refusal)
{
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        if (lb_id_acknowledged(id) && id->class_no == refusal->object &&
            id->put_high < refusal->low && (!id->is_claimed || id->claim_low > refusal->high))
            return id;
    return NULL;
}

static void report(struct lb_case *c, const struct lb_refusal *refusal)
{
    struct lb_witness *witness = lb_violation(c, LB_G_FIFO);
    if (witness == NULL)
        return;
    char asked[LB_AT], at[LB_AT], put[LB_AT], item[120] = "at each moment some item";
    const struct lb_id *id = one_inside(c, refusal);
    lb_witness_add(c, witness, refusal->log, refusal->event);
    if (id != NULL) {
        lb_witness_add(c, witness, id->put_log, id->put_event);
        if (id->is_claimed)
            lb_witness_add(c, witness, id->claim_log, id->claim_event);
        snprintf(item, sizeof item, "item %s, put by %s,", LB_ITEM_OF(c, id->id),
                 lb_at(c, id->put_high, put, sizeof put));
    }
    witness->at_ns = refusal->high;
    lb_witness_text(witness,
                    "%s asked for an item at %s and was answered by %s that there was none, though "
                    "%s was in the queue all the time",
                    lb_who(c, refusal->log, LB_WHOM), lb_at(c, refusal->low, asked, sizeof asked),
                    lb_at(c, refusal->high, at, sizeof at), item);
}

/* Did items come back into the queue for certain? Then there was more in it than is known here. */
static bool came_back(const struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    const struct lb_item_record *items = c->items.items;
    if (c->has_reopened)
        return true;
    for (size_t i = 0; i < c->world.n; i++)
        if (world[i].type == LB_EV_OK && world[i].op == LB_OP_RECOVER)
            return true;
    for (size_t i = 0; i < c->items.n; i++)
        if (items[i].type == LB_EV_OK &&
            (items[i].op == LB_OP_FREE || items[i].op == LB_OP_CLEAR_ERROR))
            return true;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        if (id->is_claimed_again)
            return true;
    return false;
}

/* What these answers leave open; NULL: nothing. excused: claims of unknown outcome must have taken
 * something for some of them to be right. */
static const char *strict_doubt(const struct lb_case *c, bool excused)
{
    if (came_back(c) || c->model->lease)
        return "items came back into the queue: when it was empty is not judged";
    if (excused || c->is_fifo_excused)
        return "claims of unknown outcome may have taken items: when it was empty is not judged";
    if (c->has_queue_ties)
        return "a worker did several things within one tick of the clock: when the queue was empty "
               "is not judged";
    return NULL;
}

/* The blocks, in order. */
static void collect_blocks(const struct lb_case *c, bool excused, struct lb_array *blocks)
{
    struct lb_array stays = {0};
    collect_stays(c, excused, &stays);
    merge_stays(&stays, blocks);
    free(stays.items);
}

/* Is an answer right only if claims of unknown outcome took something? */
static bool needs_unknown(const struct lb_case *c)
{
    const struct lb_refusal *refusals = c->refusals.items;
    struct lb_array blocks = {0};
    bool needs = false;
    if (c->unknown.n == 0)
        return false;
    collect_blocks(c, false, &blocks);
    for (size_t i = 0; i < c->refusals.n && !needs; i++)
        needs = is_inside(&blocks, &refusals[i]);
    free(blocks.items);
    return needs;
}

void lb_judge_empty(struct lb_case *c)
{
    const struct lb_refusal *refusals = c->refusals.items;
    struct lb_array blocks = {0};
    collect_blocks(c, true, &blocks);
    for (size_t i = 0; i < c->refusals.n; i++) {
        if (!is_inside(&blocks, &refusals[i]))
            continue;
        c->out->measures.n_empty_unjustified++;
        if (c->model->strict)
            report(c, &refusals[i]);
    }
    if (c->model->strict) {
        const char *doubt = strict_doubt(c, needs_unknown(c));
        lb_finding_of(c, LB_G_FIFO)->n_tested += c->refusals.n;
        if (doubt != NULL)
            c->doubt[LB_G_FIFO] = doubt;
    }
    free(blocks.items);
}
