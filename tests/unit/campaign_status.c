/* The exit status of a campaign: which runs that do not hold are the measurement's fault. */
#include "campaign_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Of one cell of one run. */
static enum lb_exit status_of(struct lb_outcome *run, const struct lb_outlook *outlook)
{
    static const struct lb_strategy strategy = {.name = "any"};
    const struct lb_campaign campaign = {.judge_expectations = true};
    struct lb_outcome *runs[] = {run};
    struct lb_cell cell = {.strategy = &strategy,
                           .state = LB_CELL_DONE,
                           .outlook = outlook,
                           .runs = runs,
                           .n_runs = 1};
    const struct lb_report report = {.cells = &cell, .n_cells = 1};
    return lb_campaign_status(&campaign, &report, NULL);
}

/* A line of a plan that lacks its fault says so, and the others stand. Any other run that is
 * invalid does not hold, in a plan as elsewhere: a worker's process that died, a heartbeat that
 * finds no row.
 */
static void only_a_missing_fault_is_spared(void **state)
{
    const struct lb_outlook *outlook = (const struct lb_outlook *)state; /* any will do */
    struct lb_outcome run = {.state = LB_RUN_COMPLETE, .witnesses_agree = true};
    assert_int_equal(status_of(&run, outlook), LB_EXIT_OK);
    run.state = LB_RUN_INVALID;
    assert_int_equal(status_of(&run, outlook), LB_EXIT_INCONCLUSIVE);
    assert_int_equal(status_of(&run, NULL), LB_EXIT_INCONCLUSIVE);
    run.lacks_fault = true;
    assert_int_equal(status_of(&run, outlook), LB_EXIT_OK);
    assert_int_equal(status_of(&run, NULL), LB_EXIT_INCONCLUSIVE);
    run.witnesses_agree = false;
    assert_int_equal(status_of(&run, outlook), LB_EXIT_INCONCLUSIVE);
}

/* Late rounds of a comparison are left out as long as others are valid. */
static void late_rounds_are_spared_beside_valid_ones(void **state)
{
    (void)state;
    static const struct lb_strategy strategy = {.name = "any"};
    struct lb_campaign campaign = {.defaults.chooses = true};
    struct lb_outcome valid = {.state = LB_RUN_COMPLETE, .witnesses_agree = true};
    struct lb_outcome late = {
        .state = LB_RUN_INVALID, .reason = LB_LATE_GENERATOR ": ...", .witnesses_agree = true};
    struct lb_outcome *runs[] = {&valid, &late, &valid};
    struct lb_cell cell = {.strategy = &strategy, .state = LB_CELL_DONE, .runs = runs, .n_runs = 3};
    const struct lb_report report = {.cells = &cell, .n_cells = 1};
    assert_int_equal(lb_campaign_status(&campaign, &report, NULL), LB_EXIT_OK);
    runs[2] = &late;
    assert_int_equal(lb_campaign_status(&campaign, &report, NULL), LB_EXIT_INCONCLUSIVE);
    runs[2] = &valid;
    snprintf(late.reason, sizeof late.reason, "a worker died");
    assert_int_equal(lb_campaign_status(&campaign, &report, NULL), LB_EXIT_INCONCLUSIVE);
    snprintf(late.reason, sizeof late.reason, LB_LATE_GENERATOR);
    campaign.defaults.chooses = false;
    assert_int_equal(lb_campaign_status(&campaign, &report, NULL), LB_EXIT_INCONCLUSIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_a_missing_fault_is_spared),
                                       cmocka_unit_test(late_rounds_are_spared_beside_valid_ones)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
