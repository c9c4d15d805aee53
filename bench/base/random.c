/* Deterministic random streams: see random.h. */
#include "random.h"

#include <sys/random.h>
#include <time.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void lb_random_init(struct lb_random *random, uint64_t seed, uint64_t stream)
{
    /* The stream's number is mixed before it meets the seed: neighbouring seeds and neighbouring
     * streams must not give the same state. */
    uint64_t mixed = stream + 0x632be59bd9b4e019u;
    uint64_t state = seed ^ splitmix64(&mixed);
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix64(&state);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t lb_random_next(struct lb_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t lb_random_below(struct lb_random *random, uint64_t bound)
{
    /* Lemire 2019, "Fast random integer generation in an interval". */
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)lb_random_next(random) * bound;
    uint64_t low = (uint64_t)product;
    if (low < bound) {
        uint64_t threshold = (0 - bound) % bound;
        while (low < threshold) {
            product = (wide)lb_random_next(random) * bound;
            low = (uint64_t)product;
        }
    }
    return (uint64_t)(product >> 64);
}

double lb_random_unit(struct lb_random *random)
{
    return (double)(lb_random_next(random) >> 11) * 0x1p-53;
}

uint64_t lb_random_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        return seed >> 16; /* 48 bits: short enough to type */
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_nsec ^ ((uint64_t)t.tv_sec << 20);
}
