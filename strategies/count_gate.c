/* A control that must be caught: count the holders, and add oneself if there is room.
 *
 * Write skew: each of two transactions reads a count without the other's row, and each writes a row
 * of its own; there is nothing that both write. SERIALIZABLE aborts one of them; on SQLite, with
 * one writer, it holds.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_count_gate = {
    .name = "count-gate",
    .summary = "control: count the holders, then insert",
    .origin = "widespread: limits checked by a count",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_capacity_capable = true,
    .claims = LB_CLAIMS_LOCK,
    .breaks = LB_BREAKS({.guarantee = LB_G_EXCLUSIVE,
                         .engines = "postgres,mariadb",
                         .why = "write skew: each counts without the other, and adds itself"}),
    .by_hand = "delete the dead one's row",
    .twin = "slots",
    .flow = &lb_ordinary_flow,
};
