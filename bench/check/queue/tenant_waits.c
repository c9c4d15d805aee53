/* How long items waited, by tenant and by priority, and how much of its fair share each tenant got.
 *
 * An item waits from the answer to its put to that of its first claim. While a tenant has items
 * that wait for certain, which is up to the request of the claim, its fair share of each claim is
 * 1/n, where n tenants have such items or are served. Its claims, divided by that share, are 1 if
 * the tenant is treated like all others, and 0 if it starves.
 */
#include "items.h"
#include "order.h"

#include <stdio.h>
#include <stdlib.h>

struct stay {
    uint64_t from, requested, to; /* LB_NEVER: it was not claimed */
    uint32_t value, group, row;
};

/* All items of one tenant, or priority. */
struct group {
    uint32_t number, row;
    size_t first, n;
    size_t n_waiting;
    double seen; /* of the sum of fair shares, when its account was last settled */
};

struct moment {
    uint64_t time;
    uint32_t group;
    enum { IS_REQUESTED, IS_CLAIMED, IS_PUT } kind; /* in this order at one time */
};

struct tally {
    struct lb_case *c;
    struct lb_waits *waits;
    struct stay *stays;
    struct group *groups;
    size_t n, n_groups;
};

static int by_value(const void *a, const void *b)
{
    const struct stay *one = a, *other = b;
    const int32_t value = (int32_t)one->value, other_value = (int32_t)other->value;
    return value != other_value ? (value > other_value) - (value < other_value)
                                : (one->to > other->to) - (one->to < other->to);
}

static int by_size(const void *a, const void *b)
{
    const struct group *one = a, *other = b;
    return one->n != other->n ? (one->n < other->n) - (one->n > other->n)
                              : (one->number > other->number) - (one->number < other->number);
}

static int by_time(const void *a, const void *b)
{
    const struct moment *one = a, *other = b;
    return one->time != other->time ? (one->time > other->time) - (one->time < other->time)
                                    : (int)one->kind - (int)other->kind;
}

/* --- the items --- */

static void collect(struct lb_case *c, enum lb_attribute attribute, struct lb_array *stays)
{
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        const bool is_left = !id->is_claimed && lb_id_acknowledged(id) && c->model->complete;
        if (!id->is_put || id->is_put_again || (!id->is_claimed && !is_left) ||
            (id->is_claimed && id->claim_high < c->warm_ns))
            continue;
        for (uint32_t i = 0; i < id->n; i++) {
            struct stay stay = {.from = id->put_high, .requested = LB_NEVER, .to = LB_NEVER};
            if (id->is_claimed) {
                stay.requested = id->claim_low;
                stay.to = id->claim_high;
                stay.from = stay.from < stay.to ? stay.from : stay.to;
            }
            if (!lb_attribute_of(c, attribute, id->id + i, &stay.value))
                continue;
            struct stay *slot = lb_array_push(stays, sizeof *slot);
            *slot = stay;
        }
    }
    if (stays->n > 0)
        qsort(stays->items, stays->n, sizeof(struct stay), by_value);
}

/* Each group, or those with a fifth of the items at least, has a row; the others share one. */
static void choose_rows(struct tally *t, bool is_priority)
{
    const bool has_room = t->n_groups <= LB_WAIT_ROWS;
    struct lb_waits *waits = t->waits;
    size_t others = LB_WAIT_ROWS;
    if (!is_priority)
        qsort(t->groups, t->n_groups, sizeof *t->groups, by_size);
    for (size_t g = 0; g < t->n_groups; g++) {
        struct group *group = &t->groups[g];
        const uint32_t value = t->stays[group->first].value;
        if (!has_room && group->n * 5 < t->n && others < LB_WAIT_ROWS) {
            group->row = (uint32_t)others;
            continue;
        }
        struct lb_wait_row *row = &waits->rows[waits->n];
        group->row = (uint32_t)waits->n++;
        if (!has_room && group->n * 5 < t->n) {
            others = group->row;
            snprintf(row->name, sizeof row->name, "others");
        } else if (is_priority) {
            snprintf(row->name, sizeof row->name, "priority %ld", (long)(int32_t)value);
        } else {
            char name[LB_ITEM_NAME];
            lb_key_name(t->c->history->names, value, name, sizeof name);
            snprintf(row->name, sizeof row->name, "tenant %.24s", name);
        }
    }
    qsort(t->groups, t->n_groups, sizeof *t->groups, lb_order_u32);
    for (size_t i = 0; i < t->n; i++)
        t->stays[i].row = t->groups[t->stays[i].group].row;
}

static void make_groups(struct tally *t)
{
    t->groups = lb_calloc(t->n + 1, sizeof *t->groups);
    for (size_t i = 0; i < t->n; i++) {
        if (i == 0 || t->stays[i].value != t->stays[i - 1].value) {
            t->groups[t->n_groups] = (struct group){.first = i, .number = (uint32_t)t->n_groups};
            t->n_groups++;
        }
        t->groups[t->n_groups - 1].n++;
        t->stays[i].group = (uint32_t)t->n_groups - 1;
    }
}

/* --- the figures --- */

static void measure_waits(struct tally *t)
{
    uint64_t *lengths = lb_malloc((t->n + 1) * sizeof *lengths);
    for (size_t r = 0; r < t->waits->n; r++) {
        struct lb_wait_row *row = &t->waits->rows[r];
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++) {
            if (t->stays[i].row != r)
                continue;
            if (t->stays[i].to == LB_NEVER)
                row->n_left++;
            else
                lengths[n++] = t->stays[i].to - t->stays[i].from;
        }
        row->n_claimed = n;
        if (n == 0)
            continue;
        qsort(lengths, n, sizeof *lengths, lb_order_u64);
        row->p50_ns = lengths[(n - 1) / 2];
        row->p95_ns = lengths[(n - 1) * 95 / 100];
        row->max_ns = lengths[n - 1];
    }
    free(lengths);
}

/* Adds to a tenant's fair share what became due since its account was settled. */
static void settle(struct tally *t, struct group *group, double sum, size_t block)
{
    if (group->n_waiting > 0)
        t->waits->rows[group->row].due[block] += sum - group->seen;
    group->seen = sum;
}

static void share_out(struct tally *t, const struct moment *moments, size_t n, size_t n_claims)
{
    size_t n_active = 0, done = 0, block = 0;
    double sum = 0; /* of the fair shares so far of one that always has work */
    for (size_t i = 0; i < n; i++) {
        struct group *group = &t->groups[moments[i].group];
        if (moments[i].kind != IS_CLAIMED) {
            const bool is_put = moments[i].kind == IS_PUT;
            settle(t, group, sum, block);
            n_active += is_put && group->n_waiting == 0;
            group->n_waiting = is_put ? group->n_waiting + 1 : group->n_waiting - 1;
            n_active -= !is_put && group->n_waiting == 0;
            continue;
        }
        const bool is_idle = group->n_waiting == 0; /* but for this item */
        const double share = 1.0 / (double)(n_active + is_idle);
        settle(t, group, sum, block);
        sum += share;
        t->waits->rows[group->row].served[block]++;
        t->waits->rows[group->row].due[block] += is_idle ? share : 0;
        if (++done * LB_WAIT_BLOCKS / n_claims == block)
            continue;
        for (size_t g = 0; g < t->n_groups; g++)
            settle(t, &t->groups[g], sum, block);
        block = done * LB_WAIT_BLOCKS / n_claims;
    }
}

static void measure_shares(struct tally *t)
{
    struct moment *moments = lb_malloc((3 * t->n + 1) * sizeof *moments);
    size_t n = 0, n_claims = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct stay *stay = &t->stays[i];
        if (stay->from < stay->requested) {
            moments[n++] = (struct moment){stay->from, stay->group, IS_PUT};
            if (stay->requested != LB_NEVER)
                moments[n++] = (struct moment){stay->requested, stay->group, IS_REQUESTED};
        }
        if (stay->to != LB_NEVER) {
            moments[n++] = (struct moment){stay->to, stay->group, IS_CLAIMED};
            n_claims++;
        }
    }
    qsort(moments, n, sizeof *moments, by_time);
    share_out(t, moments, n, n_claims);
    free(moments);
}

static void tally(struct lb_case *c, enum lb_waits_by by, enum lb_attribute attribute)
{
    struct lb_array stays = {0};
    if (c->attributes[attribute].n == 0)
        return;
    collect(c, attribute, &stays);
    struct tally t = {
        .c = c, .waits = &c->out->measures.waits[by], .stays = stays.items, .n = stays.n};
    make_groups(&t);
    choose_rows(&t, by == LB_BY_PRIORITY);
    measure_waits(&t);
    if (by == LB_BY_TENANT)
        measure_shares(&t);
    free(t.groups);
    free(stays.items);
}

void lb_judge_waits(struct lb_case *c)
{
    if (!c->model->queue)
        return;
    tally(c, LB_BY_TENANT, LB_A_TENANT);
    tally(c, LB_BY_PRIORITY, LB_A_PRIORITY);
}
