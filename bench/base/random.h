/* Deterministic random streams.
 *
 * xoshiro256** by Blackman and Vigna (2018, "Scrambled linear pseudorandom number generators"),
 * seeded by SplitMix64. Stream i of a seed is independent of stream j: every worker has its own, so
 * that a run's choices depend on the printed seed alone and not on the threads' timing.
 */
#ifndef LB_RANDOM_H
#define LB_RANDOM_H

#include <stdint.h>

struct lb_random {
    uint64_t state[4];
};

void lb_random_init(struct lb_random *random, uint64_t seed, uint64_t stream);
uint64_t lb_random_next(struct lb_random *random);

/* Uniform in [0, bound); bound > 0. No modulo bias (Lemire's method). */
uint64_t lb_random_below(struct lb_random *random, uint64_t bound);

/* Uniform in [0, 1). */
double lb_random_unit(struct lb_random *random);

/* A digest with one more value in it. */
static inline uint64_t lb_mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

/* A seed from the system's entropy, for runs that were given none; it is printed. */
uint64_t lb_random_seed(void);

#endif
