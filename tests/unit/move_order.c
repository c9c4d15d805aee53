/* The schedules that exploring prints with a violation, and takes again: which worker moves, in
 * which order. */
#include "search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void schedules_are_written_and_read(void **state)
{
    (void)state;
    struct lb_error err = {0};
    struct lb_schedule schedule;
    char text[100];
    assert_int_equal(lb_schedule_parse("01x0t1", &schedule, &err), 0);
    assert_int_equal(schedule.n, 5);
    assert_int_equal(schedule.moves[2], LB_MOVE_DEATH);
    assert_int_equal(schedule.moves[3], LB_MOVE_CLOCK);
    lb_schedule_print(&schedule, text, sizeof text);
    assert_string_equal(text, "01x0t1");
    assert_int_equal(lb_schedule_parse("0c1x7c7", &schedule, &err), 0);
    assert_int_equal(schedule.moves[1], LB_MOVE_CUT + 1);
    assert_int_equal(lb_move_worker(schedule.moves[1]), 1);
    assert_false(lb_move_is_death(schedule.moves[1]));
    assert_true(lb_move_is_death(schedule.moves[2]));
    lb_schedule_print(&schedule, text, sizeof text);
    assert_string_equal(text, "0c1x7c7");
    static const char *const bad[] = {"0 1", "a", "x", "9", "0x9", "c", "c8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(lb_schedule_parse(bad[i], &schedule, &err), LB_E_USAGE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_are_written_and_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
