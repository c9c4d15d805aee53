/* What a rank sends of its part besides its outcome. */
#ifndef LB_PART_H
#define LB_PART_H

#include "run_state.h"

struct lb_part {
    uint64_t n_granted;   /* in the measured part, also for requests before it */
    uint64_t n_successes; /* of the whole run */
    uint64_t n_guarded;   /* accepted writes of the guarded row */
    uint64_t n_restarts;  /* of the server that its workers saw */
    uint64_t n_parted;    /* of struct lb_runner */
    struct lb_live_witness live;
};

/* Of this rank, once its workers have ended. */
void lb_part_take(struct lb_active_run *run, struct lb_part *ret_part);
/* Begins a new epoch of the queue; returns true if nothing happened to it in this rank since the
 * epoch *epoch, and no worker had an item. *epoch is set to the new one. */
bool lb_part_wave(struct lb_active_run *run, uint64_t *epoch);
/* Were all consumers of this rank told "empty" in its present epoch? */
bool lb_part_is_emptied(const struct lb_team *team);
#endif
