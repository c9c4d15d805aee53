/* Claims that are advisory locks: a recursive CTE walks the index until it gets a lock.
 *
 * One pg_try_advisory_lock per step, each on the next pending item, until one is granted: nothing
 * is written to claim, and a claimer that dies gives its item back with its session. Advisory locks
 * know nothing of snapshots: the item may have been completed, and unlocked, after the walk's
 * snapshot was taken. It is therefore looked at again, with the lock held; without that some run
 * twice.
 *
 * (pg_try_advisory_lock in the WHERE of a query with ORDER BY ... LIMIT is worse: it is evaluated
 * for each row scanned, and a thousand locks are held for one row returned. Hence the walk.)
 *
 * Used by que and good_job. One item per claim. Not through a transaction pooler.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_advisory_claim = {
    .name = "advisory-claim",
    .summary = "walk the index with pg_try_advisory_lock, then look again",
    .origin = "que, good_job",
    .changed = LB_TEXTS("only the shape is theirs, a walk along the index with a second "
                        "look: the table, and the fence in completions, are lockbench's"),
    .shape = LB_QUEUE,
    .needs = LB_CAP_ADVISORY,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_RECOVERY),
    .twin = "advisory-no-recheck",
    .flow = &lb_ordinary_flow,
};
