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
    void *old;
    memcpy(&old, items, sizeof old);
    void *grown = realloc(old, (*n + 1) * size);
    if (grown == NULL)
        return NULL;
    memcpy(items, &grown, sizeof grown);
    return memset((char *)grown + size * (*n)++, 0, size);
}
