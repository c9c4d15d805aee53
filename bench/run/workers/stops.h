/* Processes that somebody else stopped: since when were they not run? Private to bench/run.
 *
 * Who leads the processes looks at each now and then. What it sees is the last change only: one
 * that was stopped and continued between two looks is seen to go on, and may not have been run
 * since the look before.
 */
#ifndef LB_STOPS_H
#define LB_STOPS_H

#include <stdbool.h>
#include <stdint.h>

struct lb_stops {
    uint64_t looked_ns;  /* when it was last known to be run: at first, when it was forked */
    uint64_t stopped_ns; /* somebody has stopped it, not before then; 0: nobody */
    bool is_resumed;     /* a fault's stop is over: that it goes on is no news */
};

enum lb_stop_seen { LB_STOP_SAME, LB_STOP_STOPPED, LB_STOP_CONTINUED, LB_STOP_ENDED };

/* in_fault: the run has stopped it on purpose. Returns since when it was not run up to now, or 0.
 */
uint64_t lb_stops_look(struct lb_stops *stops, uint64_t now_ns, enum lb_stop_seen seen,
                       bool in_fault);

#endif
