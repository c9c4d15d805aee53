/* What concerns all items, looked up once: recoveries, resets and clears of many, and the ends of
 * sessions. */
#include "items.h"

#include <stdlib.h>

static int by_log(const void *a, const void *b)
{
    const struct lb_session_end *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static int add_world(struct lb_item_world *world, const struct lb_case *c,
                     const struct lb_world_event *e)
{
    if (e->type == LB_EV_OK && e->high - e->low > world->longest)
        world->longest = e->high - e->low;
    if (e->op == LB_OP_RESET_ALL || e->op == LB_OP_CLEAR_ALL || e->op == LB_OP_RECOVER)
        return lb_moments_add(
            &world->openers, &(struct lb_moment){.low = e->low,
                                                 .high = e->high,
                                                 .class_no = e->op == LB_OP_RECOVER ? 0 : e->target,
                                                 .log = e->log,
                                                 .position = e->event,
                                                 .age_ms = e->age_ms,
                                                 .op = e->op,
                                                 .is_certain = e->type == LB_EV_OK});
    if (e->op != LB_OP_SESSION_END || e->target >= c->history->n_logs)
        return 0;
    struct lb_session_end *slot = lb_array_push(&world->session_ends, sizeof *slot);
    if (slot == NULL)
        return LB_E_MEMORY;
    *slot = (struct lb_session_end){.log = e->target,
                                    .event = e->log == e->target ? e->event : LB_NONE,
                                    .low = lb_world_session_end(c, e),
                                    .high = e->high};
    return 0;
}

int lb_item_world_init(struct lb_item_world *world, struct lb_case *c)
{
    const struct lb_world_event *events = c->world.items;
    int rc = 0;
    for (size_t i = 0; i < c->world.n && rc == 0; i++)
        rc = add_world(world, c, &events[i]);
    if (rc == 0)
        rc = lb_moments_sort(&world->openers);
    if (rc == 0 && world->session_ends.n > 0)
        qsort(world->session_ends.items, world->session_ends.n, sizeof(struct lb_session_end),
              by_log);
    return rc != 0 ? lb_out_of_memory(c) : 0;
}

void lb_item_world_release(struct lb_item_world *world)
{
    lb_moments_release(&world->openers);
    free(world->session_ends.items);
}
