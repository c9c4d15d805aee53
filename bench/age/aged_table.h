/* The rows that a run's tables have at the start beside its own items: "finished=1M,delayed=200k".
 */
#ifndef LB_AGED_TABLE_H
#define LB_AGED_TABLE_H

#include "aged_items.h"

enum { LB_AGED_MOST_ITEMS = 100000000 }; /* of a state */

struct lb_aged_table_plan {
    uint64_t n_items[LB_AGED_STATES]; /* 0: none in this state */
};

extern const char *const lb_aged_statistics_names[]; /* "fresh"; NULL ends */

/* Reads "STATE=N,...". LB_E_USAGE also for a state that a run cannot have: items that are waiting
 * or in hand are the business of its workers. */
int lb_aged_table_parse(const char *text, struct lb_aged_table_plan *ret, struct lb_error *err);
/* Fills the tables. The strategy is set up, and has no items; the actor, whose session is not in a
 * transaction, is open. The items have numbers of their own, and no claim can get one:
 * LB_E_UNSUPPORTED with the reason where that cannot be. */
int lb_aged_table_fill(const struct lb_aged_table_plan *plan, enum lb_aged_statistics statistics,
                       struct lb_actor *actor, struct lb_space *space, const atomic_int *interrupt,
                       struct lb_error *err);

#endif
