/* Times at which one worker was not run: see starved.c. Private to bench/run. */
#ifndef LB_STARVED_H
#define LB_STARVED_H

#include "crew.h"

struct lb_worker;

/* As lb_crew_wait; tells the watchdog if the worker was not run for long after the deadline. */
bool lb_worker_sleep(struct lb_worker *worker, uint64_t deadline_ns, enum lb_phase limit);
/* After an operation: tells it if the worker's thread waited for a processor for long. */
void lb_worker_look(struct lb_worker *worker);
/* It was not run from then on up to now, or to a moment ago. */
void lb_worker_starved(struct lb_worker *worker, uint64_t from_ns);

#endif
