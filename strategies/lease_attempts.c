/* Claims that end by themselves, with a maximum of attempts: lease-queue with dead letters.
 *
 * A claim counts as an attempt when it is made. So a worker that dies has used one, and an item
 * that kills each worker is claimed as often as is allowed, and never again. recover, which an
 * operator's job runs, marks such items as failed once their last lease is over. Nothing else
 * depends on it.
 *
 * An item is ended by complete; by retry, if another attempt may help: it is due again later, or
 * failed if that was its last attempt; or by error, if none would. There is no section free,
 * because an item that is given back would use an attempt. A worker that stops gives back what it
 * has by section stop.
 *
 * The usual mistakes are options, and each is caught:
 *   counted=never      nothing counts: the item is retried for ever
 *   counted=at-end     only retry counts: a crash never does
 *   recovered=reset    recover begins the count anew
 *   stops=drops        stop strands what is in hand: it has no lease any more
 *   ended=any          complete does not ask whose claim it is: a worker that has given back its
 * item, and still works on it, ends its successor's
 *
 * Source: SQS' maxReceiveCount and dead-letter queues; the mistakes come from public issues that
 * docs/deploys.md names.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_attempts = {
    .name = "lease-attempts",
    .summary = "a visibility timeout with a maximum of attempts, and dead letters",
    .origin = "Amazon SQS (maxReceiveCount, dead-letter queues)",
    .changed = LB_TEXTS(
        "the service is closed: the table and the statements are those of lease-queue, with a "
        "count of claims; dead letters stay in the table, with a status of their own"),
    .shape = LB_QUEUE,
    .is_lease = true,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_PROGRESS) | LB_G_BIT(LB_G_RECOVERY) |
              LB_G_BIT(LB_G_ATTEMPTS),
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_ATTEMPTS,
         .scenario = "poison",
         .why = "no attempt counts: an item that fails, or kills its worker, is retried for "
                "ever",
         .options = "counted=never",
         .faults = "poison"},
        {.guarantee = LB_G_ATTEMPTS,
         .scenario = "poison",
         .why = "attempts are counted when they end: a crash never counts",
         .options = "counted=at-end",
         .faults = "poison"},
        {.guarantee = LB_G_ATTEMPTS,
         .scenario = "poison",
         .why = "the recovery of a dead worker's item begins the count anew",
         .options = "recovered=reset",
         .faults = "poison"},
        {.guarantee = LB_G_RECOVERY,
         .scenario = "deploy",
         .why = "items of a stopping worker lose their lease, and no recovery finds them",
         .options = "stops=drops",
         .faults = "term"},
        {.guarantee = LB_G_OWNER_RELEASE,
         .scenario = "deploy",
         .why = "a worker that gave back its item at a stop ends its successor's claim",
         .options = "ended=any"}),
    .twin = "lease-queue",
    .options =
        LB_OPTIONS({.name = "most",
                    .default_value = "3",
                    .help = "attempts of an item; then it is a dead letter"},
                   {.name = "counted",
                    .default_value = "at-claim",
                    .choices = LB_TEXTS("at-claim", "at-end", "never"),
                    .help = "when an attempt counts"},
                   {.name = "recovered",
                    .default_value = "kept",
                    .choices = LB_TEXTS("kept", "reset"),
                    .help = "recover keeps the count, or sets it to 0"},
                   {.name = "stops",
                    .default_value = "gives-back",
                    .choices = LB_TEXTS("gives-back", "drops"),
                    .help = "what becomes of the items in hand of a worker that is asked to stop"},
                   {.name = "ended",
                    .default_value = "own",
                    .choices = LB_TEXTS("own", "any"),
                    .help = "complete ends the worker's own claim, or any claim"}),
    .flow = &lb_ordinary_flow,
};
