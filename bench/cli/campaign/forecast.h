/* How long the runs that are still to come take. The length of most is known from the start; what a
 * run takes besides (tables, threads, judging), and how long those are that end by themselves, is
 * learned from the runs that are over.
 */
#ifndef LB_FORECAST_H
#define LB_FORECAST_H

#include "report.h"

struct lb_forecast {
    const struct lb_report *report; /* borrowed; NULL: nothing is known of the runs to come */
    uint64_t last_ns;               /* when the last run ended, or the first began */
    uint64_t besides_ns;            /* the overhead of the runs beyond their length, in sum */
    size_t n_runs;
    uint64_t explored_ns; /* the time of explorations, in sum */
    size_t n_explored;
};

void lb_forecast_init(struct lb_forecast *forecast, const struct lb_report *report,
                      uint64_t now_ns);
/* The last run of this cell, or its exploration, has ended. */
void lb_forecast_learn(struct lb_forecast *forecast, const struct lb_cell *cell, uint64_t now_ns);
/* 0: not known, or nothing is left. */
uint64_t lb_forecast_left(const struct lb_forecast *forecast, uint64_t now_ns);

/* The known length of a cell's run; false: it ends when its work is done, and ret has the warm-up.
 */
bool lb_forecast_length(const struct lb_cell *cell, uint64_t *ret_ns);

#endif
