/* Distributions of service times: draws follow the law that the text names, and means are right. */
#include "service.h"

#include "property.h"
#include "scenario.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { DRAWS = 200000, LAWS = 20 };

/* The quantile that a share u of the draws is above. */
static double above(const struct lb_service *s, double u)
{
    if (s->kind == LB_SERVICE_EXPONENTIAL)
        return -log(u) * s->scale_ns;
    if (s->kind == LB_SERVICE_PARETO)
        return s->scale_ns * pow(u, -1 / s->shape);
    double low = -9, high = 9; /* the standard normal quantile, by bisection */
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) / 2 > u)
            low = middle;
        else
            high = middle;
    }
    return s->scale_ns * exp(s->shape * low);
}

/* The integral of the quantiles, on a grid of log u, up to the cut at a millionth. */
static double mean_of(const struct lb_service *s)
{
    enum { STEPS = 20000 };
    const double width = log(1e6) / STEPS;
    double sum = 1e-6 * above(s, 1e-6);
    for (int i = 0; i < STEPS; i++) {
        double u = exp(-(i + 0.5) * width);
        sum += above(s, u) * u * width;
    }
    return sum;
}

/* The draws above a quantile of the share u are a binomial number. Of 20 laws with 5 quantiles
 * each, one is 5.5 standard deviations off by chance in 1 of 200,000 runs of this test. */
static void check_draws(const char *text, const struct lb_service *s, struct lb_random *random)
{
    static const double shares[] = {0.9, 0.5, 0.1, 0.01, 0.001};
    enum { N = sizeof shares / sizeof shares[0] };
    double limits[N], n_above[N] = {0};
    for (int k = 0; k < N; k++)
        limits[k] = above(s, shares[k]);
    for (int i = 0; i < DRAWS; i++) {
        double ns = (double)lb_service_draw(s, random);
        assert_true(ns <= s->most_ns);
        for (int k = 0; k < N; k++)
            n_above[k] += ns > limits[k];
    }
    for (int k = 0; k < N; k++) {
        double deviation = sqrt(DRAWS * shares[k] * (1 - shares[k]));
        if (fabs(n_above[k] - DRAWS * shares[k]) > 5.5 * deviation)
            fail_msg("%s: %.0f of %d draws are above the quantile of %g", text, n_above[k], DRAWS,
                     shares[k]);
    }
}

static void laws_have_their_quantiles_and_means(void **state)
{
    struct lb_random random;
    struct lb_error err;
    (void)state;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int i = 0; i < LAWS; i++) {
        char text[80];
        uint64_t us = 100 + lb_random_below(&random, 1000000);
        double unit = lb_random_unit(&random);
        struct lb_service service;
        if (i % 3 == 0)
            snprintf(text, sizeof text, "exp:%lluus", (unsigned long long)us);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "lognormal:%lluus,%.3f", (unsigned long long)us,
                     0.05 + 3 * unit);
        else
            snprintf(text, sizeof text, "pareto:%lluus,%.3f", (unsigned long long)us,
                     1.05 + 4 * unit);
        if (lb_service_parse(text, &service, &err) != 0)
            fail_msg("%s", err.message);
        check_draws(text, &service, &random);
        double mean = mean_of(&service);
        if (fabs(service.mean_ns / mean - 1) > 1e-3)
            fail_msg("%s: the mean is %g, not %g", text, mean, service.mean_ns);
        if (fabs(service.most_ns / above(&service, 1e-6) - 1) > 1e-6)
            fail_msg("%s: the largest is %g", text, service.most_ns);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_file_is_drawn_from(void **state)
{
    char path[] = "/tmp/lb-service-XXXXXX", text[64];
    struct lb_service service;
    struct lb_random random;
    struct lb_error err;
    size_t n[3] = {0};
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, "seconds\r\n0.004\r\n1ms\r\n0.001\r\n0\r\n");
    snprintf(text, sizeof text, "file:%s", path);
    assert_int_equal(lb_service_parse(text, &service, &err), 0);
    assert_int_equal(service.n_values, 4);
    assert_int_equal((int)service.mean_ns, 1500000);
    assert_int_equal((int)service.most_ns, 4000000);
    lb_random_init(&random, 1, 0);
    for (int i = 0; i < 4000; i++) {
        uint64_t ns = lb_service_draw(&service, &random);
        assert_true(ns == 0 || ns == 1000000 || ns == 4000000);
        n[ns == 0 ? 0 : ns == 1000000 ? 1 : 2]++;
    }
    assert_true(n[0] > 850 && n[0] < 1150 && n[1] > 1850 && n[1] < 2150);
    lb_service_release(&service);
    remove(path);
}

/* A scenario's hold is the mean; a stretched one draws longer times; a time replaces the law. */
static void scenarios_have_them(void **state)
{
    struct lb_scenario scenario;
    struct lb_service service;
    struct lb_error err;
    char text[300];
    (void)state;
    lb_scenario_init(&scenario);
    assert_int_equal(lb_scenario_set(&scenario, "hold", "pareto:2ms,2", &err), 0);
    assert_true(scenario.hold_ns > 3900000 && scenario.hold_ns < 4000000);
    assert_true(lb_scenario_hold_most_ns(&scenario) > 1999 * UINT64_C(1000000));
    lb_scenario_get(&scenario, lb_scenario_key("hold"), text, sizeof text);
    assert_string_equal(text, "pareto:2ms,2");
    lb_scenario_stretch(&scenario, 3);
    assert_int_equal(lb_service_init(&scenario, &service, &err), 0);
    assert_true(service.scale_ns > 5999999 && service.scale_ns < 6000001);
    assert_int_equal(lb_scenario_set(&scenario, "hold", "7ms", &err), 0);
    assert_int_equal(lb_scenario_hold_most_ns(&scenario), 7000000);
    lb_scenario_get(&scenario, lb_scenario_key("hold"), text, sizeof text);
    assert_string_equal(text, "7ms");
    assert_int_equal(lb_service_init(&scenario, &service, &err), 0);
    assert_int_equal(lb_service_draw(&service, NULL), 7000000);
}

static void mistakes_are_told(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"exp:5", "hold: 'exp:5' needs a time with its unit, such as 5ms; accepted: 5ms, exp:5ms"},
        {"exp:5ms,2", "needs one time"},
        {"exp:0", "needs a time with its unit"},
        {"normal:5ms,1", "is not a time with its unit, and no distribution"},
        {"lognormal:5ms", "needs a time, a comma and a number"},
        {"lognormal:5ms,x", "needs a number behind its comma"},
        {"lognormal:5ms,0", "needs a standard deviation"},
        {"lognormal:5ms,nan", "needs a number behind its comma"},
        {"lognormal:2000000h,4", "has times that are too long"},
        {"pareto:5ms,1", "needs an exponent above 1"},
        {"file:/does/not/exist", "hold: cannot open /does/not/exist: No such file"},
        {"file:/tmp", "hold: /tmp is not a file"},
        {"file:", "hold: cannot open "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_service service;
        struct lb_error err;
        if (lb_service_parse(cases[i].text, &service, &err) != LB_E_USAGE)
            fail_msg("'%s' was accepted", cases[i].text);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("'%s': %s", cases[i].text, err.message);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_have_their_quantiles_and_means),
        cmocka_unit_test(a_file_is_drawn_from),
        cmocka_unit_test(scenarios_have_them),
        cmocka_unit_test(mistakes_are_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
