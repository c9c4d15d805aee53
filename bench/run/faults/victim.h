/* Whom a fault befalls, with the program that the worker has started. Private to bench/run. */
#ifndef LB_VICTIM_H
#define LB_VICTIM_H

#include "fault_kind.h"
#include "worker.h"

/* Signals the program of a worker, with all that it has started. */
void lb_victim_signal(struct lb_worker *worker, int number);

/* Kills the worker's process; it holds a lock (request) or n items. Does not return. */
_Noreturn void lb_victim_die(struct lb_worker *worker, const struct lb_request *request,
                             const struct lb_item *items, uint32_t n);

/* Requirements of kinds of faults, for the member suits of struct lb_fault_kind. */
bool lb_fault_suits_databases(const struct lb_db *db);

#endif
