/* The ids of settled items: any order of adding gives the same set, and a set without gaps takes no
 * memory for its length. The kept rest of a long history, also of one with contention, does not
 * grow with its length. */
#include "settled.h"

#include "check_history.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGES = 9, PAGE = 4096, IDS = PAGES * PAGE };

static void expect_set(const struct lb_settled *settled, const bool *added)
{
    for (uint64_t id = 0; id < IDS + PAGE; id++)
        if (lb_settled_has(settled, id) != (id < IDS && added[id]))
            fail_msg("id %llu", (unsigned long long)id);
}

/* In pieces of a random length, in a random order. */
static void any_order_gives_the_set(void **state)
{
    static bool added[IDS];
    static uint64_t order[IDS];
    struct lb_random random;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        lb_random_init(&random, seed, 1);
        struct lb_settled *settled = lb_settled_new();
        const uint32_t piece = 1 + (uint32_t)lb_random_below(&random, 2 * PAGE);
        const size_t n = IDS / piece;
        assert_non_null(settled);
        memset(added, 0, sizeof added);
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        for (size_t i = n; i > 1; i--) {
            const size_t k = lb_random_below(&random, (uint32_t)i);
            const uint64_t other = order[k];
            order[k] = order[i - 1];
            order[i - 1] = other;
        }
        for (size_t i = 0; i < n; i++) {
            for (uint64_t id = order[i] * piece; id < (order[i] + 1) * piece; id++) {
                lb_settled_add(settled, id);
                lb_settled_add(settled, id); /* twice is no harm */
                added[id] = true;
            }
            if (i % (1 + n / 5) == 0)
                expect_set(settled, added);
        }
        expect_set(settled, added);
        for (uint64_t id = n * piece; id < IDS; id++)
            lb_settled_add(settled, id);
        assert_int_equal(settled->pages.n, 0);
        assert_int_equal(settled->full.n, 1);
        lb_settled_free(settled);
    }
}

static void a_gap_keeps_one_page(void **state)
{
    struct lb_settled *settled = lb_settled_new();
    (void)state;
    assert_non_null(settled);
    for (uint64_t id = 0; id < IDS; id++)
        if (id != 2 * PAGE + 17)
            lb_settled_add(settled, id);
    assert_int_equal(settled->pages.n, 1);
    assert_int_equal(settled->full.n, 2);
    assert_false(lb_settled_has(settled, 2 * PAGE + 17));
    lb_settled_add(settled, 2 * PAGE + 17);
    assert_int_equal(settled->pages.n, 0);
    assert_int_equal(settled->full.n, 1);
    lb_settled_free(settled);
}

/* --- a long history --- */

enum { WORKER, PRODUCER, LOGS, ROUND = 1000, ROUNDS = 12, EACH = 16 };

struct writer {
    struct lb_event events[LOGS][ROUND * EACH];
    size_t n[LOGS];
    uint64_t now;
};

static void write_event(struct writer *w, int log, struct lb_event e)
{
    e.time_ns = w->now++;
    w->events[log][w->n[log]++] = e;
}

static void operate(struct writer *w, int log, enum lb_op op, enum lb_answer answer, uint64_t id)
{
    struct lb_event e = {.op = (uint8_t)op, .type = LB_EV_INVOKE, .arg = 1};
    e.value = op == LB_OP_CLAIM ? 0 : id;
    write_event(w, log, e);
    if (op == LB_OP_CLAIM && answer == LB_OK) {
        write_event(w, log, (struct lb_event){.op = LB_OP_ITEM, .type = LB_EV_NOTE, .value = id});
        e.value = 1;
    }
    e.type = answer == LB_OK ? LB_EV_OK : LB_EV_FAIL;
    e.answer = (uint8_t)answer;
    e.flags = answer == LB_OK && op == LB_OP_COMPLETE ? LB_EVF_EFFECTIVE : 0;
    write_event(w, log, e);
}

static void write_item(struct writer *w, uint64_t id)
{
    static const enum lb_answer refusals[] = {LB_BUSY, LB_TIMEOUT, LB_CONFLICT, LB_DEADLOCK};
    if (id % 3 == 0)
        operate(w, PRODUCER, LB_OP_PUT, refusals[id % 4], id);
    operate(w, PRODUCER, LB_OP_PUT, LB_OK, id);
    for (uint64_t i = 0; i < id % 4; i++)
        operate(w, WORKER, LB_OP_CLAIM, refusals[i], 0);
    operate(w, WORKER, LB_OP_CLAIM, LB_OK, id);
    if (id % 7 == 0)
        operate(w, WORKER, LB_OP_COMPLETE, refusals[id % 4], id);
    operate(w, WORKER, LB_OP_COMPLETE, LB_OK, id);
    if (id % 5 == 0)
        operate(w, WORKER, LB_OP_CLAIM, LB_EMPTY, 0);
}

static void a_long_history_leaves_little(void **state)
{
    enum { FEW = 20 };
    static struct writer w = {.now = 1};
    const struct lb_model model = {.queue = true, .progress_bound_ns = 1000};
    struct lb_settled *settled = lb_settled_new();
    uint64_t id = 0, n_refusals = 0, n_busy = 0;
    (void)state;
    assert_non_null(settled);
    for (int round = 0; round < ROUNDS; round++) {
        struct lb_settle_log logs[LOGS];
        for (int i = 0; i < ROUND; i++, id++) {
            write_item(&w, id);
            n_busy += id % 4 > 1 ? 2 : id % 4; /* those of a longer wait are conflicts */
            n_refusals += id % 4;
        }
        for (int log = 0; log < LOGS; log++)
            logs[log] = (struct lb_settle_log){w.events[log], w.n[log], w.n[log]};
        lb_settle(settled, &model, logs, LOGS, w.now);
        for (int log = 0; log < LOGS; log++) {
            w.n[log] = logs[log].n;
            assert_true(w.n[log] <= FEW);
        }
        assert_true(settled->pages.n <= 2 && settled->full.n <= 1);
    }
    assert_true(settled->n_refusals + FEW >= n_busy && settled->n_refusals <= n_busy);
    assert_true(settled->n_claims + FEW >= id && settled->n_claims <= id);
    assert_true(settled->logs[WORKER].n_attempts >= n_refusals + id - FEW);
    lb_settled_free(settled);
}

/* --- an item that comes again --- */

/* Settles all that is recorded by a time, then shows the rest as well, and judges it. */
static void judge_rest(struct test_history *h, uint64_t until_ns, struct lb_judgement *ret)
{
    struct lb_settle_log logs[MAX_LOGS];
    size_t seen[MAX_LOGS] = {0};
    struct lb_error err;
    struct lb_settled *settled = lb_settled_new();
    assert_non_null(settled);
    for (int i = 0; i < MAX_LOGS; i++) {
        while (seen[i] < h->n[i] && h->events[i][seen[i]].time_ns < until_ns)
            seen[i]++;
        logs[i] = (struct lb_settle_log){h->events[i], seen[i], seen[i]};
    }
    lb_settle(settled, &h->model, logs, MAX_LOGS, until_ns);
    for (int i = 0; i < MAX_LOGS; i++) {
        memmove(&h->events[i][logs[i].n], &h->events[i][seen[i]],
                (h->n[i] - seen[i]) * sizeof h->events[i][0]);
        h->n[i] -= seen[i] - logs[i].n;
        logs[i] = (struct lb_settle_log){h->events[i], h->n[i], h->n[i]};
    }
    lb_settle(settled, &h->model, logs, MAX_LOGS, until_ns);
    for (int i = 0; i < MAX_LOGS; i++)
        h->n[i] = logs[i].n;
    h->model.settled = settled;
    assert_int_equal(judge_history(h, ret, &err), 0);
    assert_true(lb_settled_events(settled) > 0);
    h->model.settled = NULL;
    lb_settled_free(settled);
}

/* Worker 1 completes the item; worker 2 is given it once more, and worker 1 again when the lease of
 * 8 ms is about to end. Without the first claim either worker 2 ends an item that it has lost, or
 * worker 1 is given one that was completed. With it the item was claimed twice anyway. */
static void an_item_that_comes_again_accuses_no_owner(void **state)
{
    enum { MS = 1000000, LEASE_MS = 8 };
    static struct test_history h;
    static struct lb_judgement whole, rest;
    struct lb_error err;
    (void)state;
    history_init(&h, true);
    h.model.lease = true;
    h.model.claims = lb_guarantees_with(LB_GUARANTEE_IS_FOR_QUEUES) &
                     lb_guarantees_with(LB_GUARANTEE_IS_OF_ONE_ITEM);
    put(&h, 0, 1, 1, 1, 1);
    add_op(&h, 0, LB_OP_PUT, 2 * MS, 2 * MS, LB_EV_FAIL, 0, 2, 1, 0); /* the last one stays */
    claim(&h, 1, 1, 4 * MS, 4 * MS, LEASE_MS);
    add_op(&h, 1, LB_OP_COMPLETE, 4 * MS, 4 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    add_op(&h, 1, LB_OP_CLAIM, 8 * MS, 8 * MS, LB_EV_FAIL, 0, 0, 1, 0);
    claim(&h, 2, 1, 12 * MS, 12 * MS, LEASE_MS);
    claim(&h, 1, 1, 18 * MS, 20 * MS, LEASE_MS);
    add_op(&h, 2, LB_OP_COMPLETE, 19 * MS, 19 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    add_op(&h, 1, LB_OP_COMPLETE, 20 * MS, 20 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    assert_int_equal(judge_history(&h, &whole, &err), 0);
    judge_rest(&h, 10 * MS, &rest);
    assert_int_equal(whole.findings[LB_G_NO_DUPLICATE].verdict, LB_V_VIOLATED);
    assert_int_equal(rest.findings[LB_G_NO_DUPLICATE].verdict, LB_V_VIOLATED);
    assert_int_equal(whole.findings[LB_G_OWNER_RELEASE].verdict, LB_V_HELD);
    assert_int_equal(rest.findings[LB_G_OWNER_RELEASE].verdict, LB_V_NOT_TESTED);
}

/* A reset, and a claim that was under way when the item was completed: it may have had the item
 * before, so that the reset behind it gave the item back. */
static void a_reset_may_explain_a_second_claim(void **state)
{
    enum { MS = 1000000, LEASE_MS = 8 };
    static struct test_history h;
    static struct lb_judgement whole, rest;
    struct lb_error err;
    (void)state;
    history_init(&h, true);
    h.model.lease = true;
    h.model.claims = lb_guarantees_with(LB_GUARANTEE_IS_FOR_QUEUES) &
                     lb_guarantees_with(LB_GUARANTEE_IS_OF_ONE_ITEM);
    put(&h, 0, 1, 1, 1, 1);
    add_op(&h, 0, LB_OP_PUT, 2 * MS, 2 * MS, LB_EV_FAIL, 0, 2, 1, 0); /* the last one stays */
    claim(&h, 1, 1, 3 * MS, 3 * MS, LEASE_MS);
    add_op(&h, 1, LB_OP_COMPLETE, 14 * MS, 14 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    add_op(&h, 1, LB_OP_CLAIM, 15 * MS, 15 * MS, LB_EV_FAIL, 0, 0, 1, 0);
    claim(&h, 3, 1, 13 * MS, 17 * MS, LEASE_MS);
    add_op(&h, 3, LB_OP_RESET_ALL, 17 * MS, 17 * MS, LB_EV_OK, 0, 0, 0, LB_EVF_EFFECTIVE);
    claim(&h, 1, 1, 19 * MS, 19 * MS, LEASE_MS);
    assert_int_equal(judge_history(&h, &whole, &err), 0);
    judge_rest(&h, 16 * MS, &rest);
    assert_int_equal(whole.findings[LB_G_NO_DUPLICATE].verdict, LB_V_HELD);
    assert_int_equal(rest.findings[LB_G_NO_DUPLICATE].verdict, LB_V_NOT_TESTED);
}

/* A recovery may have taken the item from worker 1 before worker 1 completed it, and worker 2 may
 * have been given it by then. The effect of the late end is unknown then. */
static void a_recovery_may_explain_a_second_claim(void **state)
{
    enum { MS = 1000000 };
    static struct test_history h;
    static struct lb_judgement whole, rest;
    struct lb_error err;
    (void)state;
    history_init(&h, true);
    h.model.claims = LB_G_BIT(LB_G_NO_DUPLICATE);
    put(&h, 0, 1, 1, 1, 1);
    add_op(&h, 0, LB_OP_PUT, 2 * MS, 2 * MS, LB_EV_FAIL, 0, 2, 1, 0); /* the last one stays */
    claim(&h, 1, 1, 1 * MS, 2 * MS, 0);
    add_op(&h, 1, LB_OP_COMPLETE, 5 * MS, 9 * MS, LB_EV_OK, 0, 1, 0, LB_EVF_EFFECTIVE);
    add_op(&h, 1, LB_OP_CLAIM, 9 * MS, 9 * MS, LB_EV_FAIL, 0, 0, 1, 0);
    add_op(&h, 3, LB_OP_RECOVER, 7 * MS, 7 * MS, LB_EV_OK, 0, 0, 3, LB_EVF_EFFECTIVE);
    claim(&h, 2, 1, 8 * MS, 12 * MS, 0);
    add_op(&h, 3, LB_OP_RECOVER, 13 * MS, 20 * MS, LB_EV_OK, 0, 0, 3, LB_EVF_EFFECTIVE);
    claim(&h, 1, 1, 18 * MS, 21 * MS, 0);
    assert_int_equal(judge_history(&h, &whole, &err), 0);
    judge_rest(&h, 10 * MS, &rest);
    assert_int_equal(whole.findings[LB_G_NO_DUPLICATE].verdict, LB_V_HELD);
    assert_int_equal(rest.findings[LB_G_NO_DUPLICATE].verdict, LB_V_NOT_TESTED);
}

/* Another process notes the end of a session. The last answer of the session before the note was
 * dropped, since a later one was recorded. */
static void a_note_among_the_seen_decides_nothing(void **state)
{
    static struct test_history h;
    static struct lb_judgement rest;
    (void)state;
    history_init(&h, true);
    h.model.claims = lb_guarantees_with(LB_GUARANTEE_IS_FOR_QUEUES) &
                     lb_guarantees_with(LB_GUARANTEE_IS_OF_ONE_ITEM);
    put(&h, 0, 1, 1, 1, 1);
    add_op(&h, 1, LB_OP_CLAIM, 2, 3, LB_EV_FAIL, 0, 0, 1, 0);
    add_op(&h, 1, LB_OP_CLAIM, 4, 5, LB_EV_FAIL, 0, 0, 1, 0);
    claim(&h, 1, 1, 11, 12, 0);
    note(&h, 2, LB_OP_SESSION_END, 8, 0, 1);
    judge_rest(&h, 20, &rest);
    assert_int_equal(rest.findings[LB_G_OWNER_RELEASE].verdict, LB_V_NOT_TESTED);
    assert_non_null(strstr(rest.findings[LB_G_NO_DUPLICATE].reason, "dropped"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_gives_the_set),
        cmocka_unit_test(a_gap_keeps_one_page),
        cmocka_unit_test(a_long_history_leaves_little),
        cmocka_unit_test(an_item_that_comes_again_accuses_no_owner),
        cmocka_unit_test(a_reset_may_explain_a_second_claim),
        cmocka_unit_test(a_recovery_may_explain_a_second_claim),
        cmocka_unit_test(a_note_among_the_seen_decides_nothing),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
