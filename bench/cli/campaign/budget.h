/* compare by a budget of time: rounds go on until every pair of a table is decided, or the time of
 * the table is over.
 */
#ifndef LB_BUDGET_H
#define LB_BUDGET_H

#include "campaign.h"

#define LB_BUDGET_TABLE_NS UINT64_C(60000000000) /* of a table, if nothing is said */

/* A campaign calls these, and they call the campaign. */
struct lb_budgeting {
    /* True if there are tables of at least two strategies, and no sweep. */
    bool (*applies)(const struct lb_report *report);
    /* How long it should take: total_ns, 0: LB_BUDGET_TABLE_NS for each table. */
    uint64_t (*forecast)(const struct lb_report *report, uint64_t total_ns);
    /* Runs all. The looks that it took belong to *ret_looks, which the cells borrow: free it after
     * them. 0, or an error of the checkpoint. */
    int (*run)(struct lb_scheduler *scheduler, uint64_t total_ns, struct lb_looks **ret_looks,
               struct lb_error *err);
};

extern const struct lb_budgeting lb_budgeting;

#endif
