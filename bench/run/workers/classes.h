/* Several task classes in the table of one queue. Private to bench/run. */
#ifndef LB_CLASSES_H
#define LB_CLASSES_H

#include "scenario.h"

/* Of an item; of a consumer; and its name,
 * into buffer, NULL where there is but one. */
enum { LB_CLASS_NAME = 24 };
uint64_t lb_class_of(const struct lb_scenario *scenario, int64_t id);
const char *lb_class_name(const struct lb_scenario *scenario, uint64_t number, char *buffer);

#endif
