/* Two pieces of work at one time. */
#ifndef LB_PAIR_H
#define LB_PAIR_H

/* Calls work for a in a thread of its own and for b in this one; returns when both have returned.
 * Without a thread, b waits for a. The two must not touch the same memory. */
void lb_pair(void (*work)(void *arg), void *a, void *b);
/* How many processors this process may use: at least 1. */
unsigned lb_processors(void);

#endif
