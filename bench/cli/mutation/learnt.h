/* Which questions distinguish mutants: counts of the built-in protocols. */
#ifndef LB_LEARNT_H
#define LB_LEARNT_H

#include <stdint.h>

/* The likely price of a verdict by this exploration, in a unit of its own: one that takes longer,
 * or distinguished few mutants so far, costs more. took_ns: of the exploration; 0: the usual. */
uint64_t lb_learnt_price(const char *question, uint64_t took_ns);

#endif
