/* What the judge adds of the part of a history that was settled and dropped: settled.c. Private to
 * bench/check. */
#ifndef LB_SETTLED_H
#define LB_SETTLED_H

#include "case.h"
#include "settling.h"

struct lb_settled_log {
    uint64_t n_successes, n_attempts;
};

struct lb_settled {
    uint64_t n_events, n_put, n_claims, n_claim_answers, n_waits, n_empty, n_ends;
    uint64_t n_refusals;
    uint64_t longest_wait_ns;
    uint64_t until_ns;        /* the end of the last operation that was dropped */
    uint64_t seen_ns;         /* the last event that was recorded by then */
    bool has_openers;         /* operations that give items back that had been ended */
    bool has_taken;           /* a recovery may have taken one from its worker before the end */
    uint64_t least_age_ns;    /* of a recovery that takes from the living; 0: none */
    uint64_t longest_hold_ns; /* of an item that was dropped */
    struct lb_settled_log *logs;
    size_t n_logs;
    struct lb_array again;       /* uint64_t: ids that were claimed again, for certain */
    struct lb_array pages, full; /* of settled.c */
};

/* True if the item was settled. NULL is allowed. */
bool lb_settled_has(const struct lb_settled *settled, uint64_t id);
/* True if it was then claimed again, for certain. */
bool lb_settled_is_again(const struct lb_settled *settled, uint64_t id);
/* Before the logs are read: the counts go on from those of the dropped part. */
void lb_settled_begin(struct lb_case *c);
/* After all judges: judges items that came again. */
void lb_settled_end(struct lb_case *c);
void lb_settled_add(struct lb_settled *settled, uint64_t id);
/* Why the guarantee is not judged at all, beside a part that was dropped; NULL: it is. */
const char *lb_settled_cannot_say(const struct lb_case *c, enum lb_guarantee guarantee);

#endif
