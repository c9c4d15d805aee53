/* Private to item_order.c: what happened to one item, as operations that can be put in order. */
#ifndef LB_CHECK_ITEM_OPERATIONS_H
#define LB_CHECK_ITEM_OPERATIONS_H

#include "items.h"

enum operation_kind {
    CLAIM,
    CLOSE,  /* complete, error or free, by the claimer or a stranger */
    OPEN,   /* reset or clear */
    LET_GO, /* lease, or the claimer's loss */
    RECOVER,
    LEAVE, /* another's end, in question: it finds nobody else's claim */
    DUE    /* so long after a complete */
};

enum state { FREE, TAKEN, DONE, FAILED, STATE_BITS = 2, STATE_MASK = 3 };

struct operation {
    uint64_t low, high;
    enum operation_kind kind;
    enum state to;   /* CLOSE: the state after; OPEN: the one that it opens */
    bool is_certain; /* it took effect by high; otherwise it may have, at any time */
    bool is_bound;   /* it speaks of the claim, or complete, that is number owner */
    bool lets_go; /* CLOSE: its outcome is unknown: what it did may be that its claim was let go */
    uint32_t owner;
    uint32_t log, position; /* log: LB_NONE, the database did it */
    const struct lb_item_core *core;
    const struct lb_moment *recovery;
};

struct operations {
    const struct lb_item_group *group;
    struct lb_array array; /* struct operation */
    bool gave_up;          /* too much happened */
};

/* All that concerns the claims. last: what can only take effect later is of no matter, but for that
 * of the claims. The caller frees the array. 0 or LB_E_MEMORY. */
int lb_item_operations(struct operations *operations, uint64_t last);
int lb_item_operations_add(struct operations *operations, const struct operation *operation);

#endif
