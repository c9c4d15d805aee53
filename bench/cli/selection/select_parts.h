/* What select.c and select_cells.c have in common. */
#ifndef LB_SELECT_PARTS_H
#define LB_SELECT_PARTS_H

#include "select.h"

#include "nearest.h"

/* Adds "name=value", the first length bytes of text. 0 or LB_E_USAGE. */
int lb_select_setting(struct lb_selection *selection, const char *text, size_t length,
                      struct lb_error *err);
/* Does the strategy, or one of its files, have this option? Offers nearest those that it has. */
bool lb_select_has_option(const struct lb_protocol *protocol, const char *name,
                          struct lb_nearest *nearest);
/* Is this protocol asked by an outlook of its own, and not by scenarios that were named? */
bool lb_select_plans(const struct lb_protocol *protocol, const struct lb_args *args,
                     const struct lb_select_defaults *defaults);
/* The scenario that a shape meets where none is named. The load decides: a queue whose items arrive
 * at a rate or from producers gets steady, any other queue a backlog to drain. */
const char *lb_select_default(enum lb_shape shape, const struct lb_args *args);
/* True if the scenarios and options that are known to break the strategy run, too. */
bool lb_select_shows_breaks(const struct lb_selection *selection,
                            const struct lb_strategy *strategy,
                            const struct lb_select_defaults *defaults);

#endif
