/* A history in memory: see builder.h. */
#include "builder.h"

#include "array.h"
#include "memory.h"
#include "view.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_EVENTS = 16, LARGEST_BLOCK_EVENTS = 1 << 15 };

static struct lb_builder_log *log_of(struct lb_builder *builder, uint32_t number)
{
    if (number >= builder->logs_size)
        lb_array_extend(&builder->logs, &builder->logs_size, sizeof *builder->logs,
                        2 * (size_t)number + 16);
    if (number >= builder->n_logs)
        builder->n_logs = number + 1u;
    return &builder->logs[number];
}

static struct lb_block *add_block(struct lb_builder_log *log)
{
    size_t n = log->n_blocks == 0 ? FIRST_BLOCK_EVENTS : log->last_size * 2;
    if (n > LARGEST_BLOCK_EVENTS)
        n = LARGEST_BLOCK_EVENTS;
    struct lb_block *block = lb_array_add(&log->blocks, &log->n_blocks, sizeof *block);
    block->events = lb_malloc(n * sizeof *block->events);
    log->last_size = n;
    return block;
}

void lb_builder_add(struct lb_builder *builder, uint32_t number, const struct lb_event *event)
{
    struct lb_builder_log *log =
        number < builder->n_logs ? &builder->logs[number] : log_of(builder, number);
    struct lb_block *last = log->n_blocks > 0 ? &log->blocks[log->n_blocks - 1] : NULL;
    if (last == NULL || last->n == log->last_size)
        last = add_block(log);
    last->events[last->n++] = *event;
    log->n_events++;
}

void lb_builder_name(struct lb_builder *builder, uint32_t number, const char *name)
{
    struct lb_builder_log *log = log_of(builder, number);
    free(log->name);
    log->name = lb_strdup(name);
}

void lb_builder_release(struct lb_builder *builder)
{
    for (size_t i = 0; i < builder->n_logs; i++) {
        for (size_t k = 0; k < builder->logs[i].n_blocks; k++)
            free(builder->logs[i].blocks[k].events);
        free(builder->logs[i].blocks);
        free(builder->logs[i].name);
    }
    free(builder->logs);
    memset(builder, 0, sizeof *builder);
}

struct built_view {
    struct lb_view_memory head;
    struct lb_builder builder;
    struct lb_log_view *logs;
    struct lb_span *spans; /* of all logs, one after another */
    char *meta;
};

static void free_built_view(struct lb_view_memory *memory)
{
    struct built_view *built = (struct built_view *)memory;
    lb_builder_release(&built->builder);
    free(built->logs);
    free(built->spans);
    free(built->meta);
    free(built);
}

void lb_builder_finish(struct lb_builder *builder, const char *meta,
                       struct lb_history_view *ret_view)
{
    size_t n_spans = 0;
    for (size_t i = 0; i < builder->n_logs; i++)
        n_spans += builder->logs[i].n_blocks;
    struct built_view *built = lb_calloc(1, sizeof *built);
    struct lb_log_view *logs = lb_calloc(builder->n_logs + 1, sizeof *logs);
    struct lb_span *spans = lb_calloc(n_spans + 1, sizeof *spans);
    char *copy = lb_strdup(meta);
    *built = (struct built_view){
        .head = {free_built_view}, .builder = *builder, .logs = logs, .spans = spans, .meta = copy};
    memset(builder, 0, sizeof *builder);
    struct lb_history_view view = {
        .n_logs = built->builder.n_logs, .logs = logs, .meta = copy, .memory = built};
    for (size_t i = 0; i < view.n_logs; i++) {
        const struct lb_builder_log *log = &built->builder.logs[i];
        for (size_t k = 0; k < log->n_blocks; k++)
            spans[k] = (struct lb_span){log->blocks[k].events, log->blocks[k].n};
        logs[i] = (struct lb_log_view){.number = (uint32_t)i,
                                       .name = log->name,
                                       .n_spans = log->n_blocks,
                                       .spans = spans,
                                       .n_events = log->n_events};
        spans += log->n_blocks;
        view.n_events += log->n_events;
    }
    *ret_view = view;
}
