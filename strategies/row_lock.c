/* SELECT ... FOR UPDATE, held until the COMMIT that releases it.
 *
 * The engine queues the waiters and wakes them; a holder that dies lets go with its session. The
 * transaction is as long as the hold: it keeps a connection, and vacuum back.
 *
 * Used by Quartz; Temporal checks its range id inside of each write as well.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_row_lock = {
    .name = "row-lock",
    .summary = "FOR UPDATE on the resource's row, held in a transaction",
    .origin = "Quartz, Temporal",
    .changed = LB_TEXTS("only the form that they share: SELECT ... FOR UPDATE of the lock's "
                        "row, held; Temporal's check of its range in each write is not in it"),
    .shape = LB_LOCK,
    .ends_with_session = true,
    .needs = LB_CAP_ROW_LOCK,
    .claims = LB_CLAIMS_SESSION_LOCK,
    .breaks =
        LB_BREAKS(LB_BREAKS_ON_GALERA("a Galera node does not know the row locks of the others")),
    .twin = "row-lock-nowait",
    .flow = &lb_ordinary_flow,
};
