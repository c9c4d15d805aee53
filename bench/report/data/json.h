/* Parts of the JSON document. Private to bench/report. All return NULL if memory ran out. */
#ifndef LB_JSON_H
#define LB_JSON_H

#include "report.h"

#include <jansson.h>

/* Phases and the course of a run. */
json_t *lb_phases_json(const struct lb_outcome *run);
json_t *lb_course_json(const struct lb_outcome *run);
/* An array with one object for each plan. */
json_t *lb_json_plans(const struct lb_report *report);
/* Which strategy up to which demand: an array. */
json_t *lb_json_choice(const struct lb_report *report);
/* null where one rank did it all. */
json_t *lb_ranks_json(const struct lb_ranks *ranks);

#endif
