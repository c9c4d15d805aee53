/* The histories of all ranks as one, on rank 0's clock. Private to bench/run.
 *
 * A time of another rank's clock lies, on ours, between bounds (offsets.h). The joint history has
 * the middle of them, and each log the largest distance from there to a bound: the uncertainty of
 * that log's clock for the judge.
 */
#ifndef LB_JOINT_H
#define LB_JOINT_H

#include "parcel.h"
#include "run_state.h"

/* Takes events that a rank has sent; the last message of each has none. */
void lb_joint_take(struct lb_active_run *run, uint32_t rank, struct lb_parcel *parcel);
/* Adds our own history, and makes the view; the caller releases it. */
int lb_joint_view(struct lb_active_run *run, struct lb_history_view *ret_view,
                  struct lb_error *err);

#endif
