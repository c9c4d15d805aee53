/* lockbench run: one strategy, one target, one scenario. */
#include "campaign.h"

#include "nearest.h"

#include <string.h>

enum lb_exit lb_command_run(const struct lb_args *args)
{
    struct lb_error err;
    bool one_strategy = args->strategies.n == 1 && strchr(args->strategies.words[0], ',') == NULL;
    bool one_scenario = args->scenarios.n == 0 ||
                        (args->scenarios.n == 1 && strchr(args->scenarios.words[0], ',') == NULL);
    static const char *const sets[] = {"all", "locks", "queues", "controls", NULL};
    one_strategy = one_strategy && !lb_is_one_of(args->strategies.words[0], sets);
    if (args->strategies.n > 0 && (!one_strategy || !one_scenario || args->targets.n > 1)) {
        lb_fail(&err, LB_E_USAGE,
                "run takes one strategy, one target and one scenario; compare takes several");
        return lb_cli_complain(&err);
    }
    const struct lb_campaign campaign = {.args = args, .sink = &lb_sink_text, .refuse_skips = true};
    return lb_campaign_run(&campaign);
}
