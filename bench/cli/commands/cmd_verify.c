/* lockbench verify: every guarantee as a line of TAP, or with --matrix as a table. Without -s: all
 * strategies, the controls too, and without -S also under the scenarios and options by which they
 * are known to break. A user's file is tested by its features: outlook.h. Where no scenario is
 * described, each is explored as well as stressed. */
#include "campaign.h"

enum lb_exit lb_command_verify(const struct lb_args *args)
{
    const struct lb_campaign campaign = {
        .args = args,
        .of = args->matrix ? LB_OF_MATRICES : LB_OF_RUNS,
        .sink = args->matrix ? &lb_matrix_markdown : &lb_sink_tap,
        .explores = !args->no_explore && !args->matrix && args->faults == NULL &&
                    args->scenarios.n == 0 && args->n_overrides == 0 && !args->no_record,
        .defaults = {.strategies = "all", .controls = true, .breaks = true, .plans = true},
        .judge_expectations = true};
    return lb_campaign_run(&campaign);
}
