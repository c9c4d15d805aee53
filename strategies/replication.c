/* What replication breaks, whatever the protocol.
 *
 * A grant that was acknowledged as committed is lost if the primary fails before its standby
 * received it: with an asynchronous standby at any time, with a synchronous one if an operator
 * cancelled the wait for it. A lost grant is granted again, with the same fence; a lost release or
 * completion leaves its lock held, or its item undone. No protocol fixes the first: see lease-epoch
 * for the possible protection, and docs/replication.md.
 *
 * Locks that end with their session are not among them: no worker may rely on them afterwards.
 */
#include "strategy.h"

#define LOST(broken, text)                                                                         \
    {.guarantee = (broken), .topologies = "async", .faults = "failover,partition", .why = text},   \
    {                                                                                              \
        .guarantee = (broken), .topologies = "async,sync", .faults = "cancel-sync", .why = text    \
    }

const struct lb_break lb_replication_breaks[] = {
    LOST(LB_G_EXCLUSIVE, "an acknowledged grant is lost with the primary, and granted again"),
    LOST(LB_G_FENCED, "the lost grants' fences come again"),
    LOST(LB_G_FIFO, "the lost requests and grants are forgotten, and their order with them"),
    LOST(LB_G_OWNER_RELEASE, "the row of a lost grant is another worker's, or free"),
    LOST(LB_G_PROGRESS, "a lost release leaves the lock held"),
    LOST(LB_G_NO_DUPLICATE, "an acknowledged claim is lost with the primary, and claimed again"),
    LOST(LB_G_NO_LOSS, "acknowledged puts and completions are lost with the primary"),
    {0},
};
