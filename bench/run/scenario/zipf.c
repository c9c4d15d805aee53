/* Ranks by Zipf's law: see zipf.h. The distribution function as a table, inverted by bisection:
 * exact for every exponent, 20 steps for a million ranks, and one random number per choice. */
#include "zipf.h"

#include "memory.h"

#include <math.h>

double *lb_zipf_new(uint32_t n, double exponent)
{
    double *distribution = lb_malloc(n * sizeof *distribution);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        distribution[i] = sum += pow(i + 1, -exponent);
    for (uint32_t i = 0; i < n; i++)
        distribution[i] /= sum;
    return distribution;
}

uint32_t lb_zipf_rank(const double *distribution, uint32_t n, double unit)
{
    uint32_t low = 0, high = n - 1; /* the last one takes what rounding left */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (unit < distribution[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
