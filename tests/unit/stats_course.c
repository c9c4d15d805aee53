/* The course of a long run: on series that are made up, so that the truth is known. */
#include "random.h"
#include "run_course.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { HOUR = 3600 };

static uint64_t seed;

static double normal(struct lb_random *random)
{
    return sqrt(-2 * log(1 - lb_random_unit(random))) *
           cos(6.283185307179586 * lb_random_unit(random));
}

/* An hour around 1, a point each second; noise follows on itself. */
static void make(struct lb_random *random, double sd, double rho, double *x, double *y)
{
    double noise = 0;
    for (size_t i = 0; i < HOUR; i++) {
        noise = rho * noise + sqrt(1 - rho * rho) * normal(random);
        x[i] = (double)i;
        y[i] = fmax(0, 1 + sd * noise);
    }
}

static struct lb_course course_of(const double *x, const double *y, size_t n)
{
    struct lb_course course;
    struct lb_error err;
    assert_int_equal(lb_course_of(x, y, n, seed, &course, &err), 0);
    return course;
}

static void twenty_calm_hours_never_collapse(void **state)
{
    (void)state;
    static double x[HOUR], y[HOUR];
    static const double rhos[] = {0, 0.5, 0.9, 0.95};
    struct lb_random random;
    size_t n_drifting = 0;
    lb_random_init(&random, seed, 1);
    for (size_t hour = 0; hour < 20; hour++) {
        make(&random, hour % 2 == 0 ? 0.05 : 0.2, rhos[hour % 4], x, y);
        y[lb_random_below(&random, HOUR)] = 0; /* a second in which the machine stood still */
        struct lb_course course = course_of(x, y, HOUR);
        assert_int_not_equal(course.verdict, LB_COURSE_COLLAPSED);
        n_drifting += course.verdict == LB_COURSE_DRIFTING;
    }
    /* More than 2 in one of 300 seeds. */
    assert_true(n_drifting <= 4);
}

/* Twenty minutes in which a tenth of the rate is left, behind a fall of `fall` seconds. */
static void plant(double *y, size_t from, size_t to, size_t fall)
{
    for (size_t i = from; i < to; i++)
        y[i] *= i < from + fall ? 1 - 0.9 * (double)(i - from) / (double)fall : 0.1;
}

static void a_planted_collapse_is_found_with_its_times(void **state)
{
    (void)state;
    static double x[HOUR], y[HOUR];
    static const size_t falls[] = {0, 10, 20};
    struct lb_random random;
    size_t n_late = 0, n_early = 0;
    lb_random_init(&random, seed, 2);
    for (size_t i = 0; i < 12; i++) {
        size_t from = 600 + (size_t)lb_random_below(&random, 900);
        make(&random, 0.1, 0.9, x, y);
        plant(y, from, from + 1200, falls[i % 3]);
        struct lb_course course = course_of(x, y, HOUR);
        assert_int_equal(course.verdict, LB_COURSE_COLLAPSED);
        assert_true(course.collapsed.value <= (double)from + 30);
        n_early += course.collapsed.value < (double)from - 30;
        assert_true(course.collapsed.interval.low <= course.collapsed.value);
        assert_true(course.collapsed.interval.high >= course.collapsed.value);
        assert_true(course.during < 0.3 && course.before > 0.9);
        assert_true(course.has_recovered);
        n_late += fabs(course.recovered.value - (double)from - 1200) > 30;
    }
    /* The noise keeps the first minute after the end below 90 % in one of 1,000 hours. */
    assert_true(n_late <= 1);
    /* A dip of the noise just before is taken for the first step in one of 100 hours: two of 12 are
     * so for one of 150 seeds. */
    assert_true(n_early <= 1);
}

/* Half a minute at two thirds of the arrivals, or at more, comes before the collapse, and a noisy
 * backlog is worked off after it. */
static void a_fall_in_two_steps_begins_with_the_first(void **state)
{
    (void)state;
    static double x[HOUR], y[HOUR];
    struct lb_random random;
    lb_random_init(&random, seed, 5);
    for (size_t i = 0; i < 12; i++) {
        size_t from = 600 + (size_t)lb_random_below(&random, 900), to = from + 1200;
        make(&random, 0.005, 0, x, y);
        for (size_t k = from; k < to; k++)
            y[k] = fmax(0, (k < from + 33 ? i % 2 ? 0.66 : 0.82 : 0.2) + 0.1 * normal(&random));
        for (size_t k = to; k < to + 300; k++)
            y[k] = fmax(0, 3 + normal(&random));
        struct lb_course course = course_of(x, y, HOUR);
        assert_int_equal(course.verdict, LB_COURSE_COLLAPSED);
        assert_true(fabs(course.collapsed.value - (double)from) <= 10);
        assert_true(course.collapsed.interval.low <= course.collapsed.value);
        assert_int_equal(course.at, (size_t)course.collapsed.value);
        assert_true(course.has_recovered);
        assert_true(fabs(course.recovered.value - (double)to) <= 30);
    }
}

static void a_collapse_without_an_end_has_not_recovered(void **state)
{
    (void)state;
    static double x[HOUR], y[HOUR];
    struct lb_random random;
    lb_random_init(&random, seed, 3);
    make(&random, 0.1, 0.5, x, y);
    plant(y, 2000, HOUR, 0);
    struct lb_course course = course_of(x, y, HOUR);
    assert_int_equal(course.verdict, LB_COURSE_COLLAPSED);
    assert_false(course.has_recovered);
    /* Less than half is lost: that is none. */
    make(&random, 0.1, 0.5, x, y);
    for (size_t i = 2000; i < HOUR; i++)
        y[i] *= 0.7;
    assert_int_not_equal(course_of(x, y, HOUR).verdict, LB_COURSE_COLLAPSED);
}

static void a_drift_has_its_size(void **state)
{
    (void)state;
    static double x[HOUR], y[HOUR];
    struct lb_random random;
    size_t n_covered = 0;
    lb_random_init(&random, seed, 4);
    for (size_t k = 0; k < 10; k++) {
        make(&random, 0.1, 0.8, x, y);
        for (size_t i = 0; i < HOUR; i++)
            y[i] *= 1.2 - 0.4 * (double)i / HOUR; /* 40 % of the mean, in an hour */
        struct lb_course course = course_of(x, y, HOUR);
        assert_int_equal(course.verdict, LB_COURSE_DRIFTING);
        assert_true(fabs(course.per_hour.value + 0.4) < 0.1);
        n_covered += course.per_hour.interval.low <= -0.4 && course.per_hour.interval.high >= -0.4;
    }
    assert_true(n_covered >= 6);
    make(&random, 0.02, 0.5, x, y);
    assert_int_equal(course_of(x, y, HOUR).verdict, LB_COURSE_STEADY);
}

static void too_little_says_nothing(void **state)
{
    (void)state;
    double x[LB_COURSE_FEWEST], y[LB_COURSE_FEWEST] = {0};
    struct lb_course course;
    struct lb_error err;
    for (size_t i = 0; i < LB_COURSE_FEWEST; i++)
        x[i] = (double)i;
    assert_int_equal(lb_course_of(x, y, LB_COURSE_FEWEST, 1, &course, &err), LB_E_USAGE);
    y[3] = 1;
    assert_int_equal(lb_course_of(x, y, LB_COURSE_FEWEST - 1, 1, &course, &err), LB_E_USAGE);
    assert_int_equal(lb_course_of(x, y, LB_COURSE_FEWEST, 1, &course, &err), 0);
}

/* A run of ten minutes in which three were lost, and one without an end of them. */
static void a_run_says_it_in_words(void **state)
{
    (void)state;
    static struct lb_interval intervals[600];
    struct lb_outcome run = {
        .intervals = intervals, .n_intervals = 600, .config = {.rate = "100/s"}, .seed = seed};
    struct lb_course course;
    double dead_rows;
    char text[400];
    for (size_t i = 0; i < 600; i++) {
        bool is_low = i >= 200 && i < 380;
        intervals[i] = (struct lb_interval){.start_ns = i * UINT64_C(1000000000),
                                            .length_ns = 1000000000,
                                            .n_due = 95 + i % 10,
                                            .n_successes = is_low ? 10 + i % 3 : 95 + i % 10};
        intervals[i].gauges[LB_G_DEAD_ROWS] = 100.0 * (double)i;
    }
    assert_true(lb_run_course(&run, &course, &dead_rows));
    assert_near(dead_rows, 20000, 1);
    lb_run_course_text(&run, &course, dead_rows, text, sizeof text);
    assert_string_equal(text,
                        "collapsed after 200 s (95 %: 200 to 200 s), at 20.0k dead rows, from "
                        "100 % of the arrivals to 11 % of the arrivals; recovered 180 s (95 "
                        "%: 180 to 180 s) later");
    run.n_intervals = 370;
    assert_true(lb_run_course(&run, &course, &dead_rows));
    lb_run_course_text(&run, &course, dead_rows, text, sizeof text);
    assert_non_null(strstr(text, "; did not recover"));
    run.n_intervals = 200;
    assert_true(lb_run_course(&run, &course, &dead_rows));
    lb_run_course_text(&run, &course, dead_rows, text, sizeof text);
    assert_memory_equal(text, "steady: ", 8);
    run.n_intervals = LB_COURSE_FEWEST - 1;
    assert_false(lb_run_course(&run, &course, &dead_rows));
    run.n_intervals = 600;
    run.config.drain = true;
    assert_false(lb_run_course(&run, &course, &dead_rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_calm_hours_never_collapse),
        cmocka_unit_test(a_planted_collapse_is_found_with_its_times),
        cmocka_unit_test(a_fall_in_two_steps_begins_with_the_first),
        cmocka_unit_test(a_collapse_without_an_end_has_not_recovered),
        cmocka_unit_test(a_drift_has_its_size),
        cmocka_unit_test(too_little_says_nothing),
        cmocka_unit_test(a_run_says_it_in_words),
    };
    seed = lb_test_seed();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
