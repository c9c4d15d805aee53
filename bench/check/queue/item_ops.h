/* Private to the queue's part of bench/check: the operations of items, as spec/item.h wants them.
 */
#ifndef LB_CHECK_ITEM_OPS_H
#define LB_CHECK_ITEM_OPS_H

#include "item.h"
#include "items.h"

enum { LB_ITEM_CLASSES = 4 };

/* Zeroed to begin with, but for the first three. */
struct lb_item_ops {
    struct lb_case *c;
    const struct lb_item_world *world;
    enum lb_item_purpose {
        LB_FOR_ITEM,
        LB_FOR_EXECUTIONS, /* without all that gives no work back */
        LB_FOR_GROUP       /* of several items, without resets */
    } purpose;
    struct lb_array array; /* struct lb_spec_op */
    struct lb_array busy;  /* item_openers.c */
    uint64_t first, last;  /* the earliest claim; the latest answer of a claim or an end */
    uint64_t gone;         /* the earliest death of a claimer; LB_NEVER */
    uint32_t n_claims;
    uint32_t classes[LB_ITEM_CLASSES], n_classes; /* in which it was touched */
    uint32_t beaters[LB_ITEM_BEATERS], n_beaters; /* logs */
    const char *doubt; /* a reason why these cannot be judged; NULL: there is none */
};

static inline const struct lb_spec_op *lb_item_op(const struct lb_item_ops *ops, uint32_t number)
{
    return &((const struct lb_spec_op *)ops->array.items)[number];
}
/* The record of a claim, a renewal or an end. */
static inline const struct lb_item_record *lb_item_record_of(const struct lb_item_ops *ops,
                                                             uint32_t number)
{
    return lb_item_op(ops, number)->detail;
}

/* Removes all operations, and keeps the memory. */
void lb_item_ops_clear(struct lb_item_ops *ops);
/* Adds one item's operations; the records are in order of log and event. */
void lb_item_ops_add(struct lb_item_ops *ops, const struct lb_item_record *const *records,
                     size_t n);
static inline void lb_item_ops_push(struct lb_item_ops *ops, const struct lb_spec_op *op)
{
    if (ops->array.n >= LB_NONE) /* more than a number can name */
        lb_memory_exhausted(ops->array.n * sizeof *op);
    struct lb_spec_op *slot = lb_array_push(&ops->array, sizeof *slot);
    *slot = *op;
}
/* Adds the resets and clears of all items that matter to this one: item_openers.c. */
void lb_item_ops_add_openers(struct lb_item_ops *ops, uint64_t most);
/* After the last item: adds the operations that concern all items, unless there are more than most:
 * then there is a doubt. */
void lb_item_ops_finish(struct lb_item_ops *ops, uint64_t most);
/* Clears, adds one item, and finishes. */
void lb_item_ops_fill(struct lb_item_ops *ops, const struct lb_item_record *const *records,
                      size_t n, uint64_t most);
/* The search for their orders; the model's context is the operations. */
void lb_item_ops_search(struct lb_item_ops *ops, struct lb_search *search,
                        const struct lb_automaton *automaton, const struct lb_item_model *model);
/* The claim that a claim or renewal collides with: the one that is given, or if that is
 * LB_SPEC_NONE the newest claim before it. */
uint32_t lb_item_ops_claim_before(const struct lb_item_ops *ops, uint32_t number, uint32_t other);
/* When a claim, or the claim of a renewal, can have ended at the earliest; LB_NEVER. */
uint64_t lb_item_ops_end(const struct lb_item_ops *ops, uint32_t number);
/* The end by a worker that was not the owner, which a break speaks of. */
uint32_t lb_item_ops_culprit(const struct lb_item_ops *ops, const struct lb_break *one);
/* Counts an item of which a recovery, or the end of a lease, gave a claim to another worker,
 * although the first was alive and had not ended it: item_taken.c. */
void lb_item_ops_count_taken(const struct lb_item_ops *ops);
/* As in struct lb_item_model. */
bool lb_item_ops_recovers(const struct lb_object *object, uint32_t recovery,
                          const struct lb_item_state *state, uint64_t now);
/* The earliest time at which the recovery can take a claim, of which the newest renewal that says a
 * length is given (NULL: none), and the last beat of its worker's process, plus 1 (0: none);
 * LB_NEVER. */
uint64_t lb_item_recovered_from(const struct lb_case *c, const struct lb_moment *recovery,
                                const struct lb_item_record *claim,
                                const struct lb_item_record *renewal, uint32_t beat);

/* attempts.c: counts the claims of one item. */
void lb_judge_attempts(const struct lb_item_ops *ops, const struct lb_item_record *const *records,
                       size_t n);

#endif
