/* Workers that slept past their lease. Private to bench/run. */
#ifndef LB_ZOMBIE_H
#define LB_ZOMBIE_H

#include "worker.h"

/* Zombies (zombie.c). awaits: is one to wake up in this hold? sleep: with an item, before the
 * pause. wait: the pause is over; returns inside of a later hold of the same thing, a resource or
 * an item, or false: none called. gone: the zombie's supposed hold is given back. call: a holder,
 * at the end of its hold. */
bool lb_zombie_awaits(struct lb_worker *worker, int64_t thing);
void lb_zombie_sleep(struct lb_worker *worker, int64_t item);
bool lb_zombie_wait(struct lb_worker *worker, int64_t thing);
void lb_zombie_gone(struct lb_worker *worker);
void lb_zombie_call(struct lb_worker *worker, int64_t thing);

#endif
