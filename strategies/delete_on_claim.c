/* A claim deletes its items: at most once.
 *
 * One statement takes the oldest unlocked items, deletes them and returns them. That is the least a
 * queue can do: one commit for a whole batch, no second statement, no dead versions of a row. Only
 * the worker that has an item in hand knows of it: a worker that dies loses its items, up to 500 of
 * them with claims of 500. So it claims `once` (no item is executed twice, even if its worker
 * dies), and neither `no-loss` nor `recovery`. Nothing is left to complete, to give back or to
 * recover.
 *
 * MariaDB: DELETE has no SKIP LOCKED; claims wait for each other there.
 *
 * Used by pgmq.pop(). SQS, RabbitMQ with automatic acknowledgement and a Redis LPOP do the same
 * outside of SQL. Its twin keeps what was claimed until it is completed.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_delete_on_claim = {
    .name = "delete-on-claim",
    .summary = "the claim deletes its items: at most once; a dead worker's items are lost",
    .origin = "pgmq.pop()",
    .changed = LB_TEXTS("pgmq pops one message, and looks at its visibility timeout; "
                        "this takes up to n, and has none"),
    .shape = LB_QUEUE,
    .claims = LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_BOUNDED_CLAIM) | LB_G_BIT(LB_G_ONCE),
    .by_hand = "nothing helps: its items are lost",
    .twin = "lease-queue",
    .flow = &lb_ordinary_flow,
};
