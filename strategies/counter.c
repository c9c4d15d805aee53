/* A counting semaphore: SET value = value - 1 WHERE value > 0; release adds one.
 *
 * The UPDATE locks the row and re-checks the condition after a wait, so that no more than K get in.
 * Nobody is known to hold it: a release that is run twice makes a place that is not there, and the
 * place of a holder that died is lost.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_counter = {
    .name = "counter",
    .summary = "UPDATE ... SET value = value - 1 WHERE value > 0",
    .origin = "textbooks",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_capacity_capable = true,
    .claims = LB_G_BIT(LB_G_EXCLUSIVE),
    .by_hand = "add the dead one's permit again",
    .twin = "slots",
    .flow = &lb_ordinary_flow,
};
