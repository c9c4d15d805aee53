/* The records of one item, and its id. */
#include "items.h"

bool lb_item_is_put_again(const struct lb_case *c, uint64_t id, size_t *next)
{
    const uint64_t *ids = c->put_again.items;
    while (*next < c->put_again.n && ids[*next] < id)
        ++*next;
    return *next < c->put_again.n && ids[*next] == id;
}

/* The records lie far apart in memory: they are fetched ahead. */
void lb_item_gather(const struct lb_case *c, size_t first, size_t n, struct lb_array *places)
{
    enum { AHEAD = 16 };
    const struct lb_item_record *items = c->items.items;
    places->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct lb_item_record **slot = lb_array_push(places, sizeof *slot);
        if (first + i + AHEAD < c->items.n)
            __builtin_prefetch(&items[c->by_id[first + i + AHEAD].index]);
        *slot = &items[c->by_id[first + i].index];
    }
}

struct lb_id *lb_item_id(const struct lb_case *c, uint64_t id, size_t *next)
{
    if (c->is_dense)
        return lb_id_place(c, id);
    while (*next < c->n_ids && c->ids[*next].is_claimed && c->ids[*next].id < id)
        ++*next;
    bool is_known = *next < c->n_ids && c->ids[*next].is_claimed && c->ids[*next].id == id;
    return is_known ? &c->ids[*next] : NULL;
}
