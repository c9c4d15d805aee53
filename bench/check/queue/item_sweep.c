/* Which cores of claims meet? Those of one item, or of one group of items: see exclusive.c for why
 * that decides it.
 */
#include "items.h"

#include <stdlib.h>

int lb_item_sort_cores(struct lb_item_group *group)
{
    size_t n = group->n_cores;
    const struct lb_item_core *cores = group->cores;
    bool is_sorted = true;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = cores[i - 1].start <= cores[i].start;
    if (is_sorted)
        return 0;
    struct lb_key *keys = malloc(n * sizeof *keys);
    struct lb_item_core *sorted = malloc(n * sizeof *sorted);
    int rc = keys == NULL || sorted == NULL ? LB_E_MEMORY : 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        keys[i] = (struct lb_key){.key = cores[i].start, .index = (uint32_t)i};
    if (rc == 0)
        rc = lb_sort(keys, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        sorted[i] = cores[keys[i].index];
    if (rc == 0)
        memcpy(group->cores, sorted, n * sizeof *sorted);
    free(keys);
    free(sorted);
    return rc != 0 ? lb_out_of_memory(group->c) : 0;
}

static bool is_empty(const struct lb_item_core *core)
{
    return core->end <= core->start;
}

size_t lb_item_cores_from(const struct lb_item_group *group, uint64_t time)
{
    size_t low = 0, high = group->n_cores;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (group->cores[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t lb_item_cores_near(const struct lb_item_group *group, uint64_t time, size_t near)
{
    const struct lb_item_core *cores = group->cores;
    size_t low = near, high = near, step = 1;
    for (; low > 0 && cores[low - 1].start >= time; step *= 2)
        low -= step < low ? step : low;
    for (step = 1; high < group->n_cores && cores[high].start < time; step *= 2)
        high += step < group->n_cores - high ? step : group->n_cores - high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cores[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The core that ends last of those that start before a time; NULL. last: by place, the core up to
 * there that ends last. */
static const struct lb_item_core *last_before(const struct lb_item_group *group,
                                              const uint32_t *last, uint64_t time)
{
    size_t n = lb_item_cores_from(group, time);
    return n > 0 ? &group->cores[last[n - 1]] : NULL;
}

/* The core that meets the one at place i, or NULL. Those that are not empty are swept; an empty one
 * meets what covers it (see exclusive.c), and what its own worker had claimed before: what one
 * worker did first came first, even within a tick. */
static const struct lb_item_core *find_meeting(const struct lb_item_group *group,
                                               const uint32_t *last, size_t i,
                                               const struct lb_item_core *latest)
{
    const struct lb_item_core *core = &group->cores[i], *other;
    if (!is_empty(core))
        return latest != NULL && latest->end > core->start ? latest : NULL;
    other = last_before(group, last, core->end);
    if (other != NULL && other->end > core->start)
        return other;
    if (core->before <= core->start)
        return NULL;
    for (size_t k = 0; k < group->n_cores; k++) /* it is there: one is a violation */
        if (group->cores[k].claim->log == core->claim->log &&
            group->cores[k].claim->event < core->claim->event && group->cores[k].end > core->start)
            return &group->cores[k];
    return NULL;
}

int lb_item_sweep(struct lb_item_group *group, lb_meeting_fn *meets)
{
    const struct lb_item_core *cores = group->cores, *latest = NULL;
    uint32_t *last = malloc((group->n_cores + 1) * sizeof *last);
    if (last == NULL)
        return lb_out_of_memory(group->c);
    for (size_t i = 0; i < group->n_cores; i++)
        last[i] = i > 0 && cores[last[i - 1]].end >= cores[i].end ? last[i - 1] : (uint32_t)i;
    for (size_t i = 0; i < group->n_cores; i++) {
        const struct lb_item_core *other = find_meeting(group, last, i, latest);
        if (other != NULL)
            meets(group, other, &cores[i]);
        if (!is_empty(&cores[i]) && (latest == NULL || cores[i].end > latest->end))
            latest = &cores[i];
    }
    free(last);
    return 0;
}
