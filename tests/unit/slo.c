/* Bounds of latency, as a user writes them. */
#include "plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void slos_are_parsed(void **state)
{
    (void)state;
    struct lb_slo slo;
    struct lb_error err;
    static const struct {
        const char *text;
        double quantile;
        uint64_t ns;
    } good[] = {{"p99<50ms", 0.99, 50000000},
                {"p99.9<1s", 0.999, 1000000000},
                {"p999<=1s", 0.999, 1000000000},
                {"p50< 200us", 0.5, 200000}};
    static const char *const bad[] = {"",          "p99",     "99<50ms", "p99<50", "p99<0ms",
                                      "p0<5ms",    "p100<1s", "p99>5ms", "p99<ms", "pp<1s",
                                      "p9.9.9<1s", "p99 <1s", "p99<1s x"};
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(lb_slo_parse(good[i].text, &slo, &err), 0);
        assert_near(slo.quantile, good[i].quantile, 1e-12);
        assert_int_equal(slo.bound_ns, good[i].ns);
        assert_string_equal(slo.text, good[i].text);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (lb_slo_parse(bad[i], &slo, &err) == 0)
            print_error("'%s' is taken\n", bad[i]);
        assert_int_equal(lb_slo_parse(bad[i], &slo, &err), LB_E_USAGE);
        assert_non_null(strstr(err.message, "such as p99<50ms"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(slos_are_parsed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
