/* Is the isolation level a part of what a finding shows? See advice.h. */
#include "advice.h"

/* Guarantees that two transactions break together if neither sees the other. */
static const unsigned of_two = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_FENCED) |
                               LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_NO_LOSS) |
                               LB_G_BIT(LB_G_FIFO) | LB_G_BIT(LB_G_GROUP_EXCLUSIVE) |
                               LB_G_BIT(LB_G_KEY_LIMIT) | LB_G_BIT(LB_G_UNIQUE) |
                               LB_G_BIT(LB_G_PRIORITY) | LB_G_BIT(LB_G_RATE);

/* True if the operation is one transaction. */
static bool is_transaction(const struct lb_features *f, int op)
{
    switch (op) {
    case LB_OP_ACQUIRE:
    case LB_OP_CLAIM:
        return f->is_one_commit;
    case LB_OP_PUT:
        return !f->puts_apart;
    case LB_OP_COMPLETE:
        return !f->end_parted;
    case LB_OP_RECOVER:
        return !f->recovers_apart;
    default:
        return false;
    }
}

bool lb_advice_overlaps(const struct lb_outlook *outlook, enum lb_guarantee guarantee,
                        const struct lb_cell *cell)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
    if (outlook->isolation.line == 0 || (of_two & LB_G_BIT(guarantee)) == 0 ||
        finding->n_witnesses == 0)
        return false;
    const struct lb_witness *witness = &finding->witness[0];
    for (size_t i = 0; i < witness->n_ops; i++)
        for (size_t k = 0; k < witness->n_ops; k++) {
            const struct lb_witness_op *a = &witness->ops[i], *b = &witness->ops[k];
            bool are_two = a->log != b->log && is_transaction(f, a->op) && is_transaction(f, b->op);
            bool is_held = f->is_held_in_tx && (a->op == LB_OP_ACQUIRE || a->op == LB_OP_CLAIM);
            if (are_two && a->invoke_ns <= b->invoke_ns && (is_held || b->invoke_ns < a->end_ns))
                return true; /* a hold that is a transaction is open until its release */
        }
    return false;
}
