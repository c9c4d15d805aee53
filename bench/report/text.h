/* Parts of the text report. Private to bench/report. */
#ifndef LB_TEXT_H
#define LB_TEXT_H

#include "report.h"

/* The table of faults, if there is anything to show. 0, or -1 when memory ran out. */
int lb_text_faults(const struct lb_sink_state *state);
/* What deaths cost, as comments of TAP, if there were any. 0, or -1 when memory ran out. */
int lb_text_recovery(const struct lb_report *report, FILE *out);
/* The table of costs, if it is wanted. 0, or -1 when memory ran out. */
int lb_text_costs(const struct lb_sink_state *state);

/* The table of differences to the fastest strategy, if there is anything to compare. 0, or -1 when
 * memory ran out. */
int lb_text_ranking(const struct lb_sink_state *state);

#endif
