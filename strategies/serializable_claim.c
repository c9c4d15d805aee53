/* The naive claim, left to SERIALIZABLE: conflicts abort (40001), and the claim is run again.
 *
 * Nothing in the statement is about concurrency, and nothing is claimed twice. Under load most
 * claims are aborted: each retry is counted.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_serializable_claim = {
    .name = "serializable-claim",
    .summary = "a plain claim at SERIALIZABLE, retried",
    .origin = "PostgreSQL manual, 13.2.3",
    .changed = LB_TEXTS("the manual says to repeat a transaction that failed with "
                        "40001; the claim is lockbench's"),
    .shape = LB_QUEUE,
    .needs = LB_CAP_SERIALIZABLE_RETRY,
    .claims = LB_CLAIMS_ITEMS,
    .twin = "naive-claim",
    .isolation = LB_ISO_SERIALIZABLE,
    .flow = &lb_ordinary_flow,
};
