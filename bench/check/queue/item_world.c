/* What concerns all items, looked up once: recoveries, resets and clears of many, and the ends of
 * sessions. */
#include "items.h"

#include "order.h"

#include <stdlib.h>

static int by_kind(const struct lb_moment *a, int op, uint32_t class_no)
{
    if (a->op != op)
        return a->op < op ? -1 : 1;
    return (a->class_no > class_no) - (a->class_no < class_no);
}

static int by_kind_and_high(const void *a, const void *b)
{
    const struct lb_moment *x = a, *y = b;
    int kind = by_kind(x, y->op, y->class_no);
    return kind != 0 ? kind : (x->high > y->high) - (x->high < y->high);
}

static void sort_openers(struct lb_item_world *world)
{
    struct lb_moment *all = world->openers.items;
    size_t n = world->openers.n;
    if (n > 1)
        qsort(all, n, sizeof *all, by_kind_and_high);
    for (size_t i = n; i-- > 0;) {
        all[i].least = all[i].low;
        if (i + 1 < n && by_kind(&all[i], all[i + 1].op, all[i + 1].class_no) == 0 &&
            all[i + 1].least < all[i].least)
            all[i].least = all[i + 1].least;
    }
}

static int by_log(const void *a, const void *b)
{
    const struct lb_session_end *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

/* As the history says, or as a reading of it has it: see doubts.c. */
static uint32_t age_of(const struct lb_case *c, const struct lb_world_event *e)
{
    return c->model->takes_living ? 1 : c->model->takes_dead ? 0 : e->age_ms;
}

static void add_opener(struct lb_item_world *world, const struct lb_case *c,
                       const struct lb_world_event *e)
{
    struct lb_moment *slot = lb_array_push(&world->openers, sizeof *slot);
    *slot = (struct lb_moment){.low = e->low,
                               .high = e->high,
                               .class_no = e->op == LB_OP_RECOVER ? 0 : e->target,
                               .log = e->log,
                               .position = e->event,
                               .age_ms = age_of(c, e),
                               .op = e->op,
                               .is_certain = e->type == LB_EV_OK};
}

static void add_world(struct lb_item_world *world, const struct lb_case *c,
                      const struct lb_world_event *e)
{
    if (e->type == LB_EV_OK && e->high - e->low > world->longest)
        world->longest = e->high - e->low;
    if (e->op == LB_OP_RESET_ALL || e->op == LB_OP_CLEAR_ALL || e->op == LB_OP_RECOVER) {
        add_opener(world, c, e);
        return;
    }
    if (e->op != LB_OP_SESSION_END || e->target >= c->history->n_logs)
        return;
    struct lb_session_end *slot = lb_array_push(&world->session_ends, sizeof *slot);
    *slot = (struct lb_session_end){.log = e->target,
                                    .event = e->log == e->target ? e->event : LB_NONE,
                                    .low = lb_world_session_end(c, e),
                                    .high = e->high};
}

void lb_item_world_init(struct lb_item_world *world, struct lb_case *c)
{
    const struct lb_world_event *events = c->world.items;
    for (size_t i = 0; i < c->world.n; i++)
        add_world(world, c, &events[i]);
    sort_openers(world);
    if (world->session_ends.n > 0)
        qsort(world->session_ends.items, world->session_ends.n, sizeof(struct lb_session_end),
              by_log);
}

const struct lb_moment *lb_openers_from(const struct lb_item_world *world, int op,
                                        uint32_t class_no, uint64_t from,
                                        const struct lb_moment **ret_end)
{
    const struct lb_moment *all = world->openers.items;
    const size_t n = world->openers.n;
    const struct lb_moment key = {.op = (uint8_t)op, .class_no = class_no, .high = from};
    size_t i = lb_order_first(all, n, sizeof key, &key, by_kind_and_high);
    *ret_end = n > 0 ? all + n : NULL;
    return i < n && by_kind(&all[i], op, class_no) == 0 ? &all[i] : NULL;
}
