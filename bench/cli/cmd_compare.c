/* lockbench compare: strategies side by side. Without -s: all that are no
 * controls. Without -S: also the scenarios and options by which they are known to break. */
#include "campaign.h"

enum lb_exit lb_command_compare(const struct lb_args *args)
{
    /* Four against four is the fewest that can show a difference between two cells at 95 %; five
     * can with one run out of order, or among a few cells. */
    const struct lb_campaign campaign = {.args = args,
                                         .sink = &lb_sink_text,
                                         .defaults = {.strategies = "all", .breaks = true},
                                         .n_repeat = 5};
    return lb_campaign_run(&campaign);
}
