/* How long a run within a budget is: short where only the number of rounds counts, whole where a
 * verdict or the user asks for it.
 */
#include "length.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)
#define SHORT_NS  (SECOND_NS * 6 / 10)

struct made {
    struct lb_report report;
    struct lb_strategy strategy;
    struct lb_cell cell;
    struct lb_outcome outcome;
    struct lb_outcome *runs[3];
};

static void make(struct made *made, const char *scenario)
{
    struct lb_error err;
    *made = (struct made){.report = {.records = true}};
    made->cell.strategy = &made->strategy;
    made->cell.scenario_path = scenario;
    made->cell.runs = made->runs;
    for (size_t i = 0; i < 3; i++)
        made->runs[i] = &made->outcome;
    assert_int_equal(lb_scenario_load(scenario, &made->cell.scenario, &err), 0);
}

static struct lb_scenario chosen(struct made *made, size_t n_runs)
{
    struct lb_scenario scenario;
    made->cell.n_runs = n_runs;
    lb_length_choose(&made->report, &made->cell, n_runs, &scenario);
    return scenario;
}

static void runs_are_short(void **state)
{
    (void)state;
    struct made made;
    make(&made, "mutex-hot");
    made.outcome.successes_per_s = 1000;
    for (size_t n = 0; n < 3; n++) {
        struct lb_scenario scenario = chosen(&made, n);
        assert_int_equal(scenario.duration_ns, SHORT_NS);
        assert_int_equal(scenario.warmup_ns, SECOND_NS / 10);
        assert_int_equal(scenario.workers, 8);
    }
    assert_int_equal(made.cell.scenario.duration_ns, 2 * SECOND_NS);
}

/* The bound of 1.8 s is not seen to be broken within 0.6 s. */
static void the_first_is_whole_where_a_verdict_hangs_on_it(void **state)
{
    (void)state;
    struct made made;
    make(&made, "mutex-hot");
    made.strategy.claims = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_PROGRESS);
    made.outcome.successes_per_s = 1000;
    assert_int_equal(chosen(&made, 0).duration_ns, 2 * SECOND_NS);
    assert_int_equal(chosen(&made, 0).progress_bound_ns, SECOND_NS * 18 / 10);
    assert_int_equal(chosen(&made, 1).duration_ns, SHORT_NS);
    assert_int_equal(chosen(&made, 1).progress_bound_ns, 0);
    made.report.records = false; /* nothing is judged */
    assert_int_equal(chosen(&made, 0).duration_ns, SHORT_NS);
    made.report.records = true;
    made.strategy.claims = LB_G_BIT(LB_G_EXCLUSIVE);
    assert_int_equal(chosen(&made, 0).duration_ns, SHORT_NS);
    static const struct lb_break known[] = {{.why = NULL}};
    made.strategy.breaks = known;
    assert_int_equal(chosen(&made, 0).duration_ns, 2 * SECOND_NS);
}

/* Thirty of them, by the runs that there were; never longer than the scenario says. */
static void who_succeeds_seldom_is_run_for_longer(void **state)
{
    (void)state;
    struct made made;
    make(&made, "mutex-hot");
    made.outcome.successes_per_s = 30;
    assert_int_equal(chosen(&made, 0).duration_ns, SHORT_NS);
    assert_int_equal(chosen(&made, 1).duration_ns, SECOND_NS);
    made.outcome.successes_per_s = 2;
    assert_int_equal(chosen(&made, 2).duration_ns, 2 * SECOND_NS);
    made.outcome.successes_per_s = 0;
    assert_int_equal(chosen(&made, 2).duration_ns, SHORT_NS);
}

static void what_is_said_is_kept(void **state)
{
    (void)state;
    struct made made;
    struct lb_error err;
    make(&made, "mutex-hot");
    made.report.keeps_length = true;
    assert_int_equal(chosen(&made, 1).duration_ns, 2 * SECOND_NS);
    made.report.keeps_length = false;
    made.cell.scenario_path = "./mutex-hot.ini"; /* the user's own */
    assert_int_equal(chosen(&made, 1).duration_ns, 2 * SECOND_NS);
    made.cell.scenario_path = "mutex-hot";
    static const char *const keys[][2] = {
        {"rate", "100/s"},         {"fault", "pause"}, {"period", "100ms"}, {"overrun", "0.1"},
        {"acquire-timeout", "1s"}, {"hold", "20ms"},   {"count", "50"}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        make(&made, "mutex-hot");
        assert_int_equal(lb_scenario_set(&made.cell.scenario, keys[i][0], keys[i][1], &err), 0);
        assert_int_equal(chosen(&made, 1).duration_ns, 2 * SECOND_NS);
        assert_int_equal(chosen(&made, 1).warmup_ns, SECOND_NS / 5);
    }
    static const char *const others[] = {"drain", "steady", "overrun", "periodic-job"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        make(&made, others[i]);
        assert_int_equal(chosen(&made, 1).duration_ns, made.cell.scenario.duration_ns);
        assert_int_equal(chosen(&made, 1).warmup_ns, made.cell.scenario.warmup_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_short),
        cmocka_unit_test(the_first_is_whole_where_a_verdict_hangs_on_it),
        cmocka_unit_test(who_succeeds_seldom_is_run_for_longer),
        cmocka_unit_test(what_is_said_is_kept),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
