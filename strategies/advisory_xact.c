/* An advisory lock that ends with the transaction: pg_advisory_xact_lock.
 *
 * The hold is the transaction: release is its COMMIT. It cannot be forgotten, it goes through a
 * transaction pooler, and it costs two round trips more than the session's lock. A transaction as
 * long as the hold keeps vacuum back.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_advisory_xact = {
    .name = "advisory-xact",
    .summary = "advisory lock held by a transaction",
    .origin = "PostgreSQL manual, 13.3.5 Advisory Locks",
    .changed = LB_TEXTS("the manual describes functions, not a protocol: one key for "
                        "each resource is lockbench's choice"),
    .shape = LB_LOCK,
    .ends_with_session = true,
    .is_shared_capable = true,
    .needs = LB_CAP_ADVISORY_XACT,
    .claims = LB_CLAIMS_SESSION_LOCK,
    .twin = "advisory-session",
    .options = LB_OPTIONS(LB_OPTION_WAIT),
    .flow = &lb_ordinary_flow,
};
