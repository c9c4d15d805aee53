/* Wrong clocks, for tests: see skew.h. */
#include "skew.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000 };

int lb_skew_read(struct lb_skew *skew, uint32_t rank)
{
    const char *at = getenv("LOCKBENCH_TEST_CLOCKS");
    *skew = (struct lb_skew){.since_ns = lb_now_ns()};
    for (uint32_t i = 0; at != NULL && i < rank; i++) {
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return 0;
    char *end;
    skew->ahead_ns = strtoll(at, &end, 10) * 1000000000;
    if (*end == ':')
        skew->ppm = strtoll(end + 1, &end, 10);
    return *end == '\0' || *end == ',' ? 0 : -1;
}

uint64_t lb_skew_shown(const struct lb_skew *skew, uint64_t real_ns)
{
    int64_t ns = (int64_t)(real_ns - skew->since_ns);
    int64_t drift = ns / MILLION * skew->ppm + ns % MILLION * skew->ppm / MILLION;
    return real_ns + (uint64_t)(skew->ahead_ns + drift);
}

/* To some nanoseconds: it serves to wait for a time. */
uint64_t lb_skew_real(const struct lb_skew *skew, uint64_t shown_ns)
{
    int64_t ns = (int64_t)(shown_ns - skew->since_ns) - skew->ahead_ns;
    int64_t drift = ns / MILLION * skew->ppm + ns % MILLION * skew->ppm / MILLION;
    return shown_ns - (uint64_t)(skew->ahead_ns + drift);
}
