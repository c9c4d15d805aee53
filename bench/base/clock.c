/* Whether the clock is the system's: see clock.h. */
#include "clock.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The clock as the kernel has it, past whatever is loaded in front of the C library. */
static uint64_t kernel_ns(void)
{
    struct timespec t = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool lb_clock_is_real(void)
{
    enum { ROUNDING_NS = 1000 };
    uint64_t before = kernel_ns(), now = lb_now_ns(), after = kernel_ns();
    return now + ROUNDING_NS >= before && now <= after + ROUNDING_NS;
}
