/* A queue whose claim is held in its transaction: SELECT ... FOR UPDATE SKIP LOCKED, work, commit.
 *
 * The row's lock is the claim. A claimer that dies gives its items back with its session, without
 * lease or clock, and completing is one UPDATE in the same transaction. The price is a transaction
 * as long as the work: a connection each, no vacuum past it, and nothing for others to see of the
 * state.
 * At SERIALIZABLE the COMMIT itself may be refused (40001): the item is ready again, and its work
 * is done a second time.
 *
 * Used by gue, neoq, and by many hand-written workers.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_skip_locked_hold = {
    .name = "skip-locked-hold",
    .summary = "SKIP LOCKED, held in the transaction until the item is done",
    .origin = "gue, neoq",
    .changed = LB_TEXTS("only the form that they share: the claim's transaction stays "
                        "open until the item is done; the table is lockbench's"),
    .shape = LB_QUEUE,
    .needs = LB_CAP_SKIP_LOCKED,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_RECOVERY),
    .twin = "skip-locked",
    .breaks = LB_BREAKS({.guarantee = LB_G_NO_DUPLICATE,
                         .engines = "mariadb",
                         .topologies = "galera",
                         .scenario = "drain",
                         .why = "a Galera node does not know the row locks of the others"}),
    .flow = &lb_ordinary_flow,
};
