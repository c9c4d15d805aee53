/* Clocks of other machines: the bounds contain the truth for all networks and clocks within their
 * limits; a clock beyond them is detected; and a violation only by the middle of the bounds is no
 * verdict.
 */
#include "offsets.h"
#include "builder.h"
#include "skew.h"
#include "twice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { MS = 1000000 };
#define S_NS INT64_C(1000000000)

/* Another clock, whose speed changes at every exchange. */
struct world {
    struct lb_random random;
    uint64_t ours_ns;
    double theirs_ns; /* of a clock that starts anywhere */
    int64_t most_ppm;
};

static void pass(struct world *world, uint64_t ns)
{
    int64_t ppm = (int64_t)lb_random_below(&world->random, (uint64_t)(2 * world->most_ppm + 1)) -
                  world->most_ppm;
    world->ours_ns += ns;
    world->theirs_ns += (double)ns * (1 + (double)ppm / 1e6);
}

static uint64_t theirs(const struct world *world)
{
    return (uint64_t)(int64_t)world->theirs_ns;
}

static void exchange(struct world *world, struct lb_offsets *offsets, uint64_t most_way_ns)
{
    uint64_t sent_ns = world->ours_ns;
    pass(world, lb_random_below(&world->random, most_way_ns));
    uint64_t their_ns = theirs(world);
    pass(world, lb_random_below(&world->random, most_way_ns));
    lb_offsets_add(offsets, sent_ns, their_ns, world->ours_ns);
}

/* Moments between exchanges, at which the truth is known. */
struct moment {
    uint64_t ours_ns, theirs_ns;
};

static void check_one(uint64_t seed)
{
    enum { EXCHANGES = 200 };
    struct world world = {.ours_ns = 5000 * (uint64_t)S_NS, .most_ppm = LB_DRIFT_PPM - 1};
    struct moment moments[EXCHANGES];
    struct lb_offsets offsets = {0};
    size_t place = 0;
    lb_random_init(&world.random, seed, 0);
    world.theirs_ns =
        (double)world.ours_ns + ((double)lb_random_below(&world.random, 8000) - 4000) * 1e9;
    exchange(&world, &offsets, MS);
    for (int i = 0; i < EXCHANGES; i++) {
        pass(&world, lb_random_below(&world.random, 100 * MS));
        moments[i] = (struct moment){world.ours_ns, theirs(&world)};
        pass(&world, lb_random_below(&world.random, 100 * MS));
        exchange(&world, &offsets, lb_random_below(&world.random, 5) == 0 ? 50 * MS : MS);
    }
    assert_true(lb_offsets_close(&offsets));
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t low, high, truth = (int64_t)(moments[i].theirs_ns - moments[i].ours_ns);
        assert_true(lb_offsets_at(&offsets, moments[i].theirs_ns, &place, &low, &high));
        /* The world is reckoned in doubles: some hundred ns of it are rounding. */
        assert_true(low - 2000 <= truth && truth <= high + 2000);
        assert_true(high - low < 2 * S_NS / 1000 + 4 * LB_DRIFT_PPM * 200);
    }
    lb_offsets_release(&offsets);
}

static void bounds_hold_the_truth(void **state)
{
    (void)state;
    uint64_t seed = lb_test_seed();
    for (int i = 0; i < 200; i++)
        check_one(seed + (uint64_t)i);
}

static void nothing_is_said_of_times_outside(void **state)
{
    (void)state;
    struct lb_offsets offsets = {0};
    size_t place = 0;
    int64_t low, high;
    assert_false(lb_offsets_at(&offsets, 5, &place, &low, &high));
    lb_offsets_add(&offsets, 1000, 50, 1020);
    lb_offsets_add(&offsets, 2000, 1050, 2020);
    assert_true(lb_offsets_close(&offsets));
    assert_false(lb_offsets_at(&offsets, 49, &place, &low, &high));
    assert_false(lb_offsets_at(&offsets, 1051, &place, &low, &high));
    assert_true(lb_offsets_at(&offsets, 50, &place, &low, &high));
    assert_true(low >= -971 && high <= -949);
    lb_offsets_release(&offsets);
}

static void a_clock_that_is_set_is_found_out(void **state)
{
    (void)state;
    for (int64_t step = -2 * MS; step <= 2 * MS; step += 4 * MS) {
        struct lb_offsets offsets = {0};
        uint64_t at = (uint64_t)S_NS;
        for (int i = 0; i < 10; i++, at += 100 * MS)
            lb_offsets_add(&offsets, at, at + 7 * (uint64_t)S_NS + (uint64_t)(i < 5 ? 0 : step),
                           at + 10000);
        assert_false(lb_offsets_close(&offsets));
        lb_offsets_release(&offsets);
    }
}

static void a_wrong_clock_can_be_undone(void **state)
{
    (void)state;
    struct lb_skew skew = {.ahead_ns = -1000 * S_NS, .ppm = 50, .since_ns = 77};
    for (uint64_t t = 77; t < UINT64_C(1000000000000000); t = t * 3 + 1) {
        int64_t off = (int64_t)(lb_skew_real(&skew, lb_skew_shown(&skew, t)) - t);
        /* The second order of the drift: 2.5 ns a second. */
        assert_true(off >= -(int64_t)(t / 100000000) - 2 && off <= (int64_t)(t / 100000000) + 2);
    }
}

/* --- verdicts --- */

static void put(struct lb_builder *builder, uint32_t log, uint64_t time_ns, int op, int type)
{
    const struct lb_event event = {.time_ns = time_ns,
                                   .process = log,
                                   .op = (uint8_t)op,
                                   .type = (uint8_t)type,
                                   .flags = op == LB_OP_RELEASE ? LB_EVF_EFFECTIVE : 0};
    lb_builder_add(builder, log, &event);
}

static void hold(struct lb_builder *builder, uint32_t log, uint64_t from_ns, uint64_t until_ns)
{
    put(builder, log, from_ns - 1000, LB_OP_ACQUIRE, LB_EV_INVOKE);
    put(builder, log, from_ns, LB_OP_ACQUIRE, LB_EV_OK);
    put(builder, log, until_ns, LB_OP_RELEASE, LB_EV_INVOKE);
    put(builder, log, until_ns + 1000, LB_OP_RELEASE, LB_EV_OK);
}

/* Two holders of two ranks that are together for so long, on clocks that are known so well. */
static enum lb_verdict judge(uint64_t together_ns, uint64_t uncertainty_ns,
                             struct lb_near_miss near[LB_GUARANTEE_ROOM])
{
    struct lb_builder builder = {0};
    struct lb_history_view view;
    struct lb_judgement judgement = {0};
    struct lb_error err = {0};
    const struct lb_model model = {
        .n_resources = 1, .claims = LB_G_BIT(LB_G_EXCLUSIVE), .complete = true, .end_ns = 100 * MS};
    hold(&builder, 0, 10 * MS, 20 * MS);
    hold(&builder, 1, 20 * MS - together_ns, 30 * MS);
    lb_builder_finish(&builder, "", &view);
    view.logs[1].uncertainty_ns = uncertainty_ns;
    memset(near, 0, LB_GUARANTEE_ROOM * sizeof *near);
    assert_int_equal(lb_judge_twice(&view, &model, &judgement, near, &err), 0);
    assert_int_equal(view.logs[1].uncertainty_ns, uncertainty_ns);
    lb_history_release(&view);
    return judgement.findings[LB_G_EXCLUSIVE].verdict;
}

static void near_misses_are_no_verdicts(void **state)
{
    (void)state;
    struct lb_near_miss near[LB_GUARANTEE_ROOM];
    assert_int_equal(judge(0, 50000, near), LB_V_HELD);
    assert_int_equal(near[LB_G_EXCLUSIVE].n_violations, 0);
    assert_int_equal(judge(60000, 50000, near), LB_V_VIOLATED);
    assert_int_equal(judge(40000, 50000, near), LB_V_NOT_TESTED);
    assert_int_equal(near[LB_G_EXCLUSIVE].n_violations, 1);
    assert_true(near[LB_G_EXCLUSIVE].settles_ns > 39800 &&
                near[LB_G_EXCLUSIVE].settles_ns <= 40000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_the_truth),
        cmocka_unit_test(nothing_is_said_of_times_outside),
        cmocka_unit_test(a_clock_that_is_set_is_found_out),
        cmocka_unit_test(a_wrong_clock_can_be_undone),
        cmocka_unit_test(near_misses_are_no_verdicts),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("offsets", tests, NULL, NULL);
}
