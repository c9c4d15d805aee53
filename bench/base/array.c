/* See array.h. */
#include "array.h"

#include "memory.h"

#include <string.h>

void *lb_array_grow(struct lb_array *array, size_t size)
{
    size_t room = array->room < 64 ? 64 : array->room + array->room / 2;
    array->items = lb_realloc(array->items, room, size);
    array->room = room;
    return (char *)array->items + size * array->n++;
}

void *lb_array_add(void *items, size_t *n, size_t size)
{
    void *grown;
    lb_array_extend(items, n, size, *n + 1);
    memcpy(&grown, items, sizeof grown);
    return (char *)grown + size * (*n - 1);
}

void lb_array_extend(void *items, size_t *n, size_t size, size_t least)
{
    void *old;
    if (least <= *n)
        return;
    memcpy(&old, items, sizeof old);
    void *grown = lb_realloc(old, least, size);
    memcpy(items, &grown, sizeof grown);
    memset((char *)grown + size * *n, 0, (least - *n) * size);
    *n = least;
}
