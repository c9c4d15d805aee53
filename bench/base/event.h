/* An event that can be waited for, in memory that processes may share.
 *
 * A counter and a futex on it. Unlike a condition variable it survives the death of a waiter, and
 * needs no mutex: the waiter reads the counter, checks its condition, and sleeps only if the
 * counter has not moved since.
 *
 *     for (;;) {
 *         uint32_t seen = lb_event_seen(&event);
 *         if (the condition holds)
 *             break;
 *         if (!lb_event_wait(&event, seen, deadline_ns))
 *             break; // the deadline passed
 *     }
 */
#ifndef LB_EVENT_H
#define LB_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lb_waitable {
    _Atomic uint32_t counter;
};

static inline uint32_t lb_event_seen(const struct lb_waitable *event)
{
    return atomic_load(&event->counter);
}

/* Sleeps until a signal after `seen` was read, or until deadline_ns (CLOCK_MONOTONIC; UINT64_MAX:
 * none). false: the deadline passed. Returns at once when there was a signal already. */
bool lb_event_wait(struct lb_waitable *event, uint32_t seen, uint64_t deadline_ns);

/* Wakes all waiters, in all processes. Earlier writes are visible to them. */
void lb_event_signal(struct lb_waitable *event);

#endif
