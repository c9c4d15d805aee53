/* For tests of numbers and properties. Include after cmocka.h. */
#ifndef LB_TEST_PROPERTY_H
#define LB_TEST_PROPERTY_H

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The seed of a property test: LB_TEST_SEED, a new one where that says "new", or always the same: a
 * test's result must not depend on chance. Printed, to run it again. */
static inline uint64_t lb_test_seed(void)
{
    const char *text = getenv("LB_TEST_SEED");
    uint64_t seed = text == NULL               ? 1
                    : strcmp(text, "new") == 0 ? lb_random_seed()
                                               : strtoull(text, NULL, 0);
    printf("# seed %" PRIu64 "\n", seed);
    fflush(stdout); /* cmocka's output comes after it */
    return seed;
}

/* A result that depends on chance gets this number of tries. The file LB_TEST_TRIES gets the number
 * that it needed, as from tests/lib/Lockbench.pm. */
enum { LB_TEST_MOST_TRIES = 3 };
#define lb_test_count_tries(tries, is_shown)                                                       \
    lb_test_count_tries_at(__FILE__, __LINE__, (tries), (is_shown))
static inline void lb_test_count_tries_at(const char *path, int line, unsigned tries, bool is_shown)
{
    const char *name = getenv("LB_TEST_TRIES");
    FILE *file = name != NULL ? fopen(name, "ae") : NULL;
    if (file == NULL)
        return;
    const char *short_path = strstr(path, "tests/");
    fprintf(file, "%u\t%s:%d\t%s\n", tries, short_path != NULL ? short_path : path, line,
            is_shown ? "shown" : "NOT SHOWN");
    fclose(file);
}

/* Standard normal, by Box and Muller. */
static inline double lb_test_normal(struct lb_random *random)
{
    double u = 1 - lb_random_unit(random), v = lb_random_unit(random);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

/* Exponentially distributed with the given mean. */
static inline double lb_test_exponential(struct lb_random *random, double mean)
{
    return -mean * log1p(-lb_random_unit(random));
}

/* A digest of both. */
static inline uint64_t lb_test_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

/* Adds a value to a set of *n values, unless it is there. room: at most. */
static inline void lb_test_note(uint64_t *set, size_t *n, size_t room, uint64_t value)
{
    for (size_t i = 0; i < *n; i++)
        if (set[i] == value)
            return;
    assert_true(*n < room);
    set[(*n)++] = value;
}

/* |a - b| <= epsilon. cmocka 1.1 compares floats only, and says too little. */
#define assert_near(a, b, epsilon) lb_test_near((a), (b), (epsilon), __FILE__, __LINE__)
static inline void lb_test_near(double a, double b, double epsilon, const char *file, int line)
{
    if (fabs(a - b) <= epsilon)
        return;
    print_error("%.12g is not within %g of %.12g\n", a, epsilon, b);
    _fail(file, line);
}

#endif
