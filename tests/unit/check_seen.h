/* What the random histories of the judge's tests have in them: a shape that is never generated
 * would be a test that cannot fail. */
#ifndef CHECK_SEEN_H
#define CHECK_SEEN_H

#include "check_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum seen {
    SEEN_TIE,        /* two workers in one tick */
    SEEN_NAMED,      /* processes with names */
    SEEN_FAILED,     /* an end that failed, and was not refused */
    SEEN_REFUSED,    /* an end that was */
    SEEN_UNKNOWN,    /* an unknown outcome */
    SEEN_UNANSWERED, /* no outcome */
    SEEN_NO_EFFECT,  /* an end that was answered ok and changed nothing */
    SEEN_BARE,       /* a release that says neither permits nor token, as other tools' do */
    SEEN_UNTOLD,     /* a renewal that does not say its length */
    SEEN_SHORTENED,  /* a renewal after which the lease is over sooner */
    SEEN_RECOVER,    /* a recovery */
    SEEN_STRANGER,   /* an end by a worker that never claimed the item */
    SEEN_AGAIN,      /* an end by a worker that had ended its claim of the item */
    SEEN_BEAT,       /* a process beats */
    SEEN_UNSURE,     /* ... with unknown outcome */
    SEEN_KEPT,       /* ... for a worker that has renewed an item */
    SEEN_LOST,       /* a session ended */
    SEEN_RESUMED, /* ... of a worker that renewed an item later, which another had claimed since */
    SEEN_RAISED,  /* an item is claimed that was completed, or failed, and freed by another */
    SEEN_RUSHED,  /* three of one worker's operations within a tick, one of them a claim or a grant
                   */
    SEEN_CUT,     /* logs without their tails */
    SEEN_PIPED,   /* a claim sent together with an end, which got an item */
    SEEN_PIPED_AGAIN, /* ... the item that the end had given back */
    SEEN_PIPED_HALF,  /* ... of which the outcome is unknown */
    SEEN_SHAPES
};

static uint64_t seen_in[SEEN_SHAPES];

static inline bool seen_is_end(const struct lb_event *e)
{
    return e->op == LB_OP_RELEASE || e->op == LB_OP_COMPLETE || e->op == LB_OP_ERROR ||
           e->op == LB_OP_FREE;
}

static inline bool seen_ties(const struct test_history *h)
{
    for (uint32_t a = 0; a < MAX_LOGS; a++)
        for (size_t i = 0; i < h->n[a]; i++)
            for (uint32_t b = a + 1; b < MAX_LOGS; b++)
                for (size_t k = 0; k < h->n[b]; k++)
                    if (h->events[a][i].time_ns == h->events[b][k].time_ns)
                        return true;
    return false;
}

static inline bool seen_rushed(const struct lb_event *log, size_t n)
{
    for (size_t first = 0, end = 0; first < n; first = end) {
        uint32_t n_invokes = 0, n_grants = 0;
        for (; end < n && log[end].time_ns == log[first].time_ns; end++) {
            n_invokes += log[end].type == LB_EV_INVOKE;
            n_grants += log[end].type == LB_EV_OK &&
                        (log[end].op == LB_OP_CLAIM || log[end].op == LB_OP_ACQUIRE);
        }
        if (n_invokes > 2 && n_grants > 0)
            return true;
    }
    return false;
}

/* An invoke for an item that its worker does not have, or has ended. */
static inline void see_owner(const struct lb_event *log, size_t at)
{
    bool claimed = false, ended = false;
    for (size_t i = 0; i < at; i++) {
        bool same = log[i].value == log[at].value;
        if (same && log[i].type == LB_EV_NOTE && log[i].op == LB_OP_ITEM) {
            claimed = true;
            ended = false;
        } else if (same && log[i].type == LB_EV_OK && seen_is_end(&log[i])) {
            ended = ended || (log[i].flags & LB_EVF_EFFECTIVE) != 0;
        }
    }
    seen_in[SEEN_STRANGER] += !claimed;
    seen_in[SEEN_AGAIN] += claimed && ended;
}

/* A renewal that was answered: is the lease over sooner than the grant, or claim, before it said?
 */
static inline void see_shortened(const struct lb_event *log, size_t at)
{
    for (size_t i = at; i-- > 0;) {
        bool is_grant = (log[i].op == LB_OP_ACQUIRE && log[i].type == LB_EV_OK) ||
                        (log[i].op == LB_OP_ITEM && log[i].value == log[at].value);
        if (!is_grant)
            continue;
        seen_in[SEEN_SHORTENED] += log[i].time_ns + log[i].arg * UINT64_C(1000000) >
                                   log[at].time_ns + log[at].arg * UINT64_C(1000000);
        return;
    }
}

/* The invoke of an end: was a claim asked for with it? */
static inline void see_pipeline(const struct lb_event *log, size_t n, size_t at)
{
    if (at + 4 >= n || log[at + 1].type != LB_EV_INVOKE || log[at + 1].op != LB_OP_CLAIM)
        return;
    bool has_item = log[at + 3].op == LB_OP_ITEM;
    seen_in[SEEN_PIPED] += has_item;
    seen_in[SEEN_PIPED_AGAIN] += has_item && log[at + 3].value == log[at].value;
    seen_in[SEEN_PIPED_HALF] += has_item && log[at + 2].type == LB_EV_INFO;
}

static inline void see_event(const struct lb_event *log, size_t n, size_t at)
{
    const struct lb_event *e = &log[at];
    bool is_end = seen_is_end(e), is_invoke = e->type == LB_EV_INVOKE;
    seen_in[SEEN_NAMED] += e->process >= LB_NAMED_PROCESS;
    seen_in[SEEN_FAILED] += is_end && e->type == LB_EV_FAIL && e->answer != LB_REFUSED;
    seen_in[SEEN_REFUSED] += is_end && e->type == LB_EV_FAIL && e->answer == LB_REFUSED;
    seen_in[SEEN_UNKNOWN] += e->type == LB_EV_INFO;
    seen_in[SEEN_UNANSWERED] += is_invoke && at + 1 == n;
    seen_in[SEEN_NO_EFFECT] += is_end && e->type == LB_EV_OK && (e->flags & LB_EVF_EFFECTIVE) == 0;
    seen_in[SEEN_BARE] +=
        e->op == LB_OP_RELEASE && is_invoke && e->arg == 0 && (e->flags & LB_EVF_TOKEN) == 0;
    seen_in[SEEN_UNTOLD] +=
        (e->op == LB_OP_RENEW || e->op == LB_OP_RENEW_ITEM) && e->type == LB_EV_OK && e->arg == 0;
    if ((e->op == LB_OP_RENEW || e->op == LB_OP_RENEW_ITEM) && e->type == LB_EV_OK && e->arg > 0)
        see_shortened(log, at);
    seen_in[SEEN_UNSURE] += e->op == LB_OP_BEAT && e->type == LB_EV_INFO;
    seen_in[SEEN_RECOVER] += e->op == LB_OP_RECOVER && is_invoke;
    if (is_end && is_invoke && e->op != LB_OP_RELEASE) {
        see_owner(log, at);
        see_pipeline(log, n, at);
    }
}

static inline bool seen_is(const struct lb_event *e, int op, uint64_t value)
{
    bool is_type = op == LB_OP_ITEM ? e->type == LB_EV_NOTE : e->type == LB_EV_OK;
    return e->op == op && e->value == value && is_type &&
           (op == LB_OP_ITEM || (e->flags & LB_EVF_EFFECTIVE) != 0);
}

/* Did another log than this one do that with the item between two times? */
static inline bool seen_by_another(const struct test_history *h, uint32_t log, int op,
                                   uint64_t value, uint64_t from, uint64_t until)
{
    for (uint32_t other = 0; other < MAX_LOGS; other++)
        for (size_t i = 0; i < h->n[other] && other != log; i++) {
            const struct lb_event *e = &h->events[other][i];
            if (seen_is(e, op, value) && e->time_ns > from && e->time_ns < until)
                return true;
        }
    return false;
}

/* What speaks of a worker: beats by whatever log, and the end of its session. */
static inline void see_told(const struct test_history *h, const struct lb_event *told,
                            uint32_t worker)
{
    bool is_beat = told->op == LB_OP_BEAT;
    for (size_t i = 0; i < h->n[worker]; i++) {
        const struct lb_event *e = &h->events[worker][i];
        if (!seen_is(e, LB_OP_RENEW_ITEM, e->value) || e->time_ns <= told->time_ns)
            continue;
        seen_in[SEEN_KEPT] += is_beat;
        seen_in[SEEN_RESUMED] +=
            !is_beat && seen_by_another(h, worker, LB_OP_ITEM, e->value, told->time_ns, e->time_ns);
    }
    seen_in[is_beat ? SEEN_BEAT : SEEN_LOST]++;
}

static inline void see_raised(const struct test_history *h, uint32_t log,
                              const struct lb_event *free)
{
    bool was_done = seen_by_another(h, log, LB_OP_COMPLETE, free->value, 0, free->time_ns) ||
                    seen_by_another(h, log, LB_OP_ERROR, free->value, 0, free->time_ns);
    seen_in[SEEN_RAISED] +=
        was_done && seen_by_another(h, log, LB_OP_ITEM, free->value, free->time_ns, UINT64_MAX);
}

static inline void see_across(const struct test_history *h)
{
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        for (size_t i = 0; i < h->n[log]; i++) {
            const struct lb_event *e = &h->events[log][i];
            if (e->op == LB_OP_BEAT && e->type == LB_EV_OK)
                see_told(h, e, e->object);
            if (e->op == LB_OP_SESSION_END)
                see_told(h, e, e->arg);
            if (seen_is(e, LB_OP_FREE, e->value))
                see_raised(h, log, e);
        }
}

static inline void see_history(const struct test_history *h)
{
    see_across(h);
    seen_in[SEEN_CUT] += h->view.truncated;
    seen_in[SEEN_TIE] += seen_ties(h);
    for (uint32_t log = 0; log < MAX_LOGS; log++) {
        seen_in[SEEN_RUSHED] += seen_rushed(h->events[log], h->n[log]);
        for (size_t i = 0; i < h->n[log]; i++)
            see_event(h->events[log], h->n[log], i);
    }
}

/* How many histories per model: LB_TEST_HISTORIES, or a few seconds' worth of all. */
static inline uint64_t test_histories(void)
{
    const char *text = getenv("LB_TEST_HISTORIES");
    return text != NULL ? strtoull(text, NULL, 0) : 4000;
}

/* The last test of a program: all shapes but some were generated. A few histories need not have
 * all. */
static inline void expect_seen(const enum seen *never, size_t n_never)
{
    enum { ENOUGH = 1000 };
    static const char *const names[] = {"ties",
                                        "named processes",
                                        "failed ends",
                                        "refused ends",
                                        "unknown outcomes",
                                        "no outcomes",
                                        "ends without effect",
                                        "bare releases",
                                        "untold renewals",
                                        "renewals that shorten",
                                        "recoveries",
                                        "strangers' ends",
                                        "repeated ends by one worker",
                                        "beats",
                                        "beats of unknown outcome",
                                        "renewals beside beats",
                                        "sessions' ends",
                                        "renewals of items that another has claimed since",
                                        "claims of items that were done, and freed",
                                        "three operations of one worker within a tick",
                                        "cut tails",
                                        "claims in one round trip with an end",
                                        "... of the item that it gave back",
                                        "... of an unknown outcome"};
    for (size_t i = 0; i < SEEN_SHAPES; i++) {
        bool is_left_out = false;
        for (size_t k = 0; k < n_never; k++)
            is_left_out = is_left_out || never[k] == (enum seen)i;
        printf("# %s: %llu\n", names[i], (unsigned long long)seen_in[i]);
        if (!is_left_out && seen_in[i] == 0 && test_histories() >= ENOUGH)
            fail_msg("no history has %s", names[i]);
    }
}

#endif
