/* Several histories as one: see check_join.h. One block of memory holds logs, spans and events. */
#include "check_join.h"

#include "memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SAME_CLOCK_NS = 1000000000, SAME_CLOCK_S = 10 };

struct joined {
    struct lb_log_view *logs;
    struct lb_span *spans;
    char **names; /* of the logs; NULL: none */
    size_t n_names;
    struct lb_event *events;
    char *meta;
};

/* Realtime minus monotonic time. Unsigned and wrapping: only differences of two count. */
static uint64_t offset_of(const struct lb_history_view *view)
{
    return view->start_unix_ns - view->start_ns;
}

/* The offset that converts view's times to first's clock. */
static uint64_t shift_of(const struct lb_history_view *first, const struct lb_history_view *view)
{
    uint64_t shift = offset_of(view) - offset_of(first);
    uint64_t size = shift > UINT64_MAX / 2 ? 0 - shift : shift;
    return size < (uint64_t)SAME_CLOCK_S * SAME_CLOCK_NS ? 0 : shift;
}

/* The offset to add to all times besides, so that none is before zero: a host may have been started
 * after another's history was. */
static uint64_t rise_of(const struct lb_history_view *views, size_t n)
{
    int64_t least = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t start = (int64_t)(views[i].start_ns + shift_of(&views[0], &views[i]));
        least = start < least ? start : least;
    }
    return (uint64_t)-least;
}

static bool names_a_log(const struct lb_event *event)
{
    return event->type == LB_EV_NOTE && event->arg != UINT32_MAX &&
           (event->op == LB_OP_FAULT || event->op == LB_OP_DEATH || event->op == LB_OP_SESSION_END);
}

static struct lb_event *copy_log(const struct lb_log_view *from, uint64_t shift, uint32_t first_log,
                                 struct lb_event *to)
{
    for (size_t s = 0; s < from->n_spans; s++)
        for (size_t i = 0; i < from->spans[s].n; i++) {
            struct lb_event event = from->spans[s].events[i];
            event.time_ns += shift;
            if (names_a_log(&event))
                event.arg += first_log;
            *to++ = event;
        }
    return to;
}

static struct joined *allocate(const struct lb_history_view *views, size_t n)
{
    size_t n_logs = 0, n_events = 0;
    for (size_t i = 0; i < n; i++) {
        n_logs += views[i].n_logs;
        n_events += views[i].n_events;
    }
    struct joined *joined = lb_calloc(1, sizeof *joined);
    joined->logs = lb_calloc(n_logs + 1, sizeof *joined->logs);
    joined->spans = lb_calloc(n_logs + 1, sizeof *joined->spans);
    joined->names = lb_calloc(n_logs + 1, sizeof *joined->names);
    joined->events = lb_malloc((n_events + 1) * sizeof *joined->events);
    joined->meta = lb_strdup(views[0].meta != NULL ? views[0].meta : "");
    return joined;
}

void lb_join(const struct lb_history_view *views, size_t n, const uint64_t *uncertainty_ns,
             struct lb_history_view *ret_view)
{
    assert(n > 0);
    struct joined *joined = allocate(views, n);
    uint64_t rise = rise_of(views, n);
    struct lb_history_view view = {.logs = joined->logs,
                                   .start_ns = views[0].start_ns + rise,
                                   .start_unix_ns = views[0].start_unix_ns,
                                   .begin_ns = UINT64_MAX,
                                   .names = views[0].names,
                                   .meta = joined->meta,
                                   .memory = joined};
    struct lb_event *next = joined->events;
    for (size_t i = 0; i < n; i++) {
        uint64_t shift = shift_of(&views[0], &views[i]) + rise, start = views[i].start_ns + shift;
        uint32_t first_log = (uint32_t)view.n_logs;
        if (start < view.start_ns)
            view.start_ns = start;
        if (views[i].begin_ns + shift < view.begin_ns)
            view.begin_ns = views[i].begin_ns + shift;
        for (size_t k = 0; k < views[i].n_logs; k++, view.n_logs++) {
            const struct lb_log_view *from = &views[i].logs[k];
            joined->names[joined->n_names++] =
                from->name != NULL ? lb_format("%s of file %zu", from->name, i + 1) : NULL;
            struct lb_event *end = copy_log(from, shift, first_log, next);
            joined->spans[view.n_logs] =
                (struct lb_span){.events = next, .n = (size_t)(end - next)};
            joined->logs[view.n_logs] = (struct lb_log_view){
                .number = (uint32_t)view.n_logs,
                .name = joined->names[view.n_logs],
                .n_spans = end != next,
                .spans = &joined->spans[view.n_logs],
                .n_events = (uint64_t)(end - next),
                .uncertainty_ns =
                    from->uncertainty_ns + (uncertainty_ns != NULL ? uncertainty_ns[i] : 0)};
            view.n_events += (uint64_t)(end - next);
            next = end;
        }
        uint64_t whole = views[i].whole_ns + shift_of(&views[0], &views[i]) + rise;
        if (views[i].truncated && (!view.truncated || whole < view.whole_ns))
            view.whole_ns = whole;
        view.truncated = view.truncated || views[i].truncated;
        view.is_unchecked = view.is_unchecked || views[i].is_unchecked;
    }
    *ret_view = view;
}

void lb_join_release(struct lb_history_view *view)
{
    struct joined *joined = view->memory;
    *view = (struct lb_history_view){0};
    if (joined == NULL)
        return;
    for (size_t i = 0; i < joined->n_names; i++)
        free(joined->names[i]);
    free(joined->names);
    free(joined->logs);
    free(joined->spans);
    free(joined->events);
    free(joined->meta);
    free(joined);
}
