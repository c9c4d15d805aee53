/* What the workers of a run share while it is under way, wherever they are: the phase, how many are
 * ready and how many have ended, and the ids of items. Private to bench/run.
 *
 * It is all that one worker needs of the others:
 *   threads and forked processes have it in memory that they share. No lock is held in it, since a
 *   process may be killed at any instruction;
 *   ranks on other machines have one each, and bench/run/peers keeps them in step over a link
 *   (link.h): the leader raises the phases, each rank gets its own ids, and reports its counts to
 *   the leader; a program has none: the worker of ours that asks it over its pipe has
 *   (bench/guest).
 * A kind of worker that is added makes do with these functions.
 */
#ifndef LB_COMMON_H
#define LB_COMMON_H

#include "event.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum lb_phase {
    LB_PHASE_PREPARE, /* sessions are being opened */
    LB_PHASE_WARMUP,  /* working, not measured */
    LB_PHASE_MEASURE, /* working and measured */
    LB_PHASE_DRAIN,   /* queues: producers have stopped, consumers empty the queue, not measured */
    LB_PHASE_STOP,    /* finish what is under way, then end */
    LB_PHASE_ABORT    /* end now */
};

/* Milestones at which workers are counted, once each. */
enum lb_milestone { LB_READY, LB_ENDED, LB_MILESTONES };

/* Only the functions below touch it. */
struct lb_common {
    atomic_int phase; /* enum lb_phase */
    _Atomic uint32_t n[LB_MILESTONES];
    _Atomic int64_t next_id;
    uint32_t id_step;          /* between two ids of this rank; the others have those between */
    struct lb_waitable change; /* of the above, or of other state that the waiter knows */
};

/* Before any worker is started. Ids are first_id, first_id + id_step, ... */
void lb_common_init(struct lb_common *common, int64_t first_id, uint32_t id_step);

static inline enum lb_phase lb_common_phase(const struct lb_common *common)
{
    /* Relaxed: a phase only means to stop or to count; data is handed over by joins. */
    return (enum lb_phase)atomic_load_explicit(&common->phase, memory_order_relaxed);
}
/* Has it come so far? Whom a phase lets go sees what was written before it was raised. */
bool lb_common_has_come(const struct lb_common *common, enum lb_phase phase);
/* Raises the phase, never lowers it, and wakes who waits for a change. */
void lb_common_raise(struct lb_common *common, enum lb_phase phase);

/* One more worker has got so far; wakes who waits for a change. */
void lb_common_count(struct lb_common *common, enum lb_milestone milestone);
uint32_t lb_common_counted(const struct lb_common *common, enum lb_milestone milestone);

/* An id that no other item has, in any rank. */
int64_t lb_common_new_id(struct lb_common *common);
/* The ids of n items that a statement has put are used. */
void lb_common_skip_ids(struct lb_common *common, int64_t n);
int64_t lb_common_next_id(const struct lb_common *common);

/* Waiting for a change: lb_common_seen, then a check of the condition, then lb_common_wait (see
 * event.h). */
static inline uint32_t lb_common_seen(const struct lb_common *common)
{
    return lb_event_seen(&common->change);
}
bool lb_common_wait(struct lb_common *common, uint32_t seen, uint64_t deadline_ns);
void lb_common_wake(struct lb_common *common);

#endif
