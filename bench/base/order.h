/* Order by numbers: of numbers, and of structs that begin with the number by which they are
 * ordered.
 */
#ifndef LB_ORDER_H
#define LB_ORDER_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t lb_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t lb_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* For qsort and bsearch. */
int lb_order_u32(const void *a, const void *b);
int lb_order_u64(const void *a, const void *b);
int lb_order_i64(const void *a, const void *b);
int lb_order_double(const void *a, const void *b);

/* Of n items of size bytes, in rising order of their uint64_t: the place of the first whose number
 * is least or more; n: there is none. */
static inline size_t lb_order_find(const void *items, size_t n, size_t size, uint64_t least)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(const void *)((const char *)items + middle * size) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same in the order of compare: the place of the first item that does not come before key. */
static inline size_t lb_order_first(const void *items, size_t n, size_t size, const void *key,
                                    int (*compare)(const void *, const void *))
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare((const char *)items + middle * size, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
