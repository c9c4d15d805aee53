/* What the server refused, and not by contention. Private to bench/run. */
#ifndef LB_REFUSED_H
#define LB_REFUSED_H

#include "run_state.h"

/* Of one kind of operation, in the measured part. */
struct lb_refused {
    const char *what; /* "releases"; NULL: nothing was refused so */
    uint64_t n, n_tries;
    bool is_much; /* so much that verdicts say nothing */
};

/* Of the kind of which the largest share was refused. */
struct lb_refused lb_refused_of(const struct lb_active_run *run);
/* Much of one kind: the run is invalid. */
void lb_refused_judge(struct lb_active_run *run);

#endif
