/* Histories of several processes or hosts as one. */
#include "check_join.h"
#include "check_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct test_history one, two;
static struct lb_judgement judgement;

/* One hold each, of resource 0; times count from the history's start. */
static void hold(struct test_history *h, uint64_t start_ns, uint64_t unix_ns, uint64_t from,
                 uint64_t to)
{
    history_init(h, false);
    acquire(h, 1, 0, start_ns + from - 5, start_ns + from);
    release(h, 1, 0, start_ns + to, start_ns + to + 5);
    assert_int_equal(judge_history(h, &judgement, NULL), 0);
    h->view.start_ns = start_ns;
    h->view.start_unix_ns = unix_ns;
}

static const struct lb_finding *judge_both(uint64_t uncertainty_ns)
{
    struct lb_history_view views[2] = {one.view, two.view}, joined;
    const uint64_t uncertainties[2] = {uncertainty_ns, uncertainty_ns};
    struct lb_error err = {0};
    lb_join(views, 2, uncertainties, &joined);
    assert_int_equal(joined.n_logs, 2 * MAX_LOGS);
    assert_int_equal(joined.n_events, one.view.n_events + two.view.n_events);
    assert_int_equal(joined.logs[MAX_LOGS + 1].number, MAX_LOGS + 1);
    assert_int_equal(lb_check(&joined, &one.model, &judgement, &err), 0);
    lb_join_release(&joined);
    return &judgement.findings[LB_G_EXCLUSIVE];
}

static const uint64_t DAY = UINT64_C(86400000000000);

static void one_clock_is_kept(void **state)
{
    (void)state;
    hold(&one, 1000, 9000, 10, 20);
    hold(&two, 1007, 9900, 13, 30); /* 1020: when the other ends; its realtime is a bit off */
    assert_int_equal(judge_both(0)->verdict, LB_V_HELD);
    hold(&two, 1007, 9900, 12, 30);
    assert_int_equal(judge_both(0)->verdict, LB_V_VIOLATED);
    assert_string_equal(
        judgement.findings[LB_G_EXCLUSIVE].witness[0].text,
        "worker 9 was granted resource 0 at 0.000019 ms while worker 1 held it from "
        "0.000010 ms to 0.000020 ms: 1 ns together");
}

static void hosts_meet_at_their_realtime(void **state)
{
    (void)state;
    hold(&one, 5 * DAY, 100 * DAY, 10, 20);
    hold(&two, 2 * DAY, 100 * DAY + 7, 13, 30);
    assert_int_equal(judge_both(0)->verdict, LB_V_HELD);
    hold(&two, 2 * DAY, 100 * DAY + 7, 12, 30);
    assert_int_equal(judge_both(0)->verdict, LB_V_VIOLATED);
    assert_int_equal(judge_both(1)->verdict, LB_V_HELD); /* the clocks may be off by as much */
    hold(&two, 2 * DAY, 100 * DAY + 7, 10, 30);
    assert_int_equal(judge_both(1)->verdict, LB_V_VIOLATED);
}

static void a_host_that_started_later_comes_first(void **state)
{
    (void)state;
    hold(&one, 100, 100 * DAY, 10, 20); /* its clock began just now; the other was before that */
    hold(&two, 50 * DAY, 99 * DAY, 10, 20);
    assert_int_equal(judge_both(0)->verdict, LB_V_HELD);
    hold(&two, 50 * DAY, 99 * DAY, 10, DAY + 15);
    assert_int_equal(judge_both(0)->verdict, LB_V_VIOLATED);
    assert_int_equal(judgement.findings[LB_G_EXCLUSIVE].witness[0].overlap_ns, 5);
}

static void notes_follow_their_logs(void **state)
{
    (void)state;
    hold(&one, 1000, 9000, 10, 20);
    history_init(&two, false);
    acquire(&two, 1, 0, 1001, 1002);
    note(&two, 1, LB_OP_DEATH, 1005, 0, 1);
    note(&two, 1, LB_OP_SESSION_END, 1006, 0, 1);
    assert_int_equal(judge_history(&two, &judgement, NULL), 0);
    two.view.start_ns = 1000;
    two.view.start_unix_ns = 9000;
    assert_int_equal(judge_both(0)->verdict, LB_V_HELD);
    assert_int_equal(judgement.measures.n_deaths, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_clock_is_kept),
        cmocka_unit_test(hosts_meet_at_their_realtime),
        cmocka_unit_test(a_host_that_started_later_comes_first),
        cmocka_unit_test(notes_follow_their_logs),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
