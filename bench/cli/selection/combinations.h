/* Sweeps: lists of values for keys of a scenario (--workers 1,2,4 --hold 0,1ms).
 *
 * Each question becomes one question for each combination, called by what varies:
 * "mutex-hot[workers=2 hold=1ms]". Counts, times, shares, rates and names may be lists; capacity
 * may not, as its own values have commas, nor may a rate of phases.
 */
#ifndef LB_COMBINATIONS_H
#define LB_COMBINATIONS_H

#include "select.h"

/* How many values a flag's text has: 1 if it is no list. */
size_t lb_sweep_values(const struct lb_key *key, const char *text);
/* The i-th of them. Returns buf. */
char *lb_sweep_value(const struct lb_key *key, const char *text, size_t i, char *buf, size_t size);

/* Is every value one that the key takes, and different from the others? 0 or LB_E_USAGE. */
int lb_sweep_check(const struct lb_key *key, const char *text, struct lb_error *err);

/* Adds a key and its value to a scenario's name: "mutex-hot" becomes "mutex-hot[workers=2]", and
 * that "mutex-hot[workers=2 hold=1ms]". 0 or LB_E_USAGE. */
int lb_sweep_rename(struct lb_scenario *scenario, const struct lb_key *key, struct lb_error *err);

/* Sets the flags of args in all questions that they have a meaning for, and multiplies those. A
 * flag that has a meaning for none is a mistake. */
int lb_sweep_apply(struct lb_selection *selection, const struct lb_args *args,
                   struct lb_error *err);

/* A flag that no strategy in the cells makes use of is a mistake. 0 or LB_E_USAGE. */
int lb_sweep_check_use(const struct lb_report *report, const struct lb_args *args,
                       struct lb_error *err);

#endif
