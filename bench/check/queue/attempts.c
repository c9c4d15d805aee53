/* attempts: no item is claimed more often than the file says (`-- attempts: N`).
 *
 * A completion, clear-error, clear-all-errors and reset-all let the count begin anew. So two groups
 * of claims count: those that were answered before the first of these could take effect, and those
 * that were requested after the last one had certainly ended. A claim that was not answered may not
 * have happened, and does not count. Only items that were claimed as often as is allowed test it.
 */
#include "guarantee_kind.h"
#include "item_ops.h"

/* Between them, the count began anew at some time. */
struct anew {
    uint64_t first, last;
};

static void extend(struct anew *anew, uint64_t low, uint64_t high)
{
    anew->first = low < anew->first ? low : anew->first;
    anew->last = high > anew->last ? high : anew->last;
}

static struct anew find_anew(const struct lb_item_ops *ops,
                             const struct lb_item_record *const *records, size_t n)
{
    static const int of_class[] = {LB_OP_CLEAR_ALL, LB_OP_RESET_ALL};
    struct anew anew = {.first = LB_NEVER};
    for (size_t i = 0; i < n; i++)
        if (records[i]->op == LB_OP_COMPLETE || records[i]->op == LB_OP_CLEAR_ERROR)
            extend(&anew, records[i]->low, records[i]->high);
    for (size_t k = 0; k < sizeof of_class / sizeof of_class[0]; k++) {
        const struct lb_moment *end,
            *m = lb_openers_from(ops->world, of_class[k], records[0]->class_no, 0, &end);
        for (; m != NULL && m < end && m->op == of_class[k] && m->class_no == records[0]->class_no;
             m++)
            extend(&anew, m->low, m->high);
    }
    return anew;
}

void lb_judge_attempts(const struct lb_item_ops *ops, const struct lb_item_record *const *records,
                       size_t n)
{
    struct lb_case *c = ops->c;
    const struct anew anew = find_anew(ops, records, n);
    const struct lb_item_record *last[2] = {NULL, NULL};
    uint64_t n_claims[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        const struct lb_item_record *e = records[i];
        int side = e->high < anew.first ? 0 : e->low > anew.last ? 1 : -1;
        if (e->op != LB_OP_ITEM || side < 0)
            continue;
        n_claims[side]++;
        if (last[side] == NULL || e->high > last[side]->high)
            last[side] = e;
    }
    int most = n_claims[1] > n_claims[0];
    lb_finding_of(c, LB_G_ATTEMPTS)->n_tested += n_claims[most] >= c->model->attempts;
    if (n_claims[most] <= c->model->attempts)
        return;
    struct lb_witness *witness = lb_violation(c, LB_G_ATTEMPTS);
    if (witness == NULL)
        return;
    char at[LB_AT];
    lb_witness_add(c, witness, last[most]->log, last[most]->event);
    witness->at_ns = last[most]->high;
    lb_witness_text(witness,
                    "item %s was claimed %llu times, the last time by %s at %s; the file allows %u",
                    LB_ITEM_OF(c, last[most]->id), (unsigned long long)n_claims[most],
                    lb_who(c, last[most]->log, LB_WHOM), lb_at(c, last[most]->high, at, sizeof at),
                    c->model->attempts);
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->attempts == 0 ? "the number of attempts is not known (-- attempts: N)" : NULL;
}

const struct lb_guarantee_kind lb_guarantee_attempts = {
    .cannot_say = cannot_say,
    .nothing = "no item was claimed as often as the file "
               "allows"};
