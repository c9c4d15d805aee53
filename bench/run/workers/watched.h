/* The facts about each item of a queue while it is on its way: a window of places that are used
 * again, so that a long run has flat memory. A place says which item it is of; an item whose place
 * was taken by a later one is not watched any more.
 */
#ifndef LB_WATCHED_H
#define LB_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LB_WATCHED_BITS = 20, LB_WATCHED_ITEMS = 1 << LB_WATCHED_BITS };

/* The place of an item, id from 1. */
static inline size_t lb_watched_place(int64_t id)
{
    return (size_t)(id - 1) & (LB_WATCHED_ITEMS - 1);
}

/* When an item was meant to arrive, in ns after the schedule's start: in steps of 8 ns, up to 26
 * days, beside 16 bits of the number of the window. 0 is no item. */
static inline uint64_t lb_due_mark(int64_t id, uint64_t after_ns)
{
    const uint64_t window = (uint64_t)(id - 1) >> LB_WATCHED_BITS;
    return window << 48 | (after_ns / 8 + 1);
}

/* False if the mark is of another item, or of none. */
static inline bool lb_due_read(uint64_t mark, int64_t id, uint64_t *ret_after_ns)
{
    const uint64_t window = (uint64_t)(id - 1) >> LB_WATCHED_BITS;
    const uint64_t steps = mark & ((UINT64_C(1) << 48) - 1);
    if (steps == 0 || mark >> 48 != (window & 0xffff))
        return false;
    *ret_after_ns = (steps - 1) * 8;
    return true;
}

#endif
