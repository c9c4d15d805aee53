/* The judge on histories of locks written by hand: holders and leases; and the cases in which a
 * hasty judge would see a violation that did not happen. */
#include "check_expect.h"

/* --- exclusive --- */

static void two_holders_are_seen(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 1, 0, 11 * MS, 11800000);
    release(&history, 1, 0, 12301000, 13 * MS);
    acquire(&history, 3, 0, 11 * MS, 12041000);
    release(&history, 3, 0, 14 * MS, 15 * MS);
    expect_text(LB_G_EXCLUSIVE, "worker 3 was granted resource 0 at 12.041 ms while worker 1 held "
                                "it from 11.800 ms to 12.301 ms: 260 us together");
    const struct lb_witness *witness = &judgement.findings[LB_G_EXCLUSIVE].witness[0];
    assert_int_equal(witness->overlap_ns, 260000);
    assert_int_equal(witness->n_ops, 4);
    assert_int_equal(judgement.measures.max_depth, 2);
    assert_int_equal(judgement.findings[LB_G_EXCLUSIVE].n_violations, 1);
}

/* A lock may be the session's and end with it, or a row that was committed. */
static void what_was_committed_outlasts_its_session(void **state)
{
    (void)state;
    for (int committed = 0; committed < 2; committed++) {
        history_init(&history, false);
        acquire(&history, 1, 0, 1, 2);
        last_event(&history, 1)->flags = committed ? LB_EVF_COMMITTED : 0;
        note(&history, 7, LB_OP_FAULT, 5, 0, UINT32_MAX);
        acquire(&history, 3, 0, 6, 8);
        release(&history, 3, 0, 12, 13);
        release(&history, 1, 0, 10, 11);
        last_event(&history, 1)->type = LB_EV_INFO;
        note(&history, 1, LB_OP_SESSION_END, 11, 0, 1);
        expect(LB_G_EXCLUSIVE, committed ? LB_V_VIOLATED : LB_V_HELD);
        assert_int_equal(judgement.measures.n_uncut_violations, 1);
    }
    for (int committed = 0; committed < 2; committed++) {
        history_init(&history, true);
        put(&history, 0, 1, 1, 1, 2);
        claim(&history, 1, 1, 3, 4, 0);
        for (uint32_t i = 0; i < 4; i++)
            if (committed && history.events[1][i].op == LB_OP_ITEM)
                history.events[1][i].flags = LB_EVF_COMMITTED;
        note(&history, 7, LB_OP_FAULT, 5, 0, UINT32_MAX);
        claim(&history, 3, 1, 6, 8, 0);
        add_op(&history, 1, LB_OP_COMPLETE, 10, 11, LB_EV_INFO, 1, 1, 0, 0);
        note(&history, 1, LB_OP_SESSION_END, 11, 0, 1);
        expect(LB_G_NO_DUPLICATE, committed ? LB_V_VIOLATED : LB_V_HELD);
    }
}

/* A session that is ended repeatedly: each end concerns the grants since the previous one. */
static void each_end_is_of_its_own_session(void **state)
{
    (void)state;
    enum { TIMES = 40 };
    for (int fault = 0; fault < 2; fault++)
        for (int late = 0; late < TIMES; late++) {
            history_init(&history, false);
            for (int i = 0; i < TIMES; i++) {
                uint64_t at = 100 * (uint64_t)i;
                acquire(&history, 1, 0, at + 10, at + 20);
                if (fault)
                    note(&history, 7, LB_OP_FAULT, at + 50, 0, i % 2 == 0 ? 1 : UINT32_MAX);
                note(&history, 6, LB_OP_SESSION_END, at + 60, 0, 1);
                /* The other is granted it after that, or once just before. */
                acquire(&history, 2, 0, at + 30, i == late && fault ? at + 40 : at + 70);
                release(&history, 2, 0, at + 80, at + 81);
            }
            expect(LB_G_EXCLUSIVE, fault ? LB_V_VIOLATED : LB_V_HELD);
            assert_int_equal(judgement.findings[LB_G_EXCLUSIVE].n_violations, fault);
        }
}

static void ends_come_before_starts(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    release(&history, 0, 0, 5, 6);
    acquire(&history, 1, 0, 3, 5); /* granted at the tick of the release */
    release(&history, 1, 0, 7, 8);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    assert_int_equal(judgement.measures.max_depth, 1);
    last_event(&history, 0);
    history.events[0][2].time_ns = 6; /* one tick later it is not */
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
}

static void a_hold_without_length_meets_what_covers_it(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 3);
    release(&history, 0, 0, 9, 9);
    acquire(&history, 1, 0, 2, 5);
    release(&history, 1, 0, 5, 8);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 5); /* begins where the other is */
    release(&history, 0, 0, 9, 9);
    acquire(&history, 1, 0, 2, 5);
    release(&history, 1, 0, 5, 8);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void resources_are_independent(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    acquire(&history, 1, 1, 1, 2);
    release(&history, 0, 0, 5, 6);
    release(&history, 1, 1, 5, 6);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void capacity_counts_permits(void **state)
{
    (void)state;
    for (uint32_t capacity = 2; capacity <= 4; capacity++) {
        history_init(&history, false);
        history.capacity[0] = capacity;
        for (uint32_t i = 0; i < 3; i++)
            acquire(&history, i, 0, 1, 2 + i);
        for (uint32_t i = 0; i < 3; i++)
            release(&history, i, 0, 10 + i, 20);
        expect(LB_G_EXCLUSIVE, capacity >= 3 ? LB_V_HELD : LB_V_VIOLATED);
        history.events[0][0].arg = 2; /* the first takes two permits */
        expect(LB_G_EXCLUSIVE, capacity >= 4 ? LB_V_HELD : LB_V_VIOLATED);
        assert_int_equal(judgement.measures.max_depth, 3);
    }
    history_init(&history, false);
    history.capacity[0] = 2;
    acquire(&history, 0, 0, 1, 2);
    history.events[0][0].arg = 3;
    release(&history, 0, 0, 3, 4);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
}

static void readers_share(void **state)
{
    (void)state;
    history_init(&history, false);
    for (uint32_t i = 0; i < 3; i++) {
        add_op(&history, i, LB_OP_ACQUIRE, 1, 2, LB_EV_OK, 0, 0, 0, LB_EVF_SHARED);
        add_op(&history, i, LB_OP_RELEASE, 9, 10, LB_EV_OK, 0, 0, 0,
               LB_EVF_SHARED | LB_EVF_EFFECTIVE);
    }
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    acquire(&history, 3, 0, 3, 8); /* a writer beside them */
    release(&history, 3, 0, 12, 13);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.events[3][1].time_ns = 9;
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void unknown_acquires_force_nothing(void **state)
{
    (void)state;
    history_init(&history, false);
    add_op(&history, 0, LB_OP_ACQUIRE, 1, 2, LB_EV_INFO, 0, 0, 0, 0);
    add_op(&history, 2, LB_OP_ACQUIRE, 1, 2, LB_EV_NONE, 0, 0, 0, 0);
    acquire(&history, 1, 0, 3, 4);
    release(&history, 1, 0, 5, 6);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void the_dead_hold_until_something_ends_it(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    note(&history, 0, LB_OP_DEATH, 5, 0, 0);
    acquire(&history, 1, 0, 8, 9);
    release(&history, 1, 0, 10, 11);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    note(&history, 7, LB_OP_SESSION_END, 8, 0, 0);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    history.events[1][0].time_ns = 2; /* granted while it still lived */
    history.events[1][1].time_ns = 4;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.n[0]--; /* noted by another worker: it may have died before */
    note(&history, 6, LB_OP_DEATH, 5, 0, 0);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    history_init(&history, false); /* a worker recovers */
    acquire(&history, 0, 0, 1, 2);
    note(&history, 0, LB_OP_DEATH, 5, 0, 0);
    add_op(&history, 2, LB_OP_RECOVER, 6, 9, LB_EV_OK, 0, 0, 0, 0);
    acquire(&history, 1, 0, 6, 7);
    release(&history, 1, 0, 10, 11);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    history.events[1][1].time_ns = history.events[1][0].time_ns = 5;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
}

/* The server ends two sessions, one of them just after it granted that one what the other had. */
static void a_lost_session_holds_as_long_as_it_answered(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    add_op(&history, 0, LB_OP_RELEASE, 9, 10, LB_EV_INFO, 0, 0, 0, 0);
    acquire(&history, 1, 0, 3, 5);
    add_op(&history, 1, LB_OP_RELEASE, 6, 7, LB_EV_INFO, 0, 0, 0, 0);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    note(&history, 0, LB_OP_SESSION_END, 10, 0, 0);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    assert_int_equal(judgement.measures.n_uncut_violations, 1); /* it believed in it */
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    acquire(&history, 0, 1, 7, 8); /* it still answers */
    add_op(&history, 0, LB_OP_RELEASE, 9, 10, LB_EV_INFO, 0, 0, 0, 0);
    note(&history, 0, LB_OP_SESSION_END, 10, 0, 0);
    acquire(&history, 1, 0, 3, 5);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.events[1][1].time_ns = 8;
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void an_open_hold_lasts_to_the_end(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    acquire(&history, 1, 0, 3, 20);
    history.model.end_ns = 20;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.view.truncated = true; /* its release may be in the missing part */
    expect(LB_G_EXCLUSIVE, LB_V_NOT_TESTED);
    assert_string_equal(judgement.findings[LB_G_EXCLUSIVE].reason, "the history is cut off");
}

static void failed_releases_have_two_semantics(void **state)
{
    (void)state;
    for (int semantics = LB_RELEASE_BELIEF; semantics <= LB_RELEASE_STATE; semantics++) {
        history_init(&history, false);
        history.model.release = (enum lb_release_semantics)semantics;
        acquire(&history, 0, 0, 1, 2);
        add_op(&history, 0, LB_OP_RELEASE, 3, 4, LB_EV_FAIL, 0, 0, 0, 0);
        acquire(&history, 1, 0, 5, 6);
        release(&history, 1, 0, 7, 8);
        expect(LB_G_EXCLUSIVE, semantics == LB_RELEASE_BELIEF ? LB_V_HELD : LB_V_VIOLATED);
        release(&history, 0, 0, 10, 11); /* tried again: no release of nothing */
        expect(LB_G_OWNER_RELEASE, LB_V_HELD);
        last_event(&history, 0)[-2].answer = LB_REFUSED; /* not ours: nothing is held */
        expect(LB_G_EXCLUSIVE, LB_V_HELD);
    }
}

static void a_lost_connection_ends_the_belief(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 2);
    add_op(&history, 0, LB_OP_WRITE, 3, 4, LB_EV_INFO, 0, 0, 0, 0);
    acquire(&history, 1, 0, 5, 6);
    release(&history, 1, 0, 10, 11);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    release(&history, 0, 0, 8, 9); /* it went on, with effect, under a new number */
    history.events[0][4].process = history.events[0][5].process = 100;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.events[0][5].flags = 0; /* without effect: it had lost the lock */
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

static void reentrant_holds_end_outermost(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.reentrant = true;
    acquire(&history, 0, 0, 1, 2);
    acquire(&history, 0, 0, 3, 4);
    release(&history, 0, 0, 5, 6);
    release(&history, 0, 0, 9, 10);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
    acquire(&history, 1, 0, 6, 7);
    release(&history, 1, 0, 8, 9);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.model.reentrant = false;
    history.n[1] = 0;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED); /* the same worker twice */
}

static void uncertain_clocks_hide_but_never_invent(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 0, 0, 1, 10);
    release(&history, 0, 0, 20, 21);
    acquire(&history, 1, 0, 1, 17);
    release(&history, 1, 0, 30, 31);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.logs[0].uncertainty_ns = 2;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.logs[1].uncertainty_ns = 1;
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
}

/* --- leases --- */

static void lease(uint32_t log, uint64_t from_ms, uint64_t to_ms, uint32_t lease_ms)
{
    add_op(&history, log, LB_OP_ACQUIRE, from_ms * MS, to_ms * MS, LB_EV_OK, 0, 0, lease_ms, 0);
    history.events[log][history.n[log] - 2].arg = 1;
}

static void leases_are_cut(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.lease = true;
    lease(0, 10, 11, 100);
    release(&history, 0, 0, 300 * MS, 301 * MS);
    lease(1, 120, 121, 100);
    release(&history, 1, 0, 150 * MS, 151 * MS);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    assert_int_equal(judgement.measures.n_cut_violations, 0);
    assert_int_equal(judgement.measures.n_uncut_violations, 1);
    history.events[1][0].time_ns = 50 * MS; /* taken over too early */
    history.events[1][1].time_ns = 60 * MS;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    assert_int_equal(judgement.measures.n_cut_violations, 1);
}

static void renewals_prolong(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.lease = true;
    lease(0, 10, 11, 100);
    add_op(&history, 0, LB_OP_RENEW, 80 * MS, 81 * MS, LB_EV_OK, 0, 0, 100, 0);
    release(&history, 0, 0, 170 * MS, 171 * MS);
    lease(1, 120, 121, 100);
    release(&history, 1, 0, 150 * MS, 151 * MS);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    /* Renewed when it may have been over: another worker may have had it in between. */
    history.events[0][2].time_ns = 140 * MS;
    history.events[0][3].time_ns = 155 * MS;
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    /* But not after the renewal. */
    history.events[1][2].time_ns = 160 * MS;
    history.events[1][3].time_ns = 161 * MS;
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
}

static void late_releases_need_another_owner(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.lease = true;
    lease(0, 10, 11, 100);
    release(&history, 0, 0, 300 * MS, 301 * MS);
    expect(LB_G_OWNER_RELEASE, LB_V_HELD); /* late, but no worker took it */
    lease(1, 250, 251, 100);
    release(&history, 1, 0, 340 * MS, 341 * MS);
    expect_text(LB_G_OWNER_RELEASE,
                "worker 0 released resource 0 at 300.000 ms with effect, though its lease was over "
                "and worker 1 had owned the lock since 251.000 ms");
    history.events[0][3].flags = 0; /* it had no effect */
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
    history.events[0][3].flags = LB_EVF_EFFECTIVE;
    history.events[1][2].time_ns = 300 * MS; /* released in the meantime */
    history.events[1][3].time_ns = 341 * MS;
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
}

/* Worker 0 gave its hold back in the tick in which worker 1's late release was answered. Their
 * order is unknown, unless it had been granted another by then, which excludes no worker. */
static void an_owner_ends_after_its_own_second_grant(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint32_t second = i == 3 ? 26 : 27;
        history_init(&history, false);
        acquire(&history, 1, 0, 18, 20);
        release(&history, 1, 0, 21, 24);
        last_event(&history, 1)->type = LB_EV_FAIL;
        release(&history, 1, 0, 25, 27);
        acquire(&history, 0, 0, 18, 21);
        if (i > 0)
            acquire(&history, 0, 0, 25, second);
        if (i == 2) /* the order of its log, the same times */
            note(&history, 0, LB_OP_SESSION_END, 27, 0, 0);
        release(&history, 0, 0, 27, 31);
        last_event(&history, 0)->type = LB_EV_INFO;
        expect(LB_G_OWNER_RELEASE, i == 1 ? LB_V_VIOLATED : LB_V_HELD);
    }
}

/* A lease that may be over in the tick of its worker's next grant may be over before it. */
static void a_lease_may_end_before_a_grant_in_its_tick(void **state)
{
    (void)state;
    for (uint32_t at = 1010; at >= 1008; at--) { /* 1000 ms, 2 of them for the clock's margin */
        history_init(&history, false);
        history.model.lease = true;
        lease(0, 10, 11, 1000);
        lease(0, at, at, 1000);
        release(&history, 0, 0, at * MS, at * MS);
        release(&history, 0, 0, at * MS, at * MS);
        expect(LB_G_EXCLUSIVE, LB_V_HELD);
    }
}

/* Worker 1 was granted a second permit in the tick in which its session had ended. */
static void a_lost_session_gives_back_within_the_tick(void **state)
{
    (void)state;
    for (int ended = 0; ended < 2; ended++) {
        history_init(&history, false);
        history.capacity[0] = 2;
        acquire(&history, 1, 0, 22, 22);
        if (ended)
            note(&history, 1, LB_OP_SESSION_END, 22, 0, 1);
        acquire(&history, 1, 0, 22, 22);
        release(&history, 1, 0, 22, 22);
        last_event(&history, 1)->type = LB_EV_INFO;
        acquire(&history, 2, 0, 21, 21);
        expect(LB_G_EXCLUSIVE, ended ? LB_V_HELD : LB_V_VIOLATED);
    }
}

/* Cut within worker 1's release: the note that it had lost its session may be missing. */
static void a_cut_history_may_lack_the_end_of_a_session(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 1, 0, 1, 2);
    acquire(&history, 2, 0, 5, 6);
    release(&history, 2, 0, 60, 61);
    release(&history, 1, 0, 50, 51);
    history.events[1][3].type = LB_EV_INFO;
    note(&history, 1, LB_OP_SESSION_END, 52, 0, 1);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    history.n[1] -= 1; /* without the note, the connection was lost in the release */
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    history.n[1] -= 1;
    history.view.truncated = true;
    history.view.whole_ns = 50;
    expect(LB_G_EXCLUSIVE, LB_V_NOT_TESTED);
}

/* A renewal says how long the lease is from then on, also if it was to be longer before. */
static void a_shortened_lease_is_another_owners(void **state)
{
    (void)state;
    for (uint32_t length_ms = 10; length_ms <= 100; length_ms += 90) {
        history_init(&history, false);
        history.model.lease = true;
        acquire(&history, 1, 0, 0, 1 * MS);
        last_event(&history, 1)->arg = 100;
        add_op(&history, 1, LB_OP_RENEW, 20 * MS, 21 * MS, LB_EV_OK, 0, 0, 0, LB_EVF_EFFECTIVE);
        last_event(&history, 1)->arg = length_ms;
        acquire(&history, 2, 0, 40 * MS, 41 * MS);
        last_event(&history, 2)->arg = 100;
        release(&history, 1, 0, 50 * MS, 51 * MS);
        expect(LB_G_EXCLUSIVE, length_ms == 10 ? LB_V_HELD : LB_V_VIOLATED);
        expect(LB_G_OWNER_RELEASE, length_ms == 10 ? LB_V_VIOLATED : LB_V_HELD);
    }
}

static void two_rows_are_no_foreign_release(void **state)
{
    (void)state;
    history_init(&history, false); /* both hold wrongly, each releases its own */
    acquire(&history, 0, 0, 1, 2);
    acquire(&history, 1, 0, 1, 3);
    release(&history, 0, 0, 5, 6);
    release(&history, 1, 0, 8, 9);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
    release(&history, 0, 0, 10, 11); /* a second one is */
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_holders_are_seen),
        cmocka_unit_test(what_was_committed_outlasts_its_session),
        cmocka_unit_test(each_end_is_of_its_own_session),
        cmocka_unit_test(ends_come_before_starts),
        cmocka_unit_test(a_hold_without_length_meets_what_covers_it),
        cmocka_unit_test(resources_are_independent),
        cmocka_unit_test(capacity_counts_permits),
        cmocka_unit_test(readers_share),
        cmocka_unit_test(unknown_acquires_force_nothing),
        cmocka_unit_test(the_dead_hold_until_something_ends_it),
        cmocka_unit_test(a_lost_session_holds_as_long_as_it_answered),
        cmocka_unit_test(an_open_hold_lasts_to_the_end),
        cmocka_unit_test(failed_releases_have_two_semantics),
        cmocka_unit_test(a_lost_connection_ends_the_belief),
        cmocka_unit_test(reentrant_holds_end_outermost),
        cmocka_unit_test(uncertain_clocks_hide_but_never_invent),
        cmocka_unit_test(leases_are_cut),
        cmocka_unit_test(renewals_prolong),
        cmocka_unit_test(late_releases_need_another_owner),
        cmocka_unit_test(an_owner_ends_after_its_own_second_grant),
        cmocka_unit_test(a_lease_may_end_before_a_grant_in_its_tick),
        cmocka_unit_test(a_lost_session_gives_back_within_the_tick),
        cmocka_unit_test(a_cut_history_may_lack_the_end_of_a_session),
        cmocka_unit_test(a_shortened_lease_is_another_owners),
        cmocka_unit_test(two_rows_are_no_foreign_release),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
