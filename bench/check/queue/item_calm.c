/* An item to which nothing happened that needs a closer look, however often it was claimed.
 *
 * In a calm history no worker was lost, nothing was recovered, no outcome is unknown, no process
 * beats, nothing falls due by itself and the clocks are exact. A calm item was claimed without a
 * lease, and each worker ended each of its claims, with effect, by a complete or a free. Then the
 * core of a claim (item_cores.c) ends with its free, or with the first reset after its complete,
 * and so does the execution that once.c looks at. If in order of their starts
 *   - no core is empty, or meets the next,
 *   - each complete that was followed by another claim finds a reset of its own (item_gaps.c),
 *   - and each claim was asked for after the one before it was answered,
 * then there is an order in which everything took effect once, and who ended a claim had the item:
 * nothing is to be found. Of any other item this says nothing, and the judgements look for
 * themselves.
 */
#include "items.h"

#include <stdlib.h>

/* A claim that was ended, or the last one. */
struct lb_calm_claim {
    uint64_t low, start;    /* asked for, answered */
    uint64_t closed;        /* its end was asked for; LB_NEVER: nobody did */
    uint32_t log, position; /* of the claim, and of its end */
    uint32_t end_position;
    bool is_freed;
};

bool lb_calm_history(const struct lb_case *c, const struct lb_item_world *world)
{
    const struct lb_moment *end;
    bool is_exact = true;
    for (size_t i = 0; i < c->history->n_logs; i++)
        is_exact = is_exact && lb_slack(c, (uint32_t)i) == 0;
    return is_exact && !lb_wants_groups(c) && c->beats.n == 0 && !c->has_unsure_beats &&
           c->infos.n == 0 && world->session_ends.n == 0 && c->known_ns == LB_NEVER &&
           c->model->period_ns == 0 &&
           lb_moments_from(&world->openers, LB_OP_RECOVER, 0, 0, &end) == NULL;
}

void lb_calm_release(struct lb_calm *calm)
{
    free(calm->claims);
    free(calm->keys);
}

static bool make_room(struct lb_calm *calm, size_t n)
{
    if (n <= calm->room)
        return true;
    lb_calm_release(calm);
    calm->room = n + n / 2;
    calm->claims = malloc(calm->room * sizeof *calm->claims);
    calm->keys = malloc(calm->room * sizeof *calm->keys);
    if (calm->claims != NULL && calm->keys != NULL)
        return true;
    lb_calm_release(calm);
    *calm = (struct lb_calm){.claims = NULL};
    return false; /* who looks closer asks again */
}

static bool is_calm_end(const struct lb_item_record *e, const struct lb_item_record *claim)
{
    return (e->op == LB_OP_COMPLETE || e->op == LB_OP_FREE) && e->type == LB_EV_OK &&
           (e->flags & LB_EVF_EFFECTIVE) != 0 && claim != NULL && claim->log == e->log;
}

/* Collects the claims of an item, by log and in order; false: it is not calm. They lie far apart in
 * memory, and are fetched ahead. */
static bool collect(struct lb_calm *calm, const struct lb_case *c, size_t first, size_t n)
{
    enum { AHEAD = 16 };
    const struct lb_item_record *items = c->items.items, *claim = NULL;
    const struct lb_key *by_id = c->by_id + first;
    size_t left = c->items.n - first;
    uint32_t class_no = items[by_id[0].index].class_no;
    calm->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct lb_item_record *e = &items[by_id[i].index];
        if (i + AHEAD < left)
            __builtin_prefetch(&items[by_id[i + AHEAD].index]);
        if (e->class_no != class_no)
            return false;
        if (e->op == LB_OP_ITEM) {
            if ((claim != NULL && claim->log == e->log) || e->lease_ms > 0)
                return false;
            claim = e;
            calm->claims[calm->n++] = (struct lb_calm_claim){.low = e->low,
                                                             .start = e->high,
                                                             .closed = LB_NEVER,
                                                             .log = e->log,
                                                             .position = e->event};
        } else if (is_calm_end(e, claim)) {
            struct lb_calm_claim *ended = &calm->claims[calm->n - 1];
            ended->closed = e->low;
            ended->end_position = e->event;
            ended->is_freed = e->op == LB_OP_FREE;
            claim = NULL;
        } else {
            return false;
        }
    }
    return true;
}

/* The core of a completed claim ends with the first reset after it. Does it end before the next
 * claim, and is there a reset between them that nobody used? *next: the first that nobody did. */
static bool is_reset(const struct lb_item_world *world, uint32_t class_no,
                     const struct lb_calm_claim *claim, const struct lb_calm_claim *following,
                     const struct lb_moment **next)
{
    enum { MOST_TRIED = 16 };
    const struct lb_moment *end,
        *m = lb_moments_from(&world->openers, LB_OP_RESET_ALL, class_no, claim->closed, &end);
    uint64_t from = claim->closed > claim->start ? claim->closed : claim->start;
    if (m == NULL)
        return false;
    uint64_t open = m->least > claim->closed ? m->least : claim->closed;
    if (open <= claim->start || open > following->start)
        return false;
    m = *next != NULL && *next > m ? *next : m;
    for (int i = 0; i < MOST_TRIED; i++, m++) {
        if (m == end || m->op != LB_OP_RESET_ALL || m->class_no != class_no)
            return false;
        if (m->high < from || m->low > following->start ||
            (m->log == claim->log && m->position <= claim->end_position) ||
            (m->log == following->log && m->position >= following->position))
            continue;
        *next = m + 1;
        return true;
    }
    return false;
}

/* Is one claim over when the next one, by start, was granted? */
static bool is_over(const struct lb_item_world *world, uint32_t class_no,
                    const struct lb_calm_claim *claim, const struct lb_calm_claim *following,
                    const struct lb_moment **next)
{
    if (claim->closed == LB_NEVER || following->low <= claim->start)
        return false;
    if (claim->is_freed)
        return claim->closed > claim->start && claim->closed <= following->start;
    return is_reset(world, class_no, claim, following, next);
}

bool lb_item_calm(struct lb_calm *calm, const struct lb_case *c, const struct lb_item_world *world,
                  size_t first, size_t n)
{
    const struct lb_item_record *items = c->items.items;
    uint32_t class_no = items[c->by_id[first].index].class_no;
    const struct lb_moment *next = NULL;
    bool is_sorted = true;
    if (!make_room(calm, n) || !collect(calm, c, first, n))
        return false;
    const struct lb_calm_claim *claims = calm->claims;
    for (size_t i = 0; i < calm->n; i++) {
        calm->keys[i] = (struct lb_key){.key = claims[i].start, .index = (uint32_t)i};
        is_sorted = is_sorted && (i == 0 || claims[i - 1].start <= claims[i].start);
    }
    if (!is_sorted && lb_sort(calm->keys, calm->n) != 0)
        return false;
    for (size_t i = 0; i + 1 < calm->n; i++)
        if (!is_over(world, class_no, &claims[calm->keys[i].index],
                     &claims[calm->keys[i + 1].index], &next))
            return false;
    /* Nobody claimed it after the last one, which must not be empty either. */
    const struct lb_calm_claim *last = calm->n > 0 ? &claims[calm->keys[calm->n - 1].index] : NULL;
    return last == NULL || last->closed > last->start;
}
