/* A control that must be caught: an application lock that is released before the COMMIT.
 *
 * A common mistake in production: the claim stands between sp_getapplock and sp_releaseapplock (or
 * an advisory lock and its unlock, or a mutex of the program's), and all of it inside of a
 * transaction that is committed later, often by a framework. The next one through the gate reads
 * the row as it was before, waits for it, and takes it too. Released after the COMMIT, or by it
 * (gatekeeper), it holds; so does the published order with its hints (gatekeeper form=published),
 * where the gate does nothing.
 *
 * explore finds it; in a drain it shows by itself, the more the longer the time to the COMMIT
 * (--tx-pause).
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_gatekeeper_early = {
    .name = "gatekeeper-early",
    .summary = "control: the application lock around the claim is released before the COMMIT",
    .origin = "widespread; gatekeeper in its published order, without the hints inside",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .needs = LB_CAP_ADVISORY,
    .claims = LB_CLAIMS_ITEMS,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_NO_DUPLICATE,
         .why = "a session that passes the gate before the COMMIT does not see that the row "
                "was taken"}),
    .twin = "gatekeeper",
    .flow = &lb_ordinary_flow,
};
