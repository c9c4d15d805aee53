/* The data that the report page takes from a history: holds, waits, faults; a nonsensical history
 * cannot break it. */
#include "page_holds.h"
#include "property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LOGS = 8 };

/* A history being written. */
struct story {
    struct lb_history *history;
    struct lb_log logs[MOST_LOGS];
    struct lb_history_view view;
    struct lb_page_digest digest;
};

static void begin(struct story *story, const char *meta)
{
    struct lb_error err;
    memset(story, 0, sizeof *story);
    assert_int_equal(lb_history_create(NULL, &story->history, &err), 0);
    assert_int_equal(lb_history_set_meta(story->history, meta, &err), 0);
    for (uint32_t i = 0; i < MOST_LOGS; i++)
        lb_log_init(&story->logs[i], story->history, i);
    assert_int_equal(lb_history_view(story->history, &story->view, &err), 0);
}

/* at_ns counts from the history's start. */
static void say(struct story *story, uint32_t log, uint64_t at_ns, struct lb_event event)
{
    event.time_ns = story->view.start_ns + at_ns;
    event.process = log;
    assert_int_equal(lb_log_append(&story->logs[log], &event), 0);
}

#define EV(o, t, ...) ((struct lb_event){.op = LB_OP_##o, .type = LB_EV_##t, __VA_ARGS__})

static void digest(struct story *story)
{
    struct lb_error err;
    lb_history_release(&story->view);
    assert_int_equal(lb_history_view(story->history, &story->view, &err), 0);
    assert_int_equal(lb_page_digest_make(&story->view, &story->digest, &err), 0);
}

static void end(struct story *story)
{
    lb_page_digest_release(&story->digest);
    lb_history_release(&story->view);
    lb_history_free(story->history);
}

static void is_hold(const struct story *story, size_t i, uint32_t log, uint64_t id, uint64_t start,
                    uint64_t stop, bool open)
{
    const struct lb_page_hold *hold = &story->digest.holds[i];
    assert_true(i < story->digest.n_holds);
    assert_int_equal(hold->log, log);
    assert_int_equal(hold->id, id);
    assert_int_equal(hold->start_ns - story->view.start_ns, start);
    assert_int_equal(hold->end_ns - story->view.start_ns, stop);
    assert_int_equal(hold->is_open, open);
}

static void a_hold_goes_from_grant_to_release(void **state)
{
    (void)state;
    struct story story;
    begin(&story, "shape=lock\n");
    say(&story, 0, 10, EV(ACQUIRE, INVOKE, .object = 3));
    say(&story, 0, 20, EV(ACQUIRE, FAIL, .object = 3, .answer = LB_BUSY));
    say(&story, 0, 30, EV(ACQUIRE, INVOKE, .object = 3));
    say(&story, 0, 40, EV(ACQUIRE, OK, .object = 3));
    say(&story, 0, 90, EV(RELEASE, INVOKE, .object = 3));
    say(&story, 0, 95, EV(RELEASE, OK, .object = 3));
    digest(&story);
    assert_int_equal(story.digest.n_holds, 1);
    is_hold(&story, 0, 0, 3, 40, 90, false);
    assert_int_equal(story.digest.n_answers, 2);
    assert_int_equal(story.digest.answers[0].n_successes, 0);
    assert_int_equal(story.digest.answers[1].wait_ns, 30); /* since the first try */
    end(&story);
}

static void what_ends_a_hold_without_a_release(void **state)
{
    (void)state;
    struct story story;
    begin(&story, "shape=lock\n");
    say(&story, 0, 1, EV(ACQUIRE, INVOKE, .object = 0)); /* dies */
    say(&story, 0, 2, EV(ACQUIRE, OK, .object = 0));
    say(&story, 1, 3, EV(ACQUIRE, INVOKE, .object = 1)); /* its renewal has no known outcome */
    say(&story, 1, 4, EV(ACQUIRE, OK, .object = 1));
    say(&story, 1, 7, EV(RENEW, INVOKE, .object = 1));
    say(&story, 1, 9, EV(RENEW, INFO, .object = 1));
    say(&story, 2, 5, EV(ACQUIRE, INVOKE, .object = 2)); /* holds to the end */
    say(&story, 2, 6, EV(ACQUIRE, OK, .object = 2));
    say(&story, 3, 8, EV(DEATH, NOTE, .arg = 0));
    say(&story, 3, 20, EV(WARM, NOTE, .object = 0));
    digest(&story);
    is_hold(&story, 0, 0, 0, 2, 8, true);
    is_hold(&story, 1, 1, 1, 4, 7, false);
    is_hold(&story, 2, 2, 2, 6, 20, true);
    assert_int_equal(story.digest.warm_ns - story.view.start_ns, 20);
    end(&story);
}

static void only_items_of_a_good_claim_are_in_hand(void **state)
{
    (void)state;
    struct story story;
    begin(&story, "shape=queue\n");
    say(&story, 0, 1, EV(CLAIM, INVOKE, .arg = 2));
    say(&story, 0, 5, EV(ITEM, NOTE, .value = 70));
    say(&story, 0, 5, EV(ITEM, NOTE, .value = 71));
    say(&story, 0, 5, EV(CLAIM, OK, .value = 2, .arg = 2));
    say(&story, 0, 6, EV(COMPLETE, INVOKE, .value = 70));
    say(&story, 0, 7, EV(COMPLETE, OK, .value = 70));
    say(&story, 0, 8, EV(FREE, INVOKE, .value = 71));
    say(&story, 0, 9, EV(FREE, OK, .value = 71));
    say(&story, 1, 1, EV(CLAIM, INVOKE, .arg = 1));
    say(&story, 1, 2, EV(ITEM, NOTE, .value = 72));
    say(&story, 1, 3, EV(CLAIM, FAIL, .answer = LB_DEADLOCK));
    say(&story, 2, 1, EV(CLAIM, INVOKE, .arg = 1));
    say(&story, 2, 2, EV(ITEM, NOTE, .value = 73)); /* the claim is never answered */
    digest(&story);
    assert_int_equal(story.digest.n_holds, 2);
    is_hold(&story, 0, 0, 70, 5, 6, false);
    is_hold(&story, 1, 0, 71, 5, 8, false);
    assert_int_equal(story.digest.answers[0].n_successes, 2);
    end(&story);
}

static void nested_grants_are_one_hold_if_they_may_nest(void **state)
{
    (void)state;
    for (int reentrant = 0; reentrant <= 1; reentrant++) {
        struct story story;
        begin(&story, reentrant ? "shape=lock\nreentrant=1\n" : "shape=lock\n");
        for (uint64_t at = 0; at < 4; at += 2) {
            say(&story, 0, at, EV(ACQUIRE, INVOKE, .object = 0));
            say(&story, 0, at + 1, EV(ACQUIRE, OK, .object = 0));
        }
        for (uint64_t at = 10; at < 14; at += 2) {
            say(&story, 0, at, EV(RELEASE, INVOKE, .object = 0));
            say(&story, 0, at + 1, EV(RELEASE, OK, .object = 0));
        }
        digest(&story);
        assert_int_equal(story.digest.n_holds, reentrant ? 1 : 2);
        is_hold(&story, 0, 0, 0, 1, 12, false);
        end(&story);
    }
}

static void faults_have_a_beginning_and_an_end(void **state)
{
    (void)state;
    struct story story;
    begin(&story, "shape=lock\n");
    say(&story, 0, 5, EV(FAULT, NOTE, .value = 2, .arg = 1, .object = 0));
    say(&story, 1, 1, EV(FAULT, NOTE, .value = 1, .arg = 4, .object = 0));
    say(&story, 0, 9, EV(FAULT, NOTE, .value = 2, .arg = 1, .object = 1));
    digest(&story);
    assert_int_equal(story.digest.n_faults, 2);
    assert_int_equal(story.digest.faults[0].kind, 1);
    assert_true(story.digest.faults[0].end_ns == UINT64_MAX);
    assert_int_equal(story.digest.faults[1].end_ns - story.view.start_ns, 9);
    end(&story);
}

/* Events in any order, as a forged file may have them: every hold that comes out has its end after
 * its start. */
static void nonsense_is_survived(void **state)
{
    static const uint8_t ops[] = {LB_OP_ENQUEUE, LB_OP_ACQUIRE, LB_OP_RENEW,   LB_OP_RELEASE,
                                  LB_OP_CANCEL,  LB_OP_CLAIM,   LB_OP_ITEM,    LB_OP_COMPLETE,
                                  LB_OP_FREE,    LB_OP_FAULT,   LB_OP_DEATH,   LB_OP_WARM,
                                  LB_OP_PUT,     LB_OP_WRITE,   LB_OP_RECOVER, LB_OP_SESSION_END};
    for (int round = 0; round < 60; round++) {
        struct story story;
        begin(&story, round % 3 ? "shape=lock\nreentrant=1\n" : "shape=queue\n");
        for (int i = 0; i < 400; i++)
            say(&story, (uint32_t)lb_random_below(*state, MOST_LOGS), lb_random_below(*state, 1000),
                (struct lb_event){.op = ops[lb_random_below(*state, sizeof ops)],
                                  .type = (uint8_t)(1 + lb_random_below(*state, 5)),
                                  .answer = (uint8_t)lb_random_below(*state, LB_ANSWERS),
                                  .flags = (uint8_t)lb_random_below(*state, 8),
                                  .object = (uint32_t)lb_random_below(*state, 3),
                                  .arg = (uint32_t)lb_random_below(*state, 12),
                                  .value = lb_random_below(*state, 4)});
        digest(&story);
        for (size_t i = 0; i < story.digest.n_holds; i++)
            assert_true(story.digest.holds[i].end_ns >= story.digest.holds[i].start_ns);
        end(&story);
    }
}

int main(void)
{
    uint64_t seed = lb_test_seed();
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hold_goes_from_grant_to_release),
        cmocka_unit_test(what_ends_a_hold_without_a_release),
        cmocka_unit_test(only_items_of_a_good_claim_are_in_hand),
        cmocka_unit_test(nested_grants_are_one_hold_if_they_may_nest),
        cmocka_unit_test(faults_have_a_beginning_and_an_end),
        cmocka_unit_test_prestate(nonsense_is_survived, &random),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
