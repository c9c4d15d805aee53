/* Verdicts over a history whose clocks do not agree to the nanosecond.
 *
 * Certain: each time is as early, or as late, as its clock's bounds allow, whichever speaks for the
 * strategy: what is violated then was violated whatever the clocks did. Possible: all times are in
 * the middle of their bounds. What is violated in the middle and not for certain is no verdict: it
 * is told, with the uncertainty that would have settled it.
 */
#ifndef LB_TWICE_H
#define LB_TWICE_H

#include "check.h"
#include "ranks.h"

/* The certain verdicts into ret_judgement, with "not tested" where one is only possible. The view's
 * uncertainties are as before afterwards. */
int lb_judge_twice(struct lb_history_view *view, const struct lb_model *model,
                   struct lb_judgement *ret_judgement, struct lb_near_miss near[LB_GUARANTEES],
                   struct lb_error *err);

#endif
