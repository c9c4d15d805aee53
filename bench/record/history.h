/* The recorded history: every request of every worker, with its time and its answer.
 *
 * One append-only log per writer, all in one file, mapped and shared, so that what was written
 * survives kill -9 of its writer. Appending is a store into mapped memory: no lock, no system call
 * (but once in LB_CHUNK_EVENTS events, when they are put into a chunk of their own; there a full
 * disk is an error, and never a SIGBUS).
 *
 * File (little endian, "history.lbh"):
 *   header   LB_HISTORY_HEADER_BYTES: magic, version, times, meta text, number of chunks
 *   chunks   LB_CHUNK_BYTES each: header (log, sequence in the log, is it the tail), then events;
 *            all chunks of a log are full but its tail, the one that is written to, which ends
 *            at the first event whose type is 0. The layout is in history_file.h
 * An event's type is stored last, and then the checksum of its chunk up to it: a reader sees whole
 * events only, and an event that was changed or zeroed afterwards is found (history_sum.h).
 *
 * Operations are pairs: one invoke, then exactly one of ok, fail (certainly did not happen) or info
 * (outcome unknown). Items that one statement ends (complete, error, free) are a batch: the invoke
 * of each, one behind another, and then their ends in the same order. A claim that was sent behind
 * an end, or a batch, before the answer to it (a pipeline) stands among the invokes, with the time
 * at which it was sent, and its end is the last of the ends. After info the process is retired: its
 * writer goes on under a new process number. A writer has at most one operation, batch or pipeline
 * under way.
 */
#ifndef LB_HISTORY_H
#define LB_HISTORY_H

#include "error.h"
#include "history_sum.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum lb_event_type {
    LB_EV_NONE = 0, /* not written */
    LB_EV_INVOKE = 1,
    LB_EV_OK = 2,
    LB_EV_FAIL = 3,
    LB_EV_INFO = 4,
    LB_EV_NOTE = 5 /* not an operation: an item of a claim, a fault, a death */
};

/* Operations. The meaning of object, value and arg is given for invoke / ok (or note). */
enum lb_op {
    /* locks: object = resource */
    LB_OP_ENQUEUE = 1, /* - / value = ticket */
    LB_OP_ACQUIRE = 2, /* arg = permits / value = token, arg = lease length in ms (0: none) */
    LB_OP_RENEW = 3,   /* value = token, arg = length in ms asked for (0: not said) / arg = lease
                          length in ms */
    LB_OP_RELEASE = 4, /* value = token / - ; LB_EVF_EFFECTIVE if it changed something */
    LB_OP_CANCEL = 5,
    LB_OP_WRITE = 6, /* guarded write: value = token / LB_OK accepted, LB_REFUSED stale */
    /* queues: object = class */
    LB_OP_PUT = 16,         /* value = first id, arg = how many / the same */
    LB_OP_CLAIM = 17,       /* arg = how many wanted / value = returned, arg = rows marked; the
                               notes LB_OP_ITEM come just before the ok */
    LB_OP_ITEM = 18,        /* note: value = id, arg = lease length in ms (0: none) */
    LB_OP_COMPLETE = 19,    /* value = id */
    LB_OP_ERROR = 20,       /* value = id */
    LB_OP_FREE = 21,        /* value = id */
    LB_OP_CLEAR_ERROR = 22, /* value = id */
    LB_OP_CLEAR_ALL = 23,
    LB_OP_RESET_ALL = 24,
    LB_OP_RECOVER = 25,    /* frees items of dead claimers; arg = age in ms: also all items claimed
                              longer ago, by any worker (0: none) / - */
    LB_OP_RENEW_ITEM = 26, /* value = id, arg as of LB_OP_RENEW */
    LB_OP_BEAT = 27,       /* the process of the worker with log object is alive / arg = for how
                              many ms that keeps off a recovery, counted from the invoke */
    /* notes about the world */
    LB_OP_FAULT = 40,       /* value = kind, arg = target's log; object = phase 0 begin, 1 end */
    LB_OP_DEATH = 41,       /* the writer of log arg died at time_ns */
    LB_OP_SESSION_END = 42, /* the server confirmed the end of the session of log arg */
    LB_OP_WARM = 43,        /* note: the warm-up ends: from here on operations count */
    LB_OP_STALL = 44,       /* note: until then all workers, or one, had stalled for value ns, for a
                               reason outside the protocol; arg = enum lb_stall */
    LB_OP_WAITED = 45, /* note, within an acquire: at time_ns the engine reported that the statement
                          was waiting for another session: it took effect later */
    LB_OP_PERMITS = 47,   /* note: the tables said that value permits (signed) of resource object
                             can be taken; the query was sent arg microseconds before */
    LB_OP_ATTRIBUTE = 48, /* note, before the put of item value: object = enum lb_attribute,
                             arg = what it has */
    LB_OP_CLOCK = 49,     /* note: a clock was set in the last value ns, by arg ms;
                             object = enum lb_clock_how */
    LB_OP_RESTART = 46    /* note: the database server had been started anew, for value ns by now:
                             it crashed or was stopped, and not by the run */
};

/* Which clock was set, and how. */
enum lb_clock_how { LB_CLOCK_MACHINE = 0, LB_CLOCK_BACK = 1, LB_CLOCK_SERVER = 2, LB_CLOCKS = 4 };

/* What stood still. */
enum lb_stall {
    LB_STALL_TICK,   /* the recorder: stopped, or not run by its machine */
    LB_STALL_ENGINE, /* the database answered no session */
    LB_STALL_HELD,   /* a process that took no part had the database's lock */
    LB_STALL_ONE,    /* some worker: not run by its machine, or its process was stopped */
    LB_STALLS
};

enum lb_event_flag {
    LB_EVF_SHARED = 1,    /* acquire: shared mode */
    LB_EVF_EFFECTIVE = 2, /* release, complete, ...: changed something */
    LB_EVF_TOKEN = 4,     /* value is a token (0 is a token too) */
    LB_EVF_OVER = 8,      /* acquire: by a lease that was over, as the database said */
    LB_EVF_FINAL = 16, /* item, invoke of a claim: taken out for good, as by Jepsen's dequeue: the
                          loss of its worker does not bring it back */
    LB_EVF_COMMITTED = 32 /* acquire, item: it was committed: a failover must not lose it, and the
                             loss of its session does not end it */
};

struct lb_event {
    uint64_t time_ns;
    uint64_t value;
    uint32_t process;
    uint32_t object;
    uint32_t arg;
    uint8_t op;     /* enum lb_op */
    uint8_t answer; /* enum lb_answer, for fail and info */
    uint8_t flags;  /* enum lb_event_flag */
    uint8_t type;   /* enum lb_event_type; stored last */
};

_Static_assert(sizeof(struct lb_event) == 32, "an event is at most 32 bytes");

enum {
    LB_CHUNK_BYTES = 1 << 18,
    LB_CHUNK_HEADER_BYTES = 64,
    LB_CHUNK_EVENTS = (LB_CHUNK_BYTES - LB_CHUNK_HEADER_BYTES) / 32,
    LB_HISTORY_HEADER_BYTES = 1 << 16,
    LB_META_BYTES = LB_HISTORY_HEADER_BYTES - 256,
    LB_MAX_LOGS = 1 << 20 /* numbers of logs are below this */
};

/* Processes with names are numbered from here; those with numbers are below. */
#define LB_NAMED_PROCESS (UINT32_C(1) << 31)

/* The checksum of a chunk with one event more. */
static inline uint64_t lb_event_sum(uint64_t sum, const struct lb_event *event)
{
    uint64_t last = event->arg | (uint64_t)event->op << 32 | (uint64_t)event->answer << 40 |
                    (uint64_t)event->flags << 48 | (uint64_t)event->type << 56;
    return lb_sum_mix(sum, event->time_ns, event->value,
                      event->process | (uint64_t)event->object << 32, last);
}

/* --- writing --- */

struct lb_history; /* one file */

/* Creates the file; it must not exist. path NULL: a nameless file in $TMPDIR (or /tmp) that
 * goes away with the process. The handle stays valid in forked children. */
int lb_history_create(const char *path, struct lb_history **ret_history, struct lb_error *err);
/* Sets the facts that a reader needs to judge it: lines of "key=value" (see check_meta in
 * bench/check). May be set again until the close; cut at LB_META_BYTES. */
int lb_history_set_meta(struct lb_history *history, const char *text, struct lb_error *err);

/* --- a record of which a part goes while it is written --- */

enum lb_chunk_state {
    LB_CHUNK_UNWRITTEN, /* handed out, and not written yet */
    LB_CHUNK_TAIL,      /* a log goes on in it */
    LB_CHUNK_WHOLE      /* full: it does not change any more */
};
struct lb_chunk {
    uint32_t log;
    enum lb_chunk_state state;
    size_t n; /* events */
};
uint64_t lb_history_chunks(const struct lb_history *history); /* handed out so far */
/* Reads chunk number i, of which others may write; into events, unless NULL, which has room for
 * LB_CHUNK_EVENTS. A tail that its writer puts away meanwhile is a mixture: then a chunk was handed
 * out between. */
int lb_history_look(const struct lb_history *history, uint64_t i, struct lb_chunk *ret_chunk,
                    struct lb_event *events, struct lb_error *err);
/* In place of the first chunks of a log, which were taken out. */
struct lb_carried {
    const struct lb_event *events;
    size_t n, n_chunks;
};
/* Takes a whole chunk out of the file, and gives its space back. */
int lb_history_take_out(struct lb_history *history, uint64_t i, struct lb_error *err);
/* For views from then on: of logs 0 to n - 1. Borrowed. Without it a history with chunks that were
 * taken out has no view. */
void lb_history_carry(struct lb_history *history, const struct lb_carried *carried, size_t n);

/* Seals the file if this process created it, unmaps and closes; the file stays. No log of it may be
 * appended to any more. Accepts NULL. */
void lb_history_free(struct lb_history *history);

/* One writer's log. Used by one thread. */
struct lb_log {
    struct lb_event *next, *end;
    struct lb_history *history;
    uint32_t number;   /* of the log: 0.. */
    uint32_t sequence; /* of the tail */
    uint64_t n_events;
    uint64_t sum, *sum_at; /* of the tail's events, and where the file has it */
    int failed; /* an enum lb_errcode once a chunk could not be had: nothing is recorded since */
    struct lb_mapping *mapping; /* private: the tail */
};

void lb_log_init(struct lb_log *log, struct lb_history *history, uint32_t number);
/* A log in memory alone, of at most n events; more is LB_E_MEMORY. It must stay where it is. */
void lb_log_in_memory(struct lb_log *log, uint32_t number, struct lb_event *events, size_t n);
/* Makes room for the first events; else the first append does, in whose time it falls. Failures are
 * those of the next append. */
void lb_log_start(struct lb_log *log);
/* Private to lb_log_append: room for more. 0 or an error, which is log->failed; readers of
 * the file see that it is truncated. */
int lb_log_grow(struct lb_log *log);

/* Appends one event; type is given apart because it is stored last. Returns 0, or log->failed. */
static inline int lb_log_append(struct lb_log *log, const struct lb_event *event)
{
    if (__builtin_expect(log->next == log->end, 0)) {
        if (log->failed != 0 || lb_log_grow(log) != 0)
            return log->failed;
    }
    struct lb_event *slot = log->next++;
    slot->time_ns = event->time_ns;
    slot->value = event->value;
    slot->process = event->process;
    slot->object = event->object;
    slot->arg = event->arg;
    slot->op = event->op;
    slot->answer = event->answer;
    slot->flags = event->flags;
    /* The release order makes the rest of the event visible before its type, to a reader that maps
     * the file while, or after, this process is killed. */
    __atomic_store_n(&slot->type, event->type, __ATOMIC_RELEASE);
    /* Killed before this, the writer has not acted on the event: a reader leaves it out. */
    log->sum = lb_event_sum(log->sum, event);
    __atomic_store_n(log->sum_at, log->sum, __ATOMIC_RELEASE);
    log->n_events++;
    return 0;
}

/* --- reading --- */

struct lb_span {
    const struct lb_event *events;
    size_t n;
};

/* One log: its events in order, in spans. */
struct lb_log_view {
    uint32_t number;
    const char *name; /* of its process in a history from elsewhere: "process w1"; else NULL */
    size_t n_spans;
    const struct lb_span *spans;
    uint64_t n_events;
    uint64_t uncertainty_ns; /* of this log's clock against the others; 0 on one host */
};

struct lb_history_view {
    size_t n_logs;
    struct lb_log_view *logs; /* logs[i].number == i; a log that wrote nothing has no events */
    uint64_t n_events;
    uint64_t start_ns;            /* CLOCK_MONOTONIC at creation: time zero for people */
    uint64_t start_unix_ns;       /* CLOCK_REALTIME then */
    uint64_t begin_ns;            /* when recording began; in text, time zero may lie far before */
    const struct lb_names *names; /* names of items in text files; NULL: unknown */
    const char *meta;             /* "key=value" lines, NUL-terminated */
    bool truncated;    /* something is missing, from the file or since the disk was full: read
                          up to the last whole event before it */
    uint64_t whole_ns; /* truncated: before this time nothing is missing */
    bool is_unchecked; /* a file of the first version, which has no checksums */
    bool is_large;     /* a file that should not stay in memory as it is read */
    void *memory;      /* private */
};

/* A view of a history that is being held open by this process (workers joined). */
int lb_history_view(struct lb_history *history, struct lb_history_view *ret_view,
                    struct lb_error *err);
/* Maps a file. LB_E_FILE with "path: what" if it is not one of ours. Checks the form of every chunk
 * and event and the checksums, not the grammar of operations (lb_check does that). */
int lb_history_open(const char *path, struct lb_history_view *ret_view, struct lb_error *err);
void lb_history_release(struct lb_history_view *view);
/* Marks a span as read: the pages of a large file are released, until they are read again. */
void lb_history_forget(const struct lb_history_view *view, const struct lb_span *span);

/* An item as the file calls it, clean: 7, "a", :a; without names its number. Returns buf. */
const char *lb_item_name(const struct lb_names *names, uint64_t id, char *buf, size_t size);

/* A key, tenant or unique key, likewise. */
const char *lb_key_name(const struct lb_names *names, uint32_t key, char *buf, size_t size);

const char *lb_op_name(int op);           /* "acquire", ...; NULL: no such operation */
int lb_op_parse(const char *name);        /* -1: unknown */
const char *lb_event_type_name(int type); /* "invoke", "ok", "fail", "info", "note" */

#endif
