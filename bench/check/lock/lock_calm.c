/* A lock of which nothing needs a closer look, in memory that does not grow with its history.
 *
 * In a calm history each log is cycles of a plain acquire and its release (scan_cycles.c), and
 * acquires that were refused; the clock is exact, nothing is missing, and no hold meets another of
 * its resource. The logs are then read side by side, in order of the grants and refusals: one place
 * in each log, and the latest end of each resource, are all that is kept. Most histories of a
 * benchmark that went well are such.
 *
 * A "busy" is justified (refusals.c) by the hold before it, which is known when it is read, or by
 * the next grant of its resource: until then it is kept. Holds that begin and end in one tick have
 * no order among them: with refusals beside them the history is not calm.
 *
 * The first event that is none of that, and the first two holds that meet, end it: then the history
 * is read again in the ordinary way, which produces the findings. So it only ever reports that
 * nothing was found, and the counts.
 *
 * Two threads share the work by time: each log is cut before its first cycle granted at the middle
 * of the history or later. Then the latest end in the first part must be compared with the first
 * grant in the second, for each resource, and the refusals between them.
 */
#include "judges.h"
#include "merge.h"
#include "pair.h"
#include "scan_logs.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CYCLE = 4, REFUSAL = 2 }; /* events */

/* A log, or a part of it, and the cycle or refusal that comes next in it. */
struct reader {
    struct lb_log_view view;
    size_t span, at;              /* of the next events */
    uint64_t last_ns;             /* of its last event, and before that of the one before it */
    uint64_t n_cycles, n_counted; /* done, and granted after the warm-up */
    uint64_t n_refusals;
    const struct lb_event *next;  /* NULL: the log has ended */
    struct lb_event split[CYCLE]; /* a cycle that continues in the next span */
    bool is_refused;              /* it is a refusal */
    bool is_waiting;              /* it was refused, and not granted since */
    uint32_t wait_object;
    uint64_t wait_ns, refused_ns; /* when it first asked; the answer to its last try, if refused */
};

/* A refusal that the hold before it does not justify. */
struct refused {
    uint64_t low, high;
    uint32_t object;
    uint32_t next;  /* of its resource, or that is free; LB_NONE */
    bool is_closed; /* the next grant is known, */
    bool is_early;  /* and was the first of its part */
};

/* Of a resource: when its last hold ended, and its release was answered. 0: there was none. */
struct last {
    uint64_t end, released;
};

/* Of a resource: its first grant, and the time of its request; LB_NEVER: none. */
struct first {
    uint64_t start, asked;
};

/* All logs, or the part of all logs that was granted from a time on and before another. */
struct calm {
    struct lb_case *c;
    struct reader *readers;
    struct lb_span *spans; /* of parts of logs; NULL: they are whole */
    struct lb_merge merge;
    struct last *last;       /* by resource */
    struct first *first;     /* by resource; NULL: not needed */
    struct lb_array refused; /* struct refused, which wait for the next grant, and free places */
    uint32_t *waiting;       /* by resource: the first refusal; NULL: none yet */
    uint32_t free_place;
    uint64_t from, until;
    uint64_t position, warm_ns, longest_ns, n_releases;
    uint64_t n_refusals, n_unjustified, n_unanswered; /* waits that did not end */
    bool is_calm, has_core, has_empty;
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

/* The events that come next in a log, as many as a cycle has; fewer at its end. Stores how many. */
static const struct lb_event *look_ahead(struct reader *reader, size_t *ret_n)
{
    *ret_n = CYCLE;
    if (reader->span < reader->view.n_spans &&
        reader->view.spans[reader->span].n - reader->at >= CYCLE)
        return &reader->view.spans[reader->span].events[reader->at];
    for (*ret_n = 0; *ret_n < CYCLE; ++*ret_n) {
        const struct lb_event *e = event_ahead(reader, *ret_n);
        if (e == NULL)
            break;
        reader->split[*ret_n] = *e;
    }
    return reader->split;
}

/* A plain acquire, and that it was refused for now. */
static bool is_refusal(const struct lb_event *e, uint64_t last_ns)
{
    return e[0].type == LB_EV_INVOKE && e[1].type == LB_EV_FAIL && e[0].op == LB_OP_ACQUIRE &&
           e[1].op == LB_OP_ACQUIRE && (e[1].answer == LB_BUSY || e[1].answer == LB_TIMEOUT) &&
           e[0].flags == 0 && e[1].flags == 0 && e[0].arg <= 1 && e[0].object == e[1].object &&
           e[0].process == e[1].process && e[0].time_ns >= last_ns && e[1].time_ns >= e[0].time_ns;
}

static void end_wait(struct calm *calm, uint64_t wait_ns)
{
    uint64_t bound = calm->c->model->progress_bound_ns;
    if (bound > 0 && wait_ns > bound)
        calm->is_calm = false;
    calm->longest_ns = wait_ns > calm->longest_ns ? wait_ns : calm->longest_ns;
}

/* A worker that still waits at the end of its log waited until then. */
static void end_log(struct calm *calm, struct reader *reader)
{
    reader->next = NULL;
    if (!reader->is_waiting || calm->until != LB_NEVER)
        return;
    end_wait(calm, reader->last_ns - reader->wait_ns);
    calm->n_unanswered++;
}

/* Goes to the next cycle or refusal of a log; returns a number that grows with the time of its
 * answer, and is larger for refusals at the same time; LB_NEVER: none. */
static uint64_t advance(struct calm *calm, struct reader *reader)
{
    const struct lb_case *c = calm->c;
    size_t n;
    const struct lb_event *e = look_ahead(reader, &n);
    while (n > 0 && e->type == LB_EV_NOTE && e->op == LB_OP_WARM) {
        take_warm(calm, reader, e);
        skip(calm, reader, 1);
        e = look_ahead(reader, &n);
    }
    if (n == 0)
        end_log(calm, reader);
    if (n == 0 || !calm->is_calm)
        return LB_NEVER;
    __builtin_prefetch(e + 4 * CYCLE); /* two cache lines */
    __builtin_prefetch(e + 4 * CYCLE + 2);
    reader->is_refused = n >= REFUSAL && is_refusal(e, reader->last_ns);
    const struct lb_event *end = reader->is_refused ? &e[1] : &e[3];
    if ((!reader->is_refused && (n < CYCLE || !lb_is_cycle(e, reader->last_ns))) ||
        e->object >= c->n_resources || end->time_ns > LB_TIME_MAX) {
        calm->is_calm = false;
        return LB_NEVER;
    }
    reader->last_ns = end->time_ns;
    reader->next = e;
    return 2 * e[1].time_ns + reader->is_refused;
}

/* --- refusals --- */

/* Keeps one until the next grant of its resource. */
static void keep_refused(struct calm *calm, const struct lb_event *e)
{
    size_t n = (size_t)calm->c->n_resources + 1;
    if (calm->waiting == NULL) {
        calm->waiting = lb_malloc(n * sizeof *calm->waiting);
        memset(calm->waiting, 0xff, n * sizeof *calm->waiting); /* LB_NONE */
        calm->free_place = LB_NONE;
    }
    struct refused *refused = calm->refused.items;
    uint32_t place = calm->free_place;
    if (place == LB_NONE) {
        place = (uint32_t)calm->refused.n;
        lb_array_push(&calm->refused, sizeof *refused);
        refused = calm->refused.items;
    } else {
        calm->free_place = refused[place].next;
    }
    refused[place] = (struct refused){.low = e[0].time_ns,
                                      .high = e[1].time_ns,
                                      .object = e->object,
                                      .next = calm->waiting[e->object]};
    calm->waiting[e->object] = place;
}

/* The next grant of a resource, for those that wait for it. Of those before the first grant of a
 * part, the hold before them is in the other part. */
static void end_refused(struct calm *calm, const struct lb_event *e, bool is_first)
{
    struct refused *refused = calm->refused.items;
    uint32_t place = calm->waiting[e->object];
    calm->waiting[e->object] = LB_NONE;
    for (uint32_t next; place != LB_NONE; place = next) {
        next = refused[place].next;
        refused[place].is_early = is_first;
        refused[place].is_closed = !is_first;
        if (is_first)
            continue;
        calm->n_unjustified += e[0].time_ns > refused[place].high;
        refused[place].next = calm->free_place;
        calm->free_place = place;
    }
}

static bool is_held(const struct last *last, uint64_t low)
{
    return last->end > 0 && (last->end >= low || last->released >= low);
}

/* A worker that tries another resource has given up the one that it waited for. */
static void give_up(struct calm *calm, struct reader *reader, uint32_t object)
{
    if (!reader->is_waiting || reader->wait_object == object)
        return;
    reader->is_waiting = false;
    end_wait(calm, reader->refused_ns - reader->wait_ns);
    calm->n_unanswered++;
}

static void take_refusal(struct calm *calm, struct reader *reader)
{
    const struct lb_event *e = reader->next;
    const struct lb_model *model = calm->c->model;
    if (e[1].time_ns < calm->from || e[1].time_ns >= calm->until)
        calm->is_calm = false;
    give_up(calm, reader, e->object);
    if (!reader->is_waiting) {
        reader->is_waiting = true;
        reader->wait_object = e->object;
        reader->wait_ns = e[0].time_ns;
    }
    reader->refused_ns = e[1].time_ns;
    calm->n_refusals++;
    reader->n_refusals++;
    bool is_judged = model->complete && e[1].answer == LB_BUSY &&
                     (model->capacity == NULL || model->capacity[e->object] <= 1);
    if (is_judged && !is_held(&calm->last[e->object], e[0].time_ns))
        keep_refused(calm, e);
}

/* --- cycles --- */

static void take_cycle(struct calm *calm, struct reader *reader)
{
    const struct lb_event *e = reader->next;
    uint64_t start = e[1].time_ns, end = e[2].time_ns, since_ns = e[0].time_ns;
    struct last *last = &calm->last[e->object];
    bool is_first = calm->first != NULL && calm->first[e->object].start == LB_NEVER;
    give_up(calm, reader, e->object);
    if (reader->is_waiting)
        since_ns = reader->wait_ns;
    reader->is_waiting = false;
    end_wait(calm, start - since_ns);
    if (last->end > start || start < calm->from || start >= calm->until)
        calm->is_calm = false;
    if (calm->waiting != NULL)
        end_refused(calm, e, is_first);
    if (is_first)
        calm->first[e->object] = (struct first){.start = start, .asked = e[0].time_ns};
    if (end > start) { /* else it meets nothing that does not cover it on both sides */
        *last = (struct last){.end = end, .released = e[3].time_ns};
        calm->has_core = true;
    } else {
        calm->has_empty = true;
    }
    calm->position = start;
    calm->n_releases += (e[3].flags & LB_EVF_EFFECTIVE) != 0;
    reader->n_cycles++;
    reader->n_counted += start >= calm->warm_ns;
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
        if (reader->is_refused && rc == 0)
            take_refusal(calm, reader);
        else if (rc == 0)
            take_cycle(calm, reader);
        skip(calm, reader, reader->is_refused ? REFUSAL : CYCLE);
        if (calm->is_calm && rc == 0)
            lb_merge_next(&calm->merge, advance(calm, reader));
    }
    return rc;
}

/* Sets the results that the ordinary way would have for a part. */
static void conclude(const struct calm *calm)
{
    struct lb_case *c = calm->c;
    struct lb_measures *measures = &c->out->measures;
    const uint64_t n_before = measures->n_holds; /* of the other part */
    for (size_t i = 0; i < c->history->n_logs; i++) {
        const struct reader *reader = &calm->readers[i];
        if (calm->warm_ns > 0) /* nothing counts that came before */
            c->logs[i].n_successes = 0;
        c->logs[i].n_attempts += reader->n_cycles + reader->n_refusals;
        c->logs[i].n_successes += reader->n_counted;
        measures->n_holds += reader->n_cycles;
        c->end_ns = reader->last_ns > c->end_ns ? reader->last_ns : c->end_ns;
    }
    if (calm->has_core)
        measures->max_depth = 1;
    if (calm->longest_ns > measures->longest_wait_ns)
        measures->longest_wait_ns = calm->longest_ns;
    measures->n_refusals += calm->n_refusals;
    measures->n_refusals_unjustified += calm->n_unjustified;
    lb_finding_of(c, LB_G_PROGRESS)->n_tested += measures->n_holds - n_before + calm->n_unanswered;
    lb_finding_of(c, LB_G_EXCLUSIVE)->n_tested = measures->n_holds;
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested += calm->n_releases;
}

/* Before its first event is read, may it be calm? */
static bool may_be_calm(const struct lb_case *c)
{
    bool may_be = !c->model->lease && !c->history->truncated;
    for (size_t i = 0; i < c->history->n_logs; i++)
        may_be = may_be && lb_slack(c, (uint32_t)i) == 0 && c->history->logs[i].n_events < LB_NONE;
    return may_be && c->history->n_events / REFUSAL < LB_NONE;
}

/* Of whole logs. */
static void calm_init(struct calm *calm, struct lb_case *c, atomic_bool *is_over)
{
    *calm = (struct calm){.c = c, .until = LB_NEVER, .is_calm = true, .is_over = is_over};
    calm->readers = lb_calloc(c->history->n_logs + 1, sizeof *calm->readers);
    calm->last = lb_calloc((size_t)c->n_resources + 1, sizeof *calm->last);
    for (size_t i = 0; i < c->history->n_logs; i++)
        calm->readers[i].view = c->history->logs[i];
}

static void calm_release(struct calm *calm)
{
    free(calm->readers);
    free(calm->spans);
    free(calm->last);
    free(calm->first);
    free(calm->refused.items);
    free(calm->waiting);
    free(calm->merge.tree);
}

static void read_calm(void *arg)
{
    struct calm *calm = arg;
    size_t n = calm->c->history->n_logs;
    uint64_t *starts = lb_malloc((n + 1) * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[i] = advance(calm, &calm->readers[i]);
    lb_merge_init(&calm->merge, starts, (uint32_t)n);
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

/* Where the first cycle or refusal of a log begins that was answered at a time or later. */
static uint64_t find_cut(const struct lb_log_view *log, uint64_t time)
{
    uint64_t at = first_from(log, time);
    const struct lb_event *e = at < log->n_events ? event_at(log, at) : NULL;
    uint64_t ahead = e == NULL || e->op != LB_OP_RELEASE ? 0 : e->type == LB_EV_INVOKE ? 2 : 1;
    if (e != NULL && e->op == LB_OP_ACQUIRE && e->type != LB_EV_INVOKE && at > 0)
        return at - 1;
    return at + ahead < log->n_events ? at + ahead : log->n_events;
}

/* The event before a place, which goes there; NULL: there is none. */
static const struct lb_event *event_before(const struct lb_log_view *log, size_t *span, size_t *at)
{
    while (*at == 0) {
        if (*span == 0)
            return NULL;
        *at = log->spans[--*span].n;
    }
    return &log->spans[*span].events[--*at];
}

/* Whether, and since when, the worker waits where a log is cut. */
static void find_wait(const struct lb_log_view *log, uint64_t position, struct reader *after)
{
    size_t span = 0, at = (size_t)position;
    while (span < log->n_spans && at > log->spans[span].n)
        at -= log->spans[span++].n;
    for (const struct lb_event *e; (e = event_before(log, &span, &at)) != NULL;) {
        if (e->op != LB_OP_ACQUIRE && e->type != LB_EV_NOTE)
            break; /* it had got the lock */
        if (e->type == LB_EV_FAIL && !after->is_waiting && after->refused_ns == 0)
            after->refused_ns = e->time_ns;
        if (e->type == LB_EV_NOTE || e->type == LB_EV_FAIL)
            continue;
        if (after->is_waiting && after->wait_object != e->object)
            break;
        after->is_waiting = true;
        after->wait_object = e->object;
        after->wait_ns = e->time_ns;
    }
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
static void cut_logs(struct calm *before, struct calm *after, uint64_t time)
{
    const struct lb_history_view *history = before->c->history;
    const size_t n_first = (size_t)before->c->n_resources + 1;
    size_t n_spans = 0;
    for (size_t i = 0; i < history->n_logs; i++)
        n_spans += history->logs[i].n_spans;
    before->spans = lb_calloc(n_spans + 1, sizeof *before->spans);
    after->spans = lb_calloc(n_spans + 1, sizeof *after->spans);
    after->first = lb_malloc(n_first * sizeof *after->first);
    memset(after->first, 0xff, n_first * sizeof *after->first); /* LB_NEVER */
    before->until = after->from = time;
    n_spans = 0;
    for (size_t i = 0; i < history->n_logs; i++) {
        const struct lb_log_view *log = &history->logs[i];
        uint64_t position = find_cut(log, time);
        cut_log(log, position, &before->readers[i], before->spans + n_spans, &after->readers[i],
                after->spans + n_spans);
        find_wait(log, position, &after->readers[i]);
        n_spans += log->n_spans;
    }
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
        if (before->last[i].end > after->first[i].start)
            return true;
    return false;
}

/* Counts the refusals of a part that nothing justifies, of those that still wait for the next grant
 * of their resource: it never came, or it is the first one of the second part. Then the hold before
 * them is in the first. after NULL: there is no second. */
static void count_open(struct calm *part, const struct calm *before, const struct calm *after)
{
    const struct refused *refused = part->refused.items;
    for (size_t i = 0; i < part->refused.n; i++) {
        const struct refused *one = &refused[i];
        const struct first *first = after != NULL ? &after->first[one->object] : NULL;
        bool is_between =
            first != NULL && (part == before || one->is_early || first->start == LB_NEVER);
        bool is_justified = is_between && (first->asked <= one->high ||
                                           is_held(&before->last[one->object], one->low));
        part->n_unjustified += !one->is_closed && !is_justified;
    }
}

/* Is nothing left to be looked at? */
static bool is_over_calm(const struct calm *calm)
{
    return calm->is_calm && (calm->n_refusals == 0 || !calm->has_empty);
}

static int judge_parts(struct lb_case *c)
{
    struct calm before = {.rc = 0}, after = {.rc = 0};
    atomic_bool is_over = false;
    calm_init(&before, c, &is_over);
    calm_init(&after, c, &is_over);
    cut_logs(&before, &after, middle_of(c->history));
    lb_pair(read_calm, &after, &before);
    int rc = before.rc != 0 ? before.rc : after.rc;
    before.has_empty = after.has_empty = before.has_empty || after.has_empty;
    c->is_calm =
        rc == 0 && is_over_calm(&before) && is_over_calm(&after) && !parts_meet(&before, &after);
    if (c->is_calm) {
        count_open(&before, &before, &after);
        count_open(&after, &before, &after);
        conclude(&before);
        conclude(&after);
    }
    calm_release(&before);
    calm_release(&after);
    return rc;
}

int lb_judge_calm_lock(struct lb_case *c)
{
    struct calm calm;
    atomic_bool is_over = false;
    if (!may_be_calm(c))
        return 0;
    if (c->model->threads > 1 && c->model->gives_up == NULL) /* gives_up is called by one thread */
        return judge_parts(c);
    calm_init(&calm, c, &is_over);
    read_calm(&calm);
    c->is_calm = calm.rc == 0 && is_over_calm(&calm);
    if (c->is_calm) {
        count_open(&calm, &calm, NULL);
        conclude(&calm);
    }
    calm_release(&calm);
    return calm.rc;
}
