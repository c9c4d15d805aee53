/* The ranks of a run as JSON. Private to bench/report. */
#ifndef LB_JSON_RANKS_H
#define LB_JSON_RANKS_H

#include "ranks.h"

#include <jansson.h>

/* null where one rank did it all; NULL: out of memory. */
json_t *lb_ranks_json(const struct lb_ranks *ranks);

#endif
