/* Results of schedules: two are the same if they differ in the moment only. */
#include "states.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t digest(const char *state)
{
    struct lb_states states = {.start_unix_ms = 1800000000000, .ttl_ms = 600000};
    return lb_states_digest(&states, state).all;
}

static void a_few_milliseconds_make_no_other_state(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"w0: acquire ok 1(token=1)\n", "w0: acquire ok 1(token=1)\n", true},
        {"w0: acquire ok 1(token=1)\n", "w0: acquire ok 1(token=2)\n", false},
        {"w0: acquire ok 1(left_ms=600000)\n", "w0: acquire ok 1(left_ms=599981)\n", true},
        {"w0: acquire ok 1(left_ms=600000)\n", "w0: acquire ok 1(left_ms=400000)\n", false},
        {"w0:\nt 1 1800000000100\n", "w0:\nt 1 1800000001900\n", true},
        {"w0:\nt 1 1800000000100\n", "w0:\nt 1 1800000600100\n", false},
        {"w0:\nt 1 1800000000\n", "w0:\nt 1 1800000002\n", true},
        {"w0:\nt 1 2461420.833333\n", "w0:\nt 1 2461420.833363\n", true},
        {"w0:\nt 1 2461420.833333\n", "w0:\nt 1 2461420.840363\n", false},
        {"w0:\nt 1 2027-01-15 08:00:00.5+00\n", "w0:\nt 1 2027-01-15 08:00:02.25+00\n", true},
        {"w0:\nt 1 2027-01-15 08:00:00.5+00\n", "w0:\nt 1 2027-01-15 08:10:00.5+00\n", false},
        {"w0:\nt 1 2027-01-15 08:00:00.5+00\n", "w0:\nt 1 -\n", false},
        /* Rows have no order, and workers' answers have one. */
        {"w0: a\nw1: b\nt 1\nt 2\n", "w0: a\nw1: b\nt 2\nt 1\n", true},
        {"w0: a\nw1: b\n", "w0: b\nw1: a\n", false},
        {"w0:\nt 1\nt 1\n", "w0:\nt 1\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if ((digest(cases[i].a) == digest(cases[i].b)) != cases[i].same)
            fail_msg("%s%s: %s", cases[i].a, cases[i].b, cases[i].same ? "differ" : "are the same");
}

/* Where only times are stored otherwise. */
static void values_of_times_can_be_ignored(void **state)
{
    (void)state;
    struct lb_states states = {.start_unix_ms = 1800000000000, .ttl_ms = 600000};
    const char *a = "w0: put ok 1()\nt 1 1800000000100\n";
    const char *b = "w0: put ok 1()\nt 1 1800003600100\n", *c = "w0: put ok 1()\nt 1 -\n";
    assert_int_not_equal(lb_states_digest(&states, a).all, lb_states_digest(&states, b).all);
    assert_int_equal(lb_states_digest(&states, a).untimed, lb_states_digest(&states, b).untimed);
    assert_int_not_equal(lb_states_digest(&states, a).untimed,
                         lb_states_digest(&states, c).untimed);
}

/* The set counts, and not how often a state was met. */
static void sets_of_states_are_compared(void **state)
{
    (void)state;
    struct lb_states a = {0}, b = {0};
    struct lb_explore_watch watch;
    lb_states_begin(&a, 600000, &watch);
    watch.ended(watch.arg, "w0: claim ok 1()\n", 0);
    watch.ended(watch.arg, "w0: complete ok 1()\n", 0);
    lb_states_end(&a);
    lb_states_begin(&b, 600000, &watch);
    watch.ended(watch.arg, "w0: complete ok 1()\n", 0);
    watch.ended(watch.arg, "w0: claim ok 1()\n", 0);
    watch.ended(watch.arg, "w0: complete ok 1()\n", 0);
    lb_states_end(&b);
    assert_true(lb_states_equal(&a, &b, false));
    assert_true(lb_states_answer_alike(&a, &b));
    assert_int_equal(a.sections, 1u << LB_S_CLAIM | 1u << LB_S_COMPLETE);
    assert_false(a.violated);
    watch.anew(watch.arg); /* a search that begins again */
    watch.ended(watch.arg, "w0: complete ok 1()\n", 1);
    lb_states_end(&b);
    assert_false(lb_states_equal(&a, &b, false));
    assert_true(b.violated);
    lb_states_free(&a);
    lb_states_free(&b);
}

/* Rows and the values of tokens are no answers; the first other one is kept. */
static void answers_are_compared_alone(void **state)
{
    (void)state;
    struct lb_states a = {0}, b = {0};
    struct lb_explore_watch watch;
    lb_states_begin(&a, 600000, &watch);
    watch.ended(watch.arg, "w0: acquire ok 1(token=1 n=2)\nt 1\n", 0);
    lb_states_end(&a);
    b.known = &a.answers;
    lb_states_begin(&b, 600000, &watch);
    watch.ended(watch.arg, "w0: acquire ok 1(token=7 n=2)\nt 2\n", 0);
    lb_states_end(&b);
    assert_false(lb_states_equal(&a, &b, false));
    assert_false(lb_states_equal(&a, &b, true));
    assert_true(lb_states_answer_alike(&a, &b));
    assert_null(b.unknown);
    watch.ended(watch.arg, "w0: acquire busy 0()\nt 1\n", 0);
    watch.ended(watch.arg, "w0: acquire ok 1(token=1 n=3)\nt 1\n", 0);
    lb_states_end(&b);
    assert_false(lb_states_answer_alike(&a, &b));
    assert_string_equal(b.unknown, "w0: acquire busy 0()\n");
    lb_states_free(&a);
    lb_states_free(&b);
}

/* With rows, the first other state is kept as a whole. */
static void rows_are_compared_with_answers(void **state)
{
    (void)state;
    struct lb_states a = {0}, b = {.knows_rows = true};
    struct lb_explore_watch watch;
    lb_states_begin(&a, 600000, &watch);
    watch.ended(watch.arg, "w0: acquire ok 1()\nt 1\n", 0);
    lb_states_end(&a);
    b.known = &a.all;
    lb_states_begin(&b, 600000, &watch);
    watch.ended(watch.arg, "w0: acquire ok 1()\nt 1\n", 0);
    assert_null(b.unknown);
    watch.ended(watch.arg, "w0: acquire ok 1()\nt 2\n", 0);
    assert_string_equal(b.unknown, "w0: acquire ok 1()\nt 2\n");
    lb_states_free(&a);
    lb_states_free(&b);
}

/* Other answers end an exploration: at once, or when its patience is over. */
static void unknown_answers_are_enough(void **state)
{
    (void)state;
    struct lb_states a = {0}, hasty = {0}, patient = {.patient_until_ns = UINT64_MAX};
    struct lb_explore_watch watch, other;
    lb_states_begin(&a, 600000, &watch);
    watch.ended(watch.arg, "w0: acquire ok 1()\nt 1\n", 0);
    lb_states_end(&a);
    assert_false(*watch.enough);
    hasty.known = patient.known = &a.answers;
    lb_states_begin(&hasty, 600000, &watch);
    lb_states_begin(&patient, 600000, &other);
    watch.ended(watch.arg, "w0: acquire ok 1()\nt 2\n", 0);
    assert_false(*watch.enough);
    watch.ended(watch.arg, "w0: acquire ok 0()\nt 1\n", 0);
    other.ended(other.arg, "w0: acquire ok 0()\nt 1\n", 0);
    assert_true(*watch.enough);
    assert_false(*other.enough);
    watch.anew(watch.arg);
    assert_false(*watch.enough);
    lb_states_free(&a);
    lb_states_free(&hasty);
    lb_states_free(&patient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_milliseconds_make_no_other_state),
        cmocka_unit_test(values_of_times_can_be_ignored),
        cmocka_unit_test(sets_of_states_are_compared),
        cmocka_unit_test(answers_are_compared_alone),
        cmocka_unit_test(rows_are_compared_with_answers),
        cmocka_unit_test(unknown_answers_are_enough),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
