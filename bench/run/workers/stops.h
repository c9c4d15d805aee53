/* Processes that another program stopped: since when they were not run. Private to bench/run.
 *
 * The leading process checks each now and then. It sees only the last change: one that was stopped
 * and continued between two looks is seen to go on, and may not have been run since the look
 * before.
 */
#ifndef LB_STOPS_H
#define LB_STOPS_H

#include <stdbool.h>
#include <stdint.h>

struct lb_stops {
    uint64_t looked_ns;  /* when it was last known to be run: at first, when it was forked */
    uint64_t stopped_ns; /* it was stopped, not before then; 0: not stopped */
    bool is_resumed;     /* a fault's stop is over: that it goes on is no news */
};

enum lb_stop_seen { LB_STOP_SAME, LB_STOP_STOPPED, LB_STOP_CONTINUED, LB_STOP_ENDED };

/* in_fault: the run has stopped it on purpose. Returns since when it was not run up to now, or 0.
 */
uint64_t lb_stops_look(struct lb_stops *stops, uint64_t now_ns, enum lb_stop_seen seen,
                       bool in_fault);

#endif
