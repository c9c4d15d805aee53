/* What the operations of a strategy read and lock in tables of a given size, to compare two texts
 * of one strategy. */
#ifndef LB_AGED_COSTS_H
#define LB_AGED_COSTS_H

#include "age.h"

enum { LB_COSTS = 2 * LB_AGE_OPS };

struct lb_cost {
    char name[60]; /* "claim, 2000 finished items" */
    double cost;   /* in the unit of lb_costs */
    double locked; /* rows that a transaction has locked; below 0: not known */
};

struct lb_costs {
    const char *unit; /* "pages" */
    size_t n;
    struct lb_cost at[LB_COSTS];
};

/* Of a queue: among finished, and among waiting items. Of a lock: among other resources, a half of
 * them held. plan->states and sizes are not used. 0, or an error: LB_E_UNSUPPORTED where nothing
 * can be counted. */
int lb_costs_measure(const struct lb_age_plan *plan, struct lb_costs *ret, struct lb_error *err);
/* The operation that grew most from one text to the other, by half and five units at least; words
 * has the figures: "claim, 2000 finished items: 2013 steps, and 41 with the clause". */
bool lb_costs_grew(const struct lb_costs *from, const struct lb_costs *to, char *words,
                   size_t size);

#endif
