/* The part of a history that was settled and dropped: see settling.c.
 *
 * An id is kept as one bit, and ids that follow each other without a gap as their ends. An
 * operation that names it later is of an item that was completed: a claim of it that was requested
 * after all that was dropped is a violation of no-duplicate, since no operation of this queue gives
 * such an item back (else nothing is said). A claim that was requested before may have been first:
 * then nothing is said, either.
 *
 * Not judged beside a dropped part: guarantees that compare items with each other; recovery of the
 * dead, whose bound depends on the work of others; and, if another process noted that a session had
 * ended, anything: the note says when by the operations that the session answered.
 */
#include "settled.h"

#include "judges.h"

#include "order.h"

#include <stdio.h>
#include <stdlib.h>

/* --- ids --- */

enum { PAGE = 4096, BITS = 64 };

struct page {
    uint64_t number; /* of the first id, divided by PAGE */
    uint64_t bits[PAGE / BITS];
};

/* Pages that are full: first to last, by number. Two runs are never side by side. */
struct run {
    uint64_t first, last;
};

struct lb_settled *lb_settled_new(void)
{
    return lb_calloc(1, sizeof(struct lb_settled));
}

void lb_settled_free(struct lb_settled *settled)
{
    if (settled == NULL)
        return;
    free(settled->logs);
    free(settled->pages.items);
    free(settled->full.items);
    free(settled->again.items);
    free(settled);
}

uint64_t lb_settled_events(const struct lb_settled *settled)
{
    return settled->n_events;
}

/* The place of the first page that does not come before a number. */
static size_t page_from(const struct lb_settled *settled, uint64_t number)
{
    return lb_order_find(settled->pages.items, settled->pages.n, sizeof(struct page), number);
}

/* The place of the first run that does not end before a number. */
static size_t run_from(const struct lb_settled *settled, uint64_t number)
{
    const struct run *runs = settled->full.items;
    size_t low = 0, high = settled->full.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_full(const struct lb_settled *settled, uint64_t number)
{
    const struct run *runs = settled->full.items;
    size_t i = run_from(settled, number);
    return i < settled->full.n && runs[i].first <= number;
}

bool lb_settled_has(const struct lb_settled *settled, uint64_t id)
{
    if (settled == NULL)
        return false;
    if (is_full(settled, id / PAGE))
        return true;
    const struct page *pages = settled->pages.items;
    size_t i = page_from(settled, id / PAGE);
    return i < settled->pages.n && pages[i].number == id / PAGE &&
           (pages[i].bits[id % PAGE / BITS] >> id % BITS & 1) != 0;
}

bool lb_settled_is_again(const struct lb_settled *settled, uint64_t id)
{
    const uint64_t *again = settled->again.items;
    for (size_t i = 0; i < settled->again.n; i++)
        if (again[i] == id)
            return true;
    return false;
}

/* Takes an item of size bytes out of an array, or makes room for one. */
static void take_at(struct lb_array *array, size_t size, size_t i)
{
    char *at = (char *)array->items + i * size;
    memmove(at, at + size, (--array->n - i) * size);
}

static void *insert_at(struct lb_array *array, size_t size, size_t i)
{
    lb_array_push(array, size);
    char *at = (char *)array->items + i * size;
    memmove(at + size, at, (array->n - 1 - i) * size);
    return at;
}

/* Adds a page to the runs of full ones. */
static void add_full(struct lb_settled *settled, uint64_t number)
{
    const size_t i = run_from(settled, number);
    struct run *runs = settled->full.items;
    const bool follows = i > 0 && runs[i - 1].last + 1 == number;
    const bool precedes = i < settled->full.n && runs[i].first == number + 1;
    if (follows && precedes) {
        runs[i - 1].last = runs[i].last;
        take_at(&settled->full, sizeof *runs, i);
    } else if (follows) {
        runs[i - 1].last = number;
    } else if (precedes) {
        runs[i].first = number;
    } else {
        struct run *run = insert_at(&settled->full, sizeof *runs, i);
        *run = (struct run){number, number};
    }
}

void lb_settled_add(struct lb_settled *settled, uint64_t id)
{
    const uint64_t number = id / PAGE;
    if (is_full(settled, number))
        return;
    size_t i = page_from(settled, number);
    struct page *page = settled->pages.items;
    if (i < settled->pages.n && page[i].number == number) {
        page += i;
    } else {
        page = insert_at(&settled->pages, sizeof *page, i);
        *page = (struct page){.number = number};
    }
    page->bits[id % PAGE / BITS] |= UINT64_C(1) << id % BITS;
    for (size_t k = 0; k < PAGE / BITS; k++)
        if (page->bits[k] != UINT64_MAX)
            return;
    add_full(settled, number);
    take_at(&settled->pages, sizeof *page, i);
}

/* --- the judge --- */

const char *lb_settle_refusal(const struct lb_model *model)
{
    if (!model->queue)
        return "a lock's holds are compared with each other";
    for (int g = 0; g < LB_GUARANTEES; g++)
        if ((model->claims & LB_G_BIT(g)) != 0 &&
            lb_guarantee_is((enum lb_guarantee)g, LB_GUARANTEE_IS_FOR_QUEUES) &&
            !lb_guarantee_is((enum lb_guarantee)g, LB_GUARANTEE_IS_OF_ONE_ITEM))
            return "a guarantee that the queue promises compares its items with each other";
    if (model->period_ns > 0)
        return "items come back after they were completed";
    if (model->item_waits)
        return "the bound on waits is also one on the items'";
    return model->strict || model->plain ? "every operation is looked at" : NULL;
}

void lb_settled_begin(struct lb_case *c)
{
    const struct lb_settled *settled = c->model->settled;
    struct lb_measures *measures = &c->out->measures;
    if (settled == NULL)
        return;
    measures->n_claims += settled->n_claims;
    measures->n_empty += settled->n_empty;
    measures->n_refusals += settled->n_refusals;
    measures->longest_wait_ns = settled->longest_wait_ns;
    c->n_releases += settled->n_ends;
    lb_finding_of(c, LB_G_NO_LOSS)->n_tested += settled->n_put;
    lb_finding_of(c, LB_G_BOUNDED_CLAIM)->n_tested += settled->n_claim_answers;
    lb_finding_of(c, LB_G_PROGRESS)->n_tested += settled->n_waits;
    for (size_t i = 0; i < settled->n_logs && i < c->history->n_logs; i++) {
        c->logs[i].n_successes += settled->logs[i].n_successes;
        c->logs[i].n_attempts += settled->logs[i].n_attempts;
    }
}

static void report_again(struct lb_case *c, const struct lb_id *id, enum lb_guarantee guarantee)
{
    struct lb_witness *witness = lb_violation(c, guarantee);
    if (witness == NULL)
        return;
    char at[LB_AT];
    lb_witness_add(c, witness, id->claim_log, id->claim_event);
    witness->at_ns = id->claim_high;
    lb_witness_text(
        witness,
        "item %s was claimed by %s at %s, after it had been completed, in a part of the "
        "record that was judged and dropped",
        LB_ITEM_OF(c, id->id), lb_who(c, id->claim_log, LB_WHOM),
        lb_at(c, id->claim_high, at, sizeof at));
}

/* No operation of this queue gives back an item that was completed, and each of the dropped ones
 * was completed by the worker that had it: a late end of a recovered item may count for nothing. */
static bool is_final(const struct lb_case *c)
{
    const struct lb_settled *settled = c->model->settled;
    return !settled->has_openers && !settled->has_taken && !c->may_have_reopened;
}

/* An item that had been settled was put or claimed again. */
static void judge_again(struct lb_case *c, const struct lb_id *id)
{
    const struct lb_settled *settled = c->model->settled;
    if (id->is_claimed && !id->is_put && is_final(c) &&
        (id->claim_low > settled->until_ns || lb_settled_is_again(settled, id->id))) {
        report_again(c, id, LB_G_NO_DUPLICATE);
        if ((c->model->claims & LB_G_BIT(LB_G_ONCE)) != 0)
            report_again(c, id, LB_G_ONCE);
    }
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (lb_guarantee_is((enum lb_guarantee)g, LB_GUARANTEE_IS_OF_ONE_ITEM))
            c->doubt[g] = "an item came again, and the part of the record in which it was claimed "
                          "and completed had been judged and dropped";
}

static bool is_of_settled(const struct lb_settled *settled, const struct lb_witness *witness)
{
    for (size_t i = 0; i < witness->n_ops; i++) {
        const struct lb_witness_op *op = &witness->ops[i];
        if (op->has_value && lb_settled_has(settled, op->value))
            return true;
    }
    return false;
}

/* Takes back the violations that concern items of the dropped part, which may explain them. A
 * second claim is one all the same, if a completed item stays so: with a reset, the dropped
 * completion may have come between the two. A claim is judged for itself. */
static void take_back(struct lb_case *c, enum lb_guarantee guarantee)
{
    struct lb_finding *finding = lb_finding_of(c, guarantee);
    const bool is_second = guarantee == LB_G_NO_DUPLICATE || guarantee == LB_G_ONCE;
    size_t n = 0;
    if ((is_second && is_final(c)) || guarantee == LB_G_PROGRESS || guarantee == LB_G_BOUNDED_CLAIM)
        return;
    for (size_t i = 0; i < finding->n_witnesses; i++)
        if (!is_of_settled(c->model->settled, &finding->witness[i]))
            finding->witness[n++] = finding->witness[i];
    finding->n_violations = n > 0 ? finding->n_violations - (finding->n_witnesses - n) : 0;
    finding->n_witnesses = n;
}

void lb_settled_end(struct lb_case *c)
{
    const struct lb_settled *settled = c->model->settled;
    bool is_any = false;
    for (const struct lb_id *id = c->ids; settled != NULL && id < c->ids + c->n_ids; id++)
        for (uint64_t i = 0; i < id->n && (id->is_put || id->is_claimed); i++)
            if (lb_settled_has(settled, id->id + i)) {
                judge_again(c, id);
                is_any = true;
                break;
            }
    for (int g = 0; g < LB_GUARANTEES && is_any; g++)
        if (lb_guarantee_is((enum lb_guarantee)g, LB_GUARANTEE_IS_OF_ONE_ITEM))
            take_back(c, (enum lb_guarantee)g);
}

const char *lb_settled_cannot_say(const struct lb_case *c, enum lb_guarantee guarantee)
{
    const struct lb_settled *settled = c->model->settled;
    if (settled == NULL || settled->n_events == 0)
        return NULL;
    if (!lb_guarantee_is(guarantee, LB_GUARANTEE_IS_OF_ONE_ITEM))
        return "items that were completed were judged and dropped one by one while the run went on";
    for (size_t i = 0; i < c->history->n_logs && guarantee == LB_G_RECOVERY; i++)
        if (c->logs[i].death_ns <= settled->until_ns)
            return "a worker died, and work around its death had been judged and dropped";
    /* Of each log the last answer that was recorded was kept: a later note needs no other one. */
    const struct lb_world_event *world = c->world.items;
    for (size_t i = 0; i < c->world.n; i++)
        if (world[i].op == LB_OP_SESSION_END && world[i].log != world[i].target &&
            world[i].low <= settled->seen_ns)
            return "another process noted the end of a session, and work around it had been judged "
                   "and dropped";
    return NULL;
}
