/* --metrics: tells the endpoint of bench/metrics what a campaign is doing. All of it does nothing
 * where that was not asked for.
 */
#ifndef LB_TELEMETRY_H
#define LB_TELEMETRY_H

#include "args.h"
#include "metrics.h"
#include "report.h"

struct lb_telemetry {
    struct lb_metrics *metrics;
    struct lb_endpoint *endpoint; /* NULL: not asked for */
};

/* Says on stderr where it is. 0, LB_E_USAGE or LB_E_ENV. Close in any case. */
int lb_telemetry_open(struct lb_telemetry *telemetry, const struct lb_args *args,
                      struct lb_error *err);
void lb_telemetry_tell(struct lb_telemetry *telemetry, const struct lb_report *report,
                       const struct lb_cell *cell, const struct lb_progress *progress);
/* A run of the cell is over. outcome: NULL if it came to none. */
void lb_telemetry_over(struct lb_telemetry *telemetry, const struct lb_report *report,
                       const struct lb_cell *cell, const struct lb_outcome *outcome);
void lb_telemetry_close(struct lb_telemetry *telemetry);

#endif
