/* The judge on histories written by hand: tokens, lines, waits and recovery, and the cases in which
 * a hasty judge would see a violation that did not happen. */
#include "check_expect.h"

/* --- fenced, fifo, progress, recovery --- */

static void token(uint32_t log, uint64_t from, uint64_t to, uint64_t value)
{
    add_op(&history, log, LB_OP_ACQUIRE, from, to, LB_EV_OK, 0, value, 0, LB_EVF_TOKEN);
    add_op(&history, log, LB_OP_RELEASE, to + 1, to + 2, LB_EV_OK, 0, value, 0,
           LB_EVF_TOKEN | LB_EVF_EFFECTIVE);
}

static void tokens_grow(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    release(&history, 0, 0, 3, 4);
    expect(LB_G_FENCED, LB_V_NOT_TESTED);
    history_init(&history, false);
    token(0, 1, 2, 7);
    token(1, 3, 10, 9);
    token(2, 4, 14, 8); /* concurrent with 9: may have come before, but for exclusion */
    history.model.claims &= ~LB_G_BIT(LB_G_EXCLUSIVE);
    expect(LB_G_FENCED, LB_V_HELD);
    token(0, 17, 18, 8);
    expect(LB_G_FENCED, LB_V_VIOLATED);
    assert_int_equal(judgement.findings[LB_G_FENCED].n_violations, 1);
    history.model.claims &= ~LB_G_BIT(LB_G_FENCED);
    expect(LB_G_FENCED, LB_V_NOT_CLAIMED);
    assert_int_equal(judgement.findings[LB_G_FENCED].n_violations, 1);
}

/* The first one to be granted the lock had it when the other was granted it, or the lock excluded
 * no worker.
 */
static void exclusion_says_who_came_first(void **state)
{
    (void)state;
    history_init(&history, false);
    token(1, 3, 10, 9);
    token(2, 4, 14, 8);
    expect(LB_G_FENCED, LB_V_VIOLATED);
    assert_int_equal(judgement.findings[LB_G_FENCED].n_violations, 1);
    history_init(&history, false);
    token(1, 3, 10, 8);
    token(2, 4, 14, 9);
    expect(LB_G_FENCED, LB_V_HELD);
    history_init(&history,
                 false); /* a lease that may have been over by then: it may have come first */
    history.model.lease = true;
    add_op(&history, 1, LB_OP_ACQUIRE, 3 * MS, 10 * MS, LB_EV_OK, 0, 9, 100, LB_EVF_TOKEN);
    add_op(&history, 2, LB_OP_ACQUIRE, 4 * MS, 14 * MS, LB_EV_OK, 0, 8, 5, LB_EVF_TOKEN);
    expect(LB_G_FENCED, LB_V_HELD);
    history_init(&history, false); /* a worker may have ended 2's hold */
    token(1, 3, 10, 9);
    token(2, 4, 14, 8);
    release(&history, 0, 0, 5, 6);
    expect(LB_G_FENCED, LB_V_HELD);
    history_init(&history, false); /* both hold: the order is open */
    add_op(&history, 1, LB_OP_ACQUIRE, 3, 10, LB_EV_OK, 0, 9, 0, LB_EVF_TOKEN);
    add_op(&history, 2, LB_OP_ACQUIRE, 4, 14, LB_EV_OK, 0, 8, 0, LB_EVF_TOKEN);
    expect(LB_G_FENCED, LB_V_HELD);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
}

static void stale_writes_are_harm(void **state)
{
    (void)state;
    history_init(&history, false);
    add_op(&history, 0, LB_OP_WRITE, 1, 2, LB_EV_OK, 0, 5, 0, LB_EVF_TOKEN);
    add_op(&history, 1, LB_OP_WRITE, 2, 3, LB_EV_OK, 0, 4, 0, LB_EVF_TOKEN); /* concurrent */
    expect(LB_G_FENCED, LB_V_HELD);
    add_op(&history, 1, LB_OP_WRITE, 4, 5, LB_EV_OK, 1, 3, 0, LB_EVF_TOKEN); /* elsewhere */
    add_op(&history, 2, LB_OP_WRITE, 4, 5, LB_EV_FAIL, 0, 3, 0, LB_EVF_TOKEN);
    last_event(&history, 2)->answer = LB_REFUSED;
    expect(LB_G_FENCED, LB_V_HELD);
    assert_int_equal(judgement.measures.n_stale_writes_refused, 1);
    add_op(&history, 1, LB_OP_WRITE, 6, 7, LB_EV_OK, 0, 4, 0, LB_EVF_TOKEN);
    expect(LB_G_FENCED, LB_V_VIOLATED);
    assert_int_equal(judgement.measures.n_stale_writes_accepted, 1);
}

static void enqueue(uint32_t log, uint64_t from, uint64_t to, uint64_t ticket, int flags)
{
    add_op(&history, log, LB_OP_ENQUEUE, from, to, LB_EV_OK, 0, ticket, 0, LB_EVF_TOKEN | flags);
}

static void tickets_are_kept(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    release(&history, 0, 0, 3, 4);
    expect(LB_G_FIFO, LB_V_NOT_TESTED);
    history_init(&history, false);
    enqueue(0, 1, 2, 1, 0);
    enqueue(1, 1, 3, 2, 0);
    add_op(&history, 0, LB_OP_ACQUIRE, 4, 5, LB_EV_FAIL, 0, 0, 0, 0);
    acquire(&history, 0, 0, 6, 20); /* concurrent grants: either may have been first */
    acquire(&history, 1, 0, 4, 9);
    release(&history, 1, 0, 10, 11);
    release(&history, 0, 0, 22, 23);
    expect(LB_G_FIFO, LB_V_HELD);
    history.events[0][4].time_ns = 15; /* asked for only after the other's grant */
    expect(LB_G_FIFO, LB_V_VIOLATED);
    assert_int_equal(judgement.measures.n_overtakes, 1);
    assert_int_equal(judgement.measures.max_overtakes, 1);
    history.capacity[0] = 2; /* the first two may enter as they come */
    expect(LB_G_FIFO, LB_V_HELD);
    assert_int_equal(judgement.measures.n_overtakes, 1);
    history_init(&history, false); /* a reader passes a reader, but no writer */
    enqueue(0, 1, 2, 1, LB_EVF_SHARED);
    enqueue(1, 1, 3, 2, LB_EVF_SHARED);
    add_op(&history, 1, LB_OP_ACQUIRE, 4, 5, LB_EV_OK, 0, 0, 0, LB_EVF_SHARED);
    add_op(&history, 0, LB_OP_ACQUIRE, 6, 7, LB_EV_OK, 0, 0, 0, LB_EVF_SHARED);
    expect(LB_G_FIFO, LB_V_HELD);
    history.events[0][0].flags = history.events[0][1].flags = LB_EVF_TOKEN;
    expect(LB_G_FIFO, LB_V_VIOLATED);
}

/* A line may drop waiters that it has not heard of for a lease. */
static void who_was_silent_for_a_lease_may_have_lost_its_place(void **state)
{
    (void)state;
    static const uint64_t ms = 1000000;
    history_init(&history, false);
    history.model.lease = true;
    add_op(&history, 0, LB_OP_ACQUIRE, 1, 2, LB_EV_OK, 0, 0, 10, 0); /* a lease of 10 ms */
    release(&history, 0, 0, 3, 4);
    enqueue(0, 5, 6, 1, 0);
    enqueue(1, 7, 8, 2, 0);
    add_op(&history, 0, LB_OP_ACQUIRE, 2 * ms, 2 * ms + 1, LB_EV_FAIL, 0, 0, 0, 0);
    add_op(&history, 1, LB_OP_ACQUIRE, 20 * ms, 20 * ms + 1, LB_EV_OK, 0, 0, 10, 0);
    release(&history, 1, 0, 20 * ms + 2, 20 * ms + 3);
    add_op(&history, 0, LB_OP_ACQUIRE, 30 * ms, 30 * ms + 1, LB_EV_FAIL, 0, 0, 0, 0);
    expect(LB_G_FIFO, LB_V_HELD); /* no word for 28 ms */
    history.n[0] -= 2;
    for (uint64_t at = 5; at <= 30; at += 5)
        add_op(&history, 0, LB_OP_ACQUIRE, at * ms, at * ms + 1, LB_EV_FAIL, 0, 0, 0, 0);
    history.model.end_ns = 31 * ms;
    expect(LB_G_FIFO, LB_V_VIOLATED);
}

/* No grant came before; the length of the lease is that of another worker's grant. */
static void who_was_silent_before_its_first_grant_may_have_lost_its_place(void **state)
{
    (void)state;
    static const uint64_t ms = 1000000;
    for (int polls = 0; polls < 2; polls++) {
        history_init(&history, false);
        history.model.lease = true;
        enqueue(0, 5, 6, 1, 0);
        enqueue(1, 7, 8, 2, 0);
        for (uint64_t at = 5; at <= 30 && polls; at += 5)
            add_op(&history, 0, LB_OP_ACQUIRE, at * ms, at * ms + 1, LB_EV_FAIL, 0, 0, 0, 0);
        add_op(&history, 1, LB_OP_ACQUIRE, 20 * ms, 20 * ms + 1, LB_EV_OK, 0, 0, 10, 0);
        release(&history, 1, 0, 20 * ms + 2, 20 * ms + 3);
        if (!polls)
            add_op(&history, 0, LB_OP_ACQUIRE, 30 * ms, 30 * ms + 1, LB_EV_FAIL, 0, 0, 0, 0);
        history.model.end_ns = 31 * ms;
        expect(LB_G_FIFO, polls ? LB_V_VIOLATED : LB_V_HELD);
    }
}

static void what_is_judged_in_part_is_not_held(void **state)
{
    (void)state;
    history_init(&history, false); /* places for two, and a reader who passes a reader */
    history.capacity[0] = 2;
    enqueue(0, 1, 2, 1, LB_EVF_SHARED);
    enqueue(1, 1, 3, 2, LB_EVF_SHARED);
    add_op(&history, 0, LB_OP_ACQUIRE, 4, 5, LB_EV_OK, 0, 0, 0, LB_EVF_SHARED);
    add_op(&history, 1, LB_OP_ACQUIRE, 6, 7, LB_EV_OK, 0, 0, 0, LB_EVF_SHARED);
    expect(LB_G_FIFO, LB_V_HELD); /* in order: nothing to doubt */
    history.events[0][2].time_ns = 8;
    history.events[0][3].time_ns = 9;
    expect(LB_G_FIFO, LB_V_NOT_TESTED);
    history.capacity[0] = 1;
    expect(LB_G_FIFO, LB_V_HELD);
    history_init(&history, true); /* three cycles of an item in one tick, and one reset */
    put(&history, 0, 1, 1, 1, 1);
    for (uint32_t log = 1; log < 4; log++) {
        claim(&history, log, 1, 3, 3, 0);
        add_op(&history, log, LB_OP_COMPLETE, 3, 3, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    }
    add_op(&history, 0, LB_OP_RESET_ALL, 3, 3, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    for (uint32_t i = 0; i < 64; i++) { /* any of them may have opened it: too many to try */
        add_op(&history, 4, LB_OP_RESET_ALL, 2, 2, LB_EV_INFO, 0, 0, 0, 0);
        last_event(&history, 4)[-1].process = last_event(&history, 4)->process = 100 + i;
    }
    expect(LB_G_NO_DUPLICATE, LB_V_NOT_TESTED);
}

static void waits_have_a_bound(void **state)
{
    (void)state;
    history_init(&history, false);
    add_op(&history, 0, LB_OP_ACQUIRE, 1, 2, LB_EV_FAIL, 0, 0, 0, 0);
    acquire(&history, 0, 0, 3, 20);
    release(&history, 0, 0, 21, 22);
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED);
    assert_int_equal(judgement.measures.longest_wait_ns, 19);
    history.model.progress_bound_ns = 19;
    expect(LB_G_PROGRESS, LB_V_HELD);
    history.model.progress_bound_ns = 18;
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    history_init(&history, false); /* never granted */
    history.model.progress_bound_ns = 18;
    history.model.end_ns = 50;
    add_op(&history, 0, LB_OP_ACQUIRE, 1, 2, LB_EV_FAIL, 0, 0, 0, 0);
    add_op(&history, 0, LB_OP_ACQUIRE, 3, 4, LB_EV_NONE, 0, 0, 0, 0);
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    note(&history, 1, LB_OP_DEATH, 10, 0, 0); /* the dead do not wait */
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED);   /* but there was no grant */
    acquire(&history, 2, 0, 3, 4);
    release(&history, 2, 0, 5, 6);
    expect(LB_G_PROGRESS, LB_V_HELD);
}

static void the_dead_are_replaced(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    note(&history, 7, LB_OP_DEATH, 5, 0, 0);
    note(&history, 7, LB_OP_SESSION_END, 8, 0, 0);
    acquire(&history, 1, 0, 3, 30);
    release(&history, 1, 0, 31, 32);
    expect(LB_G_RECOVERY, LB_V_NOT_TESTED);
    history.model.recovery_bound_ns = 25;
    expect(LB_G_RECOVERY, LB_V_HELD);
    assert_int_equal(judgement.measures.max_recovery_ns, 25);
    history.model.recovery_bound_ns = 24;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
}

static void items_of_the_dead_are_recovered_or_stuck(void **state)
{
    (void)state;
    history_init(&history, true);
    history.model.drained = true;
    history.model.recovery_bound_ns = 25;
    put(&history, 0, 1, 3, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    note(&history, 7, LB_OP_DEATH, 5, 0, 1);
    claim(&history, 2, 2, 3, 4, 0);
    add_op(&history, 2, LB_OP_COMPLETE, 4, 5, LB_EV_OK, 2, 2, 0, LB_EVF_EFFECTIVE);
    note(&history, 7, LB_OP_DEATH, 6, 0, 2); /* with nothing in hand */
    claim(&history, 3, 3, 3, 4, 0);
    add_op(&history, 3, LB_OP_COMPLETE, 5, 6, LB_EV_NONE, 3, 3, 0, 0); /* perhaps done */
    note(&history, 7, LB_OP_DEATH, 7, 0, 3);
    history.model.end_ns = 20;
    history.model.claims |= LB_G_BIT(LB_G_RECOVERY);
    judged(LB_G_RECOVERY);
    assert_int_equal(judgement.measures.n_deaths, 1);
    assert_int_equal(judgement.measures.n_recovered, 0);
    assert_int_equal(judgement.measures.n_stuck, 1);
    history.model.end_ns = 100;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);

    add_op(&history, 7, LB_OP_RECOVER, 10, 11, LB_EV_OK, 0, 0, 0, 0);
    claim(&history, 4, 1, 12, 30, 0);
    expect(LB_G_RECOVERY, LB_V_HELD);
    assert_int_equal(judgement.measures.n_recovered, 1);
    assert_int_equal(judgement.measures.n_stuck, 0);
    assert_int_equal(judgement.measures.p50_recovery_ns, 25);
    history.model.recovery_bound_ns = 18; /* asked for at 12 */
    expect(LB_G_RECOVERY, LB_V_HELD);
    history.model.recovery_bound_ns = 17;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
}

/* A worker that lost its item to another while it lived, or whose end was refused, leaves nothing
 * behind when it dies. */
static void what_was_lost_before_is_not_in_the_dead_ones_hands(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        history_init(&history, true);
        history.model.drained = true;
        history.model.recovery_bound_ns = 25;
        history.model.claims |= LB_G_BIT(LB_G_RECOVERY);
        put(&history, 0, 1, 2, 1, 2);
        claim(&history, 1, 1, 3, 4, 0);
        add_op(&history, 7, LB_OP_RECOVER, 5, 6, LB_EV_OK, 0, 0, 0, 0);
        claim(&history, 2, 1, 7, 8, 0);
        add_op(&history, 2, LB_OP_COMPLETE, 9, 10, LB_EV_OK, 1, 1, 0, LB_EVF_EFFECTIVE);
        if (told) {
            add_op(&history, 1, LB_OP_COMPLETE, 11, 12, LB_EV_FAIL, 1, 1, 0, 0);
            last_event(&history, 1)->answer = LB_REFUSED;
        }
        claim(&history, 3, 2, 13, 14, 0);
        add_op(&history, 3, LB_OP_COMPLETE, 15, 16, LB_EV_OK, 2, 2, 0, LB_EVF_EFFECTIVE);
        note(&history, 7, LB_OP_DEATH, 20, 0, 1);
        history.model.end_ns = UINT64_C(10000000000);
        expect(LB_G_RECOVERY, LB_V_NOT_TESTED);
        assert_int_equal(judgement.measures.n_deaths, 0);
        assert_int_equal(judgement.measures.n_stuck, 0);
        history.model.claims &= ~LB_G_BIT(LB_G_RECOVERY);
        expect(LB_G_NO_LOSS, LB_V_HELD);
    }
    history_init(&history, true); /* refused, and not claimed by another */
    history.model.drained = true;
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    add_op(&history, 1, LB_OP_COMPLETE, 5, 6, LB_EV_FAIL, 1, 1, 0, 0);
    last_event(&history, 1)->answer = LB_REFUSED;
    note(&history, 7, LB_OP_DEATH, 20, 0, 1);
    history.model.end_ns = UINT64_C(10000000000);
    judged(LB_G_RECOVERY);
    assert_int_equal(judgement.measures.n_deaths, 0);
    last_event(&history, 1)->answer = LB_DEADLOCK; /* he would have asked again */
    judged(LB_G_RECOVERY);
    assert_int_equal(judgement.measures.n_deaths, 1);
}

/* What stood before the dead's item was worked off first, and took its time. */
static void recovery_counts_from_the_work_before(void **state)
{
    (void)state;
    history_init(&history, true);
    history.model.drained = true;
    history.model.recovery_bound_ns = 25;
    history.model.claims |= LB_G_BIT(LB_G_RECOVERY);
    put(&history, 0, 1, 4, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    note(&history, 7, LB_OP_DEATH, 5, 0, 1);
    add_op(&history, 7, LB_OP_RECOVER, 6, 7, LB_EV_OK, 0, 0, 0, 0);
    claim(&history, 2, 2, 8, 20, 0);
    claim(&history, 3, 3, 21, 40, 0);
    claim(&history, 4, 1, 41, 65, 0); /* 60 after the death, 25 after the last item before it */
    claim(&history, 5, 4, 66, 70, 0); /* this one was passed by */
    expect(LB_G_RECOVERY, LB_V_HELD);
    assert_int_equal(judgement.measures.max_recovery_ns, 60);
    history.model.recovery_bound_ns = 24;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
}

/* Items put while the dead worker's lease still ran were before its item, too; later ones were
 * not. */
static void recovery_counts_from_the_end_of_the_lease(void **state)
{
    (void)state;
    const uint64_t us = 1000;
    history_init(&history, true);
    history.model.drained = true;
    history.model.lease = true;
    history.model.recovery_bound_ns = 3000 * us;
    history.model.claims |= LB_G_BIT(LB_G_RECOVERY);
    put(&history, 0, 1, 1, 1 * us, 2 * us);
    claim(&history, 1, 1, 3 * us, 4 * us, 2);
    note(&history, 7, LB_OP_DEATH, 5 * us, 0, 1);
    put(&history, 0, 2, 1, 1000 * us, 1001 * us);
    put(&history, 0, 3, 1, 4000 * us, 4001 * us);
    claim(&history, 2, 2, 4000 * us, 5000 * us, 2);
    claim(&history, 3, 3, 6000 * us, 7000 * us, 2);
    claim(&history, 4, 1, 5001 * us, 7500 * us, 2); /* 2.5 ms after the item that stood before it */
    expect(LB_G_RECOVERY, LB_V_HELD);
    history.model.recovery_bound_ns = 2400 * us;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
}

/* A bound that the scenario itself may exceed, or that is longer than the run, decides nothing. */
static void bounds_that_decide_nothing(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 3, 20);
    release(&history, 0, 0, 21, 22);
    history.model.end_ns = 40;
    history.model.progress_bound_ns = 10;
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    history.model.progress_demand_ns = 10;
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    history.model.progress_demand_ns = 11;
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    history.model.progress_bound_ns = 40;
    expect(LB_G_PROGRESS, LB_V_HELD);
    history.model.progress_bound_ns = 41; /* no worker can have waited so long */
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED);
    history_init(&history, false); /* nothing was granted: no worker waited for another's hold */
    history.model.end_ns = 50;
    history.model.progress_bound_ns = 18;
    history.model.progress_demand_ns = 1000;
    add_op(&history, 0, LB_OP_ACQUIRE, 1, 2, LB_EV_FAIL, 0, 0, 0, 0);
    add_op(&history, 0, LB_OP_ACQUIRE, 3, 4, LB_EV_NONE, 0, 0, 0, 0);
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
}

/* --- all workers stand still --- */

static void nobody_waits_while_everybody_stands_still(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.progress_bound_ns = 25;
    history.model.end_ns = 1000;
    acquire(&history, 0, 0, 10, 110);
    release(&history, 0, 0, 111, 112);
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    note(&history, 7, LB_OP_STALL, 50, 50, LB_STALL_TICK);   /* 0 to 50 */
    note(&history, 7, LB_OP_STALL, 90, 50, LB_STALL_ENGINE); /* 40 to 90: 10 of it again */
    expect(LB_G_PROGRESS, LB_V_HELD);                        /* 100 - 80 */
    assert_int_equal(judgement.measures.n_stalls, 1);
    assert_int_equal(judgement.measures.stalled_ns, 90);
    history.model.progress_bound_ns = 20;
    expect(LB_G_PROGRESS, LB_V_HELD);
    history.model.progress_bound_ns = 19;
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    history.model.end_ns = 400; /* more than a fifth of the run */
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void nobody_recovers_while_everybody_stands_still(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.end_ns = 1000;
    acquire(&history, 0, 0, 1, 2);
    note(&history, 7, LB_OP_DEATH, 5, 0, 0);
    note(&history, 7, LB_OP_SESSION_END, 6, 0, 0);
    note(&history, 7, LB_OP_STALL, 85, 75, LB_STALL_TICK);
    acquire(&history, 1, 0, 3, 100);
    release(&history, 1, 0, 101, 102);
    history.model.recovery_bound_ns = 20;
    expect(LB_G_RECOVERY, LB_V_HELD);
    assert_int_equal(judgement.measures.max_recovery_ns, 20);
    history.model.recovery_bound_ns = 19;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
}

/* One worker stood still: it may be why another waited, or not. */
static void nobody_knows_what_one_kept_from_another(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.progress_bound_ns = 25;
    history.model.end_ns = 1000;
    acquire(&history, 0, 0, 10, 110);
    release(&history, 0, 0, 111, 112);
    note(&history, 7, LB_OP_STALL, 50, 50, LB_STALL_ONE);   /* 0 to 50 */
    note(&history, 7, LB_OP_STALL, 100, 40, LB_STALL_TICK); /* 60 to 100 */
    history.model.progress_bound_ns = 60;
    expect(LB_G_PROGRESS, LB_V_HELD); /* 100 - 40 */
    assert_int_equal(judgement.measures.stalled_ns, 40);
    history.model.progress_bound_ns = 20;
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED); /* 100 - 80, or 100 - 40 */
    history.model.progress_bound_ns = 19;
    expect(LB_G_PROGRESS, LB_V_VIOLATED);
    history_init(&history, false);
    history.model.end_ns = 1000;
    acquire(&history, 0, 0, 1, 2);
    note(&history, 7, LB_OP_DEATH, 5, 0, 0);
    note(&history, 7, LB_OP_SESSION_END, 6, 0, 0);
    note(&history, 7, LB_OP_STALL, 85, 75, LB_STALL_ONE);
    acquire(&history, 1, 0, 3, 100);
    release(&history, 1, 0, 101, 102);
    history.model.recovery_bound_ns = 95;
    expect(LB_G_RECOVERY, LB_V_HELD);
    history.model.recovery_bound_ns = 20;
    expect(LB_G_RECOVERY, LB_V_NOT_TESTED);
    assert_int_equal(judgement.measures.max_recovery_ns, 95); /* it took so long all the same */
    history.model.recovery_bound_ns = 19;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
    /* An item, and one that is stuck. */
    history_init(&history, true);
    history.model.end_ns = 9 * (uint64_t)MS * 1000;
    history.model.drained = true;
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    note(&history, 7, LB_OP_DEATH, 5, 0, 1);
    note(&history, 7, LB_OP_STALL, 8 * (uint64_t)MS * 1000, 7 * (uint64_t)MS * 1000, LB_STALL_ONE);
    history.model.claims &= ~LB_G_BIT(LB_G_RECOVERY);
    expect(LB_G_NO_LOSS, LB_V_VIOLATED); /* 2 s of the 9 */
    history.events[7][1].time_ns = history.model.end_ns;
    history.events[7][1].value = history.model.end_ns - 10 * MS;
    expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
    history.model.claims |= LB_G_BIT(LB_G_RECOVERY);
    history.model.recovery_bound_ns = 20 * MS;
    expect(LB_G_RECOVERY, LB_V_NOT_TESTED);
    history.model.recovery_bound_ns = 9 * MS;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
}

/* Nobody can tell the slow from the dead. */
static void a_claim_is_recovered_when_it_is_old(void **state)
{
    (void)state;
    enum { AGE_MS = 1000 };
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, 1, 1, 3, 4, 0);
    add_op(&history, 7, LB_OP_RECOVER, 500 * MS, 501 * MS, LB_EV_OK, 0, 0, AGE_MS, 0);
    claim(&history, 2, 1, 1100 * MS, 1101 * MS, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED); /* it was too young then */
    add_op(&history, 7, LB_OP_RECOVER, 1001 * MS, 1002 * MS, LB_EV_OK, 0, 0, AGE_MS, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    last_event(&history, 7)[-1].arg = 0; /* only what the dead had */
    last_event(&history, 7)->arg = 0;
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    last_event(&history, 7)[-1].arg = AGE_MS;
    last_event(&history, 7)->arg = AGE_MS;
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    claim(&history, 3, 1, 1102 * MS, 1103 * MS, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED); /* and only once */
    history.n[3] = 0;
    add_op(&history, 1, LB_OP_COMPLETE, 5, 6, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED); /* a finished item is not recovered */
}

static void shares_are_measured(void **state)
{
    (void)state;
    history_init(&history, false);
    for (uint32_t i = 0; i < 4; i++) {
        acquire(&history, 0, i, 10 * i, 10 * i + 1);
        release(&history, 0, i, 10 * i + 2, 10 * i + 3);
    }
    add_op(&history, 1, LB_OP_ACQUIRE, 1, 2, LB_EV_FAIL, 0, 0, 0, 0);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    assert_true(judgement.measures.jain > 0.499 && judgement.measures.jain < 0.501);
    assert_true(judgement.measures.gini > 0.499 && judgement.measures.gini < 0.501);
    assert_int_equal(judgement.measures.n_holds, 4);
    assert_int_equal(judgement.measures.n_refusals, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_grow),
        cmocka_unit_test(exclusion_says_who_came_first),
        cmocka_unit_test(stale_writes_are_harm),
        cmocka_unit_test(tickets_are_kept),
        cmocka_unit_test(who_was_silent_for_a_lease_may_have_lost_its_place),
        cmocka_unit_test(who_was_silent_before_its_first_grant_may_have_lost_its_place),
        cmocka_unit_test(what_is_judged_in_part_is_not_held),
        cmocka_unit_test(waits_have_a_bound),
        cmocka_unit_test(bounds_that_decide_nothing),
        cmocka_unit_test(the_dead_are_replaced),
        cmocka_unit_test(items_of_the_dead_are_recovered_or_stuck),
        cmocka_unit_test(what_was_lost_before_is_not_in_the_dead_ones_hands),
        cmocka_unit_test(recovery_counts_from_the_work_before),
        cmocka_unit_test(recovery_counts_from_the_end_of_the_lease),
        cmocka_unit_test(nobody_waits_while_everybody_stands_still),
        cmocka_unit_test(nobody_recovers_while_everybody_stands_still),
        cmocka_unit_test(nobody_knows_what_one_kept_from_another),
        cmocka_unit_test(a_claim_is_recovered_when_it_is_old),
        cmocka_unit_test(shares_are_measured),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
