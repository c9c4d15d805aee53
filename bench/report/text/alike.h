/* Merges messages of several runs that differ only in their figures. */
#ifndef LB_ALIKE_H
#define LB_ALIKE_H

#include <stdbool.h>

/* True if the texts differ at most in numbers and in the units of time behind them. */
bool lb_is_alike(const char *a, const char *b);

#endif
