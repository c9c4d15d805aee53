/* A lock of which nothing needs a closer look, in memory that does not grow with its history.
 *
 * In a calm history each log is cycles of a plain acquire and its release (scan_cycles.c), the
 * clock is exact, nothing is missing, and no hold meets another of its resource. The logs are then
 * read side by side, in order of the grants: one place in each log, and the latest end of each
 * resource, are all that is kept. Most histories of a benchmark that went well are such.
 *
 * The first event that is none of that, and the first two holds that meet, end it: then the history
 * is read again in the ordinary way, which finds what there is. So it only ever says that nothing
 * was found, and what was counted.
 */
#include "judges.h"
#include "merge.h"
#include "scan_logs.h"

#include <stdlib.h>

enum { CYCLE = 4 };

/* A log, and the cycle that comes next in it. */
struct reader {
    const struct lb_log_view *view;
    size_t span, at;              /* behind the cycle */
    uint64_t last_ns;             /* of the event before the cycle */
    uint64_t n_cycles, n_counted; /* done, and granted after the warm-up */
    const struct lb_event *cycle; /* NULL: the log has ended */
    struct lb_event split[CYCLE]; /* one that goes on in the next span */
};

struct calm {
    struct lb_case *c;
    struct reader *readers;
    struct lb_merge merge;
    uint64_t *latest; /* by resource: the end of its last hold */
    uint64_t position, warm_ns, longest_ns, n_releases;
    bool is_calm, has_core;
};

static const struct lb_event *event_ahead(const struct reader *reader, size_t ahead)
{
    size_t span = reader->span, at = reader->at + ahead;
    while (span < reader->view->n_spans && at >= reader->view->spans[span].n)
        at -= reader->view->spans[span++].n;
    return span < reader->view->n_spans ? &reader->view->spans[span].events[at] : NULL;
}

static void skip(const struct calm *calm, struct reader *reader, size_t n)
{
    reader->at += n;
    while (reader->span < reader->view->n_spans &&
           reader->at >= reader->view->spans[reader->span].n) {
        const struct lb_span *span = &reader->view->spans[reader->span++];
        reader->at -= span->n;
        lb_history_forget(calm->c->history, span);
    }
}

/* The warm-up ended: later than all that was granted so far, or it is not known here what counts.
 */
static void take_warm(struct calm *calm, struct reader *reader, const struct lb_event *note)
{
    if (note->time_ns < reader->last_ns || note->time_ns > LB_TIME_MAX ||
        note->time_ns <= calm->position)
        calm->is_calm = false;
    reader->last_ns = note->time_ns;
    if (note->time_ns <= calm->warm_ns)
        return;
    calm->warm_ns = note->time_ns;
    for (size_t i = 0; i < calm->c->history->n_logs; i++)
        calm->readers[i].n_counted = 0;
}

/* Four events that lie in two spans, or the end of the log. */
static bool find_split(struct calm *calm, struct reader *reader)
{
    for (size_t i = 0; i < CYCLE; i++) {
        const struct lb_event *e = event_ahead(reader, i);
        if (e == NULL && i > 0)
            calm->is_calm = false; /* something is under way */
        if (e == NULL)
            return false;
        reader->split[i] = *e;
    }
    return true;
}

/* Goes to the next cycle of a log; returns when it was granted, or LB_NEVER. */
static uint64_t advance(struct calm *calm, struct reader *reader)
{
    const struct lb_case *c = calm->c;
    const struct lb_event *e;
    reader->cycle = NULL;
    while ((e = event_ahead(reader, 0)) != NULL && e->type == LB_EV_NOTE && e->op == LB_OP_WARM) {
        take_warm(calm, reader, e);
        skip(calm, reader, 1);
    }
    if (e == NULL || !calm->is_calm)
        return LB_NEVER;
    if (reader->view->spans[reader->span].n - reader->at < CYCLE) {
        if (!find_split(calm, reader))
            return LB_NEVER;
        e = reader->split;
    }
    __builtin_prefetch(e + 4 * CYCLE);
    if (!lb_is_cycle(e, reader->last_ns) || e->object >= c->n_resources ||
        e[3].time_ns > LB_TIME_MAX) {
        calm->is_calm = false;
        return LB_NEVER;
    }
    reader->last_ns = e[3].time_ns;
    reader->cycle = e;
    return e[1].time_ns;
}

/* The cycle that is granted next, of all logs. */
static void take_cycle(struct calm *calm, struct reader *reader)
{
    const struct lb_event *e = reader->cycle;
    uint64_t start = e[1].time_ns, end = e[2].time_ns, wait_ns = start - e[0].time_ns;
    uint64_t *latest = &calm->latest[e->object], bound = calm->c->model->progress_bound_ns;
    if (*latest > start || (bound > 0 && wait_ns > bound)) {
        calm->is_calm = false;
        return;
    }
    if (end > start) { /* else it meets nothing that does not cover it on both sides */
        *latest = end;
        calm->has_core = true;
    }
    calm->position = start;
    calm->longest_ns = wait_ns > calm->longest_ns ? wait_ns : calm->longest_ns;
    calm->n_releases += (e[3].flags & LB_EVF_EFFECTIVE) != 0;
    reader->n_cycles++;
    reader->n_counted += start >= calm->warm_ns;
    skip(calm, reader, CYCLE);
}

static int read_all(struct calm *calm)
{
    enum { OFTEN = 1 << 16 };
    int rc = 0;
    for (size_t i = 0; rc == 0 && calm->is_calm; i++) {
        struct lb_player first = lb_merge_first(&calm->merge);
        struct reader *reader = &calm->readers[first.number];
        if (first.key == LB_NEVER)
            break;
        if (i % OFTEN == 0)
            rc = lb_case_goes_on(calm->c);
        take_cycle(calm, reader);
        if (calm->is_calm)
            lb_merge_next(&calm->merge, advance(calm, reader));
    }
    return rc;
}

/* What the ordinary way would have left of it. */
static void conclude(const struct calm *calm)
{
    struct lb_case *c = calm->c;
    struct lb_measures *measures = &c->out->measures;
    for (size_t i = 0; i < c->history->n_logs; i++) {
        const struct reader *reader = &calm->readers[i];
        c->logs[i].n_attempts = reader->n_cycles;
        c->logs[i].n_successes = reader->n_counted;
        measures->n_holds += reader->n_cycles;
        c->end_ns = reader->last_ns > c->end_ns ? reader->last_ns : c->end_ns;
    }
    measures->max_depth = calm->has_core;
    measures->longest_wait_ns = calm->longest_ns;
    lb_finding_of(c, LB_G_PROGRESS)->n_tested = measures->n_holds;
    lb_finding_of(c, LB_G_EXCLUSIVE)->n_tested = measures->n_holds;
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested = calm->n_releases;
    c->is_calm = true;
}

/* Before its first event is read, may it be calm? */
static bool may_be_calm(const struct lb_case *c)
{
    bool may_be = !c->model->lease && !c->history->truncated;
    for (size_t i = 0; i < c->history->n_logs; i++)
        may_be = may_be && lb_slack(c, (uint32_t)i) == 0 && c->history->logs[i].n_events < LB_NONE;
    return may_be && c->history->n_events / CYCLE < LB_NONE;
}

int lb_judge_calm_lock(struct lb_case *c)
{
    size_t n = c->history->n_logs;
    struct calm calm = {.c = c, .is_calm = true};
    if (!may_be_calm(c))
        return 0;
    uint64_t *starts = malloc((n + 1) * sizeof *starts);
    calm.readers = calloc(n + 1, sizeof *calm.readers);
    calm.latest = calloc((size_t)c->n_resources + 1, sizeof *calm.latest);
    int rc = starts == NULL || calm.readers == NULL || calm.latest == NULL ? LB_E_MEMORY : 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        calm.readers[i].view = &c->history->logs[i];
    for (size_t i = 0; i < n && rc == 0; i++)
        starts[i] = advance(&calm, &calm.readers[i]);
    if (rc == 0)
        rc = lb_merge_init(&calm.merge, starts, (uint32_t)n);
    rc = rc != 0 ? lb_out_of_memory(c) : read_all(&calm);
    if (rc == 0 && calm.is_calm)
        conclude(&calm);
    free(starts);
    free(calm.readers);
    free(calm.latest);
    free(calm.merge.tree);
    return rc;
}
