/* What a rank sends of its part besides its outcome. */
#ifndef LB_PART_H
#define LB_PART_H

#include "run_state.h"

struct lb_part {
    uint64_t n_granted;   /* in the measured part, to whoever had asked before it too */
    uint64_t n_successes; /* of all of the run */
    uint64_t n_guarded;   /* accepted writes of the guarded row */
    uint64_t n_restarts;  /* of the server that its workers saw */
    uint64_t n_parted;    /* of struct lb_runner */
    struct lb_live_witness live;
};

/* Of this rank, once its workers have ended. */
void lb_part_take(struct lb_active_run *run, struct lb_part *ret_part);
/* Begins a new epoch of the queue; had nothing happened to it in this rank since the epoch that
 * *epoch says, with nobody at work on an item? *epoch is the new one. */
bool lb_part_wave(struct lb_active_run *run, uint64_t *epoch);
/* Were all consumers of this rank told "empty" in its present epoch? */
bool lb_part_is_emptied(const struct lb_team *team);
#endif
