/* A history in memory, built event by event by the readers of other formats. history.h explains
 * views.
 *
 * Each log's events lie in blocks that double in size, so that a thousand short logs cost little
 * and ten million events are never moved.
 */
#ifndef LB_BUILDER_H
#define LB_BUILDER_H

#include "history.h"

struct lb_block {
    struct lb_event *events;
    size_t n;
};

struct lb_builder_log {
    struct lb_block *blocks; /* all but the last are full */
    size_t n_blocks, last_size;
    uint64_t n_events;
    char *name; /* NULL: none */
};

/* Zeroed: empty. */
struct lb_builder {
    struct lb_builder_log *logs;
    size_t n_logs, logs_size;
};

/* Appends to log number, which is below LB_MAX_LOGS. */
void lb_builder_add(struct lb_builder *builder, uint32_t number, const struct lb_event *event);
/* Names log number, which has an event. */
void lb_builder_name(struct lb_builder *builder, uint32_t number, const char *name);
/* Moves everything into a view, to be released with lb_history_release; the builder is empty then.
 * meta is copied. */
void lb_builder_finish(struct lb_builder *builder, const char *meta,
                       struct lb_history_view *ret_view);
void lb_builder_release(struct lb_builder *builder);

#endif
