/* Zipf's law: frequencies against the theoretical ones by a chi-square test, and a wrong exponent
 * that the same test rejects. */
#include "zipf.h"

#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "property.h"

enum { RANKS = 40, DRAWS = 400000 };

/* The chi-square statistic of draws by one exponent against the frequencies of another, as a
 * standard normal deviate (Wilson and Hilferty, 1931). */
static double deviate(double drawn, double expected, uint64_t seed)
{
    double *distribution = lb_zipf_new(RANKS, drawn), sum = 0, statistic = 0;
    uint64_t count[RANKS] = {0};
    struct lb_random random;
    assert_non_null(distribution);
    lb_random_init(&random, seed, 0);
    for (int i = 0; i < DRAWS; i++)
        count[lb_zipf_rank(distribution, RANKS, lb_random_unit(&random))]++;
    free(distribution);
    for (int k = 1; k <= RANKS; k++)
        sum += pow(k, -expected);
    for (int k = 1; k <= RANKS; k++) {
        double e = DRAWS * pow(k, -expected) / sum;
        statistic += ((double)count[k - 1] - e) * ((double)count[k - 1] - e) / e;
    }
    double df = RANKS - 1, v = 2 / (9 * df);
    return (cbrt(statistic / df) - (1 - v)) / sqrt(v);
}

static void frequencies_are_those_of_the_law(void **state)
{
    (void)state;
    uint64_t seed = lb_test_seed();
    static const double exponents[] = {0.2, 0.8, 1, 1.5, 3};
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        double z = deviate(exponents[i], exponents[i], seed + i);
        print_message("# zipf %.1f: %.2f standard deviations\n", exponents[i], z);
        assert_true(z < 4.5); /* probability for five of them: 2e-5 */
        assert_true(deviate(exponents[i] + 0.05, exponents[i], seed + i) > 4.5);
    }
}

static void the_edges_are_ranks(void **state)
{
    (void)state;
    double *distribution = lb_zipf_new(3, 1);
    assert_int_equal(lb_zipf_rank(distribution, 3, 0), 0);
    assert_int_equal(lb_zipf_rank(distribution, 3, nextafter(1, 0)), 2);
    assert_int_equal(lb_zipf_rank(distribution, 3, 0.54), 0); /* 6/11 */
    assert_int_equal(lb_zipf_rank(distribution, 3, 0.55), 1);
    assert_int_equal(lb_zipf_rank(distribution, 3, 0.82), 2); /* 9/11 */
    assert_int_equal(lb_zipf_rank(distribution, 1, 0.99), 0);
    free(distribution);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_are_those_of_the_law),
        cmocka_unit_test(the_edges_are_ranks),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
