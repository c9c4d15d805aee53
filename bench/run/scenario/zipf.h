/* Ranks by Zipf's law: of n things the k-th is chosen in proportion to 1/k^s. s = 0: all alike. */
#ifndef LB_ZIPF_H
#define LB_ZIPF_H

#include <stdint.h>

/* The distribution function of ranks 0 .. n-1; caller frees. */
double *lb_zipf_new(uint32_t n, double exponent);
/* The rank that belongs to a number in [0, 1). */
uint32_t lb_zipf_rank(const double *distribution, uint32_t n, double unit);

#endif
