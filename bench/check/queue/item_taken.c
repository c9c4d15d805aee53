/* Claims that others got from a worker that was alive and had not ended them: by a recovery, or the
 * end of a lease. The protocol promises it, and the work is done twice all the same. */
#include "item_ops.h"

#include <stdlib.h>

/* True if a recovery can have taken the claim by a time. */
static bool is_recovered(const struct lb_item_ops *ops, const struct lb_item_record *claim,
                         const struct lb_item_record *renewal, uint64_t until)
{
    const struct lb_moment *end,
        *m = lb_openers_from(ops->world, LB_OP_RECOVER, 0, claim->low, &end);
    bool is_any = false;
    for (; m != NULL && m < end && m->op == LB_OP_RECOVER && m->least <= until && !is_any; m++)
        is_any = lb_item_recovered_from(ops->c, m, claim, renewal, 0) <= until;
    return is_any;
}

/* True if others can have got the claim by a time, though its worker had not lost or ended it. */
static bool is_taken(const struct lb_item_ops *ops, uint32_t claim, uint64_t until)
{
    const struct lb_item_record *record = lb_item_record_of(ops, claim), *renewal = NULL;
    uint64_t expiry = LB_NEVER;
    if (ops->c->logs[record->log].gone_ns <= until)
        return false;
    for (uint32_t i = claim + 1; i < ops->array.n; i++) { /* its own operations follow it */
        const struct lb_spec_op *op = lb_item_op(ops, i);
        if (op->kind == LB_ITEM_CLAIM)
            break;
        if (op->about != claim || op->low > until)
            continue;
        if (op->kind == LB_ITEM_LOSE || op->kind == LB_ITEM_END)
            return false;
        if (op->kind == LB_ITEM_RENEW || op->kind == LB_ITEM_KEEP) {
            renewal = op->detail;
            expiry = LB_NEVER;
        } else if (op->kind == LB_ITEM_EXPIRE) {
            expiry = op->low;
        }
    }
    return expiry <= until || is_recovered(ops, record, renewal, until);
}

void lb_item_ops_count_taken(const struct lb_item_ops *ops)
{
    struct lb_measures *measures = &ops->c->out->measures;
    size_t n = 0;
    bool is_any = false;
    if (ops->n_claims < 2)
        return;
    struct lb_key *keys = lb_malloc(ops->n_claims * sizeof *keys);
    for (uint32_t i = 0; i < ops->array.n; i++)
        if (lb_item_op(ops, i)->kind == LB_ITEM_CLAIM)
            keys[n++] = (struct lb_key){.key = lb_item_op(ops, i)->high, .index = i};
    lb_sort(keys, n);
    for (size_t i = 0; i + 1 < n && !is_any; i++)
        is_any = lb_item_op(ops, keys[i].index)->log != lb_item_op(ops, keys[i + 1].index)->log &&
                 is_taken(ops, keys[i].index, keys[i + 1].key);
    measures->n_taken_items += is_any;
    measures->n_taken_claims += is_any ? n : 0;
    free(keys);
}
