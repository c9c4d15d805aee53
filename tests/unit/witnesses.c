/* What the workers of a run see of each other while it goes on, without a run. */
#include "run.h"
#include "watched.h"
#include "worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void witnesses_do_not_invent(void **state)
{
    (void)state;
    uint32_t capacity[2] = {1, 2};
    struct lb_live *live = lb_live_new(&(struct lb_live_size){2, capacity, true, 0, 3});
    struct lb_live_witness result;
    /* One after the other, readers together, two in a room for two, an item given back. */
    for (uint32_t worker = 0; worker < 3; worker++) {
        lb_live_leave(live, 0, false, worker, lb_live_enter(live, 0, false, worker));
        lb_live_held(live, 0, false, 10);
    }
    lb_live_enter(live, 0, true, 0);
    lb_live_enter(live, 0, true, 1);
    lb_live_leave(live, 0, true, 0, 0);
    lb_live_leave(live, 0, true, 1, 0);
    lb_live_held(live, 0, true, 10);
    lb_live_enter(live, 1, false, 0);
    lb_live_enter(live, 1, false, 1);
    lb_live_leave(live, 1, false, 0, 0);
    lb_live_leave(live, 1, false, 1, 0);
    lb_live_held(live, 1, false, 40);
    lb_live_item(live, 1, 0);
    lb_live_item_back(live, 1);
    lb_live_item(live, 1, 1);
    /* A later item takes the place of another, which is not watched from then on. */
    const int64_t later = 1 + (int64_t)LB_WATCHED_ITEMS;
    lb_live_item(live, later, 2);
    assert_false(lb_live_item_is_taken_over(live, 1, 0));
    lb_live_item_back(live, 1); /* takes nothing from the later one */
    assert_true(lb_live_item_is_taken_over(live, later, 0));
    lb_live_item(live, 1, 0);
    lb_live_result(live, 30, &result);
    assert_int_equal(result.n_overlaps, 0);
    assert_int_equal(result.n_lost_updates, 0);
    assert_false(result.hold_sum_exceeds);
    lb_live_free(live);
}

/* A mark of an item's arrival is read for that item alone, and is right to 8 ns. */
static void arrivals_are_of_their_items(void **state)
{
    (void)state;
    const int64_t ids[] = {1, LB_WATCHED_ITEMS, LB_WATCHED_ITEMS + 1, 5000000000};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const uint64_t times[] = {0, 7, 123456789, UINT64_C(86400000000000)};
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
            uint64_t after_ns = 0, mark = lb_due_mark(ids[i], times[k]);
            assert_true(lb_due_read(mark, ids[i], &after_ns));
            assert_true(after_ns <= times[k] && times[k] - after_ns < 8);
            assert_false(lb_due_read(mark, ids[i] + LB_WATCHED_ITEMS, &after_ns));
            assert_false(lb_due_read(0, ids[i], &after_ns));
        }
    }
}

static void witnesses_see_each_kind_of_overlap(void **state)
{
    (void)state;
    uint32_t capacity[2] = {1, 2};
    struct lb_live_witness result;
    struct lb_live *live = lb_live_new(&(struct lb_live_size){2, capacity, true, 7, 2});
    uint64_t a = lb_live_enter(live, 0, false, 7);
    uint64_t b = lb_live_enter(live, 0, false, 8);
    lb_live_leave(live, 0, false, 7, a);
    lb_live_leave(live, 0, false, 8, b);
    lb_live_held(live, 0, false, 10);
    lb_live_held(live, 0, false, 10);
    lb_live_result(live, 15, &result);
    assert_true(result.n_overlaps >= 1);
    assert_int_equal(result.first, 7);
    assert_int_equal(result.second, 8);
    assert_int_equal(result.n_lost_updates, 1);
    assert_true(result.hold_sum_exceeds);
    lb_live_free(live);

    live = lb_live_new(&(struct lb_live_size){2, capacity, true, 0, 3});
    lb_live_enter(live, 0, true, 0); /* a reader, then a writer */
    lb_live_enter(live, 0, false, 1);
    assert_int_equal(lb_live_overlaps(live), 1);
    lb_live_enter(live, 1, false, 0); /* three in a room for two */
    lb_live_enter(live, 1, false, 1);
    lb_live_enter(live, 1, false, 2);
    assert_int_equal(lb_live_overlaps(live), 2);
    lb_live_item(live, 2, 0);
    lb_live_item(live, 2, 1);
    assert_int_equal(lb_live_overlaps(live), 3);
    lb_live_free(live);
}

/* Every run is held against this: if the recorder or the judge lost something that the workers saw,
 * the run says so. */
static void a_disagreement_of_witnesses_and_history_is_noticed(void **state)
{
    (void)state;
    struct lb_judgement *judgement = calloc(1, sizeof *judgement);
    assert_non_null(judgement);
    const struct lb_live_witness none = {0}, overlap = {.n_overlaps = 1},
                                 update = {.n_lost_updates = 1}, sum = {.hold_sum_exceeds = true};
    const struct lb_live_witness *const seen[] = {&overlap, &update, &sum};
    assert_true(lb_witnesses_agree(judgement, &none, false, false));
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        assert_false(lb_witnesses_agree(judgement, seen[i], false, false));
        assert_false(lb_witnesses_agree(judgement, seen[i], false, true));
        assert_false(lb_witnesses_agree(judgement, seen[i], true, false));
    }
    judgement->findings[LB_G_EXCLUSIVE].n_violations = 1;
    assert_true(lb_witnesses_agree(judgement, &overlap, false, false));
    assert_true(lb_witnesses_agree(judgement, &none, false, false)); /* they may miss it */
    assert_false(lb_witnesses_agree(judgement, &overlap, true, false));
    judgement->findings[LB_G_EXCLUSIVE].n_violations = 0;
    judgement->measures.n_uncut_violations = 1; /* a lease: both believed */
    assert_true(lb_witnesses_agree(judgement, &overlap, false, true));
    free(judgement);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(witnesses_do_not_invent),
        cmocka_unit_test(arrivals_are_of_their_items),
        cmocka_unit_test(witnesses_see_each_kind_of_overlap),
        cmocka_unit_test(a_disagreement_of_witnesses_and_history_is_noticed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
