/* Events by futex: see event.h. */
#include "event.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool lb_event_wait(struct lb_waitable *event, uint32_t seen, uint64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                                .tv_nsec = (long)(deadline_ns % 1000000000u)};
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
