/* Histories in memory, for the tests of the judge: a few workers, times in any unit. */
#ifndef CHECK_HISTORY_H
#define CHECK_HISTORY_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOGS = 8, MAX_EVENTS = 256 };

struct test_history {
    struct lb_event events[MAX_LOGS][MAX_EVENTS];
    size_t n[MAX_LOGS];
    struct lb_span spans[MAX_LOGS];
    struct lb_log_view logs[MAX_LOGS];
    struct lb_history_view view;
    struct lb_model model;
    uint32_t capacity[4];
};

static inline void history_init(struct test_history *h, bool queue)
{
    memset(h->n, 0, sizeof h->n);
    h->view = (struct lb_history_view){.meta = ""};
    for (int i = 0; i < 4; i++)
        h->capacity[i] = 1;
    memset(h->logs, 0, sizeof h->logs);
    h->model = (struct lb_model){.queue = queue,
                                 .n_resources = 4,
                                 .capacity = h->capacity,
                                 .claims = ~0u,
                                 .complete = true,
                                 .end_ns = 0};
}

static inline void add_event(struct test_history *h, uint32_t log, struct lb_event event)
{
    if (h->n[log] == MAX_EVENTS)
        abort();
    h->events[log][h->n[log]++] = event;
}

static inline struct lb_event *last_event(struct test_history *h, uint32_t log)
{
    return &h->events[log][h->n[log] - 1];
}

/* An operation from..to of worker log; type is how it ends (LB_EV_NONE: not at all). */
static inline void add_op(struct test_history *h, uint32_t log, int op, uint64_t from, uint64_t to,
                          int type, uint32_t object, uint64_t value, uint32_t arg, int flags)
{
    struct lb_event e = {.time_ns = from,
                         .value = value,
                         .process = log,
                         .object = object,
                         .arg = arg,
                         .op = (uint8_t)op,
                         .flags = (uint8_t)flags,
                         .type = LB_EV_INVOKE};
    add_event(h, log, e);
    if (type == LB_EV_NONE)
        return;
    e.time_ns = to;
    e.type = (uint8_t)type;
    if (type == LB_EV_FAIL)
        e.answer = op == LB_OP_CLAIM ? LB_EMPTY : LB_BUSY;
    add_event(h, log, e);
}

static inline void acquire(struct test_history *h, uint32_t log, uint32_t resource, uint64_t from,
                           uint64_t to)
{
    add_op(h, log, LB_OP_ACQUIRE, from, to, LB_EV_OK, resource, 0, 0, 0);
}

static inline void release(struct test_history *h, uint32_t log, uint32_t resource, uint64_t from,
                           uint64_t to)
{
    add_op(h, log, LB_OP_RELEASE, from, to, LB_EV_OK, resource, 0, 0, LB_EVF_EFFECTIVE);
}

static inline void note(struct test_history *h, uint32_t log, int op, uint64_t at, uint64_t value,
                        uint32_t arg)
{
    add_event(h, log,
              (struct lb_event){.time_ns = at,
                                .value = value,
                                .process = log,
                                .arg = arg,
                                .op = (uint8_t)op,
                                .type = LB_EV_NOTE});
}

static inline void put(struct test_history *h, uint32_t log, uint64_t id, uint32_t n, uint64_t from,
                       uint64_t to)
{
    add_op(h, log, LB_OP_PUT, from, to, LB_EV_OK, 0, id, n, 0);
}

/* A claim that asks for one item and gets it. */
static inline void claim(struct test_history *h, uint32_t log, uint64_t id, uint64_t from,
                         uint64_t to, uint32_t lease_ms)
{
    add_op(h, log, LB_OP_CLAIM, from, to, LB_EV_OK, 0, 1, 1, 0);
    struct lb_event ok = *last_event(h, log);
    h->n[log]--;
    note(h, log, LB_OP_ITEM, to, id, lease_ms);
    add_event(h, log, ok);
}

/* Judges; returns what lb_check returned. A failure's message is kept in ret_err if it is given. */
static inline int judge_history(struct test_history *h, struct lb_judgement *ret,
                                struct lb_error *ret_err)
{
    static struct lb_error unused;
    struct lb_error *err = ret_err != NULL ? ret_err : &unused;
    h->view.n_logs = MAX_LOGS;
    h->view.logs = h->logs;
    h->view.n_events = 0;
    for (uint32_t i = 0; i < MAX_LOGS; i++) {
        h->spans[i] = (struct lb_span){.events = h->events[i], .n = h->n[i]};
        h->logs[i].number = i;
        h->logs[i].n_spans = h->n[i] > 0;
        h->logs[i].spans = &h->spans[i];
        h->logs[i].n_events = h->n[i];
        h->view.n_events += h->n[i];
    }
    return lb_check(&h->view, &h->model, ret, err);
}

#endif
