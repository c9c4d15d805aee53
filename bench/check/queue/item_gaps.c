/* A reset opens an item once: the ordinary case, in which no search is needed.
 *
 * Cores that are not empty and do not meet have one order, in which each claim takes effect when it
 * is answered. The gap between two of them, from the invoke of the first one's end to the answer of
 * the second, needs a reset (or clear, or recovery) of its own, unless the first one's own free,
 * lease or loss ended it. The gaps are disjoint and in order. If each, in order, finds one that was
 * not given to another, that is a legal order. If not, there may be one all the same: item_order.c
 * looks for it.
 */
#include "items.h"

/* One class: an item that changes its class is not followed. */
bool lb_item_one_class(const struct lb_item_group *group)
{
    for (size_t i = 1; i < group->n; i++)
        if (group->events[i]->class_no != group->events[0]->class_no)
            return false;
    return true;
}

enum { MOST_USED = 64, MOST_TRIED = 64 };

/* Openers that were given to a gap, and that can be used later still. */
struct used {
    const struct lb_moment *openers[MOST_USED];
    size_t n;
};

static void drop_over(struct used *used, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < used->n; i++)
        if (used->openers[i]->high >= now)
            used->openers[kept++] = used->openers[i];
    used->n = kept;
}

static bool is_used(const struct used *used, const struct lb_moment *opener)
{
    for (size_t i = 0; i < used->n; i++)
        if (used->openers[i] == opener)
            return true;
    return false;
}

/* Can it open the item for the next claim, after the end? Within a tick, and where clocks are
 * uncertain, its worker's own order counts as well. */
static bool fits(const struct lb_item_group *group, const struct lb_moment *opener,
                 const struct lb_item_event *end, const struct lb_item_event *next)
{
    return opener->low <= next->high && lb_slack(group->c, opener->log) == 0 &&
           (opener->log != end->log || opener->position > end->event) &&
           (opener->log != next->log || opener->position < next->event);
}

/* Gives the gap an opener of one kind that nobody used; false: there is none. */
static bool give_opener(const struct lb_item_group *group, const struct lb_moments *moments, int op,
                        uint32_t class_no, const struct lb_item_core *core,
                        const struct lb_item_event *end, struct used *used)
{
    const struct lb_item_event *next = core[1].claim;
    uint64_t low = end->low > core->start ? end->low : core->start;
    const struct lb_moment *last, *m = lb_moments_from(moments, op, class_no, low, &last);
    for (int i = 0;
         m != NULL && m < last && m->op == op && m->class_no == class_no && i < MOST_TRIED;
         i++, m++) {
        if (m->least > next->high)
            break;
        if (!fits(group, m, end, next) || is_used(used, m))
            continue;
        if (used->n == MOST_USED)
            return false;
        used->openers[used->n++] = m;
        return true;
    }
    return false;
}

/* The same with a recovery of the first claim. */
static bool give_recovery(const struct lb_item_group *group, const struct lb_item_core *core,
                          struct used *used)
{
    const struct lb_item_event *next = core[1].claim;
    const struct lb_moment *last, *m = lb_item_recoveries(group, core->claim, &last);
    for (int i = 0; m != NULL && m < last && m->op == LB_OP_RECOVER && i < MOST_TRIED; i++, m++) {
        if (m->least > next->high)
            break;
        uint64_t low = lb_item_recovery_before(group, m, core->claim);
        uint64_t at = low > core->start ? low : core->start;
        if (m->high < core->start || low > next->high || low > core->done ||
            at > core->claim->exact || /* item_order.c looks at that */
            !fits(group, m, core->claim, next) || is_used(used, m))
            continue;
        if (used->n == MOST_USED)
            return false;
        used->openers[used->n++] = m;
        return true;
    }
    return false;
}

/* Does the gap after a core find an opener, or need none? */
static bool bridge(const struct lb_item_group *group, const struct lb_item_core *core,
                   struct used *used)
{
    bool goes_on = core[1].claim->is_resumed && core[1].claim->log == core->claim->log;
    if (goes_on || core->alone <= core[1].start ||
        (!group->is_once && give_recovery(group, core, used)))
        return true;
    for (size_t i = core->place + 1; lb_item_own(group, core->place, i); i++) {
        const struct lb_item_event *end = group->events[i];
        if (!lb_item_closes(end->op))
            continue;
        if (end->low > core[1].claim->high) /* it came after the gap */
            break;
        int all = end->op == LB_OP_ERROR ? LB_OP_CLEAR_ALL : LB_OP_RESET_ALL;
        if (give_opener(group, &group->world->openers, all, end->class_no, core, end, used) ||
            (end->op == LB_OP_ERROR &&
             give_opener(group, &group->others, LB_OP_CLEAR_ERROR, 0, core, end, used)))
            return true;
        if (lb_item_certain(end))
            break;
    }
    return false;
}

bool lb_item_plain(const struct lb_item_group *group)
{
    struct used used = {.n = 0};
    bool found = ((group->n_strangers == 0 && group->n_owners == 0) || group->is_once) &&
                 lb_item_one_class(group);
    for (size_t i = 0; i < group->n_cores && found; i++)
        found = group->cores[i].end > group->cores[i].start &&
                !lb_item_was_done(group, &group->cores[i]);
    for (size_t i = 0; i + 1 < group->n_cores && found; i++) {
        drop_over(&used, group->cores[i].start);
        found = bridge(group, &group->cores[i], &used);
    }
    return found;
}
