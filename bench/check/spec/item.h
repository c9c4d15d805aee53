/* The specification of an item of a queue, and of a group of items: see item.c and automaton.h. */
#ifndef LB_SPEC_ITEM_H
#define LB_SPEC_ITEM_H

#include "automaton.h"

enum lb_item_phase {
    LB_ITEM_WAITING,
    LB_ITEM_DONE,
    LB_ITEM_FAILED,
    LB_ITEM_REOPENED, /* waiting after a reset or a clear */
    LB_ITEM_CLAIMED
};

enum { LB_ITEM_BEATERS = 8 }; /* workers whose processes beat */

struct lb_item_state {
    uint32_t phase;
    uint32_t by;      /* CLAIMED: the claim; DONE: the complete, if items fall due again; else 0 */
    uint32_t renewed; /* CLAIMED: its last renewal, plus 1; 0: none */
    uint32_t zero;
    uint32_t beat[LB_ITEM_BEATERS]; /* by worker: the arg of the last beat; 0: none yet */
};
_Static_assert(sizeof(struct lb_item_state) == sizeof(struct lb_spec_state), "one state");

/* Kinds of operations. A claim is called by its number. */
enum lb_item_kind {
    LB_ITEM_CLAIM,
    LB_ITEM_RENEW, /* about a claim, which its worker has at that time */
    LB_ITEM_KEEP,  /* a renewal by a worker that may have ended the claim before */
    LB_ITEM_END,   /* complete, error or free: makes the phase `to`; about the worker's claim; about
                      none: by a worker that has none. arg: see LB_ITEM_END_* */
    LB_ITEM_OPEN,  /* a reset or a clear of items in the phase `to` */
    LB_ITEM_EXPIRE, /* the end of a claim's lease, as its renewal `arg` left it */
    LB_ITEM_LOSE,   /* the loss of a claim's worker; its renewals above `arg` are of another session
                     */
    LB_ITEM_RECOVER, /* frees a claim that is old enough */
    LB_ITEM_DUE,     /* about a complete: the item is due again */
    LB_ITEM_BEAT     /* of the worker `to` */
};

enum {
    LB_ITEM_END_LETS_GO = 1, /* its outcome is unknown: it may have freed the claim */
    LB_ITEM_END_COUNTS = 2,  /* a complete, after which the item is due again */
    LB_ITEM_END_SHARED = 4   /* group: it may be of another claim of the same item */
};
#define LB_ITEM_BEAT_UNSURE UINT32_MAX /* a beat of unknown outcome, which may be the first */

struct lb_item_model {
    unsigned
        claimed_twice;  /* the guarantee that this breaks: no-duplicate, once, group-exclusive */
    unsigned not_owner; /* owner-release; 0: not judged */
    unsigned lost;      /* no-loss; 0: not judged */
    bool is_once;       /* only a claim's own worker gives an execution back */
    /* True if the recovery may take the claim of the state, no later than now. */
    bool (*recovers)(const struct lb_object *object, uint32_t recovery,
                     const struct lb_item_state *state, uint64_t now);
    uint64_t (*item_of)(const struct lb_object *object, uint32_t number); /* group: the item's id */
    const void *context;                                                  /* of these functions */
};

/* The context of their objects is a struct lb_item_model. */
struct lb_automaton lb_item_automaton(const struct lb_item_model *model);
struct lb_automaton lb_group_automaton(const struct lb_item_model *model);

#endif
