/* The judge on items that were taken from their worker, which ended them all the same: the claims
 * that this may have given back, and those that it cannot. And on signs of life with unknown
 * effect. Each excuse comes with the violation that it must not hide. */
#include "check_expect.h"

enum { FIRST = 1, SECOND, THIRD, FOURTH, OPERATOR };

/* Worker 1 claimed item 1 and was slow: a recovery took it, and worker 2 has it from 22 ms on. */
static void lose_one(void)
{
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    claim(&history, FIRST, 1, 2 * MS, 3 * MS, 0);
    add_op(&history, OPERATOR, LB_OP_RECOVER, 20 * MS, 21 * MS, LB_EV_OK, 0, 0, 10, 0);
    claim(&history, SECOND, 1, 22 * MS, 23 * MS, 0);
}

static void end(uint32_t log, int op, uint64_t from_ms, int type)
{
    add_op(&history, log, op, from_ms * MS, (from_ms + 1) * MS, type, 0, 1, 0, LB_EVF_EFFECTIVE);
    if (type == LB_EV_FAIL)
        last_event(&history, log)->answer = LB_REFUSED;
}

static void claims(uint32_t log, uint64_t from_ms)
{
    claim(&history, log, 1, from_ms * MS, (from_ms + 1) * MS, 0);
}

static void a_lost_owners_free_gives_back_anothers(void **state)
{
    static const int types[] = {LB_EV_OK, LB_EV_INFO, LB_EV_NONE};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        lose_one();
        end(FIRST, LB_OP_FREE, 24, types[i]);
        claims(THIRD, 26);
        expect(LB_G_NO_DUPLICATE, LB_V_HELD);
        expect(LB_G_OWNER_RELEASE, i == 0 ? LB_V_VIOLATED : LB_V_NOT_TESTED);
        claims(FOURTH, 28); /* it is one moment, and gives back once */
        expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    }
    lose_one();
    end(FIRST, LB_OP_FREE, 24, LB_EV_FAIL); /* the answer was that it has nothing */
    claims(THIRD, 26);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

static void what_was_free_is_not_given_back_again(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    claims(FIRST, 2);
    add_op(&history, OPERATOR, LB_OP_RECOVER, 16 * MS, 17 * MS, LB_EV_OK, 0, 0, 10, 0);
    end(FIRST, LB_OP_FREE, 18, LB_EV_OK); /* over before worker 2 asked */
    claims(SECOND, 22);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    claims(THIRD, 26);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

static void only_a_free_or_a_clear_gives_back(void **state)
{
    (void)state;
    lose_one();
    end(FIRST, LB_OP_ERROR, 24, LB_EV_OK);
    claims(THIRD, 28);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, OPERATOR, LB_OP_CLEAR_ALL, 26 * MS, 27 * MS, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    lose_one();
    end(FIRST, LB_OP_COMPLETE, 24, LB_EV_OK);
    claims(THIRD, 28);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    add_op(&history, OPERATOR, LB_OP_RESET_ALL, 26 * MS, 27 * MS, LB_EV_OK, 0, 0, 0, 0);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
}

static void a_lease_that_is_over_is_lost(void **state)
{
    (void)state;
    for (uint32_t lease_ms = 10; lease_ms <= 50; lease_ms += 40) {
        history_init(&history, true);
        history.model.lease = true;
        put(&history, 0, 1, 1, 1, 2);
        claim(&history, FIRST, 1, 2 * MS, 3 * MS, 10);
        claim(&history, SECOND, 1, 14 * MS, 15 * MS, 100);
        history.events[FIRST][1].arg = lease_ms; /* the longer one is no lost owner's */
        end(FIRST, LB_OP_FREE, 16, LB_EV_OK);
        claim(&history, THIRD, 1, 18 * MS, 19 * MS, 100);
        expect(LB_G_NO_DUPLICATE, lease_ms == 10 ? LB_V_HELD : LB_V_VIOLATED);
    }
}

/* An end of unknown outcome gives the claim back, or ends it, or ends another's claim made after
 * something took the item: one of these. */
static void an_unknown_end_serves_once(void **state)
{
    (void)state;
    for (int op = LB_OP_COMPLETE; op <= LB_OP_FREE; op++) {
        history_init(&history, true);
        put(&history, 0, 1, 1, 1, 2);
        claims(FIRST, 2);
        end(FIRST, op, 4, LB_EV_INFO);
        claims(SECOND, 6);
        expect(LB_G_NO_DUPLICATE, LB_V_HELD);
        claims(THIRD, 8);
        expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    }
}

/* The free took something from worker 2 or 3, whichever had it first. */
static void in_each_legal_order_it_was_anothers(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    claims(FIRST, 2);
    add_op(&history, OPERATOR, LB_OP_RECOVER, 16 * MS, 17 * MS, LB_EV_OK, 0, 0, 10, 0);
    add_op(&history, FIRST, LB_OP_FREE, 18 * MS, 24 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    claims(SECOND, 19);
    expect(LB_G_OWNER_RELEASE, LB_V_HELD); /* it may have come before */
    claims(THIRD, 21);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    expect(LB_G_OWNER_RELEASE, LB_V_VIOLATED);
}

static void a_group_is_left_by_it(void **state)
{
    (void)state;
    lose_one();
    history.model.groups = 5;
    end(FIRST, LB_OP_FREE, 24, LB_EV_OK);
    put(&history, 0, 6, 1, 3 * MS, 4 * MS); /* of the same group */
    claim(&history, THIRD, 6, 26 * MS, 27 * MS, 0);
    expect(LB_G_GROUP_EXCLUSIVE, LB_V_HELD);
    history.n[FIRST] -= 2;
    expect(LB_G_GROUP_EXCLUSIVE, LB_V_VIOLATED);
}

/* Worker 1 has item 1 in hand, and item 6, which is put behind it, is of the same group. */
static void what_waits_for_its_group_is_not_lost(void **state)
{
    static const int types[] = {LB_EV_INFO, LB_EV_FAIL, LB_EV_NONE};
    (void)state;
    for (size_t i = 0; i <= sizeof types / sizeof types[0]; i++) {
        history_init(&history, true);
        history.model.groups = 5;
        history.model.drained = true;
        put(&history, 0, 1, 1, 1, 2);
        claims(FIRST, 2);
        put(&history, 0, 6, 1, 3 * MS, 4 * MS);
        if (i < sizeof types / sizeof types[0])
            end(FIRST, LB_OP_COMPLETE, 8, types[i]);
        expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
        put(&history, 0, 7, 1, 5 * MS, 6 * MS); /* of another group, which is free */
        expect(LB_G_NO_LOSS, LB_V_VIOLATED);
    }
    history.n[0] -= 2;
    end(FIRST, LB_OP_COMPLETE, 10, LB_EV_OK); /* no worker has the group any more */
    expect(LB_G_NO_LOSS, LB_V_VIOLATED);
    history.model.groups = 0;
    expect(LB_G_NO_LOSS, LB_V_VIOLATED);
}

/* Items 6 and 11 of one put wait for item 1, and those between them are done. */
static void unclaimed_items_need_not_follow_each_other(void **state)
{
    (void)state;
    for (uint64_t other = 0; other <= 8;
         other += 8) { /* item 8 is of another group, and not claimed */
        history_init(&history, true);
        history.model.groups = 5;
        history.model.drained = true;
        put(&history, 0, 1, 11, 1, 2);
        claims(FIRST, 2);
        for (uint64_t id = 2, at = 10; id <= 10; id++, at += 10) {
            if (id == 6 || id == other)
                continue;
            claim(&history, 3, id, at, at + 1, 0);
            add_op(&history, 3, LB_OP_COMPLETE, at + 2, at + 3, LB_EV_OK, 0, id, 0,
                   LB_EVF_EFFECTIVE);
        }
        expect(LB_G_NO_LOSS, other == 0 ? LB_V_NOT_TESTED : LB_V_VIOLATED);
        assert_int_equal(judgement.findings[LB_G_NO_LOSS].n_violations, other == 0 ? 0 : 1);
    }
}

/* Item 1 is claimed and given back `times` times, by one worker or by several. */
static void give_back(unsigned times, bool by_one)
{
    history_init(&history, true);
    history.model.drained = true;
    put(&history, 0, 1, 1, 1, 2);
    for (uint64_t i = 0; i < times; i++) {
        uint32_t worker = by_one || i % 2 == 0 ? FIRST : SECOND;
        claims(worker, 10 * i + 2);
        end(worker, LB_OP_FREE, 10 * i + 6, LB_EV_OK);
    }
}

static void what_was_tried_often_enough_is_not_lost(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        bool by_one = i % 2 == 0, is_calm = i < 2;
        give_back(4, by_one);
        if (!is_calm) /* who looks for the dead looks at each item closely */
            add_op(&history, OPERATOR, LB_OP_RECOVER, 90 * MS, 91 * MS, LB_EV_OK, 0, 0, 10, 0);
        expect(LB_G_NO_LOSS, LB_V_VIOLATED);
        history.model.attempts = 4;
        expect(LB_G_NO_LOSS, LB_V_NOT_TESTED);
        history.model.attempts = 9; /* each may count twice, as a claim and as a failure */
        expect(LB_G_NO_LOSS, LB_V_VIOLATED);
        put(&history, 0, 2, 1, 3 * MS, 4 * MS); /* never tried */
        history.model.attempts = 1;
        expect(LB_G_NO_LOSS, LB_V_VIOLATED);
    }
}

static void beat(uint32_t worker, uint64_t from_us, uint64_t to_us, int type)
{
    add_op(&history, worker, LB_OP_BEAT, from_us * 1000, to_us * 1000, type, worker, 0, 100, 0);
}

/* Worker 1 claims an item at 8 ms; a recovery of claims older than 10 ms frees it at 12 to 13
 * ms. */
static void claim_young(uint32_t process)
{
    claims(FIRST, 8);
    for (size_t i = 0; i < 3; i++)
        history.events[FIRST][history.n[FIRST] - 1 - i].process = process;
    add_op(&history, OPERATOR, LB_OP_RECOVER, 12 * MS, 13 * MS, LB_EV_OK, 0, 0, 10, 0);
    claims(SECOND, 14);
}

static void the_first_beat_may_have_been(void **state)
{
    (void)state;
    history_init(&history, true);
    put(&history, 0, 1, 1, 1, 2);
    beat(FIRST, 1000, 1500, LB_EV_INFO);
    claim_young(100);
    expect(LB_G_NO_DUPLICATE, LB_V_HELD);
    history.events[FIRST][1].type = LB_EV_FAIL; /* refused: the process is not registered */
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    history.events[FIRST][1].type = LB_EV_INFO;
    history.events[FIRST][0].time_ns = history.events[FIRST][1].time_ns = 5 * MS; /* too young */
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    history_init(&history, true); /* a later one was answered: that one counts */
    put(&history, 0, 1, 1, 1, 2);
    beat(FIRST, 1000, 1500, LB_EV_INFO);
    beat(FIRST, 6000, 6500, LB_EV_OK);
    history.events[FIRST][2].process = history.events[FIRST][3].process = 100;
    claim_young(100);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    history_init(&history, true); /* one after the claim makes it no older */
    put(&history, 0, 1, 1, 1, 2);
    claim_young(FIRST);
    beat(FIRST, 9500, 9600, LB_EV_NONE);
    expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
}

static void an_unknown_renewal_may_have_been_short(void **state)
{
    static const int types[] = {LB_EV_NONE, LB_EV_INFO, LB_EV_FAIL};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        history_init(&history, true);
        history.model.lease = true;
        put(&history, 0, 1, 1, 1, 2);
        claim(&history, FIRST, 1, 2 * MS, 3 * MS, 100);
        end(FIRST, LB_OP_RENEW_ITEM, 8, types[i]);
        claim(&history, SECOND, 1, 30 * MS, 31 * MS, 100);
        expect(LB_G_NO_DUPLICATE, i < 2 ? LB_V_HELD : LB_V_VIOLATED);
        history.events[SECOND][0].time_ns = 6 * MS; /* not before the request */
        history.events[SECOND][1].time_ns = history.events[SECOND][2].time_ns = 7 * MS;
        expect(LB_G_NO_DUPLICATE, LB_V_VIOLATED);
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        history_init(&history, false);
        history.model.lease = true;
        acquire(&history, FIRST, 0, 0, 1 * MS);
        last_event(&history, FIRST)->arg = 100;
        add_op(&history, FIRST, LB_OP_RENEW, 8 * MS, 9 * MS, types[i], 0, 0, 0, 0);
        acquire(&history, SECOND, 0, 30 * MS, 31 * MS);
        last_event(&history, SECOND)->arg = 10;
        expect(LB_G_EXCLUSIVE, i < 2 ? LB_V_HELD : LB_V_VIOLATED);
        history.events[SECOND][0].time_ns = 6 * MS;
        history.events[SECOND][1].time_ns = 7 * MS;
        expect(LB_G_EXCLUSIVE, LB_V_VIOLATED);
    }
}

/* Twelve frees of unknown outcome may each have given back another worker's item. It does not
 * matter which: an order exists as long as there are enough of them. */
static void many_unknown_ends_are_counted(void **state)
{
    enum { N = 12 };
    (void)state;
    for (uint64_t claims = N; claims <= N + 2; claims++) {
        uint64_t at = 3;
        history_init(&history, true);
        put(&history, 0, 1, 1, 1, 2);
        for (int i = 0; i < N; i++, at += 6) {
            claim(&history, 1, 1, at, at + 1, 0);
            add_op(&history, 1, LB_OP_FREE, at + 2, at + 3, LB_EV_INFO, 0, 1, 0, 0);
            add_op(&history, 1, LB_OP_FREE, at + 4, at + 5, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
        }
        for (size_t i = 0; i < history.n[1]; i++) /* 5 events up to an unknown outcome, then 7 */
            history.events[1][i].process += MAX_LOGS * (uint32_t)((i + 2) / 7);
        for (uint64_t i = 0; i < claims; i++, at += 2)
            claim(&history, 2 + i % 2, 1, at, at + 1, 0);
        expect(LB_G_NO_DUPLICATE, claims <= N + 1 ? LB_V_HELD : LB_V_VIOLATED);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_owners_free_gives_back_anothers),
        cmocka_unit_test(many_unknown_ends_are_counted),
        cmocka_unit_test(what_was_free_is_not_given_back_again),
        cmocka_unit_test(only_a_free_or_a_clear_gives_back),
        cmocka_unit_test(a_lease_that_is_over_is_lost),
        cmocka_unit_test(an_unknown_end_serves_once),
        cmocka_unit_test(in_each_legal_order_it_was_anothers),
        cmocka_unit_test(a_group_is_left_by_it),
        cmocka_unit_test(what_waits_for_its_group_is_not_lost),
        cmocka_unit_test(unclaimed_items_need_not_follow_each_other),
        cmocka_unit_test(what_was_tried_often_enough_is_not_lost),
        cmocka_unit_test(the_first_beat_may_have_been),
        cmocka_unit_test(an_unknown_renewal_may_have_been_short),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
