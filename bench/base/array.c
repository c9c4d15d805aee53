/* See array.h. */
#include "array.h"

#include <stdlib.h>
#include <string.h>

void *lb_array_grow(struct lb_array *array, size_t size)
{
    size_t room = array->room < 64 ? 64 : array->room + array->room / 2;
    void *items = realloc(array->items, room * size);
    if (items == NULL)
        return NULL;
    array->items = items;
    array->room = room;
    return (char *)items + size * array->n++;
}

void *lb_array_add(void *items, size_t *n, size_t size)
{
    void *grown;
    if (!lb_array_extend(items, n, size, *n + 1))
        return NULL;
    memcpy(&grown, items, sizeof grown);
    return (char *)grown + size * (*n - 1);
}

bool lb_array_extend(void *items, size_t *n, size_t size, size_t least)
{
    void *old;
    if (least <= *n)
        return true;
    memcpy(&old, items, sizeof old);
    void *grown = realloc(old, least * size);
    if (grown == NULL)
        return false;
    memcpy(items, &grown, sizeof grown);
    memset((char *)grown + size * *n, 0, (least - *n) * size);
    *n = least;
    return true;
}
