/* What the ranks measured, put together: for who settles the run. Private to bench/run. Nothing,
 * where one rank did it all.
 */
#ifndef LB_PARTS_H
#define LB_PARTS_H

#include "part.h"

/* Of all the other ranks. */
struct lb_part lb_parts_sum(const struct lb_active_run *run);
/* Adds what the other ranks measured to the outcome's counters, histograms and rows, and to the
 * time that all workers were busy, in ns. */
void lb_parts_add(struct lb_active_run *run, double *busy_ns, double *edge_ns);
/* A rank was lost, or generated late: the run is invalid, by name. */
void lb_parts_invalidate(struct lb_active_run *run);

#endif
