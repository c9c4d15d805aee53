/* The one clock: nanoseconds of CLOCK_MONOTONIC. */
#ifndef LB_CLOCK_H
#define LB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Now. Read in user space on Linux (vDSO); never fails for CLOCK_MONOTONIC. */
static inline uint64_t lb_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline struct timespec lb_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* Milliseconds since 1970 of CLOCK_REALTIME: what statements see as :now. */
static inline int64_t lb_unix_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False if something between this program and the kernel, such as libfaketime, changes the clock:
 * no number would be right, and no wait would end when it should. */
bool lb_clock_is_real(void);

#endif
