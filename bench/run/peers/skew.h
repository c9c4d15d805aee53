/* For tests: the clock that a rank shows to the others. LOCKBENCH_TEST_CLOCKS="0,-1000:50,3000:-50"
 * gives for each rank the seconds that it is ahead, and the millionths that it is too fast. Nothing
 * in the rank itself changes: only times in outgoing messages are changed, as if its machine's
 * clock were wrong.
 */
#ifndef LB_SKEW_H
#define LB_SKEW_H

#include <stdint.h>

/* Zeroed: none. */
struct lb_skew {
    int64_t ahead_ns, ppm;
    uint64_t since_ns;
};

/* -1: the variable cannot be read. */
int lb_skew_read(struct lb_skew *skew, uint32_t rank);
uint64_t lb_skew_shown(const struct lb_skew *skew, uint64_t real_ns);
uint64_t lb_skew_real(const struct lb_skew *skew, uint64_t shown_ns);

#endif
