/* Prints what one reading of the clock costs, in ns: the best of some rounds. The costs of
 * recording are mostly such readings, and these differ between machines by a factor of ten.
 */
#include "clock.h"

#include <stdio.h>

int main(void)
{
    enum { ROUNDS = 20, READS = 100000 };
    uint64_t best_ns = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start_ns = lb_now_ns(), end_ns = start_ns;
        for (int i = 0; i < READS; i++)
            end_ns = lb_now_ns();
        if (end_ns - start_ns < best_ns)
            best_ns = end_ns - start_ns;
    }
    printf("%.1f\n", (double)best_ns / READS);
    return 0;
}
