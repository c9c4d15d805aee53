/* lockbench compare: strategies side by side. Without -s: all that are no
 * controls. Without -S: also the scenarios and options by which they are known to break. */
#include "campaign.h"

enum lb_exit lb_command_compare(const struct lb_args *args)
{
    /* Where no time is to be kept, as of a sweep or for a gate: five can show a difference between
     * two cells at 95 % by exact ranks with one run out of order. */
    const struct lb_campaign campaign = {.args = args,
                                         .sink = &lb_sink_text,
                                         .defaults = {.strategies = "all", .breaks = true},
                                         .may_budget = true,
                                         .n_repeat = 5};
    return lb_campaign_run(&campaign);
}
