/* What struct lb_history_view's memory points to; private to bench/record. */
#ifndef LB_VIEW_H
#define LB_VIEW_H

/* The first member of whatever owns a view's memory. */
struct lb_view_memory {
    void (*release)(struct lb_view_memory *memory);
};

#endif
