/* The words of --also: what an exploration plays besides its numbers of workers. */
#ifndef LB_ALSO_H
#define LB_ALSO_H

#include "explore.h"
#include "report.h"

/* Sets the members that the words of a list name, separated by commas. 0 or LB_E_USAGE. */
int lb_also_parse(const char *text, struct lb_explored_ask *ask, struct lb_error *err);
/* The option with the words of an ask; "": there is none. */
void lb_also_write(const struct lb_explored_ask *ask, char *buf, size_t size);
/* Plays them, in a plan with its lease. */
void lb_also_plan(const struct lb_explored_ask *ask, struct lb_explore_plan *plan);

#endif
