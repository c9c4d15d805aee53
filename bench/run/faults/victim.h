/* Whom a fault befalls, with the program that the worker has started. Private to bench/run. */
#ifndef LB_VICTIM_H
#define LB_VICTIM_H

#include "fault_kind.h"
#include "worker.h"

/* Signals the program of a worker, with all that it has started. */
void lb_victim_signal(struct lb_worker *worker, int number);

/* A worker is about to go, and gives up what it has: a request's lock, or n items. */
void lb_victim_mourn(struct lb_worker *worker, const struct lb_request *request,
                     const struct lb_item *items, uint32_t n);
/* Kills its process, with its program. */
_Noreturn void lb_victim_end(struct lb_worker *worker);
/* Both. */
_Noreturn void lb_victim_die(struct lb_worker *worker, const struct lb_request *request,
                             const struct lb_item *items, uint32_t n);

/* Requirements of kinds of faults, for the member suits of struct lb_fault_kind. */
bool lb_fault_suits_databases(const struct lb_db *db);

#endif
