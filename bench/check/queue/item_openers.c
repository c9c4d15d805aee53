/* The resets and clears of all items, as operations of one item; and a shortcut, since there may be
 * millions of them.
 *
 * A gap of an item is a time in which none of its claims, renewals, ends and own clears can take
 * effect. The shortcut keeps one reset of those that certainly took effect inside a gap, and one
 * clear. Proof. In a gap the item does not become done, or fail. So the first reset in it opens the
 * item if it is done, and the others find nothing to do, wherever they stand in the gap. What else
 * can take effect there (a lease's end, a loss, a recovery) changes a claim only, and a reset
 * changes none: their order does not matter. So each order without the others is one with them.
 */
#include "item_ops.h"
#include "order.h"

#include <stdlib.h>

struct busy {
    uint64_t low, high;
};

static bool makes_busy(const struct lb_spec_op *op)
{
    return op->kind != LB_ITEM_EXPIRE && op->kind != LB_ITEM_LOSE;
}

/* The times between the gaps, in order. */
static void find_busy(struct lb_item_ops *ops)
{
    ops->busy.n = 0;
    for (uint32_t i = 0; i < ops->array.n; i++) {
        const struct lb_spec_op *op = lb_item_op(ops, i);
        if (!makes_busy(op))
            continue;
        struct busy *slot = lb_array_push(&ops->busy, sizeof *slot);
        *slot = (struct busy){op->low, op->high};
    }
    struct busy *all = ops->busy.items;
    size_t n = 0;
    if (ops->busy.n > 1)
        qsort(all, ops->busy.n, sizeof *all, lb_order_u64);
    for (size_t i = 0; i < ops->busy.n; i++)
        if (n > 0 && all[i].low <= all[n - 1].high)
            all[n - 1].high = all[i].high > all[n - 1].high ? all[i].high : all[n - 1].high;
        else
            all[n++] = all[i];
    ops->busy.n = n;
}

/* How many busy times began by a time. */
static size_t busy_until(const struct lb_item_ops *ops, uint64_t time)
{
    return lb_order_find(ops->busy.items, ops->busy.n, sizeof(struct busy), time + 1);
}

/* True if it took effect inside the gap before the busy time at a place. */
static bool is_inside(const struct lb_item_ops *ops, const struct lb_moment *m, size_t gap)
{
    const struct busy *all = ops->busy.items;
    return m->is_certain && (gap == 0 || all[gap - 1].high < m->low) &&
           (gap == ops->busy.n || m->high < all[gap].low);
}

/* True if the operation may be used in another's place: not where more than its answer's time
 * orders it before others of its log. */
static bool is_twin(const struct lb_item_ops *ops, const struct lb_moment *m)
{
    return !m->is_certain || lb_slack(ops->c, m->log) == 0;
}

static void add_opener(struct lb_item_ops *ops, const struct lb_moment *m, uint8_t to)
{
    lb_item_ops_push(ops, &(struct lb_spec_op){.low = m->low,
                                               .high = m->high,
                                               .log = m->log,
                                               .position = m->position,
                                               .about = LB_NONE,
                                               .kind = LB_ITEM_OPEN,
                                               .to = to,
                                               .twin = is_twin(ops, m) ? to : 0,
                                               .must = m->is_certain});
}

/* The next moment that may have to be kept, if one in the gap was. Those that end in the gap, and
 * began before it, end soon. */
static const struct lb_moment *next_of(const struct lb_item_ops *ops, const struct lb_moment *m,
                                       size_t gap)
{
    const struct busy *all = ops->busy.items;
    const struct lb_moment *end;
    if (gap > 0 && m->high - all[gap - 1].high <= ops->world->longest)
        return m + 1;
    return lb_openers_from(ops->world, m->op, m->class_no,
                           gap < ops->busy.n ? all[gap].low : LB_NEVER, &end);
}

static void add_openers_of(struct lb_item_ops *ops, int kind, uint32_t class_no, uint64_t most)
{
    uint8_t to = kind == LB_OP_RESET_ALL ? LB_ITEM_DONE : LB_ITEM_FAILED;
    const struct lb_moment *end, *m = lb_openers_from(ops->world, kind, class_no, ops->first, &end);
    size_t kept = SIZE_MAX;
    while (m != NULL && m < end && m->op == kind && m->class_no == class_no &&
           m->least <= ops->last && ops->array.n <= most) {
        size_t gap = busy_until(ops, m->low);
        bool is_in_gap = !ops->c->model->plain && is_inside(ops, m, gap);
        if (is_in_gap && gap == kept) {
            m = next_of(ops, m, gap);
            continue;
        }
        kept = is_in_gap ? gap : kept;
        if (m->low <= ops->last)
            add_opener(ops, m, to);
        m++;
    }
}

void lb_item_ops_add_openers(struct lb_item_ops *ops, uint64_t most)
{
    size_t n = ops->array.n;
    find_busy(ops);
    for (uint32_t i = 0; i < ops->n_classes; i++) {
        add_openers_of(ops, LB_OP_RESET_ALL, ops->classes[i], most);
        add_openers_of(ops, LB_OP_CLEAR_ALL, ops->classes[i], most);
    }
    if (ops->n_classes > 1 && ops->array.n > n)
        ops->doubt = "an item was moved to another class";
}
