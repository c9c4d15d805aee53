/* Events by futex: see event.h. */
#include "event.h"

#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

bool lb_event_wait(struct lb_waitable *event, uint32_t seen, uint64_t deadline_ns)
{
    const struct timespec deadline = lb_timespec(deadline_ns);
    while (atomic_load(&event->counter) == seen) {
        /* FUTEX_WAIT_BITSET takes an absolute time; not the private form: processes share it. */
        long rc =
            syscall(SYS_futex, &event->counter, FUTEX_WAIT_BITSET, seen,
                    deadline_ns == UINT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
        if (rc != 0 && errno == ETIMEDOUT)
            return atomic_load(&event->counter) != seen;
    }
    return true;
}

void lb_event_signal(struct lb_waitable *event)
{
    atomic_fetch_add(&event->counter, 1);
    syscall(SYS_futex, &event->counter, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL,
            FUTEX_BITSET_MATCH_ANY);
}
