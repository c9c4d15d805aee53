/* SELECT ... FOR UPDATE NOWAIT, held until the COMMIT; refused at once if another session has it.
 *
 * A refused worker waits on the client (poll and back-off of the scenario) instead of in the
 * engine's queue: no connection waits inside a statement, and the engine wakes no session.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_row_lock_nowait = {
    .name = "row-lock-nowait",
    .summary = "FOR UPDATE NOWAIT with back-off, held in a transaction",
    .origin = "Oracle manuals; widespread",
    .changed = LB_TEXTS("the back-off is the harness's (--backoff), not the statement's"),
    .shape = LB_LOCK,
    .ends_with_session = true,
    .needs = LB_CAP_NOWAIT,
    .claims = LB_CLAIMS_LOCK | LB_G_BIT(LB_G_RECOVERY),
    .breaks =
        LB_BREAKS(LB_BREAKS_ON_GALERA("a Galera node does not know the row locks of the others")),
    .twin = "row-lock",
    .flow = &lb_ordinary_flow,
};
