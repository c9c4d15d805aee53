/* An array that grows by items of one size. */
#ifndef LB_ARRAY_H
#define LB_ARRAY_H

#include <stddef.h>

/* Zeroed to begin with; the owner frees items. */
struct lb_array {
    void *items;
    size_t n, room;
};

/* The slow path of lb_array_push: makes the array larger. */
void *lb_array_grow(struct lb_array *array, size_t size) __attribute__((returns_nonnull));

/* Room for one more item of size bytes. The pointer is good until the next push. */
static inline void *lb_array_push(struct lb_array *array, size_t size)
{
    if (__builtin_expect(array->n == array->room, 0))
        return lb_array_grow(array, size);
    return (char *)array->items + size * array->n++;
}

/* The same for short arrays, which grow one by one: items is the address of the pointer to them.
 * The new item is zeroed, and counted. */
void *lb_array_add(void *items, size_t *n, size_t size) __attribute__((returns_nonnull));
/* Makes *n at least `least`. The new items are zeroed. */
void lb_array_extend(void *items, size_t *n, size_t size, size_t least);

#endif
