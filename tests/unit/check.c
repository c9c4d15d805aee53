/* The judge on invalid and empty histories, and when it is interrupted; and the drawing of a
 * witness. */
#include "check_expect.h"

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
    static const int ok[] = {LB_EV_OK, LB_EV_OK};
    history_init(&history, true);
    pipeline_of(LB_OP_RENEW_ITEM, 1, 1, 1, 5, 6, 7, ok, 2); /* not what ends nothing */
    expect_bad("log 1, event 1: an invoke while another operation is under way");
    history_init(&history, true);
    pipeline_of(LB_OP_COMPLETE, 1, 1, 2, 5, 6, 7, ok, 3);
    history.events[1][1].op = LB_OP_CLAIM; /* there is but one claim */
    expect_bad("log 1, event 2: an invoke while another operation is under way");
    history_init(&history, true);
    pipeline_of(LB_OP_COMPLETE, 1, 1, 1, 5, 6, 6, ok, 2);
    history.events[1][2] = history.events[1][3]; /* its item before the other's end */
    expect_bad("log 1, event 2: an item outside of a claim");
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

/* Wherever the largest number stands: a log of three spans beside others of one. */
static void resources_are_counted_wherever_they_are(void **state)
{
    (void)state;
    enum { SPANS = 3 };
    struct lb_error err = {0};
    for (uint32_t at = 0; at < SPANS + 2; at++) {
        struct lb_span spans[SPANS];
        history_init(&history, false);
        for (uint32_t i = 0; i < SPANS + 2; i++) /* the last two are of logs 0 and 2 */
            acquire(&history, i < SPANS ? 1 : 2 * (i - SPANS), i == at ? 9 : 0, 10 * i, 10 * i + 1);
        assert_int_equal(judge_history(&history, &judgement, &err), LB_E_FILE); /* of four */
        for (uint32_t i = 0; i < SPANS; i++)
            spans[i] = (struct lb_span){.events = &history.events[1][2 * i], .n = 2};
        history.logs[1].spans = spans;
        history.logs[1].n_spans = SPANS;
        history.model.n_resources = 0;
        history.model.capacity = NULL;
        assert_int_equal(lb_check(&history.view, &history.model, &judgement, &err), 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_histories_get_no_verdict),
        cmocka_unit_test(who_gives_up_gets_no_verdict),
        cmocka_unit_test(nothing_is_not_held),
        cmocka_unit_test(resources_are_counted_wherever_they_are),
        cmocka_unit_test(witnesses_are_drawn),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
