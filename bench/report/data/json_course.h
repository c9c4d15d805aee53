/* Phases and the course of a run as JSON. Private to bench/report. */
#ifndef LB_JSON_COURSE_H
#define LB_JSON_COURSE_H

#include "report.h"

#include <jansson.h>

json_t *lb_phases_json(const struct lb_outcome *run);
json_t *lb_course_json(const struct lb_outcome *run);

#endif
