/* Judges and drops while a run goes on: see settler.h.
 *
 * Once the full chunks have enough events, the thread reads them and all tails: the whole record of
 * the run until now. It drops settled operations. The rest of the chunks moves to the memory of
 * this process, and the chunks become holes in the file.
 *
 * A worker may be stopped after it reads the clock and before it writes the event. Operations that
 * ended within LAG_NS are not dropped; an event that comes even later is found by its item
 * (check/settled.c).
 */
#include "settler.h"

#include "array.h"
#include "history.h"
#include "memory.h"
#include "model.h"
#include "settling.h"
#include "shared.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define LAG_NS  UINT64_C(2000000000)
#define LOOK_NS UINT64_C(500000000) /* between two looks at the file */
enum { MMAP_BYTES = 1 << 18 };

/* A log. The first n_left events are the rest of the chunks that were taken out. While the record
 * is read, its full chunks follow, up to n, and its tail, up to n_seen. */
struct log {
    struct lb_event *events;
    size_t n_left, n, n_seen, room, n_chunks;
};

struct place {
    uint64_t chunk;
    uint32_t log;
};

struct lb_settler {
    struct lb_active_run *run;
    pthread_t thread;
    bool is_joined, has_touched;
    struct lb_model model;
    struct lb_settled *settled;
    struct lb_carried *carried; /* by log, at the end */
    struct log *logs;
    size_t n_logs;
    uint64_t n_known;             /* chunks that were looked at */
    struct lb_array whole, tails; /* struct place: chunks that are full, and others, in order */
};

/* Looks at new chunks. One that is not written yet is looked at again, and so are those behind it.
 * 0, or an error. */
static int look(struct lb_settler *s)
{
    struct lb_error err;
    const uint64_t n = lb_history_chunks(s->run->history);
    for (; s->n_known < n; s->n_known++) {
        struct lb_chunk chunk;
        int rc = lb_history_look(s->run->history, s->n_known, &chunk, NULL, &err);
        if (rc != 0 || chunk.state == LB_CHUNK_UNWRITTEN)
            return rc;
        struct place *place =
            lb_array_push(chunk.state == LB_CHUNK_TAIL ? &s->tails : &s->whole, sizeof *place);
        *place = (struct place){s->n_known, chunk.log};
        lb_array_extend(&s->logs, &s->n_logs, sizeof *s->logs, (size_t)chunk.log + 1);
    }
    return 0;
}

/* Appends the events of a chunk to its log. */
static int append(struct lb_settler *s, const struct place *place)
{
    struct lb_error err;
    struct lb_chunk chunk;
    struct log *log = &s->logs[place->log];
    if (log->room < log->n_seen + LB_CHUNK_EVENTS) {
        log->room = log->n_seen + log->n_seen / 2 + LB_CHUNK_EVENTS;
        log->events = lb_realloc(log->events, log->room, sizeof *log->events);
    }
    int rc =
        lb_history_look(s->run->history, place->chunk, &chunk, log->events + log->n_seen, &err);
    log->n_seen += rc == 0 ? chunk.n : 0;
    return rc;
}

/* Reads all that is recorded. *ret_is_whole: no tail was put away meanwhile. */
static int collect(struct lb_settler *s, bool *ret_is_whole)
{
    const struct place *whole = s->whole.items, *tails = s->tails.items;
    int rc = 0;
    for (size_t i = 0; i < s->n_logs; i++)
        s->logs[i].n_seen = s->logs[i].n_left;
    for (size_t i = 0; i < s->whole.n && rc == 0; i++)
        rc = append(s, &whole[i]);
    for (size_t i = 0; i < s->n_logs; i++)
        s->logs[i].n = s->logs[i].n_seen;
    for (size_t i = 0; i < s->tails.n && rc == 0; i++)
        rc = append(s, &tails[i]);
    *ret_is_whole = lb_history_chunks(s->run->history) == s->n_known;
    return rc;
}

/* Memory that a burst took is given back. */
static void shrink(struct log *log)
{
    log->room = log->n_left + 1;
    log->events = lb_realloc(log->events, log->room, sizeof *log->events);
}

/* All at once for a reader: a chunk that could not be taken out is passed over. */
static int take_out(struct lb_settler *s)
{
    struct lb_error err;
    const struct place *whole = s->whole.items;
    int rc = 0;
    for (size_t i = 0; i < s->whole.n; i++)
        s->logs[whole[i].log].n_chunks++;
    for (size_t i = 0; i < s->whole.n && rc == 0; i++)
        rc = lb_history_take_out(s->run->history, whole[i].chunk, &err);
    s->whole.n = 0;
    return rc;
}

/* The windows of items on their way are used from their first place to their last, and then again:
 * without this, the memory of a long run would grow until its millionth item. */
static void touch_windows(struct lb_settler *s)
{
    struct lb_team *team = s->run->team;
    if (s->has_touched)
        return;
    s->has_touched = true;
    lb_live_touch(s->run->live);
    if (team->due != NULL)
        lb_shared_touch(team->due, LB_WATCHED_ITEMS * sizeof *team->due);
}

/* 0, or an error: then nothing more is dropped. */
static int settle(struct lb_settler *s)
{
    const uint64_t now_ns = lb_now_ns(), until_ns = now_ns > LAG_NS ? now_ns - LAG_NS : 0;
    bool is_whole = false;
    touch_windows(s);
    int rc = collect(s, &is_whole);
    if (rc != 0 || !is_whole)
        return rc;
    struct lb_settle_log *logs = lb_calloc(s->n_logs, sizeof *logs);
    for (size_t i = 0; i < s->n_logs; i++)
        logs[i] = (struct lb_settle_log){s->logs[i].events, s->logs[i].n, s->logs[i].n_seen};
    lb_settle(s->settled, &s->model, logs, s->n_logs, until_ns);
    for (size_t i = 0; i < s->n_logs; i++) {
        s->logs[i].n_left = logs[i].n;
        shrink(&s->logs[i]);
    }
    free(logs);
    return take_out(s);
}

static void *settler_main(void *arg)
{
    struct lb_settler *s = arg;
    struct lb_team *team = s->run->team;
    const uint64_t limit = s->run->request->history_limit;
    int rc = 0;
    while (rc == 0 && lb_team_wait(team, lb_now_ns() + LOOK_NS, LB_PHASE_DRAIN)) {
        rc = look(s);
        if (rc == 0 && s->whole.n * LB_CHUNK_EVENTS >= limit &&
            s->n_known == lb_history_chunks(s->run->history))
            rc = settle(s);
    }
    return NULL;
}

static bool is_wanted_whole(const struct lb_active_run *run)
{
    return run->request->history_limit == 0 || run->request->history_path != NULL;
}

/* Why the record is kept whole; NULL: it is not. */
static const char *refusal(const struct lb_active_run *run, const struct lb_model *model)
{
    const struct lb_scenario *scenario = run->request->scenario;
    if (run->peers != NULL || run->company != NULL)
        return "the histories of several ranks are joined";
    if (lb_fault_is(scenario->fault, LB_FAULT_KILLS) || scenario->fault == LB_FAULT_POISON)
        return "deaths are judged by the work of others around them";
    if (scenario->rounds > 0 || scenario->rows > 0 || scenario->duplicate_ids ||
        scenario->ids != LB_IDS_UNIQUE || run->plan.attributes != NULL || run->plan.groups > 0)
        return "the scenario's rounds, rows, ids or attributes need all of it";
    return lb_settle_refusal(model);
}

int lb_settler_start(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_model model = lb_run_model(run, false, 0);
    if (run->history == NULL || is_wanted_whole(run))
        return 0;
    run->kept_because = refusal(run, &model);
    if (run->kept_because != NULL)
        return 0;
    /* Buffers of the settler are returned to the system, also the second time. By default the C
     * library raises this limit to the largest block that was freed. */
    mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
    struct lb_settler *s = lb_calloc(1, sizeof *s);
    s->run = run;
    s->model = model;
    s->settled = lb_settled_new();
    run->settler = s;
    if (pthread_create(&s->thread, NULL, settler_main, s) == 0)
        return 0;
    s->is_joined = true;
    return lb_fail(err, LB_E_ENV, "cannot start the thread that judges while the run goes on");
}

void lb_settler_join(struct lb_settler *s)
{
    if (s == NULL || s->is_joined)
        return;
    pthread_join(s->thread, NULL);
    s->is_joined = true;
}

const struct lb_settled *lb_settler_result(struct lb_settler *s)
{
    if (s == NULL)
        return NULL;
    free(s->carried);
    s->carried = lb_calloc(s->n_logs, sizeof *s->carried);
    for (size_t i = 0; i < s->n_logs; i++)
        s->carried[i] =
            (struct lb_carried){s->logs[i].events, s->logs[i].n_left, s->logs[i].n_chunks};
    lb_history_carry(s->run->history, s->carried, s->n_logs);
    return lb_settled_events(s->settled) > 0 ? s->settled : NULL;
}

void lb_settler_explain(const struct lb_active_run *run)
{
    enum { MUCH = 1 << 16, PART = 4 }; /* less may be of the last seconds */
    struct lb_outcome *outcome = run->outcome;
    const uint64_t limit = run->request->history_limit;
    uint64_t n_left = 0;
    for (size_t i = 0; run->settler != NULL && i < run->settler->n_logs; i++)
        n_left += run->settler->logs[i].n_left;
    if (run->kept_because != NULL && outcome->n_events > limit)
        snprintf(outcome->kept, sizeof outcome->kept, "%s", run->kept_because);
    else if (n_left > limit && n_left > MUCH && n_left > outcome->n_events / PART)
        snprintf(outcome->kept, sizeof outcome->kept,
                 "their items wait, failed, were freed, renewed or claimed again, or share an "
                 "operation with such an item");
}

void lb_settler_free(struct lb_settler *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n_logs; i++)
        free(s->logs[i].events);
    free(s->logs);
    free(s->carried);
    free(s->whole.items);
    free(s->tails.items);
    lb_settled_free(s->settled);
    free(s);
}
