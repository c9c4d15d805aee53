/* A lock of the server's that is no row, held by the session: pg_advisory_lock, GET_LOCK.
 *
 * Released by a statement, or by the end of the session: nothing is left behind by a client that
 * died, as soon as the server has noticed. It must not go through a pooler that hands each
 * transaction to another backend: the unlock then runs where the lock is not.
 * MariaDB has no shared mode: readers there take the lock exclusively, which is safe and slower.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_advisory_session = {
    .name = "advisory-session",
    .summary = "advisory lock held by the session",
    .origin = "PostgreSQL manual, 13.3.5 Advisory Locks; MariaDB GET_LOCK",
    .changed = LB_TEXTS("the manual describes functions, not a protocol: one key for "
                        "each resource is lockbench's choice"),
    .shape = LB_LOCK,
    .ends_with_session = true,
    .is_shared_capable = true,
    .needs = LB_CAP_ADVISORY,
    .claims = LB_CLAIMS_SESSION_LOCK,
    .breaks = LB_BREAKS(LB_BREAKS_ON_GALERA("GET_LOCK locks on one Galera node only")),
    .twin = "advisory-xact",
    .options = LB_OPTIONS(LB_OPTION_WAIT),
    .flow = &lb_ordinary_flow,
};
