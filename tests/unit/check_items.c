/* The judge on histories of queues written by hand, answers that grant nothing and batches, and the
 * cases in which a hasty judge would see a violation that did not happen. */
#include "check_expect.h"

/* --- queues --- */

static void items_are_claimed_once(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 2, 3, 4, 0);
    claim(&history, 2, 2, 5, 6, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    assert_int_equal(judgement.measures.n_claims, 2);
    history_init(&history, true); /* given back between, or perhaps so */
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 2, 3, 4, 0);
    add_op(&history, 1, LB_OP_FREE, 5, 9, LB_EV_OK, 0, 2, 0, LB_EVF_EFFECTIVE);
    claim(&history, 2, 2, 5, 6, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.events[1][4].time_ns = 7; /* the claim was answered before */
    history.events[1][3].time_ns = 7;
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

static void errors_and_resets_reopen(void **state)
{
    (void)state;
    for (int op = LB_OP_COMPLETE; op <= LB_OP_ERROR; op++) {
        history_init(&history, true);
        put(&history, 0, 1, 3, 1, 2);
        claim(&history, 1, 2, 3, 4, 0);
        add_op(&history, 1, op, 5, 6, LB_EV_OK, 0, 2, 0, LB_EVF_EFFECTIVE);
        claim(&history, 2, 2, 9, 10, 0);
        expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
        int all = op == LB_OP_COMPLETE ? LB_OP_RESET_ALL : LB_OP_CLEAR_ALL;
        add_op(&history, 3, all, 7, 8, LB_EV_OK, 0, 0, 0, 0);
        expect(LB_G_NO_DUPLICATE, LB_V_HELD);
        history.events[3][0].time_ns = 3; /* over before the item was finished */
        history.events[3][1].time_ns = 4;
        expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
        history.events[3][0].op = history.events[3][1].op =
            op == LB_OP_COMPLETE ? LB_OP_CLEAR_ALL : LB_OP_RESET_ALL; /* the wrong one */
        history.events[3][1].time_ns = 8;
        expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    }
}

/* In the tick of its worker's complete, of which the log alone tells that it came first. */
static void a_reset_that_was_not_answered_may_reopen(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 2, 3, 4, 0);
    add_op(&history, 1, LB_OP_COMPLETE, 5, 5, LB_EV_OK, 0, 2, 0, LB_EVF_EFFECTIVE);
    claim(&history, 2, 2, 9, 10, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, 1, LB_OP_RESET_ALL, 5, 6, LB_EV_INFO, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    last_event(&history, 1)->type = LB_EV_FAIL;
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    history.n[1]--;
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.n[1]--; /* it was requested after the second claim, in the same tick */
    history.n[2] = 0;
    claim(&history, 1, 2, 5, 5, 0);
    add_op(&history, 1, LB_OP_RESET_ALL, 5, 6, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    history.n[1]--;
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

static void a_reset_opens_an_item_once(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 3, 1, 2);
    add_op(&history, 3, LB_OP_RESET_ALL, 3, 30, LB_EV_OK, 0, 0, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        claim(&history, 1, 2, 4 + 6 * i, 5 + 6 * i, 0);
        add_op(&history, 1, LB_OP_COMPLETE, 7 + 6 * i, 8 + 6 * i, LB_EV_OK, 0, 2, 0,
               LB_EVF_EFFECTIVE);
    }
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, 2, LB_OP_RESET_ALL, 9, 11, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.events[2][1].time_ns = 9; /* both can open it only for the second claim */
    history.events[3][1].time_ns = 12;
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

/* Which of two claims came first is not known; each was completed, and there was one reset. */
static void a_reset_opens_an_item_once_in_any_order(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    for (uint32_t log = 1; log < 4; log++) {
        claim(&history, log, 1, 3, 7, 0);
        add_op(&history, log, LB_OP_COMPLETE, 7, 9, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    }
    add_op(&history, 4, LB_OP_RESET_ALL, 7, 8, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, 5, LB_OP_RESET_ALL, 5, 9, LB_EV_INFO, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.n[5] = 0; /* the same tick: the reset came before the clear of its own worker, */
    add_op(&history, 4, LB_OP_CLEAR_ALL, 8, 8, LB_EV_OK, 0, 0, 0, 0);
    add_op(&history, 4, LB_OP_RESET_ALL, 8, 8, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED); /* ... and the claims are over by then */
    for (uint32_t log = 1; log < 4; log++)
        history.events[log][2].time_ns = history.events[log][3].time_ns = 8;
    for (uint32_t log = 1; log < 4; log++)
        history.events[log][1].time_ns = 8;
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
}

/* A worker that never had the item ends one claim, not two. */
static void a_stranger_ends_one_claim(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    claim(&history, 2, 1, 7, 8, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, 4, LB_OP_FREE, 5, 13, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
    claim(&history, 3, 1, 11, 12, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, 2, LB_OP_FREE, 9, 10, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.n[4] = 0; /* what it completed, if it did, the claimer frees all the same */
    add_op(&history, 4, LB_OP_COMPLETE, 5, 6, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    add_op(&history, 1, LB_OP_FREE, 6, 7, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD); /* both in tick 6 */
    history.events[1][3].time_ns = 7;
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
}

/* The answered operations of one worker keep their order within a tick of the clock. */
static void a_tick_keeps_each_workers_order(void **state)
{
    (void)state;
    history_init(&history, true); /* log 2 freed what it had not claimed yet */
    put(&history, 0, 1, 1, 1, 2);
    add_op(&history, 2, LB_OP_FREE, 5, 5, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    claim(&history, 2, 1, 5, 5, 0);
    claim(&history, 1, 1, 6, 7, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    history.events[2][1].type = LB_EV_INFO; /* it may have been freed later */
    for (size_t i = 2; i < history.n[2]; i++)
        history.events[2][i].process = 100;
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history_init(&history, true); /* both recoveries came before the claim beside them */
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 10 * MS, 10 * MS, 0);
    for (int i = 0; i < 2; i++)
        add_op(&history, 3, LB_OP_RECOVER, 13 * MS, 13 * MS, LB_EV_OK, 0, 0, 1, 0);
    claim(&history, 3, 1, 13 * MS, 13 * MS, 0);
    claim(&history, 2, 1, 14 * MS, 14 * MS, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, 3, LB_OP_RECOVER, 14 * MS, 14 * MS, LB_EV_OK, 0, 0, 1, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
}

/* Three executions, all but one in one tick, and one reset. */
static void one_reset_asks_for_one_more_execution(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 2; n++) {
        history_init(&history, true);
        put(&history, 0, 1, 1, 1, 2);
        claim(&history, 2, 1, 4, 4, 0);
        add_op(&history, 2, LB_OP_COMPLETE, 5, 6, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
        claim(&history, 1, 1, 7, 7, 0);
        add_op(&history, 1, LB_OP_COMPLETE, 7, 7, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
        claim(&history, n == 0 ? 0 : 4, 1, 7, 7, 0); /* before it in order of logs, or behind */
        add_op(&history, 3, LB_OP_RESET_ALL, 6, 7, LB_EV_OK, 0, 0, 0, LB_EVF_EFFECTIVE);
        expect(LB_G_ONCE, LB_V_VIOLATED);
        add_op(&history, 3, LB_OP_RESET_ALL, 7, 7, LB_EV_OK, 0, 0, 0, LB_EVF_EFFECTIVE);
        expect(LB_G_ONCE, LB_V_HELD);
    }
    history_init(&history, true); /* it was reset before it was complete, by who completed it */
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    add_op(&history, 1, LB_OP_RESET_ALL, 5, 5, LB_EV_OK, 0, 0, 0, LB_EVF_EFFECTIVE);
    add_op(&history, 1, LB_OP_COMPLETE, 5, 5, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    claim(&history, 2, 1, 6, 7, 0);
    expect(LB_G_ONCE, LB_V_VIOLATED);
}

/* Worker 1 owns the item when worker 2 ends it: the last recovery came too early after the beat,
 * and before it not old enough a claim. */
static void a_beat_excuses_nobody_from_ending_its_items(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 2, 1, 6 * MS, 8 * MS, 0);
    claim(&history, 1, 1, 8 * MS, 8 * MS, 0);
    add_op(&history, 3, LB_OP_RECOVER, 8 * MS, 10 * MS, LB_EV_OK, 0, 0, 2, 0);
    add_op(&history, 3, LB_OP_BEAT, 10 * MS, 10 * MS, LB_EV_OK, 1, 0, 8, 0);
    add_op(&history, 3, LB_OP_RECOVER, 10 * MS, 12 * MS, LB_EV_OK, 0, 0, 4, 0);
    add_op(&history, 2, LB_OP_COMPLETE, 12 * MS, 13 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
    history.n[3] -= 2; /* without it, the item is certainly worker 1's */
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
}

static void claims_expire(void **state)
{
    (void)state;
    history_init(&history, true);
    history.model.lease = true;
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 2, 3 * MS, 4 * MS, 100);
    claim(&history, 2, 2, 120 * MS, 121 * MS, 100);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    /* The late one completes what is another's by now. */
    add_op(&history, 1, LB_OP_COMPLETE, 130 * MS, 131 * MS, LB_EV_OK, 0, 2, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
    history.events[1][4].flags = 0;
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.events[1][4].flags = LB_EVF_EFFECTIVE;
    history.events[1][3].time_ns = 50 * MS; /* finished in time: not claimable any more */
    history.events[1][4].time_ns = 51 * MS;
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    claim(&history, 1, 3, 5, 6, 0);
    expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
    history.model.drained = true;
    expect_text(LB_G_NO_LOSS, "item 2 was put by worker 0, acknowledged at 0.000002 ms, and is "
                              "neither claimed nor claimable after the queue was drained");
    add_op(&history, 2, LB_OP_CLAIM, 3, 4, LB_EV_INFO, 0, 0, 1, 0); /* may have taken it */
    expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
    history.n[2] = 0;
    claim(&history, 1, 2, 7, 8, 0);
    expect(LB_G_NO_LOSS, LB_V_HELD);
    add_op(&history, 1, LB_OP_FREE, 9, 10, LB_EV_OK, 0, 2, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_LOSS, LB_V_VIOLATED); /* free, and yet the queue is empty */
}

/* The items of lost connections came back: an unknown outcome excuses nothing. */
static void what_has_returned_is_not_lost(void **state)
{
    (void)state;
    history_init(&history, true);
    history.model.drained = true;
    put(&history, 0, 1, 2, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    add_op(&history, 1, LB_OP_FREE, 5, 6, LB_EV_INFO, 0, 1, 0, 0);
    add_op(&history, 2, LB_OP_CLAIM, 3, 4, LB_EV_INFO, 0, 0, 1, 0);
    expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
    history.model.returned = true;
    expect(LB_G_NO_LOSS, LB_V_VIOLATED); /* neither is there */
    claim(&history, 3, 2, 7, 8, 0);
    expect_text(LB_G_NO_LOSS,
                "item 1 was put by worker 0, acknowledged at 0.000002 ms, and no worker "
                "has it, nor can claim it: it was to be given back when the worker or "
                "its connection was lost, and later the queue was drained");
    last_event(&history, 1)[-1].op = last_event(&history, 1)->op = LB_OP_COMPLETE;
    expect(LB_G_NO_LOSS, LB_V_HELD); /* it may be done */
    last_event(&history, 1)[-1].op = last_event(&history, 1)->op = LB_OP_FREE;
    claim(&history, 3, 1, 9, 10, 0);
    expect(LB_G_NO_LOSS, LB_V_HELD);
}

/* A complete that is answered when the item was claimed again may have been the last. */
static void what_is_completed_late_is_not_lost(void **state)
{
    (void)state;
    history_init(&history, true);
    history.model.drained = true;
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    add_op(&history, 1, LB_OP_COMPLETE, 10, 14, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    add_op(&history, 0, LB_OP_RESET_ALL, 11, 12, LB_EV_OK, 0, 0, 0, 0);
    claim(&history, 2, 1, 12, 13, 0);
    add_op(&history, 2, LB_OP_FREE, 15, 16, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    expect(LB_G_NO_LOSS, LB_V_HELD);
    last_event(&history, 1)->time_ns = 12;
    expect(LB_G_NO_LOSS, LB_V_VIOLATED);
}

/* Then it is unknown when the queue was empty. */
static void what_was_given_back_once_is_asked_for(void **state)
{
    (void)state;
    history_init(&history, true);
    history.model.strict = true;
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    add_op(&history, 2, LB_OP_CLAIM, 7, 8, LB_EV_FAIL, 0, 0, 1, 0);
    expect(LB_G_FIFO, LB_V_HELD);
    add_op(&history, 1, LB_OP_FREE, 5, 6, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_FIFO, LB_V_NOT_TESTED);
    for (int end = LB_OP_COMPLETE; end <= LB_OP_ERROR; end++) {
        last_event(&history, 1)[-1].op = last_event(&history, 1)->op = (uint8_t)end;
        history.n[3] = 0;
        expect(LB_G_FIFO, LB_V_HELD);
        add_op(&history, 3, end == LB_OP_COMPLETE ? LB_OP_RESET_ALL : LB_OP_CLEAR_ALL, 6, 7,
               LB_EV_FAIL, 0, 0, 0, 0);
        expect(LB_G_FIFO, LB_V_HELD);
        last_event(&history, 3)->type = LB_EV_OK;
        expect(LB_G_FIFO, LB_V_NOT_TESTED);
    }
}

static void phantoms_are_seen(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 3, 10, 12);
    claim(&history, 1, 1, 3, 10, 0); /* may have been answered just after */
    history.model.drained = false;
    expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
    claim(&history, 2, 2, 3, 9, 0);
    expect_text(
        LB_G_NO_LOSS,
        "item 2 was claimed by worker 2 at 0.000009 ms, before worker 0 put it at 0.000010 ms");
    history.n[2] = 0;
    claim(&history, 2, 4, 30, 40, 0);
    expect(LB_G_NO_LOSS, LB_V_VIOLATED);
}

static void claims_are_bounded(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    expect(LB_G_BOUNDED_CLAIM, LB_V_HELD);
    last_event(&history, 1)->arg = 3;
    expect_text(LB_G_BOUNDED_CLAIM,
                "worker 1 asked for 1 item at 0.000003 ms; 3 rows were marked and 1 returned");
}

static void queues_keep_their_order(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    put(&history, 0, 2, 1, 3, 4);
    claim(&history, 1, 2, 5, 6, 0);
    claim(&history, 2, 1, 6, 8, 0); /* concurrent */
    expect(LB_G_FIFO, LB_V_HELD);
    history.events[2][0].time_ns = 7;
    expect(LB_G_FIFO, LB_V_VIOLATED);
    history.events[0][2].time_ns = 2; /* in one tick, but by one worker */
    expect(LB_G_FIFO, LB_V_VIOLATED);
    history.n[0] = 2;
    put(&history, 3, 2, 1, 2, 4); /* by another: concurrent puts */
    expect(LB_G_FIFO, LB_V_HELD);
    history.n[3] = 0;
    put(&history, 0, 2, 1, 3, 4);
    history.n[2] = 0; /* never claimed */
    expect(LB_G_FIFO, LB_V_VIOLATED);
    add_op(&history, 2, LB_OP_CLAIM, 5, 6, LB_EV_INFO, 0, 0, 1, 0);
    expect(LB_G_FIFO, LB_V_HELD);
    history.n[2] = 0;
    for (int i = 0; i < 2; i++) /* another class */
        history.events[0][i].object = 7;
    expect(LB_G_FIFO, LB_V_HELD);
}

/* --- answers that are no grants --- */

static void refusals_need_a_holder(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 10, 12);
    release(&history, 0, 0, 20, 24);
    acquire(&history, 2, 0, 40, 50);
    release(&history, 2, 0, 60, 61);
    add_op(&history, 1, LB_OP_ACQUIRE, 8, 9, LB_EV_FAIL, 0, 0, 0, 0);   /* before any request */
    add_op(&history, 1, LB_OP_ACQUIRE, 9, 10, LB_EV_FAIL, 0, 0, 0, 0);  /* perhaps just granted */
    add_op(&history, 1, LB_OP_ACQUIRE, 23, 30, LB_EV_FAIL, 0, 0, 0, 0); /* perhaps not released */
    add_op(&history, 1, LB_OP_ACQUIRE, 30, 39, LB_EV_FAIL, 0, 0, 0, 0); /* between the two */
    add_op(&history, 1, LB_OP_ACQUIRE, 70, 80, LB_EV_FAIL, 0, 0, 0, 0); /* after the last */
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    assert_int_equal(judgement.measures.n_refusals, 5);
    assert_int_equal(judgement.measures.n_refusals_unjustified, 3);
    add_op(&history, 3, LB_OP_ACQUIRE, 35, 36, LB_EV_INFO, 0, 0, 0, 0); /* it may hold since */
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    assert_int_equal(judgement.measures.n_refusals_unjustified, 1);
}

static void empty_needs_a_moment_without_items(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 10, 12);
    put(&history, 0, 2, 1, 18, 19);
    claim(&history, 1, 1, 20, 22, 0);
    claim(&history, 1, 2, 30, 32, 0);
    add_op(&history, 2, LB_OP_CLAIM, 11, 13, LB_EV_FAIL, 0, 0, 1,
           0); /* before the first is there */
    add_op(&history, 2, LB_OP_CLAIM, 13, 29, LB_EV_FAIL, 0, 0, 1, 0); /* always one of them */
    add_op(&history, 2, LB_OP_CLAIM, 29, 31, LB_EV_FAIL, 0, 0, 1, 0); /* the last may be gone */
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    assert_int_equal(judgement.measures.n_empty, 3);
    assert_int_equal(judgement.measures.n_empty_unjustified, 1);
    history.events[0][3].time_ns = 20; /* there only when the first may be gone */
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    assert_int_equal(judgement.measures.n_empty_unjustified, 0);
}

/* --- batches --- */

/* Three items of worker 1 with a lease that is over; worker 2 has the second one by now. */
static void overrun_batch(const int *types)
{
    history_init(&history, true);
    history.model.lease = true;
    put(&history, 0, 1, 3, 1, 2);
    for (uint64_t id = 1; id <= 3; id++)
        claim(&history, 1, id, (2 * id + 1) * MS, (2 * id + 2) * MS, 100);
    claim(&history, 2, 2, 120 * MS, 121 * MS, 100);
    batch(1, 1, 3, 130 * MS, 131 * MS, types);
}

static void a_batch_is_judged_item_by_item(void **state)
{
    (void)state;
    overrun_batch((const int[]){LB_EV_OK, LB_EV_OK, LB_EV_OK});
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
    const struct lb_finding *finding = &judgement.findings[LB_G_OWNER_RELEASE];
    assert_int_equal(finding->n_violations, 1); /* no other worker had the other two */
    assert_non_null(strstr(finding->witness[0].text, "worker 1's complete of item 2"));
    bool is_shown = false; /* the operation drawn is that item's, and none of its neighbours' */
    for (unsigned i = 0; i < finding->witness[0].n_ops; i++) {
        const struct lb_witness_op *op = &finding->witness[0].ops[i];
        assert_int_equal(op->value, 2);
        is_shown = is_shown || (op->op == LB_OP_COMPLETE && op->type == LB_EV_OK);
    }
    assert_true(is_shown);
    overrun_batch((const int[]){LB_EV_OK, LB_EV_FAIL, LB_EV_OK}); /* it was refused that one */
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
    overrun_batch((const int[]){LB_EV_INFO, LB_EV_INFO, LB_EV_INFO}); /* unknown */
    expect(LB_G_OWNER_RELEASE, LB_V_NOT_TESTED);
    overrun_batch((const int[]){LB_EV_OK, LB_EV_NONE}); /* killed while it wrote the ends down */
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
}

/* Three items of worker 1, renewed at once: each lease lasts as long as its own answer says. */
static void a_batch_of_renewals_is_judged_item_by_item(void **state)
{
    (void)state;
    for (uint64_t taken = 1; taken <= 3; taken++) {
        history_init(&history, true);
        history.model.lease = true;
        put(&history, 0, 1, 3, 1, 2);
        for (uint64_t id = 1; id <= 3; id++)
            claim(&history, 1, id, (2 * id + 1) * MS, (2 * id + 2) * MS, 100);
        batch_of(LB_OP_RENEW_ITEM, 1, 1, 3, 80 * MS, 81 * MS,
                 (const int[]){LB_EV_OK, LB_EV_FAIL, LB_EV_OK}, 100);
        claim(&history, 2, taken, 150 * MS, 151 * MS, 100);
        expect(LB_G_NO_DUPLICATE, taken == 2 ? LB_V_HELD : LB_V_VIOLATED);
    }
}

/* A completed item is not lost, and one that may have been completed is not reported as lost. */
static void a_batch_in_part_loses_nothing(void **state)
{
    (void)state;
    static const int all[] = {LB_EV_OK, LB_EV_OK, LB_EV_OK},
                     none[] = {LB_EV_FAIL, LB_EV_FAIL, LB_EV_FAIL},
                     unknown[] = {LB_EV_INFO, LB_EV_INFO, LB_EV_INFO};
    for (int i = 0; i < 3; i++) {
        history_init(&history, true);
        put(&history, 0, 1, 3, 1, 2);
        for (uint64_t id = 1; id <= 3; id++)
            claim(&history, 1, id, 2 * id + 1, 2 * id + 2, 0);
        batch(1, 1, 3, 10, 12, i == 0 ? all : i == 1 ? none : unknown);
        claim(&history, 2, 2, 15, 16, 0); /* claimed again */
        expect(LB_G_NO_DUPLICATE, i == 2 ? LB_V_HELD : LB_V_VIOLATED);
    }
}

/* --- pipelines --- */

static void a_claim_behind_an_end_is_judged_by_itself(void **state)
{
    (void)state;
    static const int ok[] = {LB_EV_OK, LB_EV_OK}, unknown[] = {LB_EV_INFO, LB_EV_INFO};
    for (int again = 0; again < 2; again++) {
        history_init(&history, true);
        put(&history, 0, 1, 3, 1, 2);
        claim(&history, 1, 1, 3, 4, 0);
        claim(&history, 1, 2, 5, 6, 0);
        pipeline_of(LB_OP_COMPLETE, 1, 1, 2, 10, 12, 14, ok, again ? 2 : 3);
        expect(LB_G_NO_DUPLICATE, again ? LB_V_VIOLATED : LB_V_HELD);
    }
    const struct lb_witness *witness = &judgement.findings[LB_G_NO_DUPLICATE].witness[0];
    const struct lb_witness_op *second =
        &witness->ops[1]; /* the claim, and not the end beside it */
    assert_int_equal(second->op, LB_OP_CLAIM);
    assert_int_equal(second->invoke_ns, 10);
    assert_int_equal(second->end_ns, 14);

    for (int i = 0; i < 2; i++) { /* it may claim again an item that it gave back itself, ... ... */
        history_init(&history, true);
        put(&history, 0, 1, 1, 1, 2);
        claim(&history, 1, 1, 3, 4, 0);
        pipeline_of(LB_OP_FREE, 1, 1, 1, 10, 12, 14, ok, 1);
        if (i == 1) /* ... and has it then */
            claim(&history, 2, 1, 15, 16, 0);
        expect(LB_G_NO_DUPLICATE, i == 1 ? LB_V_VIOLATED : LB_V_HELD);
    }
    /* It is unknown if the end happened; the claim after it was answered. */
    for (int i = 0; i < 2; i++) {
        history_init(&history, true);
        put(&history, 0, 1, 2, 1, 2);
        claim(&history, 1, 1, 3, 4, 0);
        pipeline_of(LB_OP_COMPLETE, 1, 1, 1, 10, 12, 14, unknown, 2);
        claim(&history, 2, i == 0 ? 1 : 2, 15, 16, 0);
        expect(LB_G_NO_DUPLICATE, i == 0 ? LB_V_HELD : LB_V_VIOLATED);
    }
}

static void the_wait_of_a_claim_in_a_pipeline_begins_with_it(void **state)
{
    (void)state;
    static const int ok[] = {LB_EV_OK};
    for (int i = 0; i < 2; i++) {
        history_init(&history, true);
        history.model.claims |= LB_G_BIT(LB_G_PROGRESS);
        history.model.progress_bound_ns = 20;
        put(&history, 0, 1, 2, 1, 2);
        claim(&history, 1, 1, 3, 4, 0);
        pipeline_of(LB_OP_COMPLETE, 1, 1, 1, 100, 102, i == 0 ? 120 : 121, ok, 2);
        expect(LB_G_PROGRESS, i == 0 ? LB_V_HELD : LB_V_VIOLATED);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_judged_item_by_item),
        cmocka_unit_test(a_batch_in_part_loses_nothing),
        cmocka_unit_test(a_batch_of_renewals_is_judged_item_by_item),
        cmocka_unit_test(a_claim_behind_an_end_is_judged_by_itself),
        cmocka_unit_test(the_wait_of_a_claim_in_a_pipeline_begins_with_it),
        cmocka_unit_test(items_are_claimed_once),
        cmocka_unit_test(errors_and_resets_reopen),
        cmocka_unit_test(a_reset_that_was_not_answered_may_reopen),
        cmocka_unit_test(a_reset_opens_an_item_once),
        cmocka_unit_test(a_reset_opens_an_item_once_in_any_order),
        cmocka_unit_test(a_stranger_ends_one_claim),
        cmocka_unit_test(a_tick_keeps_each_workers_order),
        cmocka_unit_test(one_reset_asks_for_one_more_execution),
        cmocka_unit_test(a_beat_excuses_nobody_from_ending_its_items),
        cmocka_unit_test(claims_expire),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(what_has_returned_is_not_lost),
        cmocka_unit_test(what_is_completed_late_is_not_lost),
        cmocka_unit_test(what_was_given_back_once_is_asked_for),
        cmocka_unit_test(phantoms_are_seen),
        cmocka_unit_test(claims_are_bounded),
        cmocka_unit_test(queues_keep_their_order),
        cmocka_unit_test(refusals_need_a_holder),
        cmocka_unit_test(empty_needs_a_moment_without_items),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
