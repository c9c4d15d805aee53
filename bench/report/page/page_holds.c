/* Holds, waits and faults out of a history: see page_holds.h.
 *
 * One pass over each log. A hold begins at its grant's ok and ends when its release is invoked, or
 * when its process was retired, or its log's death or end was noted, whichever comes first in the
 * log. Memory: about 48 bytes for each hold and 24 for each answer.
 */
#include "page_holds.h"

#include "array.h"
#include "check_meta.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

struct death {
    uint64_t at_ns;
    uint32_t log;
};

/* A worker's log while it is read. */
struct reader {
    struct lb_page_digest *digest;
    struct lb_array holds, answers, faults;
    struct lb_array open;   /* uint32_t: this log's open holds, oldest first */
    struct lb_array depth;  /* uint32_t: parallel to open; re-entrant grants within */
    struct lb_array deaths; /* struct death */
    uint32_t log;
    const struct lb_event *invoke; /* of the operation under way */
    size_t claim_first;            /* open holds before its items */
    bool is_waiting;
    uint64_t since_ns;
    struct lb_error *err;
};

static struct lb_page_hold *hold_at(struct reader *reader, size_t open)
{
    const uint32_t *places = reader->open.items;
    return (struct lb_page_hold *)reader->holds.items + places[open];
}

static void close_hold(struct reader *reader, size_t open, uint64_t at_ns)
{
    uint32_t *places = reader->open.items, *depths = reader->depth.items;
    struct lb_page_hold *hold = hold_at(reader, open);
    hold->end_ns = at_ns > hold->start_ns ? at_ns : hold->start_ns;
    memmove(places + open, places + open + 1, (--reader->open.n - open) * sizeof *places);
    memmove(depths + open, depths + open + 1, (--reader->depth.n - open) * sizeof *depths);
}

/* The newest open hold of that id; with a token, of that token. open.n: there is none. */
static size_t find_open(struct reader *reader, uint64_t id, bool has_token, uint64_t token)
{
    for (size_t i = reader->open.n; i-- > 0;) {
        const struct lb_page_hold *hold = hold_at(reader, i);
        if (hold->id == id && (!has_token || !hold->has_token || hold->token == token))
            return i;
    }
    return reader->open.n;
}

static int open_hold(struct reader *reader, const struct lb_page_hold *hold)
{
    if (reader->holds.n >= UINT32_MAX)
        return lb_fail(reader->err, LB_E_ENV, "more than %u holds", UINT32_MAX);
    struct lb_page_hold *place = lb_array_push(&reader->holds, sizeof *place);
    uint32_t *open = lb_array_push(&reader->open, sizeof *open);
    uint32_t *depth = lb_array_push(&reader->depth, sizeof *depth);
    *place = *hold;
    *open = (uint32_t)(reader->holds.n - 1);
    *depth = 0;
    return 0;
}

/* A grant, or a refusal (n 0). */
static void answered(struct reader *reader, const struct lb_event *end, uint32_t n)
{
    struct lb_page_answer *answer = lb_array_push(&reader->answers, sizeof *answer);
    uint64_t since_ns = reader->since_ns < end->time_ns ? reader->since_ns : end->time_ns;
    *answer = (struct lb_page_answer){
        .at_ns = end->time_ns, .wait_ns = end->time_ns - since_ns, .n_successes = n};
    if (n > 0)
        reader->is_waiting = false;
}

static int end_acquire(struct reader *reader, const struct lb_event *end)
{
    const struct lb_event *invoke = reader->invoke;
    if (end->type == LB_EV_FAIL)
        answered(reader, end, 0);
    if (end->type != LB_EV_OK)
        return 0;
    answered(reader, end, 1);
    size_t open = find_open(reader, end->object, false, 0);
    if (reader->digest->is_reentrant && open < reader->open.n) {
        ((uint32_t *)reader->depth.items)[open]++;
        return 0;
    }
    unsigned flags = end->flags | (unsigned)invoke->flags;
    struct lb_page_hold hold = {.start_ns = end->time_ns,
                                .end_ns = UINT64_MAX,
                                .id = end->object,
                                .token = end->value,
                                .object = end->object,
                                .log = reader->log,
                                .permits = invoke->arg > 0 ? invoke->arg : 1,
                                .is_shared = (flags & LB_EVF_SHARED) != 0,
                                .has_token = (end->flags & LB_EVF_TOKEN) != 0};
    return open_hold(reader, &hold);
}

/* The items of a claim that was not answered ok were not handed out. They are the newest holds. */
static void drop_items(struct reader *reader)
{
    while (reader->open.n > reader->claim_first) {
        reader->open.n--;
        reader->depth.n--;
        reader->holds.n--;
    }
}

static void end_claim(struct reader *reader, const struct lb_event *end)
{
    if (end->type != LB_EV_OK)
        drop_items(reader);
    if (end->type == LB_EV_FAIL) {
        answered(reader, end, 0);
        if (end->answer == LB_EMPTY)
            reader->is_waiting = false; /* there was nothing to wait for */
    }
    if (end->type == LB_EV_OK && end->value > 0)
        answered(reader, end, end->value > 1000000 ? 1000000 : (uint32_t)end->value);
}

/* An ending operation ends the hold at its request. */
static void ends_hold(struct reader *reader, const struct lb_event *invoke)
{
    bool is_release = invoke->op == LB_OP_RELEASE;
    uint64_t id = is_release ? invoke->object : invoke->value;
    size_t open =
        find_open(reader, id, is_release && (invoke->flags & LB_EVF_TOKEN) != 0, invoke->value);
    if (open == reader->open.n)
        return;
    uint32_t *depth = (uint32_t *)reader->depth.items + open;
    if (*depth > 0)
        (*depth)--;
    else
        close_hold(reader, open, invoke->time_ns);
}

static void invoked(struct reader *reader, const struct lb_event *invoke)
{
    reader->invoke = invoke;
    switch (invoke->op) {
    case LB_OP_ENQUEUE:
    case LB_OP_ACQUIRE:
    case LB_OP_CLAIM:
        if (!reader->is_waiting)
            reader->since_ns = invoke->time_ns;
        reader->is_waiting = true;
        reader->claim_first = reader->open.n;
        break;
    case LB_OP_RELEASE:
    case LB_OP_COMPLETE:
    case LB_OP_ERROR:
    case LB_OP_FREE:
        ends_hold(reader, invoke);
        break;
    default:
        break;
    }
}

static int ended(struct reader *reader, const struct lb_event *end)
{
    const struct lb_event *invoke = reader->invoke;
    int rc = 0;
    bool is_end = end->op == LB_OP_COMPLETE || end->op == LB_OP_ERROR || end->op == LB_OP_FREE;
    /* The ends of operations sent with a claim come before its own end. */
    bool is_before = invoke != NULL && invoke->op == LB_OP_CLAIM && is_end;
    if (invoke == NULL || (invoke->op != end->op && !is_before))
        return 0;
    if (end->op == LB_OP_ACQUIRE)
        rc = end_acquire(reader, end);
    else if (end->op == LB_OP_CLAIM)
        end_claim(reader, end);
    else if (end->op == LB_OP_CANCEL)
        reader->is_waiting = false;
    if (end->type == LB_EV_INFO) /* the process is retired: it believes nothing any more */
        while (reader->open.n > 0)
            close_hold(reader, reader->open.n - 1, invoke->time_ns);
    if (end->type == LB_EV_INFO && !is_before)
        reader->is_waiting = false;
    if (!is_end) /* of a batch, the ends of the other items follow */
        reader->invoke = NULL;
    return rc;
}

static void fault(struct reader *reader, const struct lb_event *note)
{
    struct lb_page_fault *faults = reader->faults.items;
    if (note->object == 1) { /* the end of the latest that has none */
        for (size_t i = reader->faults.n; i-- > 0;)
            if (faults[i].kind == note->value && faults[i].log == note->arg &&
                faults[i].end_ns == UINT64_MAX) {
                faults[i].end_ns = note->time_ns;
                return;
            }
        return;
    }
    struct lb_page_fault *place = lb_array_push(&reader->faults, sizeof *place);
    *place = (struct lb_page_fault){
        .kind = note->value, .log = note->arg, .begin_ns = note->time_ns, .end_ns = UINT64_MAX};
}

static void died(struct reader *reader, const struct lb_event *note)
{
    struct death *death = lb_array_push(&reader->deaths, sizeof *death);
    *death = (struct death){.at_ns = note->time_ns, .log = note->arg};
    if (note->arg == reader->log) /* it goes on as another worker */
        while (reader->open.n > 0)
            close_hold(reader, reader->open.n - 1, note->time_ns);
}

static int noted(struct reader *reader, const struct lb_event *note)
{
    switch (note->op) {
    case LB_OP_ITEM: {
        struct lb_page_hold hold = {.start_ns = note->time_ns,
                                    .end_ns = UINT64_MAX,
                                    .id = note->value,
                                    .object = reader->invoke != NULL ? reader->invoke->object : 0,
                                    .log = reader->log,
                                    .permits = 1};
        return open_hold(reader, &hold);
    }
    case LB_OP_FAULT:
        fault(reader, note);
        return 0;
    case LB_OP_DEATH:
        died(reader, note);
        return 0;
    case LB_OP_WARM:
        reader->digest->warm_ns = note->time_ns;
        return 0;
    default:
        return 0;
    }
}

static int read_log(struct reader *reader, const struct lb_log_view *view)
{
    int rc = 0;
    reader->log = view->number;
    reader->invoke = NULL;
    reader->is_waiting = false;
    reader->open.n = reader->depth.n = reader->claim_first = 0;
    for (size_t s = 0; s < view->n_spans; s++)
        for (size_t i = 0; i < view->spans[s].n && rc == 0; i++) {
            const struct lb_event *event = &view->spans[s].events[i];
            if (event->time_ns < reader->digest->start_ns)
                continue;
            if (event->time_ns > reader->digest->end_ns)
                reader->digest->end_ns = event->time_ns;
            if (event->type == LB_EV_INVOKE)
                invoked(reader, event);
            else if (event->type == LB_EV_NOTE)
                rc = noted(reader, event);
            else
                rc = ended(reader, event);
        }
    if (reader->invoke != NULL && reader->invoke->op == LB_OP_CLAIM)
        drop_items(reader);
    return rc;
}

static int by_id(const void *a, const void *b)
{
    const struct lb_page_hold *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->log < y->log ? -1 : x->log > y->log;
}

/* Holds that nothing ended: with their holder, or with the history. */
static void end_the_rest(struct reader *reader)
{
    struct lb_page_hold *holds = reader->holds.items;
    const struct death *deaths = reader->deaths.items;
    for (size_t i = 0; i < reader->holds.n; i++) {
        if (holds[i].end_ns != UINT64_MAX)
            continue;
        holds[i].is_open = true;
        holds[i].end_ns = reader->digest->end_ns;
        for (size_t d = 0; d < reader->deaths.n; d++)
            if (deaths[d].log == holds[i].log && deaths[d].at_ns >= holds[i].start_ns &&
                deaths[d].at_ns < holds[i].end_ns)
                holds[i].end_ns = deaths[d].at_ns;
    }
}

static bool meta_is(const char *meta, const char *key, const char *value)
{
    char text[16];
    return meta != NULL && lb_meta_get(meta, key, text, sizeof text) != NULL &&
           strcmp(text, value) == 0;
}

int lb_page_digest_make(const struct lb_history_view *view, struct lb_page_digest *ret,
                        struct lb_error *err)
{
    struct lb_page_digest digest = {.is_queue = meta_is(view->meta, "shape", "queue"),
                                    .is_reentrant = meta_is(view->meta, "reentrant", "1"),
                                    .start_ns = view->start_ns,
                                    .end_ns = view->start_ns};
    struct reader reader = {.digest = &digest, .err = err};
    int rc = 0;
    for (size_t i = 0; i < view->n_logs && rc == 0; i++)
        rc = read_log(&reader, &view->logs[i]);
    if (rc == 0) {
        end_the_rest(&reader);
        if (reader.holds.n > 0)
            qsort(reader.holds.items, reader.holds.n, sizeof(struct lb_page_hold), by_id);
        if (reader.faults.n > 0)
            qsort(reader.faults.items, reader.faults.n, sizeof(struct lb_page_fault), lb_order_u64);
    }
    digest.holds = reader.holds.items;
    digest.answers = reader.answers.items;
    digest.faults = reader.faults.items;
    digest.n_holds = reader.holds.n;
    digest.n_answers = reader.answers.n;
    digest.n_faults = reader.faults.n;
    free(reader.open.items);
    free(reader.depth.items);
    free(reader.deaths.items);
    if (rc != 0)
        lb_page_digest_release(&digest);
    else
        *ret = digest;
    return rc;
}

void lb_page_digest_release(struct lb_page_digest *digest)
{
    free(digest->holds);
    free(digest->answers);
    free(digest->faults);
    *digest = (struct lb_page_digest){0};
}
