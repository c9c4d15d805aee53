/* Parts of the JSON document. Private to bench/report. */
#ifndef LB_JSON_H
#define LB_JSON_H

#include "report.h"

#include <jansson.h>

/* history: the file's name; "": it is not kept. */
json_t *lb_run_json(const struct lb_outcome *run, const char *history);
/* An array with one object for each plan. */
json_t *lb_json_plans(const struct lb_report *report);
/* Which strategy up to which demand: an array. */
json_t *lb_json_choice(const struct lb_report *report);

#endif
