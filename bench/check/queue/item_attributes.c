/* The attributes of items, as notes before their puts say them. */
#include "items.h"
#include "order.h"
#include "scan_logs.h"

int lb_scan_attribute(struct lb_scan *scan, const struct lb_event *note)
{
    struct lb_case *c = scan->c;
    if (note->object >= LB_ATTRIBUTES)
        return lb_scan_bad(scan, "an attribute of an unknown kind");
    struct lb_key *slot = lb_array_push(&c->attributes[note->object], sizeof *slot);
    *slot = (struct lb_key){.key = note->value, .index = note->arg};
    return 0;
}

void lb_attributes_sort(struct lb_case *c)
{
    for (int a = 0; a < LB_ATTRIBUTES; a++)
        lb_sort(c->attributes[a].items, c->attributes[a].n);
}

bool lb_attribute_of(const struct lb_case *c, enum lb_attribute attribute, uint64_t id,
                     uint32_t *ret_value)
{
    const struct lb_key *notes = c->attributes[attribute].items;
    size_t n = c->attributes[attribute].n, low = lb_order_find(notes, n, sizeof *notes, id);
    if (low == n || notes[low].key != id)
        return false;
    *ret_value = notes[low].index;
    for (size_t i = low + 1; i < n && notes[i].key == id; i++)
        if (notes[i].index != notes[low].index)
            return false;
    return true;
}
