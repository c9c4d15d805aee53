/* The contract between the specification of an object and the search for its orders.
 *
 * An object is a lock, an item of a queue, or a group of items. An automaton specifies it: a state,
 * and for each operation the next states and the guarantees that this step breaks. The automaton
 * knows nothing of times. The builder of an object's operations knows the times and nothing of
 * states: an operation takes effect once, at one moment of [low, high], or not at all. The search
 * (spec_search.c) tries the orders of the operations that the times allow, and finds the guarantees
 * that each order breaks.
 *
 * How to use it:
 *   1. Write an automaton: struct lb_automaton, const, in a file of its own in this folder.
 *   2. Fill an array of struct lb_spec_op, in any order. The number of an operation is its place.
 *   3. Call lb_search_run once for each object, with one struct lb_search for all of them.
 *   4. Read lb_search_breaks: one entry for each point at which no order keeps everything.
 *
 * There are two kinds of guarantees. A *hard* one decides if an operation has a place at all (an
 * item is claimed while it is taken). The search breaks it only where an operation that must take
 * effect has no place in any order. Any other guarantee is *soft*: orders that break it are kept
 * beside the others. So a soft guarantee is judged in the orders that keep the hard ones:
 * docs/guarantees.md, owner-release.
 *
 * A break has minimal sets of guarantees: each order breaks one of the sets.
 *   - A guarantee that is in every set is violated.
 *   - If there is none, one of several is broken, and no order keeps all: all of them are violated,
 *     together.
 * lb_break_conclude removes the guarantees that a file does not claim, and applies these rules.
 *
 * Limits: 64 pending operations, LB_SPEC_CONFIGURATIONS configurations, and the caller's budget.
 * Beyond these the search gives up, and nothing that follows is judged.
 */
#ifndef LB_AUTOMATON_H
#define LB_AUTOMATON_H

#include "array.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LB_SPEC_WORDS = 6,            /* of a state */
    LB_SPEC_NEXT = 4,             /* next states of one operation */
    LB_SPEC_SPARES = 4,           /* classes of operations that are only counted */
    LB_SPEC_SETS = 8,             /* of guarantees, in one break */
    LB_SPEC_CONFIGURATIONS = 256, /* at one time */
};
#define LB_SPEC_NONE  UINT32_MAX
#define LB_SPEC_NEVER UINT64_MAX

/* Compared and copied as words: an automaton must set all that it does not use to 0. */
struct lb_spec_state {
    uint64_t word[LB_SPEC_WORDS];
};

struct lb_spec_op {
    uint64_t low, high; /* high LB_SPEC_NEVER: it was not answered, or has no end */
    uint32_t log;       /* operations of one log keep their order; LB_SPEC_NONE: it has no log */
    uint32_t position;  /* in its log */
    uint32_t about; /* the operation of which it speaks, as a release of a grant; LB_SPEC_NONE */
    uint32_t last;  /* plus 1: an operation that can make it matter again, once it is over; 0 */
    uint32_t arg;   /* the automaton's own */
    uint8_t kind;   /* the automaton's own */
    uint8_t to;     /* the automaton's own */
    uint8_t rank;   /* of answers at one time, the search looks at those of the lower rank first:
                       ends before the claims that they allow */
    uint8_t twin;   /* not 0: it does the same as all others of this number */
    uint8_t spare;  /* not 0: once it is over, it is only counted, in this class, which is below
                       LB_SPEC_SPARES */
    bool must;      /* it took effect by high; else it may have */
    bool waits;     /* if it would change nothing now, it may as well do so later */
    bool repeats;   /* it may take effect more than once; it changes the state, and has no end */
    const void *detail; /* the automaton's own */
};

struct lb_object {
    const struct lb_automaton *automaton;
    const struct lb_spec_op *ops;
    uint32_t n_ops;
    struct lb_spec_state first;
    uint64_t known_until; /* from here on operations may be missing, so that an answer proves
                             nothing; LB_SPEC_NEVER: none is missing */
    const void *context;  /* the automaton's own */
};

struct lb_spec_next {
    struct lb_spec_state state;
    unsigned broken; /* guarantees */
    uint32_t other;  /* the operation that this one breaks them with; LB_SPEC_NONE */
};

struct lb_automaton {
    unsigned hard;    /* guarantees: see above */
    unsigned excused; /* of an object, these are not judged after it has broken a hard one */
    /* The next states, if an operation takes effect in this state, and no later than now. Returns
     * their number; 0: it cannot take effect. An operation that must take effect always needs a
     * next state, if necessary one that breaks a guarantee. */
    unsigned (*step)(const struct lb_object *object, uint32_t number,
                     const struct lb_spec_state *from, uint64_t now, struct lb_spec_next *ret_next);
    /* The same of one of a class of spare operations; NULL: there are none. */
    unsigned (*spare)(const struct lb_object *object, unsigned spare,
                      const struct lb_spec_state *from, struct lb_spec_next *ret_next);
    /* True if the operation, which has no end, can do nothing any more in this state or a later
     * one, once the operation of which it speaks was answered; NULL: never. */
    bool (*is_over)(const struct lb_object *object, uint32_t number,
                    const struct lb_spec_state *from);
    /* The guarantees that are broken if the history ends in this state; NULL: none. */
    unsigned (*rest)(const struct lb_object *object, const struct lb_spec_state *from);
};

/* Up to here some order kept everything, and none does so beyond. */
struct lb_break {
    unsigned sets[LB_SPEC_SETS]; /* minimal */
    unsigned n_sets;
    uint32_t op;    /* the operation whose answer shows it; LB_SPEC_NONE: the end of the history */
    uint32_t by;    /* the operation that breaks a guarantee in one of the orders; LB_SPEC_NONE */
    uint32_t other; /* the operation that this one collides with; LB_SPEC_NONE: not known */
};

/* How much may be done for all objects together. */
struct lb_search_budget {
    uint64_t ops, steps;
};

struct lb_search; /* its memory is used for one object after the other */

/* The budget must live as long as the search. */
struct lb_search *lb_search_open(struct lb_search_budget *budget);
void lb_search_close(struct lb_search *search);
void lb_search_run(struct lb_search *search, const struct lb_object *object);
/* Of the last object: the breaks, in order of time, and whether the search gave up after them. */
const struct lb_break *lb_search_breaks(const struct lb_search *search, size_t *ret_n);
bool lb_search_gave_up(const struct lb_search *search);

/* Of a break, where only some guarantees are claimed: those that are violated in every order, and
 * those of which one is in every order. */
void lb_break_conclude(const struct lb_break *one, unsigned claimed, unsigned *ret_violated,
                       unsigned *ret_either);

#endif
