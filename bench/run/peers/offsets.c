/* Bounds on another clock: see offsets.h. */
#include "offsets.h"

#include "memory.h"

#include <stdlib.h>

/* Each difference of two times is rounded away from certainty. */
static int64_t drift_of(uint64_t from_ns, uint64_t until_ns)
{
    uint64_t ns = until_ns - from_ns;
    enum { PER = 1000000 };
    return (int64_t)(ns / PER * LB_DRIFT_PPM + ns % PER * LB_DRIFT_PPM / PER + 1);
}

/* The bound that follows for another time. */
static struct lb_bound widened(const struct lb_bound *bound, uint64_t at_ns)
{
    bool is_later = (int64_t)(at_ns - bound->at_ns) >= 0;
    int64_t drift = is_later ? drift_of(bound->at_ns, at_ns) : drift_of(at_ns, bound->at_ns);
    return (struct lb_bound){at_ns, bound->low - drift, bound->high + drift};
}

/* The intersection of two bounds of the same time. false: it is empty. */
static bool meet(struct lb_bound *bound, const struct lb_bound *other)
{
    bound->low = other->low > bound->low ? other->low : bound->low;
    bound->high = other->high < bound->high ? other->high : bound->high;
    return bound->low <= bound->high;
}

void lb_offsets_add(struct lb_offsets *offsets, uint64_t sent_ns, uint64_t theirs_ns,
                    uint64_t received_ns)
{
    struct lb_bound bound = {theirs_ns, (int64_t)(theirs_ns - received_ns),
                             (int64_t)(theirs_ns - sent_ns)};
    if (offsets->n == offsets->room) {
        offsets->room = offsets->room > 0 ? 2 * offsets->room : 256;
        offsets->all = lb_realloc(offsets->all, offsets->room, sizeof *offsets->all);
    }
    if (offsets->n > 0) {
        const struct lb_bound *last = &offsets->all[offsets->n - 1];
        /* A clock that went back is none. */
        if ((int64_t)(theirs_ns - last->at_ns) < 0) {
            offsets->contradicts = true;
            return;
        }
        struct lb_bound before = widened(last, theirs_ns), own = bound;
        if (!meet(&bound, &before)) {
            offsets->contradicts = true;
            bound = own;
        }
    }
    offsets->all[offsets->n++] = bound;
}

bool lb_offsets_close(struct lb_offsets *offsets)
{
    for (size_t i = offsets->n; i-- > 1;) {
        struct lb_bound after = widened(&offsets->all[i], offsets->all[i - 1].at_ns);
        if (!meet(&offsets->all[i - 1], &after))
            offsets->contradicts = true;
    }
    return !offsets->contradicts;
}

bool lb_offsets_at(const struct lb_offsets *offsets, uint64_t theirs_ns, size_t *place,
                   int64_t *ret_low, int64_t *ret_high)
{
    const struct lb_bound *all = offsets->all;
    size_t i = *place, n = offsets->n;
    if (n == 0 || (int64_t)(theirs_ns - all[0].at_ns) < 0 ||
        (int64_t)(theirs_ns - all[n - 1].at_ns) > 0)
        return false;
    if (i >= n || (int64_t)(theirs_ns - all[i].at_ns) < 0)
        i = 0;
    while (i + 1 < n && (int64_t)(theirs_ns - all[i + 1].at_ns) >= 0)
        i++;
    *place = i;
    struct lb_bound bound = widened(&all[i], theirs_ns);
    if (i + 1 < n) {
        struct lb_bound after = widened(&all[i + 1], theirs_ns);
        meet(&bound, &after);
    }
    *ret_low = bound.low;
    *ret_high = bound.high;
    return true;
}

uint64_t lb_offsets_theirs(const struct lb_offsets *offsets, uint64_t ours_ns)
{
    if (offsets->n == 0)
        return ours_ns;
    const struct lb_bound *last = &offsets->all[offsets->n - 1];
    return ours_ns + (uint64_t)(last->low + (last->high - last->low) / 2);
}

void lb_offsets_release(struct lb_offsets *offsets)
{
    free(offsets->all);
    *offsets = (struct lb_offsets){0};
}
