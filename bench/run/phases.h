/* The phases of a run, as its controlling thread leads, or in another rank follows, them. Private
 * to bench/run.
 */
#ifndef LB_PHASES_H
#define LB_PHASES_H

#include "run_state.h"

/* Waits for at most a tick, or until something changed; watches over processes, faults and other
 * ranks. true once `wanted` workers have reached the milestone here, and all other ranks theirs.
 */
bool lb_phases_tick(struct lb_active_run *run, enum lb_milestone milestone, uint32_t wanted,
                    uint64_t until_ns);
/* All workers, of all ranks, have their sessions; or the user lost his patience. */
void lb_phases_wait_ready(struct lb_active_run *run);
/* Of this rank: the measured part begins at a time; and ends now. */
void lb_phases_measure(struct lb_active_run *run, uint64_t at_ns);
void lb_phases_measured(struct lb_active_run *run);
/* Lets the workers finish; then, one after the other less patient, cancels what still waits. */
void lb_phases_stop(struct lb_active_run *run);

#endif
