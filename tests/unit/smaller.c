/* Smaller cases of explorations, and the counts of each question. */
#include "learnt.h"
#include "mutation_ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* The purpose of the exploration stays: its workers and renewals, and the rounds of one worker. */
static void cases_become_smaller(void **state)
{
    (void)state;
    struct lb_explored_ask ask = {.workers = 3, .rounds = 2, .items = 2, .renewals = 2, .ticks = 1};
    assert_true(lb_mutation_make_smaller(&ask, true));
    assert_true(ask.whole);
    assert_int_equal(ask.items, 2);
    assert_false(lb_mutation_make_smaller(&ask, true));
    assert_true(lb_mutation_make_smaller(&ask, false));
    assert_int_equal(ask.items, 1);
    assert_int_equal(ask.rounds, 2);
    assert_true(lb_mutation_make_smaller(&ask, false));
    assert_int_equal(ask.rounds, 1);
    assert_false(lb_mutation_make_smaller(&ask, false));
    assert_int_equal(ask.workers, 3);
    assert_int_equal(ask.renewals, 2);
    assert_int_equal(ask.ticks, 1);
    ask = (struct lb_explored_ask){.workers = 1, .putters = 2, .rounds = 2, .items = 1};
    assert_true(lb_mutation_make_smaller(&ask, false));
    assert_int_equal(ask.rounds, 1);
    assert_int_equal(ask.putters, 2);
    assert_false(lb_mutation_make_smaller(&ask, false));
    ask = (struct lb_explored_ask){.workers = 1, .rounds = 3, .items = 1};
    assert_false(lb_mutation_make_smaller(&ask, false));
    assert_int_equal(ask.rounds, 3);
}

static void a_smaller_case_counts_with_its_question(void **state)
{
    (void)state;
    const uint64_t price = lb_learnt_price("explore", 0);
    assert_int_equal(lb_learnt_price("explore, fewer items", 0), price);
    assert_int_not_equal(lb_learnt_price("explor", 0), price);
    assert_true(lb_learnt_price("explore", UINT64_C(5000000000)) > 10 * price); /* it took long */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_become_smaller),
        cmocka_unit_test(a_smaller_case_counts_with_its_question),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
