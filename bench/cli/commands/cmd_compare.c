/* lockbench compare: strategies side by side. Without -s: all correct ones. A strategy that is
 * known to be broken takes part if it is named, or with --published, and then also runs in the
 * scenarios that break it, unless -S is given. */
#include "budget.h"
#include "campaign.h"

enum lb_exit lb_command_compare(const struct lb_args *args)
{
    /* Where no time is to be kept, as of a sweep or for a gate: five can show a difference between
     * two cells at 95 % by exact ranks with one run out of order. */
    const struct lb_campaign campaign = {
        .args = args,
        .sink = &lb_sink_text,
        .defaults = {.strategies = "all", .breaks = true, .chooses = true},
        .budgeting = &lb_budgeting,
        .n_repeat = 5};
    return lb_campaign_run(&campaign);
}
