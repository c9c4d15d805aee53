/* Times at which one worker was not run: see starved.c. Private to bench/run. */
#ifndef LB_STARVED_H
#define LB_STARVED_H

#include "team.h"

struct lb_worker;

/* As lb_team_wait; tells the watchdog if the worker was not run for long after the deadline. */
bool lb_worker_sleep(struct lb_worker *worker, uint64_t deadline_ns, enum lb_phase limit);
/* An action that was due then happens now: reports it if that is much later. */
void lb_worker_late(struct lb_worker *worker, uint64_t due_ns);
/* So often is the kernel asked whether a thread waited for a processor. */
#define LB_LOOK_NS UINT64_C(50000000)
/* Tells it if the worker's thread waited for one for long, since the last look. */
void lb_worker_look_at(struct lb_worker *worker, uint64_t now_ns);
/* It was not run from then on up to now, or to a moment ago. */
void lb_worker_starved(struct lb_worker *worker, uint64_t from_ns);

#endif
