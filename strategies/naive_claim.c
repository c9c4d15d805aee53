/* A control that must be caught: UPDATE ... WHERE id = (SELECT ... LIMIT 1).
 *
 * Two sessions at READ COMMITTED read the same id in the sub-select. One updates; the other waits
 * for the row, and then checks only the outer condition again, id = 7, which still holds: it
 * updates the row a second time and gets it too. Repeating the condition outside (AND status = 0)
 * repairs it, at the price of empty answers; SKIP LOCKED repairs it without. On SQLite, with one
 * writer, and at REPEATABLE READ, where the second UPDATE is a serialization failure, it holds; on
 * MariaDB the sub-select of an UPDATE locks what it reads, and claims deadlock instead.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_naive_claim = {
    .name = "naive-claim",
    .summary = "control: UPDATE by a sub-select without any lock claims items twice",
    .origin = "widespread; the first draft of most job queues",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .claims = LB_CLAIMS_ITEMS,
    .breaks = LB_BREAKS({.guarantee = LB_G_NO_DUPLICATE,
                         .engines = "postgres",
                         .why = "a waiter re-checks the outer condition only, and that is the id"}),
    .twin = "skip-locked",
    .flow = &lb_ordinary_flow,
};
