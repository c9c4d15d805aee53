/* One thing that several runs say, each with its own figures, is told once. */
#ifndef LB_ALIKE_H
#define LB_ALIKE_H

#include <stdbool.h>

/* True if the texts differ at most in numbers and in the units of time behind them. */
bool lb_is_alike(const char *a, const char *b);

#endif
