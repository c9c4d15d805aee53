/* How workers borrow the sessions of a pool. Private to bench/run. */
#ifndef LB_LEND_H
#define LB_LEND_H

#include "operation.h"

/* A worker's side of it, called by its operator; arg is the worker. */
extern const struct lb_lender lb_pool_lender;

#endif
