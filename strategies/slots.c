/* A semaphore of slots: K rows, one for each holder that may be; take any that is not locked.
 *
 * FOR UPDATE SKIP LOCKED finds a free slot without waiting, the transaction holds it, and a holder
 * that dies gives it back with its session. On SQLite the owner is written into the slot instead,
 * and stays there when it dies.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_slots = {
    .name = "slots",
    .summary = "K slot rows, FOR UPDATE SKIP LOCKED",
    .origin = "widespread",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .ends_with_session = true,
    .is_capacity_capable = true,
    .claims = LB_CLAIMS_LOCK,
    .breaks =
        LB_BREAKS(LB_BREAKS_ON_GALERA("a Galera node does not know the row locks of the others")),
    .twin = "count-gate",
    .flow = &lb_ordinary_flow,
};
