/* Plans as JSON. Private to bench/report. */
#ifndef LB_JSON_PLAN_H
#define LB_JSON_PLAN_H

#include "report.h"

#include <jansson.h>

/* An array with one object for each plan; NULL: out of memory. */
json_t *lb_json_plans(const struct lb_report *report);
/* Which strategy up to which demand: an array. NULL: out of memory. */
json_t *lb_json_choice(const struct lb_report *report);

#endif
