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
 *
 * Two threads share the work by time: each log is cut before its first cycle that was granted at
 * the middle of the history or later. What is left to compare is, of each resource, the latest end
 * in the first part with the first grant in the second.
 */
#include "judges.h"
#include "merge.h"
#include "pair.h"
#include "scan_logs.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CYCLE = 4 };

/* A log, or a part of it, and the cycle that comes next in it. */
struct reader {
    struct lb_log_view view;
    size_t span, at;              /* behind the cycle */
    uint64_t last_ns;             /* of the event before the cycle */
    uint64_t n_cycles, n_counted; /* done, and granted after the warm-up */
    const struct lb_event *cycle; /* NULL: the log has ended */
    struct lb_event split[CYCLE]; /* one that goes on in the next span */
};

/* All logs, or the part of all logs that was granted from a time on and before another. */
struct calm {
    struct lb_case *c;
    struct reader *readers;
    struct lb_span *spans; /* of parts of logs; NULL: they are whole */
    struct lb_merge merge;
    uint64_t *latest; /* by resource: the end of its last hold */
    uint64_t *first;  /* by resource: its first grant; LB_NEVER: none. NULL: nobody asks */
    uint64_t from, until;
    uint64_t position, warm_ns, longest_ns, n_releases;
    bool is_calm, has_core;
    atomic_bool *is_over; /* the other part is not calm; it may be seen late: relaxed */
    int rc;
};

static const struct lb_event *event_ahead(const struct reader *reader, size_t ahead)
{
    size_t span = reader->span, at = reader->at + ahead;
    while (span < reader->view.n_spans && at >= reader->view.spans[span].n)
        at -= reader->view.spans[span++].n;
    return span < reader->view.n_spans ? &reader->view.spans[span].events[at] : NULL;
}

static void skip(const struct calm *calm, struct reader *reader, size_t n)
{
    reader->at += n;
    while (reader->span < reader->view.n_spans &&
           reader->at >= reader->view.spans[reader->span].n) {
        const struct lb_span *span = &reader->view.spans[reader->span++];
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
    if (reader->view.spans[reader->span].n - reader->at < CYCLE) {
        if (!find_split(calm, reader))
            return LB_NEVER;
        e = reader->split;
    }
    __builtin_prefetch(e + 4 * CYCLE); /* two cache lines */
    __builtin_prefetch(e + 4 * CYCLE + 2);
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
    if (*latest > start || (bound > 0 && wait_ns > bound) || start < calm->from ||
        start >= calm->until) {
        calm->is_calm = false;
        return;
    }
    if (calm->first != NULL && calm->first[e->object] == LB_NEVER)
        calm->first[e->object] = start;
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
        if (i % OFTEN == 0 && atomic_load_explicit(calm->is_over, memory_order_relaxed))
            calm->is_calm = false;
        take_cycle(calm, reader);
        if (calm->is_calm)
            lb_merge_next(&calm->merge, advance(calm, reader));
    }
    return rc;
}

/* What the ordinary way would have left of a part. */
static void conclude(const struct calm *calm)
{
    struct lb_case *c = calm->c;
    struct lb_measures *measures = &c->out->measures;
    for (size_t i = 0; i < c->history->n_logs; i++) {
        const struct reader *reader = &calm->readers[i];
        if (calm->warm_ns > 0) /* nothing counts that came before */
            c->logs[i].n_successes = 0;
        c->logs[i].n_attempts += reader->n_cycles;
        c->logs[i].n_successes += reader->n_counted;
        measures->n_holds += reader->n_cycles;
        c->end_ns = reader->last_ns > c->end_ns ? reader->last_ns : c->end_ns;
    }
    if (calm->has_core)
        measures->max_depth = 1;
    if (calm->longest_ns > measures->longest_wait_ns)
        measures->longest_wait_ns = calm->longest_ns;
    lb_finding_of(c, LB_G_PROGRESS)->n_tested = measures->n_holds;
    lb_finding_of(c, LB_G_EXCLUSIVE)->n_tested = measures->n_holds;
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested += calm->n_releases;
}

/* Before its first event is read, may it be calm? */
static bool may_be_calm(const struct lb_case *c)
{
    bool may_be = !c->model->lease && !c->history->truncated;
    for (size_t i = 0; i < c->history->n_logs; i++)
        may_be = may_be && lb_slack(c, (uint32_t)i) == 0 && c->history->logs[i].n_events < LB_NONE;
    return may_be && c->history->n_events / CYCLE < LB_NONE;
}

/* Of whole logs. 0 or LB_E_MEMORY, as those below. */
static int calm_init(struct calm *calm, struct lb_case *c, atomic_bool *is_over)
{
    *calm = (struct calm){.c = c, .until = LB_NEVER, .is_calm = true, .is_over = is_over};
    calm->readers = calloc(c->history->n_logs + 1, sizeof *calm->readers);
    calm->latest = calloc((size_t)c->n_resources + 1, sizeof *calm->latest);
    if (calm->readers == NULL || calm->latest == NULL)
        return LB_E_MEMORY;
    for (size_t i = 0; i < c->history->n_logs; i++)
        calm->readers[i].view = c->history->logs[i];
    return 0;
}

static void calm_release(struct calm *calm)
{
    free(calm->readers);
    free(calm->spans);
    free(calm->latest);
    free(calm->first);
    free(calm->merge.tree);
}

static void read_calm(void *arg)
{
    struct calm *calm = arg;
    size_t n = calm->c->history->n_logs;
    uint64_t *starts = malloc((n + 1) * sizeof *starts);
    calm->rc = starts == NULL ? LB_E_MEMORY : 0;
    for (size_t i = 0; i < n && calm->rc == 0; i++)
        starts[i] = advance(calm, &calm->readers[i]);
    if (calm->rc == 0)
        calm->rc = lb_merge_init(&calm->merge, starts, (uint32_t)n);
    if (calm->rc == 0)
        calm->rc = read_all(calm);
    if (!calm->is_calm || calm->rc != 0)
        atomic_store_explicit(calm->is_over, true, memory_order_relaxed);
    free(starts);
}

/* --- two parts --- */

static const struct lb_event *event_at(const struct lb_log_view *log, uint64_t position)
{
    size_t span = 0;
    while (position >= log->spans[span].n)
        position -= log->spans[span++].n;
    return &log->spans[span].events[position];
}

/* The first event of a log that is not before a time, if its times do not go back. */
static uint64_t first_from(const struct lb_log_view *log, uint64_t time)
{
    uint64_t low = 0, high = log->n_events;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (event_at(log, middle)->time_ns < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the first cycle of a log begins that was granted at a time or later. */
static uint64_t find_cut(const struct lb_log_view *log, uint64_t time)
{
    uint64_t at = first_from(log, time);
    const struct lb_event *e = at < log->n_events ? event_at(log, at) : NULL;
    uint64_t ahead = e == NULL || e->op != LB_OP_RELEASE ? 0 : e->type == LB_EV_INVOKE ? 2 : 1;
    if (e != NULL && e->op == LB_OP_ACQUIRE && e->type == LB_EV_OK && at > 0)
        return at - 1;
    return at + ahead < log->n_events ? at + ahead : log->n_events;
}

/* Gives one part of a log the events before a position, and the other those from there on. */
static void cut_log(const struct lb_log_view *log, uint64_t position, struct reader *before,
                    struct lb_span *spans_before, struct reader *after, struct lb_span *spans_after)
{
    before->view.spans = spans_before;
    after->view.spans = spans_after;
    before->view.n_spans = after->view.n_spans = 0;
    if (position > 0)
        after->last_ns = event_at(log, position - 1)->time_ns;
    for (size_t s = 0; s < log->n_spans; s++) {
        const struct lb_span *span = &log->spans[s];
        size_t n = position < span->n ? (size_t)position : span->n;
        if (n > 0)
            spans_before[before->view.n_spans++] = (struct lb_span){span->events, n};
        if (n < span->n)
            spans_after[after->view.n_spans++] = (struct lb_span){span->events + n, span->n - n};
        position -= n;
    }
}

/* Cuts all logs at a time. */
static int cut_logs(struct calm *before, struct calm *after, uint64_t time)
{
    const struct lb_history_view *history = before->c->history;
    size_t n_spans = 0, n_first = (size_t)before->c->n_resources + 1;
    for (size_t i = 0; i < history->n_logs; i++)
        n_spans += history->logs[i].n_spans;
    before->spans = calloc(n_spans + 1, sizeof *before->spans);
    after->spans = calloc(n_spans + 1, sizeof *after->spans);
    after->first = malloc(n_first * sizeof *after->first);
    if (before->spans == NULL || after->spans == NULL || after->first == NULL)
        return LB_E_MEMORY;
    memset(after->first, 0xff, n_first * sizeof *after->first); /* LB_NEVER */
    before->until = after->from = time;
    n_spans = 0;
    for (size_t i = 0; i < history->n_logs; i++) {
        const struct lb_log_view *log = &history->logs[i];
        cut_log(log, find_cut(log, time), &before->readers[i], before->spans + n_spans,
                &after->readers[i], after->spans + n_spans);
        n_spans += log->n_spans;
    }
    return 0;
}

/* The time at the middle of the longest log. */
static uint64_t middle_of(const struct lb_history_view *history)
{
    const struct lb_log_view *longest = NULL;
    for (size_t i = 0; i < history->n_logs; i++)
        if (longest == NULL || history->logs[i].n_events > longest->n_events)
            longest = &history->logs[i];
    return longest != NULL && longest->n_events > 0
               ? event_at(longest, longest->n_events / 2)->time_ns
               : 0;
}

/* Does a hold of the second part meet one of the first? */
static bool parts_meet(const struct calm *before, const struct calm *after)
{
    for (uint32_t i = 0; i < before->c->n_resources; i++)
        if (before->latest[i] > after->first[i])
            return true;
    return false;
}

static int judge_parts(struct lb_case *c)
{
    struct calm before = {.rc = 0}, after = {.rc = 0};
    atomic_bool is_over = false;
    int rc = calm_init(&before, c, &is_over);
    if (rc == 0)
        rc = calm_init(&after, c, &is_over);
    if (rc == 0)
        rc = cut_logs(&before, &after, middle_of(c->history));
    if (rc == 0)
        lb_pair(read_calm, &after, &before);
    rc = rc != 0 ? rc : before.rc != 0 ? before.rc : after.rc;
    c->is_calm = rc == 0 && before.is_calm && after.is_calm && !parts_meet(&before, &after);
    if (c->is_calm) {
        conclude(&before);
        conclude(&after);
    }
    calm_release(&before);
    calm_release(&after);
    return rc == LB_E_MEMORY ? lb_out_of_memory(c) : rc;
}

int lb_judge_calm_lock(struct lb_case *c)
{
    struct calm calm;
    atomic_bool is_over = false;
    if (!may_be_calm(c))
        return 0;
    if (c->model->threads > 1 && c->model->gives_up == NULL) /* that is asked by one thread */
        return judge_parts(c);
    calm.rc = calm_init(&calm, c, &is_over);
    if (calm.rc == 0)
        read_calm(&calm);
    c->is_calm = calm.rc == 0 && calm.is_calm;
    if (c->is_calm)
        conclude(&calm);
    calm_release(&calm);
    return calm.rc == LB_E_MEMORY ? lb_out_of_memory(c) : calm.rc;
}
