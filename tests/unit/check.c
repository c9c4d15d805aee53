/* The judge on histories written by hand: each guarantee held, violated, and the cases in which a
 * hasty judge would see a violation that did not happen. */
#include "check_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000 };

static struct test_history history;
static struct lb_judgement judgement;

static const struct lb_finding *judged(enum lb_guarantee guarantee)
{
    struct lb_error err = {0};
    int rc = judge_history(&history, &judgement, &err);
    if (rc != 0)
        fail_msg("lb_check: %s", err.message);
    return &judgement.findings[guarantee];
}

static void expect(enum lb_guarantee guarantee, enum lb_verdict verdict)
{
    const struct lb_finding *finding = judged(guarantee);
    if (finding->verdict != verdict)
        fail_msg("%s: %s (%s%s), expected %s", lb_guarantee_name(guarantee),
                 lb_verdict_name(finding->verdict), finding->reason,
                 finding->n_witnesses > 0 ? finding->witness[0].text : "",
                 lb_verdict_name(verdict));
}

static void expect_text(enum lb_guarantee guarantee, const char *text)
{
    expect(guarantee, LB_V_VIOLATED);
    assert_string_equal(judgement.findings[guarantee].witness[0].text, text);
}

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

/* A session that is ended again and again: each end is of what was granted since the one before. */
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
    history.n[0]--; /* noted by somebody else: it may have died before */
    note(&history, 6, LB_OP_DEATH, 5, 0, 0);
    expect(LB_G_EXCLUSIVE, LB_V_HELD);
    history_init(&history, false); /* somebody recovers */
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
    history.view.truncated = true; /* its release may be in what is missing */
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
    /* Renewed when it may have been over: somebody may have had it between. */
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
    expect(LB_G_OWNER_RELEASE, LB_V_HELD); /* late, but nobody took it */
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
    token(2, 4, 14, 8); /* concurrent with 9: may have come before */
    expect(LB_G_FENCED, LB_V_HELD);
    token(0, 17, 18, 8);
    expect(LB_G_FENCED, LB_V_VIOLATED);
    assert_int_equal(judgement.findings[LB_G_FENCED].n_violations, 1);
    history.model.claims &= ~LB_G_BIT(LB_G_FENCED);
    expect(LB_G_FENCED, LB_V_NOT_CLAIMED);
    assert_int_equal(judgement.findings[LB_G_FENCED].n_violations, 1);
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
    expect(LB_G_PROGRESS, LB_V_NOT_TESTED);   /* but nobody was granted anything */
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
    history.model.recovery_bound_ns = 24;
    expect(LB_G_RECOVERY, LB_V_VIOLATED);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
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

/* What was put while the dead's lease still ran stood before its item, too; what came later did
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

/* --- everybody stands still --- */

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
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED); /* what is finished is not recovered */
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
    expect_text(LB_G_NO_LOSS, "item 2 was put by worker 0, acknowledged at 0.000 ms, and is "
                              "neither claimed nor claimable after the queue was drained");
    add_op(&history, 2, LB_OP_CLAIM, 3, 4, LB_EV_INFO, 0, 0, 1, 0); /* may have taken it */
    expect(LB_G_NO_LOSS, LB_V_HELD);
    history.n[2] = 0;
    claim(&history, 1, 2, 7, 8, 0);
    expect(LB_G_NO_LOSS, LB_V_HELD);
    add_op(&history, 1, LB_OP_FREE, 9, 10, LB_EV_OK, 0, 2, 0, LB_EVF_EFFECTIVE);
    expect(LB_G_NO_LOSS, LB_V_VIOLATED); /* free, and yet the queue is empty */
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
    expect_text(LB_G_NO_LOSS,
                "item 2 was claimed by worker 2 at 0.000 ms, before worker 0 put it at 0.000 ms");
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
                "worker 1 asked for 1 item at 0.000 ms; 3 rows were marked and 1 returned");
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
    add_op(&history, 1, LB_OP_ACQUIRE, 8, 9, LB_EV_FAIL, 0, 0, 0, 0);   /* before anybody asked */
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

/* Completes items first .. first + n - 1 in one statement; types says how each ends. */
static void batch(uint32_t log, uint64_t first, uint64_t n, uint64_t from, uint64_t to,
                  const int *types)
{
    for (uint64_t i = 0; i < n; i++)
        add_op(&history, log, LB_OP_COMPLETE, from, to, LB_EV_NONE, 0, first + i, 0, 0);
    for (uint64_t i = 0; i < n && types[i] != LB_EV_NONE; i++)
        add_event(&history, log,
                  (struct lb_event){.time_ns = to,
                                    .value = first + i,
                                    .process = log,
                                    .op = LB_OP_COMPLETE,
                                    .answer = types[i] == LB_EV_FAIL ? LB_REFUSED : LB_OK,
                                    .flags = types[i] == LB_EV_OK ? LB_EVF_EFFECTIVE : 0,
                                    .type = (uint8_t)types[i]});
}

/* Three items of worker 1, whose lease is over; worker 2 has the second one by now. */
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
    assert_int_equal(finding->n_violations, 1); /* the other two were nobody else's */
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
    overrun_batch((const int[]){LB_EV_INFO, LB_EV_INFO, LB_EV_INFO}); /* nobody can say */
    expect(LB_G_OWNER_RELEASE, LB_V_NOT_TESTED);
    overrun_batch((const int[]){LB_EV_OK, LB_EV_NONE}); /* killed while it wrote the ends down */
    expect(LB_G_OWNER_RELEASE, LB_V_HELD);
}

/* What was completed is not lost, and what may have been is not said to be. */
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

/* --- grammar --- */

static void expect_bad(const char *text)
{
    struct lb_error err = {0};
    assert_int_equal(judge_history(&history, &judgement, &err), LB_E_FILE);
    assert_string_equal(err.message, text);
}

static void bad_histories_get_no_verdict(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 1, 0, 5, 6);
    history.events[1][1].time_ns = 4;
    expect_bad("log 1, event 1: time goes backwards");
    history.n[1] = 1;
    acquire(&history, 1, 0, 7, 8);
    expect_bad("log 1, event 1: an invoke while another operation is under way");
    history.events[1][0].type = LB_EV_OK;
    expect_bad("log 1, event 0: an end without an invoke");
    history_init(&history, false);
    acquire(&history, 1, 0, 5, 6);
    history.events[1][1].process = 9;
    expect_bad("log 1, event 1: the end belongs to another operation than the one under way");
    history_init(&history, false);
    acquire(&history, 1, 4, 5, 6);
    expect_bad("log 1, event 0: a resource number beyond the model's");
    history_init(&history, false);
    add_op(&history, 1, LB_OP_ACQUIRE, 1, 2, LB_EV_INFO, 0, 0, 0, 0);
    acquire(&history, 1, 0, 5, 6);
    expect_bad("log 1, event 2: a process goes on after an unknown outcome");
    history_init(&history, false);
    put(&history, 1, 4, 1, 5, 6);
    expect_bad("log 1, event 0: not an operation of a lock");
    history_init(&history, true);
    batch(1, 1, 3, 5, 6, (const int[]){LB_EV_OK, LB_EV_OK, LB_EV_OK});
    history.events[1][4].value = 3;
    expect_bad("log 1, event 4: the ends of a batch must name its items, in the order of their "
               "invokes");
    history_init(&history, true);
    batch(1, 1, 3, 5, 6, (const int[]){LB_EV_OK, LB_EV_NONE});
    batch(1, 4, 1, 7, 8, (const int[]){LB_EV_OK}); /* two have not ended */
    expect_bad("log 1, event 4: an invoke while another operation is under way");
    history_init(&history, true);
    batch(1, 1, 2, 5, 6, (const int[]){LB_EV_NONE});
    history.events[1][1].op = LB_OP_FREE; /* one statement does one thing */
    expect_bad("log 1, event 1: an invoke while another operation is under way");
}

struct patience {
    int n_asked, n_left;
};

static bool runs_out(void *arg)
{
    struct patience *patience = arg;
    patience->n_asked++;
    return patience->n_left-- == 0;
}

/* At whichever moment: there is no verdict, and nothing is left behind. */
static void who_gives_up_gets_no_verdict(void **state)
{
    (void)state;
    for (int queue = 0; queue < 2; queue++) {
        history_init(&history, queue != 0);
        acquire(&history, 0, 0, 10, 11);
        if (queue) {
            history_init(&history, true);
            put(&history, 0, 1, 1, 0, 1);
            claim(&history, 1, 1, 2, 3, 0);
            add_op(&history, 1, LB_OP_FREE, 4, 5, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
            claim(&history, 2, 1, 6, 7, 0);
        }
        int last = 0;
        for (int n = 0, rc = LB_E_INTERRUPTED; rc != 0; n++) {
            struct patience patience = {.n_left = n};
            struct lb_error err = {0};
            history.model.gives_up = runs_out;
            history.model.gives_up_arg = &patience;
            rc = judge_history(&history, &judgement, &err);
            if (rc != 0) {
                assert_int_equal(rc, LB_E_INTERRUPTED);
                assert_non_null(strstr(err.message, "interrupted"));
            }
            last = patience.n_asked;
        }
        assert_in_range(last, 9, 100); /* between all steps, and in them */
    }
}

static void nothing_is_not_held(void **state)
{
    (void)state;
    history_init(&history, false);
    history.model.progress_bound_ns = history.model.recovery_bound_ns = 1;
    for (int i = 0; i < LB_GUARANTEES; i++)
        expect((enum lb_guarantee)i, LB_V_NOT_TESTED);
    history.model.queue = history.model.drained = true;
    for (int i = 0; i < LB_GUARANTEES; i++)
        expect((enum lb_guarantee)i, LB_V_NOT_TESTED);
}

static void witnesses_are_drawn(void **state)
{
    (void)state;
    history_init(&history, false);
    acquire(&history, 1, 0, 0, 10 * MS);
    release(&history, 1, 0, 40 * MS, 50 * MS);
    acquire(&history, 3, 0, 20 * MS, 30 * MS);
    release(&history, 3, 0, 70 * MS, 80 * MS);
    expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    char buf[1000];
    assert_string_equal(
        lb_witness_draw(&judgement.findings[LB_G_EXCLUSIVE].witness[0], 0, 53, buf, sizeof buf),
        "worker 3    ..........-----[###################]-----\n"
        "worker 1    -----[##############]-----...............\n"
        "            0.000 ms                        80.000 ms\n");
    char small[20];
    lb_witness_draw(&judgement.findings[LB_G_EXCLUSIVE].witness[0], 0, 53, small, sizeof small);
    assert_int_equal(strlen(small), sizeof small - 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_holders_are_seen),
        cmocka_unit_test(a_batch_is_judged_item_by_item),
        cmocka_unit_test(a_batch_in_part_loses_nothing),
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
        cmocka_unit_test(two_rows_are_no_foreign_release),
        cmocka_unit_test(tokens_grow),
        cmocka_unit_test(stale_writes_are_harm),
        cmocka_unit_test(tickets_are_kept),
        cmocka_unit_test(what_is_judged_in_part_is_not_held),
        cmocka_unit_test(waits_have_a_bound),
        cmocka_unit_test(the_dead_are_replaced),
        cmocka_unit_test(items_of_the_dead_are_recovered_or_stuck),
        cmocka_unit_test(recovery_counts_from_the_work_before),
        cmocka_unit_test(recovery_counts_from_the_end_of_the_lease),
        cmocka_unit_test(nobody_waits_while_everybody_stands_still),
        cmocka_unit_test(nobody_recovers_while_everybody_stands_still),
        cmocka_unit_test(nobody_knows_what_one_kept_from_another),
        cmocka_unit_test(a_claim_is_recovered_when_it_is_old),
        cmocka_unit_test(shares_are_measured),
        cmocka_unit_test(items_are_claimed_once),
        cmocka_unit_test(errors_and_resets_reopen),
        cmocka_unit_test(a_reset_opens_an_item_once),
        cmocka_unit_test(a_reset_opens_an_item_once_in_any_order),
        cmocka_unit_test(a_stranger_ends_one_claim),
        cmocka_unit_test(claims_expire),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(phantoms_are_seen),
        cmocka_unit_test(claims_are_bounded),
        cmocka_unit_test(queues_keep_their_order),
        cmocka_unit_test(refusals_need_a_holder),
        cmocka_unit_test(empty_needs_a_moment_without_items),
        cmocka_unit_test(bad_histories_get_no_verdict),
        cmocka_unit_test(who_gives_up_gets_no_verdict),
        cmocka_unit_test(nothing_is_not_held),
        cmocka_unit_test(witnesses_are_drawn),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
