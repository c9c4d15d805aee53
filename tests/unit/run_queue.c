/* A consumer's work on its claimed items, on a queue without a database that gives two items. */
#include "run.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct queue {
    unsigned claimed, renewed[3], completed[3];
};

static struct queue queue;

static int setup(struct lb_strategy_plan *plan, struct lb_session *session, struct lb_error *err)
{
    (void)session;
    (void)err;
    plan->shared = &queue;
    return LB_OK;
}

static int open_actor(struct lb_actor *actor, struct lb_error *err)
{
    (void)actor;
    (void)err;
    return LB_OK;
}

static void close_actor(struct lb_actor *actor)
{
    (void)actor;
}

static int put(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
               struct lb_error *err)
{
    (void)actor;
    (void)first;
    (void)n;
    (void)payload;
    (void)err;
    return LB_OK;
}

static int claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                 uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err)
{
    (void)actor;
    (void)n;
    (void)max;
    (void)err;
    if (queue.claimed++ > 0)
        return LB_EMPTY;
    for (unsigned i = 0; i < 2; i++) {
        items[i].id = (int64_t)i + 1;
        items[i].has_token = false;
    }
    *ret_n = 2;
    *ret_marked = 2;
    return LB_OK;
}

static int end_or_renew(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                        struct lb_error *err)
{
    (void)actor;
    (void)err;
    if (section == LB_S_RENEW)
        queue.renewed[item->id]++;
    else
        queue.completed[item->id]++;
    return section == LB_S_RENEW && item->id == 1 ? LB_REFUSED : LB_OK;
}

static const struct lb_flow flow = {.setup = setup,
                                    .open = open_actor,
                                    .put = put,
                                    .claim = claim,
                                    .item = end_or_renew,
                                    .close = close_actor,
                                    .teardown = setup};

static struct lb_outcome *run(const char *renewals)
{
    const struct lb_strategy strategy = {.name = "fake",
                                         .shape = LB_QUEUE,
                                         .no_database = true,
                                         .is_lease = true,
                                         .claims = LB_G_BIT(LB_G_NO_DUPLICATE),
                                         .operations = 1u << LB_S_COMPLETE | 1u << LB_S_RENEW,
                                         .flow = &flow};
    const char *const pairs[] = {"shape", "queue", "workers", "1",     "backlog", "2",   "batch",
                                 "2",     "hold",  "20ms",    "renew", renewals,  "ttl", "10m",
                                 "count", "1",     "warmup",  "0",     NULL};
    struct lb_scenario scenario;
    struct lb_stop stop = {0};
    struct lb_error err = {0};
    struct lb_outcome *outcome = NULL;
    queue = (struct queue){0};
    lb_scenario_init(&scenario);
    for (size_t i = 0; pairs[i] != NULL; i += 2)
        assert_int_equal(lb_scenario_set(&scenario, pairs[i], pairs[i + 1], &err), 0);
    const struct lb_run_plan plan = {
        .strategy = &strategy, .scenario = &scenario, .seed = 7, .record = true};
    if (lb_run(&plan, &stop, NULL, NULL, &outcome, &err) != 0)
        fail_msg("%s", err.message);
    return outcome;
}

/* On any machine: a renewal that was due before the end of the work is made. */
static void all_in_hand_is_renewed(void **state)
{
    (void)state;
    struct lb_outcome *outcome = run("5ms");
    assert_true(queue.renewed[2] >= 1); /* already while item 1 is worked on */
    assert_int_equal(queue.completed[2], 1);
    assert_int_equal(outcome->judgement.findings[LB_G_NO_DUPLICATE].verdict, LB_V_HELD);
    lb_outcome_free(outcome);
}

static void who_is_told_that_the_item_is_gone_drops_it(void **state)
{
    (void)state;
    struct lb_outcome *outcome = run("5ms");
    assert_int_equal(queue.renewed[1], 1);
    assert_int_equal(queue.completed[1], 0);
    lb_outcome_free(outcome);
}

static void nothing_is_renewed_unasked(void **state)
{
    (void)state;
    struct lb_outcome *outcome = run("0s");
    assert_int_equal(queue.renewed[1] + queue.renewed[2], 0);
    assert_int_equal(queue.completed[1], 1);
    assert_int_equal(queue.completed[2], 1);
    lb_outcome_free(outcome);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_in_hand_is_renewed),
        cmocka_unit_test(who_is_told_that_the_item_is_gone_drops_it),
        cmocka_unit_test(nothing_is_renewed_unasked),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
