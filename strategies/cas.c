/* Read a candidate, then take it by a conditional UPDATE on its version: compare and swap.
 *
 * No lock is held between the two statements, and it works on every engine, at every isolation
 * level, through every pooler. All read the same oldest item, one wins it, and the others get
 * "busy" and read again: attempts per success grow with the number of claimers.
 *
 * With recurring=yes a complete item is due again after the scenario's period, as db-scheduler's
 * recurring tasks are.
 *
 * Used by db-scheduler, Camunda, django-q2.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_cas = {
    .name = "cas",
    .summary = "read, then conditional UPDATE by version",
    .origin = "db-scheduler, Camunda, django-q2",
    .changed = LB_TEXTS("only the form that these libraries share: read, then UPDATE "
                        "with the version in its condition; the table is lockbench's"),
    .shape = LB_QUEUE,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .twin = "naive-claim",
    .options = LB_OPTIONS(LB_OPTION_RECURRING),
    .flow = &lb_ordinary_flow,
};
