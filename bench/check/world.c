/* Ends of the holds of workers that cannot release them any more.
 *
 * A hold that is open where its log ends lasts for ever: to one tick after the last moment of the
 * run, so that a grant at that very moment meets it. Its holder may have died: then it is held
 * still, as far as the history can tell, unless
 *   - its lease ends it: that is its cut, from scan_lock.c,
 *   - the server said that its session ended: it may have been at any time since the fault that
 *     ended it, or since the death. Without a cause in the history, it was there for all that it
 *     answered before the note. A grant that was committed, and whose history says so because
 *     servers fail over in it, is none of the session's,
 *   - a recovery freed the dead worker's hold: no earlier than its request.
 * Of a history that was cut off, a log is believed as far as it goes.
 */
#include "scan_logs.h"

#include "order.h"

#include <stdlib.h>

void lb_scan_world(struct lb_case *c, uint32_t log, const struct lb_invoked *operation,
                   const struct lb_event *end, int type)
{
    const struct lb_event *invoke = operation->event;
    if (type == LB_EV_FAIL)
        return;
    struct lb_world_event *world = lb_array_push(&c->world, sizeof *world);
    uint64_t slack = lb_slack(c, log);
    *world =
        (struct lb_world_event){.low = lb_low(invoke->time_ns, slack),
                                .high = type == LB_EV_OK ? lb_high(end->time_ns, slack) : LB_NEVER,
                                .log = log,
                                .event = operation->index,
                                .target = invoke->object,
                                .age_ms = invoke->arg,
                                .op = invoke->op,
                                .type = (uint8_t)type};
}

/* A death that the writer itself noted came after the note. One that another noted came at any
 * time after the log's last event. */
void lb_world_deaths(struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    for (size_t i = 0; i < c->history->n_logs; i++)
        c->logs[i].death_ns = c->logs[i].gone_ns = LB_NEVER;
    for (size_t i = 0; i < c->world.n; i++) {
        if (world[i].op != LB_OP_DEATH || world[i].target >= c->history->n_logs)
            continue;
        struct lb_log_facts *facts = &c->logs[world[i].target];
        if (world[i].low < facts->death_ns)
            facts->death_ns = world[i].low;
        uint64_t alive = lb_low(facts->last_ns, lb_slack(c, world[i].target));
        uint64_t gone =
            world[i].log != world[i].target && alive < world[i].low ? alive : world[i].low;
        if (gone < facts->gone_ns)
            facts->gone_ns = gone;
    }
}

/* --- ends of sessions, and their possible causes, by log --- */

enum what { ENDED, FAULT, DEATH, OWN_DEATH };

struct moment {
    uint64_t at;
    uint32_t log; /* LB_NONE: all */
    uint32_t what;
};

static int by_log(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void find_unnoted(struct lb_case *c);

void lb_world_sessions(struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    for (size_t i = 0; i < c->world.n; i++) {
        const struct lb_world_event *e = &world[i];
        bool is_fault = e->op == LB_OP_FAULT && e->phase == 0;
        if (e->op != LB_OP_SESSION_END && e->op != LB_OP_DEATH && !is_fault)
            continue;
        struct moment *moment = lb_array_push(&c->moments, sizeof *moment);
        *moment = (struct moment){.at = e->op == LB_OP_SESSION_END ? e->high : e->low,
                                  .log = e->target,
                                  .what = e->op == LB_OP_SESSION_END ? ENDED
                                          : is_fault                 ? FAULT
                                          : e->log == e->target      ? OWN_DEATH
                                                                     : DEATH};
    }
    if (c->moments.n > 1)
        qsort(c->moments.items, c->moments.n, sizeof(struct moment), by_log);
    find_unnoted(c);
}

/* The place of the first moment that does not come before another; their number: there is none. */
static size_t first_from(const struct lb_case *c, const struct moment *from)
{
    return lb_order_first(c->moments.items, c->moments.n, sizeof *from, from, by_log);
}

/* When something of a log was first, from since to until; LB_NEVER. */
static uint64_t first_within(const struct lb_case *c, uint32_t log, enum what what, uint64_t since,
                             uint64_t until)
{
    const struct moment *moments = c->moments.items;
    size_t i = first_from(c, &(struct moment){since, log, what});
    return i < c->moments.n && moments[i].log == log && moments[i].what == (uint32_t)what &&
                   moments[i].at <= until
               ? moments[i].at
               : LB_NEVER;
}

/* When a session of the log was last noted to have ended before a time; 0: never. */
static uint64_t last_end(const struct lb_case *c, uint32_t log, uint64_t before)
{
    const struct moment *moments = c->moments.items;
    size_t i = first_from(c, &(struct moment){before, log, ENDED});
    bool is_one = i > 0 && moments[i - 1].log == log && moments[i - 1].what == ENDED;
    return is_one ? moments[i - 1].at : 0;
}

/* When what may have ended a session of the log was first, from since to until; LB_NEVER. A worker
 * that notes its own death dies of the fault, and has its session until then: a worker that was
 * asked to stop, or that has failed before, goes on for a while. */
static uint64_t first_cause(const struct lb_case *c, uint32_t log, uint64_t since, uint64_t until)
{
    uint64_t own = first_within(c, log, OWN_DEATH, since, until);
    uint64_t cause = own != LB_NEVER ? own : first_within(c, log, FAULT, since, until);
    uint64_t everybody = first_within(c, LB_NONE, FAULT, since, until);
    cause = everybody < cause ? everybody : cause;
    if (first_within(c, log, DEATH, since, until) != LB_NEVER && c->logs[log].gone_ns < cause)
        cause = c->logs[log].gone_ns;
    return cause;
}

/* How many events of a log came before a time. A note may stand behind what is later. */
static uint32_t events_before(const struct lb_case *c, uint32_t log, uint64_t time)
{
    uint64_t slack = lb_slack(c, log);
    uint32_t low = 0, high = (uint32_t)c->history->logs[log].n_events;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, event = middle;
        while (event > low && lb_case_event(c, log, event)->type == LB_EV_NOTE)
            event--;
        if (lb_high(lb_case_event(c, log, event)->time_ns, slack) < time)
            low = middle + 1;
        else
            high = event;
    }
    return low;
}

/* The invoke of the last operation that a log's session answered before a time; 0: none. */
static uint64_t answered_before(const struct lb_case *c, uint32_t log, uint64_t time)
{
    for (uint32_t event = events_before(c, log, time); event > 0;) {
        uint8_t type = lb_case_event(c, log, --event)->type;
        if (type == LB_EV_OK || type == LB_EV_FAIL)
            return lb_low(lb_case_event(c, log, lb_case_invoke(c, log, event))->time_ns,
                          lb_slack(c, log));
    }
    return 0;
}

uint64_t lb_world_session_end(const struct lb_case *c, const struct lb_world_event *note)
{
    /* The session was there for all that it answered before the note. */
    uint64_t alive =
        note->log == note->target ? note->alive : answered_before(c, note->target, note->low);
    if (c->moments.n == 0)
        return alive;
    uint64_t previous = last_end(c, note->target, note->low);
    uint64_t cause = first_cause(c, note->target, previous, note->high);
    if (cause != LB_NEVER)
        return cause;
    return alive > previous ? alive : previous;
}

/* Of a history that was cut, the note that a session had ended may be missing. Its own worker's
 * comes after its last answer. Another's is of the session that answered last before the cut. */
static void find_unnoted(struct lb_case *c)
{
    for (uint32_t log = 0; log < c->history->n_logs; log++) {
        struct lb_log_facts *facts = &c->logs[log];
        facts->unnoted = LB_NEVER;
        if (c->known_ns == LB_NEVER)
            continue;
        uint64_t since = last_end(c, log, c->known_ns);
        uint64_t cause = first_cause(c, log, since, LB_NEVER);
        uint64_t alive = answered_before(c, log, c->known_ns);
        since = cause != LB_NEVER ? cause : alive > since ? alive : since;
        facts->unnoted = since < facts->answered_low ? since : facts->answered_low;
    }
}

/* How far find_late read the events of a hold's resource, from its grant: all that were answered
 * before low. */
struct walk {
    uint64_t low, asked; /* asked: of the last invoke */
    uint32_t event;      /* the next one, or LB_NONE; 0: it did not begin */
    uint32_t n_inner;    /* grants of the same session within, or beside, the hold */
    bool is_open;        /* an acquire is not answered yet */
    bool is_over;        /* nothing is certain */
};

/* Built before the first note of an ended session is applied, to find what a note applies to. */
struct index {
    uint64_t *last;   /* by hold: how far it lasts at most */
    uint32_t *longer; /* by hold: the next one of its log before it, from 1, that lasts longer; 0 */
    struct walk *walks; /* by hold */
    uint32_t **next;    /* by log, NULL before it is used: by event, the next one of its object */
};

static void open_index(const struct lb_case *c, struct index *index)
{
    *index = (struct index){.last = lb_malloc((c->holds.n + 1) * sizeof *index->last),
                            .longer = lb_malloc((c->holds.n + 1) * sizeof *index->longer),
                            .walks = lb_calloc(c->holds.n + 1, sizeof *index->walks),
                            .next = lb_calloc(c->history->n_logs + 1, sizeof *index->next)};
    for (size_t log = 0; log < c->history->n_logs; log++) {
        size_t first = c->logs[log].first_hold, end = first + c->logs[log].n_holds;
        for (size_t i = first; i < end; i++) {
            const struct lb_hold *hold = &lb_holds(c)[i];
            uint32_t before = i > first ? (uint32_t)i : 0;
            index->last[i] = hold->end > hold->cut ? hold->end : hold->cut;
            while (before > 0 && index->last[before - 1] <= index->last[i])
                before = index->longer[before - 1];
            index->longer[i] = before;
        }
    }
}

/* By event of a log: the next one of the same object that is no note. */
static const uint32_t *next_of_object(const struct lb_case *c, struct index *index, uint32_t log)
{
    uint32_t n = (uint32_t)c->history->logs[log].n_events;
    if (index->next[log] != NULL)
        return index->next[log];
    uint32_t *next = lb_malloc(((size_t)n + 1) * sizeof *next);
    uint32_t *last = lb_malloc(((size_t)c->n_resources + 1) * sizeof *last);
    memset(last, 0xff, ((size_t)c->n_resources + 1) * sizeof *last); /* LB_NONE */
    for (uint32_t i = n; i-- > 0;) {
        const struct lb_event *e = lb_case_event(c, log, i);
        next[i] = LB_NONE;
        if (e->type == LB_EV_NOTE || e->object >= c->n_resources)
            continue;
        next[i] = last[e->object];
        last[e->object] = i;
    }
    free(last);
    index->next[log] = next;
    return next;
}

/* How many holds of a log had begun by a time. */
static size_t begun_by(const struct lb_case *c, const struct lb_log_facts *facts, uint64_t time)
{
    size_t low = 0, high = facts->n_holds;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lb_holds(c)[facts->first_hold + middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The request time of a hold, or for its continuation the time of the renewal. */
static uint64_t asked_for(const struct lb_case *c, const struct lb_hold *hold)
{
    uint64_t slack = lb_slack(c, hold->log), asked = 0;
    uint64_t n = c->history->logs[hold->log].n_events;
    for (uint32_t i = hold->event + 1; hold->is_piece && i < n; i++) {
        const struct lb_event *e = lb_case_event(c, hold->log, i);
        if (e->type == LB_EV_INVOKE)
            asked = e->time_ns;
        if (e->op == LB_OP_RENEW && e->type == LB_EV_OK &&
            lb_high(e->time_ns, slack) == hold->start)
            return lb_low(asked, slack);
    }
    return lb_hold_asked(c, hold);
}

/* Its session may have ended from a time on. */
static void lose(struct lb_case *c, struct lb_hold *hold, uint64_t lost)
{
    hold->is_lost = hold->is_lost || hold->cut >= lost;
    if (hold->cut <= lost)
        return;
    hold->cut = lost;
    c->has_cuts = true;
}

static void end_unnoted(struct lb_case *c)
{
    for (size_t i = 0; i < c->holds.n; i++) {
        struct lb_hold *hold = &lb_holds(c)[i];
        const struct lb_log_facts *facts = &c->logs[hold->log];
        if (hold->is_committed || hold->cut <= facts->unnoted)
            continue;
        uint64_t asked = asked_for(c, hold), lost = facts->unnoted > asked ? facts->unnoted : asked;
        if (lost < hold->cut && lost < c->had_again)
            c->had_again = lost; /* it may have lasted, and its effect on others is unknown */
        lose(c, hold, lost);
    }
}

/* A worker that renews with effect after its session may have ended has the lease, perhaps again:
 * owner.c must not take the lease for another's. */
static void note_again(struct lb_case *c, const struct lb_hold *hold, uint64_t low)
{
    uint64_t slack = lb_slack(c, hold->log), n = c->history->logs[hold->log].n_events, asked = 0;
    for (uint32_t i = hold->event + 1; c->model->lease && i < n && asked < c->had_again; i++) {
        const struct lb_event *e = lb_case_event(c, hold->log, i);
        if (e->type == LB_EV_NOTE || e->object != hold->resource)
            continue;
        if (e->type == LB_EV_INVOKE)
            asked = lb_low(e->time_ns, slack);
        else if (e->type == LB_EV_OK && e->op != LB_OP_RENEW)
            return;
        else if (e->type == LB_EV_OK && asked >= low)
            c->had_again = asked;
    }
}

static void push_late(struct lb_case *c, const struct lb_hold *hold, uint64_t asked, uint32_t event)
{
    struct lb_late_release *late = c->late.items;
    for (size_t i = 0; i < c->late.n; i++)
        if (late[i].log == hold->log && late[i].event == event) {
            late[i].by_session = true;
            return;
        }
    late = lb_array_push(&c->late, sizeof *late);
    const struct lb_event *end = lb_case_event(c, hold->log, event);
    *late = (struct lb_late_release){.low = asked,
                                     .high = lb_high(end->time_ns, lb_slack(c, hold->log)),
                                     .id = hold->resource,
                                     .log = hold->log,
                                     .event = event,
                                     .grant = hold->event,
                                     .by_session = true};
}

/* True if the worker may have had another hold of the resource, at the grant of this one, that
 * outlasts its session. */
static bool keeps_other(const struct lb_case *c, const struct lb_hold *hold)
{
    bool is_open = false;
    for (uint32_t i = 0; i < hold->event && c->logs[hold->log].keeps; i++) {
        const struct lb_event *e = lb_case_event(c, hold->log, i);
        if (e->type == LB_EV_NOTE || e->object != hold->resource || e->op != LB_OP_ACQUIRE)
            continue;
        bool is_ok = e->type == LB_EV_OK;
        if ((e->type == LB_EV_INVOKE && is_open) || e->type == LB_EV_INFO ||
            (is_ok && (e->flags & LB_EVF_COMMITTED) != 0))
            return true;
        is_open = e->type == LB_EV_INVOKE;
    }
    return false;
}

/* Reads one event of the hold's resource. It is before the note if it was answered before the
 * session ended. */
static void step(struct walk *walk, const struct lb_event *e, uint64_t slack, bool is_before)
{
    if (e->type == LB_EV_INVOKE) {
        walk->is_over = walk->is_open;
        walk->asked = lb_low(e->time_ns, slack);
        walk->is_open = e->op == LB_OP_ACQUIRE;
        return;
    }
    bool is_ok = e->type == LB_EV_OK, gets = e->op == LB_OP_ACQUIRE && e->type != LB_EV_FAIL;
    bool is_lost = is_ok && is_before && (e->flags & LB_EVF_COMMITTED) == 0;
    walk->is_open = false;
    walk->is_over =
        (gets && !is_lost) || (e->op == LB_OP_RENEW && e->type != LB_EV_FAIL && !is_before) ||
        (e->op == LB_OP_RELEASE &&
         (is_ok ? walk->n_inner-- == 0 : e->answer == LB_REFUSED && e->type == LB_EV_FAIL));
    walk->n_inner += gets;
}

/* Another log noted that the session of the hold has ended, after it was granted. Finds a release
 * with an effect that was asked for after the note: its worker held nothing. None is certain if the
 * worker may have got something since, or if another release may have ended the hold. */
static void find_late(struct lb_case *c, struct index *index, const struct lb_hold *hold,
                      const struct lb_world_event *note)
{
    const uint32_t *next = next_of_object(c, index, hold->log);
    struct walk *before = &index->walks[hold - lb_holds(c)];
    uint64_t slack = lb_slack(c, hold->log);
    if (before->event == 0 || before->low > note->low)
        *before = (struct walk){.event = next[hold->event]};
    before->low = note->low;
    struct walk walk = *before;
    for (; walk.event != LB_NONE && !walk.is_over; walk.event = next[walk.event]) {
        const struct lb_event *e = lb_case_event(c, hold->log, walk.event);
        bool is_before = lb_high(e->time_ns, slack) < note->low;
        if (e->op == LB_OP_RELEASE && e->type == LB_EV_OK && walk.asked > note->high) {
            if ((e->flags & LB_EVF_EFFECTIVE) != 0 && !keeps_other(c, hold))
                push_late(c, hold, walk.asked, walk.event);
            return;
        }
        step(&walk, e, slack, is_before);
        if (is_before) {
            *before = walk;
            before->event = next[walk.event];
        }
    }
}

/* Of the holds that had begun, those that last until the session may have ended. */
static void end_session(struct lb_case *c, const struct lb_world_event *note, struct index *index)
{
    const struct lb_log_facts *facts = &c->logs[note->target];
    uint64_t low = lb_world_session_end(c, note);
    size_t n = begun_by(c, facts, note->high);
    /* The answer may have been on its way when another saw the session end. */
    if (note->log != note->target && n < facts->n_holds &&
        asked_for(c, &lb_holds(c)[facts->first_hold + n]) <= note->high)
        n++;
    for (size_t i = facts->first_hold + n; i > facts->first_hold;) {
        struct lb_hold *hold = &lb_holds(c)[--i];
        if (index->last[i] < low) {
            i = index->longer[i];
            continue;
        }
        uint64_t asked = asked_for(c, hold), lost = low > asked ? low : asked;
        bool is_later = note->log == note->target && hold->event > note->event;
        if (is_later || hold->is_committed)
            continue; /* is_later: granted after its own worker's note, within the tick */
        lose(c, hold, lost);
        note_again(c, hold, low);
        bool is_released = hold->end <= c->end_ns; /* an open hold lasts until after the run */
        if (is_released && low >= asked && hold->start < note->low && note->log != note->target)
            find_late(c, index, hold, note);
        if (hold->is_dead && hold->end > lost)
            hold->end = lost;
    }
}

static void end_sessions(struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    struct index index;
    if (c->moments.n == 0)
        return;
    open_index(c, &index);
    for (size_t w = 0; w < c->world.n; w++)
        if (world[w].op == LB_OP_SESSION_END && world[w].target < c->history->n_logs)
            end_session(c, &world[w], &index);
    for (size_t log = 0; log < c->history->n_logs; log++)
        free(index.next[log]);
    free(index.next);
    free(index.walks);
    free(index.longer);
    free(index.last);
}

/* The earliest time at which a recovery can have freed what the dead of that time held; LB_NEVER.
 */
static uint64_t recovered_at(const struct lb_case *c, uint64_t death)
{
    const struct lb_world_event *world = c->world.items;
    uint64_t best = LB_NEVER;
    for (size_t i = 0; i < c->world.n; i++) {
        if (world[i].op != LB_OP_RECOVER || world[i].high < death)
            continue;
        uint64_t at = world[i].low > death ? world[i].low : death;
        if (at < best)
            best = at;
    }
    return best;
}

void lb_world_apply(struct lb_case *c)
{
    const uint32_t *open = c->open.items;
    bool whole = c->model->complete && !c->history->truncated;
    uint64_t for_ever = c->end_ns + c->most_slack + 1; /* later than each grant */
    for (size_t i = 0; i < c->open.n; i++) {
        struct lb_hold *hold = &lb_holds(c)[open[i]];
        const struct lb_log_facts *facts = &c->logs[hold->log];
        hold->end = for_ever < c->known_ns ? for_ever : c->known_ns;
        if (facts->death_ns != LB_NEVER) {
            hold->is_dead = 1;
            uint64_t recovered = recovered_at(c, facts->gone_ns);
            if (recovered < hold->end)
                hold->end = recovered;
        } else if (!whole) {
            hold->end = lb_low(facts->last_ns, lb_slack(c, hold->log));
        }
        if (hold->cut > hold->end)
            hold->cut = hold->end;
    }
    for (size_t i = 0; i < c->holds.n && !whole && c->has_cuts; i++) { /* renewed leases as well */
        struct lb_hold *hold = &lb_holds(c)[i];
        uint64_t last = lb_low(c->logs[hold->log].last_ns, lb_slack(c, hold->log));
        if (hold->is_piece && hold->end > last)
            hold->end = hold->cut = last;
    }
    if (c->known_ns != LB_NEVER)
        end_unnoted(c);
    end_sessions(c);
    const struct lb_inner *inner = c->inner.items;
    for (size_t i = 0; i < c->inner.n && !c->model->lease; i++)
        if (lb_holds(c)[inner[i].hold].cut < inner[i].start)
            c->doubt[LB_G_EXCLUSIVE] = "the session of a worker may have ended before it was "
                                       "granted again what it had";
}
