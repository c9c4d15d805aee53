/* How long items waited, by tenant and by priority: of a run, or of all runs of a cell. */
#ifndef LB_CELL_WAITS_H
#define LB_CELL_WAITS_H

#include "report.h"
#include "stats.h"

/* {"tenant": [...], "priority": [...]}: without items of that kind, []. */
struct json_t *lb_waits_json(const struct lb_waits waits[LB_WAITS_BY]);

/* The rows of a cell: a row's name in each of its runs. */
struct lb_cell_waits {
    const struct lb_wait_row *first;
    uint64_t n_claimed, n_left, p50_ns, p95_ns,
        max_ns;  /* percentiles: of several runs the median */
    double rate; /* claims per second */
    struct lb_estimate served;
};
/* The place-th row of a kind; false: there is none. */
bool lb_waits_of(const struct lb_cell *cell, enum lb_waits_by by, size_t place,
                 struct lb_cell_waits *ret_waits);

#define LB_WAITS_READING                                                                           \
    "p50 to max: from the put of an item to its claim. left: items that were never claimed. "      \
    "served: the claims of a tenant, divided by its fair share of those made while it had work "   \
    "(1: fair, 0: starved), with a 95 % interval."

#endif
