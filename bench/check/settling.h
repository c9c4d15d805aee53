/* A long run's record, judged and dropped while the run goes on: see settling.c.
 *
 * An item is settled when it was put, claimed once and completed once with an effect by its
 * claimer, and the record of all three is there. The judge looks at nothing else of such an item:
 * it breaks no guarantee that is judged of each item alone. Its operations are counted and leave
 * the record. All else stays, and is judged at the end.
 */
#ifndef LB_SETTLING_H
#define LB_SETTLING_H

#include "check.h"

/* Counts of the dropped operations, and the ids of their items. */
struct lb_settled;

/* The events of one log, in order: n that may be dropped, and those up to n_seen, which may not. */
struct lb_settle_log {
    struct lb_event *events;
    size_t n, n_seen;
};

struct lb_settled *lb_settled_new(void);
void lb_settled_free(struct lb_settled *settled); /* accepts NULL */

/* Why the record must be kept whole to be judged; NULL: settled items may be dropped. */
const char *lb_settle_refusal(const struct lb_model *model);

/* Drops operations of settled items, and answers "empty", that ended before a time. logs[i] is log
 * i: first the events that an earlier call left, then new ones, of which the last operation may be
 * under way. The rest of the first n events moves to the front. Clocks must be exact. */
void lb_settle(struct lb_settled *settled, const struct lb_model *model, struct lb_settle_log *logs,
               size_t n_logs, uint64_t until_ns);

uint64_t lb_settled_events(const struct lb_settled *settled); /* dropped so far */

#endif
