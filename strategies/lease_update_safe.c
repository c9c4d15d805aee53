/* The repaired twin of lease-update.
 *
 * Repairs:
 *   due time   a job that never ran is due
 *   clock      the server's, and read after any wait: the row is locked by a statement of its own
 *              first. In one UPDATE the new row is computed before the statement waits behind a
 *              session that holds the row, and the lease can be granted with its time already over.
 *   owner      release and renewal ask for the owner and the fence of the grant
 *   fence      grows with every grant, for the guarded data to check
 * The lock cannot repair this: a holder that is paused past its lease still believes that it holds
 * it.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_update_safe = {
    .name = "lease-update-safe",
    .summary = "lease by UPDATE: server's clock read after the wait, owner and fence checked",
    .origin = "repaired twin of lease-update",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_lease = true,
    .claims = LB_CLAIMS_LEASE,
    .twin = "lease-update",
    .flow = &lb_ordinary_flow,
};
