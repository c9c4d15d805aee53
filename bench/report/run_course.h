/* The course of a run over its minutes or hours: see course.h. */
#ifndef LB_RUN_COURSE_H
#define LB_RUN_COURSE_H

#include "course.h"
#include "report.h"

/* Of the rate; in an open loop, of its share of the arrivals. false: the run is too short, or its
 * rate has no meaning as a level (a drain). ret_dead_rows: when it collapsed; NAN: unknown. */
bool lb_run_course(const struct lb_outcome *run, struct lb_course *ret, double *ret_dead_rows);
/* One sentence without a name: "collapsed after 121 s ...". Returns buf. */
char *lb_run_course_text(const struct lb_outcome *run, const struct lb_course *course,
                         double dead_rows, char *buf, size_t size);

#endif
