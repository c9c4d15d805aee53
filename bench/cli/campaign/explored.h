/* Explored cells: verify explores each strategy as well as it stresses it.
 *
 * Such a cell stands in the report under the scenario "explore"; its one run has the findings and
 * the coverage of the exploration, and the command that replays the witness.
 */
#ifndef LB_EXPLORED_H
#define LB_EXPLORED_H

#include "args.h"
#include "explore.h"

/* What an exploration plays: members of struct lb_explored_ask. */
#define LB_BOUNDS(...) ((struct lb_explored_ask){__VA_ARGS__})

/* Adds a cell for each strategy, target and settings among the report's cells that has statements.
 */
void lb_explored_add(struct lb_report *report);
/* The exploration that the cell asks for. Borrows from the cell. */
struct lb_explore_plan lb_explored_plan(const struct lb_cell *cell, const struct lb_args *args,
                                        uint64_t seed, const struct lb_stop *stop);
/* As lb_run: 0 with *ret_outcome, or an error. */
int lb_explored_run(const struct lb_cell *cell, const struct lb_explore_plan *plan,
                    struct lb_outcome **ret_outcome, struct lb_error *err);

/* LB_G_BIT()s of the guarantees that an exploration of this kind judges. */
unsigned lb_explored_scope(const struct lb_explored_ask *ask);

#endif
