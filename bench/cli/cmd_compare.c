/* lockbench compare: strategies side by side. Without -s: all that are no
 * controls. Without -S: also the scenarios and options by which they are known to break. */
#include "campaign.h"

enum lb_exit lb_command_compare(const struct lb_args *args)
{
    const struct lb_campaign campaign = {
        .args = args, .sink = &lb_sink_text, .defaults = {.strategies = "all", .breaks = true}};
    return lb_campaign_run(&campaign);
}
