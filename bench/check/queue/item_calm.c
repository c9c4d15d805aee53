/* A shortcut: items that were claimed again and again, and of which nothing needs a closer look.
 *
 * In a calm history no worker was lost, nothing was recovered, no outcome is unknown, no process
 * beats, nothing falls due by itself and the clocks are exact. A calm item was claimed without a
 * lease, and each worker ended each of its claims, with effect, by a complete or a free. Then the
 * core of a claim, and of an execution, is the open interval from its answer to its free, or to the
 * first reset after its complete. Suppose that in order of their starts
 *   - no core is empty, or meets the next,
 *   - a reset was invoked between each complete and the next claim,
 *   - and each claim was invoked after the answer of the claim before.
 * Then there is an order in which everything took effect once: each end and each reset at its
 * invoke, each claim when it was answered. Each end finds its own worker's claim: nothing is to
 * be found. The resets of an item are not the same one twice, since its cores do not meet.
 *
 * The logs are read side by side, in order of the times at which these things take effect, and one
 * place for each item is all that is kept. The order only makes it likely that an item is known to
 * be calm: the verdict on it uses compared times. Other items are not judged here: their events are
 * taken out of the logs (scan_items.c), and judged (items.c).
 */
#include "items.h"
#include "merge.h"

#include <stdlib.h>

enum { MOST_CLASSES = 64 };

/* An item, half a cache line. Zeroed to begin with. */
struct state {
    uint64_t start;     /* its last claim's answer, */
    uint64_t closed;    /* and its end's request; LB_NEVER: none */
    uint64_t completed; /* the latest answer to a complete */
    uint32_t n_ends;
    unsigned log : 20;       /* of the last claim */
    unsigned class_no : 6;   /* of the first one */
    unsigned is_watched : 1; /* it is odd */
    unsigned is_claimed : 1, is_claimed_again : 1;
    unsigned is_freed : 1; /* the last claim */
    unsigned is_other : 1; /* it needs a closer look */
};

_Static_assert(sizeof(struct state) == 32, "half a cache line");
_Static_assert(LB_MAX_LOGS <= 1 << 20, "a log's number fits its field");
_Static_assert(MOST_CLASSES <= 1 << 6, "a class's number fits its field");

/* A place in a log. */
struct cursor {
    const struct lb_event *at, *end; /* of a span; equal: the log has ended */
    size_t span;                     /* the next one */
    uint32_t position;
};

struct noted {
    struct state *state;
    const struct lb_event *event;
    uint32_t position;
};

/* A log, and what happens next in it: an item's end or a reset, or else a claim's answer. */
struct reader {
    const struct lb_log_view *view;
    uint32_t log;
    struct cursor next;
    struct cursor ends; /* within a batch: the next of its ends */
    bool in_batch;
    uint64_t claim_low;
    uint32_t claim_class;
    struct lb_array noted;         /* struct noted: the items of the claim under way */
    const struct lb_event *invoke; /* NULL: it is a claim */
    const struct lb_event *answer; /* NULL: none */
    struct state *state;           /* of the item that is ended */
};

/* The request time of the latest reset of a class, and of the one before it at another time; 0:
 * none.
 */
struct resets {
    uint64_t latest, before;
};

struct calm {
    struct lb_case *c;
    void *table;          /* the memory of states */
    struct state *states; /* as c->ids */
    struct reader *readers;
    struct lb_merge merge;
    struct resets *resets; /* by class */
};

/* --- reading a log --- */

static void next_span(const struct calm *calm, const struct reader *reader, struct cursor *cursor)
{
    while (cursor->at == cursor->end && cursor->span < reader->view->n_spans) {
        if (cursor->span > 0 && cursor == &reader->next)
            lb_history_forget(calm->c->history, &reader->view->spans[cursor->span - 1]);
        const struct lb_span *span = &reader->view->spans[cursor->span++];
        cursor->at = span->events;
        cursor->end = span->events + span->n;
    }
}

static void step(const struct calm *calm, const struct reader *reader, struct cursor *cursor)
{
    cursor->at++;
    cursor->position++;
    if (cursor->at == cursor->end)
        next_span(calm, reader, cursor);
}

static bool is_end(const struct lb_event *e)
{
    return e->type != LB_EV_INVOKE && e->type != LB_EV_NOTE;
}

/* The end of the operation, no claim, that was just invoked; NULL: it has none. The ends of a batch
 * come in the order of their invokes, and that of a claim behind them is the last. */
static const struct lb_event *find_answer(const struct calm *calm, struct reader *reader)
{
    struct cursor *ends = &reader->ends;
    if (!reader->in_batch) {
        const struct lb_event *next = reader->next.at + 1;
        if (next < reader->next.end && is_end(next))
            return next;
        *ends = reader->next;
        reader->in_batch = true;
    }
    while (ends->at < ends->end && (!is_end(ends->at) || ends->at->op == LB_OP_CLAIM))
        step(calm, reader, ends);
    const struct lb_event *answer = ends->at < ends->end ? ends->at : NULL;
    if (answer != NULL)
        step(calm, reader, ends);
    return answer;
}

static struct state *place_of(const struct calm *calm, uint64_t id)
{
    uint64_t i = id - calm->c->first_id;
    return i < calm->c->n_ids ? &calm->states[i] : NULL;
}

static struct state *state_of(const struct calm *calm, uint64_t id)
{
    struct state *state = place_of(calm, id);
    return state != NULL && state->is_watched ? state : NULL;
}

/* Does the invoke that comes next matter here? */
static bool take_invoke(const struct calm *calm, struct reader *reader)
{
    const struct lb_event *e = reader->next.at;
    if (e->op == LB_OP_CLAIM) {
        reader->claim_low = e->time_ns;
        reader->claim_class = e->object;
        return false;
    }
    reader->invoke = e;
    reader->answer = find_answer(calm, reader);
    if (e->op == LB_OP_RESET_ALL)
        return reader->answer != NULL && reader->answer->type == LB_EV_OK;
    if (!lb_item_closes(e->op) && e->op != LB_OP_CLEAR_ERROR && e->op != LB_OP_RENEW_ITEM)
        return false;
    reader->state = state_of(calm, e->value);
    return reader->state != NULL;
}

static void note(const struct calm *calm, struct reader *reader)
{
    const struct lb_event *e = reader->next.at;
    struct state *state = e->op == LB_OP_ITEM ? state_of(calm, e->value) : NULL;
    if (state == NULL)
        return;
    struct noted *noted = lb_array_push(&reader->noted, sizeof *noted);
    *noted = (struct noted){state, e, reader->next.position};
    if (!state->is_claimed)
        __builtin_prefetch(&calm->c->ids[state - calm->states], 1); /* for take_claim */
}

/* Goes to what happens next in a log. Returns a number that grows with its time, and at one time is
 * larger of claims; LB_NEVER: the log has ended. */
static uint64_t advance(const struct calm *calm, struct reader *reader)
{
    enum { AHEAD = 6, FAR = 32 }; /* events: an item's place is fetched in time; the event before */
    for (; reader->next.at < reader->next.end; step(calm, reader, &reader->next)) {
        const struct lb_event *e = reader->next.at;
        if (reader->next.end - e > FAR)
            __builtin_prefetch(e + FAR); /* many logs are read: no processor foresees all */
        if (reader->next.end - e > AHEAD)
            __builtin_prefetch(place_of(calm, e[AHEAD].value), 1);
        if (e->type == LB_EV_INVOKE && take_invoke(calm, reader))
            return 2 * e->time_ns;
        if (e->type == LB_EV_NOTE)
            note(calm, reader);
        if (!is_end(e))
            continue;
        reader->in_batch = false;
        if (e->op == LB_OP_CLAIM && e->type == LB_EV_OK && reader->noted.n > 0) {
            reader->invoke = NULL;
            return 2 * e->time_ns + 1;
        }
        if (e->op == LB_OP_CLAIM)
            reader->noted.n = 0; /* they were not handed out */
    }
    return LB_NEVER;
}

/* --- what happens to an item --- */

/* Is the claim before it over, when the next one is answered? */
static bool is_over(const struct calm *calm, const struct state *state, uint64_t low,
                    uint64_t start)
{
    if (state->closed == LB_NEVER || low <= state->start)
        return false;
    const struct resets *resets = &calm->resets[state->class_no];
    uint64_t reset = resets->latest < start ? resets->latest : resets->before;
    return state->is_freed ? state->closed <= start : reset > state->closed && reset < start;
}

static void take_claim(const struct calm *calm, const struct reader *reader,
                       const struct noted *noted)
{
    struct state *state = noted->state;
    uint64_t start = reader->next.at->time_ns;
    struct lb_id *id = &calm->c->ids[state - calm->states];
    if (!state->is_claimed) {
        state->class_no = reader->claim_class & (MOST_CLASSES - 1);
        id->claim_low = reader->claim_low;
        id->claim_high = start;
        id->claim_event = noted->position;
        id->claim_log = reader->log & (LB_MAX_LOGS - 1);
    }
    if (noted->event->arg > 0 || state->class_no != reader->claim_class ||
        (state->is_claimed && !is_over(calm, state, reader->claim_low, start)))
        state->is_other = 1;
    state->is_claimed_again = state->is_claimed;
    state->is_claimed = 1;
    state->start = start;
    state->closed = LB_NEVER;
    state->log = reader->log & (LB_MAX_LOGS - 1);
}

static void take_end(const struct reader *reader, struct state *state)
{
    const struct lb_event *invoke = reader->invoke, *answer = reader->answer;
    bool has_effect =
        answer != NULL && answer->type == LB_EV_OK && (answer->flags & LB_EVF_EFFECTIVE) != 0;
    bool is_idle =
        invoke->op == LB_OP_RENEW_ITEM && answer != NULL && answer->type == LB_EV_OK && !has_effect;
    if ((answer != NULL && answer->type == LB_EV_FAIL) || is_idle)
        return; /* it did nothing */
    state->is_freed = invoke->op == LB_OP_FREE;
    if (!has_effect || (invoke->op != LB_OP_COMPLETE && invoke->op != LB_OP_FREE) ||
        !state->is_claimed || state->closed != LB_NEVER || state->log != reader->log ||
        invoke->object != state->class_no || invoke->time_ns <= state->start) {
        state->is_other = 1;
        return;
    }
    state->closed = invoke->time_ns;
    state->n_ends++;
    if (!state->is_freed && answer->time_ns > state->completed)
        state->completed = answer->time_ns;
}

static void take(const struct calm *calm, struct reader *reader)
{
    const struct noted *noted = reader->noted.items;
    if (reader->invoke == NULL) {
        for (size_t i = 0; i < reader->noted.n; i++)
            take_claim(calm, reader, &noted[i]);
        reader->noted.n = 0;
    } else if (reader->invoke->op != LB_OP_RESET_ALL) {
        take_end(reader, reader->state);
    } else if (reader->invoke->object < MOST_CLASSES) {
        struct resets *resets = &calm->resets[reader->invoke->object];
        uint64_t low = reader->invoke->time_ns;
        if (low > resets->latest)
            *resets = (struct resets){.latest = low, .before = resets->latest};
    }
}

static int read_all(struct calm *calm)
{
    enum { OFTEN = 1 << 16 };
    int rc = 0;
    for (size_t i = 0; rc == 0; i++) {
        struct lb_player first = lb_merge_first(&calm->merge);
        struct reader *reader = &calm->readers[first.number];
        if (first.key == LB_NEVER)
            break;
        if (i % OFTEN == 0)
            rc = lb_case_goes_on(calm->c);
        take(calm, reader);
        step(calm, reader, &reader->next);
        lb_merge_next(&calm->merge, advance(calm, reader));
    }
    return rc;
}

/* --- what is known then --- */

/* Of a calm item, all that its events would have said. */
static void conclude(const struct calm *calm)
{
    struct lb_case *c = calm->c;
    for (size_t i = 0; i < c->n_ids; i++) {
        const struct state *state = &calm->states[i];
        struct lb_id *id = &c->ids[i];
        uint32_t n_claims = state->n_ends + (state->closed == LB_NEVER);
        bool is_counted = lb_wants_attempts(c) && n_claims >= c->model->attempts;
        if (!id->is_odd || state->is_other || !state->is_claimed || is_counted)
            continue;
        id->is_odd = 0;
        id->is_claimed = 1;
        id->is_claimed_again = state->is_claimed_again;
        id->is_open = state->closed == LB_NEVER;
        id->n_claims = (n_claims < LB_ID_CLAIMS ? n_claims : LB_ID_CLAIMS) & LB_ID_CLAIMS;
        /* A complete that was answered so late may have been the last. */
        id->is_given_back = c->is_drained && state->closed != LB_NEVER && state->is_freed &&
                            state->completed <= state->start;
        c->n_odd--;
        c->n_releases += state->n_ends;
    }
}

/* Is the history one in which an item can be calm? */
static bool may_be_calm(const struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    bool may_be = c->is_dense && c->beats.n == 0 && !c->has_unsure_beats && c->infos.n == 0 &&
                  c->known_ns == LB_NEVER && c->model->period_ns == 0 && !c->model->lease &&
                  !c->model->strict && /* strict order needs items given back */
                  !lb_wants_share(c);  /* and a share each claim */
    for (size_t i = 0; i < c->history->n_logs; i++)
        may_be = may_be && lb_slack(c, (uint32_t)i) == 0;
    for (size_t i = 0; i < c->world.n && may_be; i++)
        may_be = world[i].op != LB_OP_RECOVER && world[i].op != LB_OP_SESSION_END &&
                 world[i].op != LB_OP_DEATH;
    return may_be;
}

static int read_calm(struct calm *calm)
{
    size_t n = calm->c->history->n_logs;
    uint64_t *keys = lb_malloc((n + 1) * sizeof *keys);
    for (size_t i = 0; i < n; i++) {
        struct reader *reader = &calm->readers[i];
        reader->view = &calm->c->history->logs[i];
        reader->log = (uint32_t)i;
        next_span(calm, reader, &reader->next);
        keys[i] = advance(calm, reader);
    }
    lb_merge_init(&calm->merge, keys, (uint32_t)n);
    free(keys);
    return read_all(calm);
}

int lb_judge_calm_items(struct lb_case *c)
{
    size_t n_logs = c->history->n_logs;
    struct calm calm = {.c = c};
    if (c->n_odd == 0 || !may_be_calm(c))
        return 0;
    calm.table = lb_calloc(c->n_ids + 1, sizeof *calm.states);
    calm.readers = lb_calloc(n_logs + 1, sizeof *calm.readers);
    calm.resets = lb_calloc(MOST_CLASSES, sizeof *calm.resets);
    uintptr_t half = (uintptr_t)calm.table + sizeof *calm.states - 1; /* of a cache line */
    calm.states = (struct state *)(half - half % sizeof *calm.states);
    for (size_t i = 0; i < c->n_ids; i++)
        if (c->ids[i].is_odd)
            calm.states[i].is_watched = 1;
    int rc = read_calm(&calm);
    if (rc == 0)
        conclude(&calm);
    for (size_t i = 0; i < n_logs; i++)
        free(calm.readers[i].noted.items);
    free(calm.merge.tree);
    free(calm.table);
    free(calm.readers);
    free(calm.resets);
    return rc;
}
