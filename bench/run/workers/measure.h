/* The measurements of an operation, and their counters. */
#ifndef LB_MEASURE_H
#define LB_MEASURE_H

#include "db.h"

#include <stdint.h>

/* The kinds of measured operations. */
enum lb_measure {
    LB_M_ENQUEUE, /* taking a number */
    LB_M_ACQUIRE, /* acquire (first try to grant), or claim */
    LB_M_HOLD,    /* the hold */
    LB_M_RELEASE, /* release, or complete/error/free */
    LB_M_PUT,
    LB_M_CYCLE, /* end to end: first try to the end of the release */
    LB_M_POOL,  /* waiting for one of the sessions that workers share; part of all others */
    LB_M_READ,  /* a reader's count of the queue's items */
    LB_MEASURES
};
const char *lb_measure_name(enum lb_measure measure);

/* Counters of one kind of operation. Asserted at the end of every run:
 *   attempts = sum of answers            (one attempt is one call of the strategy)
 *   started  = finished + censored       (one operation: from the first attempt to its end)
 *   finished = succeeded + given_up; gave_up of these were refused `tries` times, and not empty
 *   histogram count = succeeded (measured part) */
struct lb_counts {
    uint64_t planned, skipped;
    uint64_t started, finished, censored, succeeded, given_up, gave_up;
    uint64_t attempts;
    uint64_t answers[LB_ANSWERS];
};
void lb_counts_add(struct lb_counts *sum, const struct lb_counts *one);

#endif
