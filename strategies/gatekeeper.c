/* A plain claim inside of an advisory lock: one claimer at a time passes the gate.
 *
 * The sub-select needs no lock of its own, as nobody else claims meanwhile. The lock is held for
 * the claim only, until the COMMIT, so that the next one through the gate sees what was taken.
 * Completion does not pass it. MariaDB: GET_LOCK, and the lock is given up after the claim. With
 * recurring=yes a complete item is due again after the scenario's period.
 *
 * Source: answer on checking out records, SQL Server (sp_getapplock around the claim).
 */
#include "strategy.h"

static const char *const recurring_choices[] = {"no", "yes", NULL};

const struct lb_strategy lb_strategy_gatekeeper = {
    .name = "gatekeeper",
    .summary = "a claim inside of an advisory lock",
    .origin = "\"checking out\" records, SQL Server: sp_getapplock",
    .shape = LB_QUEUE,
    .needs = LB_CAP_ADVISORY,
    .claims = LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_NO_LOSS) | LB_G_BIT(LB_G_BOUNDED_CLAIM) |
              LB_G_BIT(LB_G_OWNER_RELEASE),
    .twin = "naive-claim",
    .options =
        (const struct lb_option[]){
            {.name = "recurring",
             .default_value = "no",
             .choices = recurring_choices,
             .help = "complete items are due again after the scenario's period"},
            {0},
        },
    .flow = &lb_ordinary_flow,
};
