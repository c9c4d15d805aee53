/* Verdicts over a history whose clocks do not agree to the nanosecond.
 *
 * Certain: each time is as early, or as late, as its clock's bounds allow, whichever favours the
 * strategy: a violation found so is real for any state of the clocks. Possible: all times are in
 * the middle of their bounds. A violation in the middle that is not certain is no verdict: it is
 * reported, with the uncertainty that would decide it.
 */
#ifndef LB_TWICE_H
#define LB_TWICE_H

#include "check.h"
#include "ranks.h"

/* The certain verdicts into ret_judgement, with "not tested" where one is only possible. The view's
 * uncertainties are as before afterwards. */
int lb_judge_twice(struct lb_history_view *view, const struct lb_model *model,
                   struct lb_judgement *ret_judgement, struct lb_near_miss near[LB_GUARANTEE_ROOM],
                   struct lb_error *err);

#endif
