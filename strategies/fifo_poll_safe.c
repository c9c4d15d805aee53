/* The repaired twin of fifo-poll.
 *
 * Repairs:
 *   order      the number is drawn, and its row committed, while a row lock on the resource is
 *              held: numbers commit in the order in which they were drawn, so a worker that sees no
 *              number ahead is first.
 *   identity   one's place is found by one's number, not by a name that may not be unique, and a
 *              request that was removed meanwhile is never granted.
 *   liveness   each poll and each renewal sets a heartbeat; with stale_ms, requests whose heartbeat
 *              stopped are removed. A waiter that polls in time is never removed, however long
 *              it waits; a late waiter is never granted, and must enqueue again: with stale_ms,
 *              exclusive, fifo and progress hold for requests with a heartbeat in time. Heartbeat
 *              and grant are one transaction: a granted request still existed.
 *   readers    a writer ahead of a reader, and a reader ahead of a writer, take all places.
 *   fence      each grant draws the resource's next fence number. A holder that was removed while
 *              it was merely slow is detected where the number is checked.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_fifo_poll_safe = {
    .name = "fifo-poll-safe",
    .summary = "control table in ticket order; tickets drawn under a lock, heartbeat, fence",
    .origin = "repaired twin of fifo-poll",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_shared_capable = true,
    .is_capacity_capable = true,
    .claims =
        LB_CLAIMS_LOCK | LB_G_BIT(LB_G_FENCED) | LB_G_BIT(LB_G_FIFO) | LB_G_BIT(LB_G_PROGRESS),
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_EXCLUSIVE,
         .room = "stale_ms!=0",
         .why = "a holder whose heartbeat is late is taken for dead; its fence finds it out"},
        {.guarantee = LB_G_FIFO,
         .room = "stale_ms!=0",
         .why = "a waiter whose heartbeat is late is taken for dead, and others pass it"},
        {.guarantee = LB_G_PROGRESS,
         .room = "stale_ms!=0",
         .why = "a waiter whose heartbeat was late is taken for dead: it is never granted, and "
                "has to give up and enqueue again"}),
    .by_hand = "delete the dead one's request, or set stale_ms",
    .twin = "fifo-poll",
    .options =
        LB_OPTIONS({.name = "stale_ms",
                    .default_value = "0",
                    .help = "a request without a heartbeat for so long is removed; 0: never"}),
    .flow = &lb_ordinary_flow,
};
