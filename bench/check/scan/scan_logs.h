/* Reading the logs of a history into a case: scan_logs.c, scan_lock.c, grants.c, scan_queue.c,
 * scan_items.c, ids.c, world.c, stalls.c. Private to bench/check.
 */
#ifndef LB_SCAN_LOGS_H
#define LB_SCAN_LOGS_H

#include "case.h"

/* --- reading: scan_logs.c, scan_lock.c, scan_queue.c, world.c --- */

/* An invoke and its position. */
struct lb_invoked {
    const struct lb_event *event;
    uint32_t index;
};

/* The operations that went out with the one under way: of a batch, the invokes after its first. */
struct lb_batch {
    struct lb_array more;    /* struct lb_invoked */
    size_t n_taken;          /* those that have become the operation under way */
    struct lb_invoked piped; /* and the claim that went out with them; event NULL: none */
};

static inline void lb_batch_add(struct lb_batch *batch, const struct lb_event *invoke,
                                uint32_t index)
{
    struct lb_invoked *slot =
        invoke->op == LB_OP_CLAIM ? &batch->piped : lb_array_push(&batch->more, sizeof *slot);
    *slot = (struct lb_invoked){.event = invoke, .index = index};
}

/* The operation that comes after an ended one; event NULL: none. */
static inline struct lb_invoked lb_batch_next(struct lb_batch *batch)
{
    struct lb_invoked next = batch->piped;
    if (batch->n_taken < batch->more.n)
        return ((const struct lb_invoked *)batch->more.items)[batch->n_taken++];
    batch->piped.event = NULL;
    batch->n_taken = batch->more.n = 0;
    return next;
}

/* An operation under way, or a claim that is out, of the log that is being read. */
struct lb_open {
    uint32_t hold, piece; /* positions in holds; piece: the latest part, the hold itself at first */
    uint32_t newer, older; /* grants of the same resource, a list; LB_NONE ends */
    uint32_t depth;        /* re-entrant: acquires within the outermost */
    uint32_t n_failed;     /* ... and inner releases that failed, but ended them by belief */
    uint64_t expiry_low, expiry_high;
    uint64_t lapsed_cut; /* the piece's cut, before it lapsed */
    bool is_closed;
    bool is_crowded; /* its log had another grant of the resource beside it */
    bool is_fixed;   /* the core's end is known, though no release took effect yet */
    bool is_lapsed;  /* ... because its process was retired: it may yet prove that it went on */
};

struct lb_scan {
    struct lb_case *c;
    const struct lb_log_view *view;
    uint32_t log;
    uint64_t slack, last_ns;
    uint64_t answered_low; /* the request time of the last operation answered ok or fail */
    uint32_t index;        /* of the event being read */
    uint32_t retired;      /* process that must not come back */
    bool has_retired;
    const struct lb_event *invoke; /* of the operation under way; NULL */
    uint64_t waited_ns;            /* it was still waiting, by the engine's report; 0: unknown */
    uint32_t invoke_index;
    /* locks */
    uint32_t *newest;    /* per resource: the newest open grant of this log, or LB_NONE */
    uint32_t *last_hold; /* per resource: of the last grant that went through newest */
    struct lb_array grants;
    uint32_t n_fixed; /* of the open grants */
    bool has_dropped; /* grants that it may yet release were taken off its list */
    bool is_mixed;    /* two grants at a time differed in permits or mode */
    bool is_waiting;
    uint32_t wait_object, wait_event;
    uint64_t wait_ns, refused_ns; /* since then; of the last try that was refused */
    bool has_ticket;
    struct lb_waiter ticket; /* the place in line, while it has_ticket */
    uint64_t alive_ns;       /* when its last try, or its enqueue, was asked for */
    uint32_t lease_ms;       /* of the last grant, or of another worker's; 0: none is known */
    bool has_asked_others;   /* ... looked for among theirs */
    size_t first_unknown; /* of the log's acquires of unknown outcome, which may hold something */
    bool is_unclear;      /* its remaining holds are unknown */
    /* queues */
    struct lb_batch batch;
    struct lb_array noted;             /* struct lb_noted: the items of the claim under way */
    uint64_t claimed_high, queue_high; /* of the last claim; of the last put, claim or "empty" */
    bool has_claimed, has_queued;      /* there was one */
};

struct lb_noted {
    uint64_t id;
    uint32_t event;
};

/* Items that one statement ends, or prolongs: their invokes stand one behind another, and then
 * their ends in the same order. Can an invoke be the next one of a batch that began with first?
 * Where items are ended, a claim may be asked for behind them in the same round trip (a pipeline):
 * its end is the last one, wherever its invoke stands. */
static inline bool lb_is_batched(const struct lb_event *first, const struct lb_event *e)
{
    bool ends = first->op == LB_OP_COMPLETE || first->op == LB_OP_ERROR || first->op == LB_OP_FREE;
    return e->process == first->process && e->object == first->object &&
           ((ends && e->op == LB_OP_CLAIM) ||
            (e->op == first->op && (ends || e->op == LB_OP_RENEW_ITEM)));
}

/* A note of how many permits are free: permits.c. */
int lb_scan_permits(struct lb_scan *scan, const struct lb_event *note);
int lb_scan_history(struct lb_case *c);
int lb_scan_bad(struct lb_scan *scan, const char *what);
int lb_scan_lock_end(struct lb_scan *scan, const struct lb_event *end, int type);
/* acquire invoke, ok, release invoke, ok: of one process and resource, one permit, exclusive, no
 * token, times that do not go back. */
static inline bool lb_is_cycle(const struct lb_event *e, uint64_t last_ns)
{
    uint32_t types = (uint32_t)e[0].type << 24 | (uint32_t)e[1].type << 16 |
                     (uint32_t)e[2].type << 8 | e[3].type;
    uint32_t ops =
        (uint32_t)e[0].op << 24 | (uint32_t)e[1].op << 16 | (uint32_t)e[2].op << 8 | e[3].op;
    unsigned flags =
        e[0].flags | e[1].flags | e[2].flags | (e[3].flags & ~(unsigned)LB_EVF_EFFECTIVE);
    uint32_t differ = (e[0].object ^ e[1].object) | (e[0].object ^ e[2].object) |
                      (e[0].object ^ e[3].object) | (e[0].process ^ e[1].process) |
                      (e[0].process ^ e[2].process) | (e[0].process ^ e[3].process);
    return types ==
               ((uint32_t)LB_EV_INVOKE << 24 | LB_EV_OK << 16 | LB_EV_INVOKE << 8 | LB_EV_OK) &&
           ops == ((uint32_t)LB_OP_ACQUIRE << 24 | LB_OP_ACQUIRE << 16 | LB_OP_RELEASE << 8 |
                   LB_OP_RELEASE) &&
           (flags | differ) == 0 && e[0].arg <= 1 && e[0].time_ns >= last_ns &&
           e[1].time_ns >= e[0].time_ns && e[2].time_ns >= e[1].time_ns &&
           e[3].time_ns >= e[2].time_ns;
}

/* Takes as many whole cycles (acquire ok, release ok, nothing else about) as are at the head of
 * events; returns the number of these events. Its effect is the same as that of the other
 * functions, but faster. */
size_t lb_scan_cycles(struct lb_scan *scan, const struct lb_event *events, size_t n);
void lb_scan_lock_finish(struct lb_scan *scan);
/* The same of a queue's operations that were answered ok: *ret_n events, which scan->index counts.
 */
int lb_scan_operations(struct lb_scan *scan, const struct lb_event *events, size_t n,
                       size_t *ret_n);
int lb_scan_queue_end(struct lb_scan *scan, const struct lb_event *end, int type);
int lb_scan_item(struct lb_scan *scan, const struct lb_event *note);
/* item_attributes.c: a note about an item that is put. */
int lb_scan_attribute(struct lb_scan *scan, const struct lb_event *note);
/* A sign of life: beats.c. */
int lb_scan_beat(struct lb_scan *scan, const struct lb_event *end, int type);
void lb_scan_write(struct lb_scan *scan, const struct lb_event *end, int type);
/* An operation on all workers' items: recover, reset-all, clear-all. Its invoke, with the position
 * of its end; end NULL: it was never answered. */
void lb_scan_world(struct lb_case *c, uint32_t log, const struct lb_invoked *operation,
                   const struct lb_event *end, int type);
/* --- the open grants of a log: grants.c --- */

static inline struct lb_open *lb_grant_at(const struct lb_scan *scan, uint32_t i)
{
    return i == LB_NONE ? NULL : (struct lb_open *)scan->grants.items + i;
}
static inline uint64_t lb_token_of(const struct lb_case *c, size_t hold)
{
    return c->has_tokens ? ((const uint64_t *)c->tokens.items)[hold] : 0;
}
/* Takes a grant off its list, and off the pile when it lies on top. */
void lb_grant_close(struct lb_scan *scan, uint32_t i);
/* Its core ends at a time. */
void lb_grant_end(struct lb_scan *scan, struct lb_open *grant, uint64_t low);
bool lb_holds_alike(const struct lb_case *c, uint32_t hold, uint32_t other);
/* Are they the permits and the mode that a release names? */
bool lb_fits_words(const struct lb_hold *hold, const struct lb_event *invoke);
/* The grant that a release or renewal of this resource speaks of; LB_NONE: there is none, or it
 * names the token of one that is closed. */
uint32_t lb_grant_find(const struct lb_scan *scan, const struct lb_event *invoke);
/* A release that does not say which of several grants it is of: it may have ended any. */
void lb_grant_end_any(struct lb_scan *scan, uint32_t number);
/* A renewal that does not say which of several grants it is of. None is certain to be prolonged,
 * and each may be; of a refused one, none is certain to go on. */
bool lb_grant_renews_any(struct lb_scan *scan, uint32_t number, bool is_refused);

/* --- waits and lines: scan_line.c --- */

void lb_scan_wait_begin(struct lb_scan *scan);
/* The wait under way ends; granted: with the event being read, otherwise the worker gave up. */
void lb_scan_wait_end(struct lb_scan *scan, uint64_t time_ns, bool granted);
/* The wait ends with an unknown outcome. If that is one more try, the wait lasted until its request
 * at least, and counts if that is longer than the bound. */
void lb_scan_wait_cut(struct lb_scan *scan);
/* The log ends while its worker waits: how long is known when all deaths are. */
void lb_scan_keep_wait(struct lb_scan *scan);
void lb_scan_count_pending(struct lb_case *c);
/* A process that was answered info does not go on: its grants lapse, its place in line is left. */
void lb_scan_retire(struct lb_scan *scan, uint64_t low);
/* Applies notes and recoveries to holds that had not ended when their log did. */
void lb_world_apply(struct lb_case *c);
/* Fills the logs' death_ns and gone_ns. */
void lb_world_deaths(struct lb_case *c);
/* Before lb_world_session_end: sorts what it looks up. */
void lb_world_sessions(struct lb_case *c);
/* The earliest time at which the session that a note speaks of can have ended. */
uint64_t lb_world_session_end(const struct lb_case *c, const struct lb_world_event *note);

/* --- the ids of a queue: ids.c, scan_items.c --- */

/* Before the logs are read. */
void lb_ids_open(struct lb_case *c);
/* After: fills items and by_id, and completes ids. */
int lb_ids_finish(struct lb_case *c);
void lb_ids_release(struct lb_case *c);
/* Facts found while the logs are read. */
void lb_ids_put(struct lb_case *c, const struct lb_put *put);
void lb_ids_claim(struct lb_case *c, const struct lb_item_record *claim);
void lb_ids_end(struct lb_case *c, const struct lb_item_record *end);
/* An end of the id was refused. Marks the id if the worker of this log has its only claim. */
void lb_ids_refused(struct lb_case *c, uint64_t id, uint32_t log);
/* Fills items: what happened to the odd ids, or to all while the ids are not dense. */
int lb_scan_items(struct lb_case *c);

/* Where a dense id's place is; NULL: not among them. */
static inline struct lb_id *lb_id_place(const struct lb_case *c, uint64_t id)
{
    uint64_t i = id - c->first_id;
    return c->is_dense && i < c->ids_room ? &c->ids[i] : NULL;
}
static inline bool lb_id_acknowledged(const struct lb_id *id)
{
    return id->is_put && id->put_high != LB_NEVER;
}

/* --- standing still: stalls.c --- */

void lb_scan_stall(struct lb_case *c, const struct lb_event *e);
/* Once all logs were read. */
void lb_judge_stalls(struct lb_case *c);
/* For how long all workers stood still between these times. */
uint64_t lb_stalled_within(const struct lb_case *c, uint64_t from, uint64_t until);
/* Is that time beyond a bound, whoever stood still? If it is so only because some worker did, the
 * guarantee is in doubt. */
bool lb_is_late(struct lb_case *c, enum lb_guarantee guarantee, uint64_t from, uint64_t until,
                uint64_t bound);
/* The first request of workers other than the dead one for the resource, or for an item of the
 * class, that was not answered by a time, or that time if it was before; LB_NEVER: none.
 * tries.c. */
uint64_t lb_first_try(const struct lb_case *c, uint32_t dead_log, uint32_t object, uint64_t from);

/* So long a server may take to notice that a client is gone. */
#define LB_NOTICED_NS UINT64_C(1000000000)

/* From one time until another, no worker is known to have had the resource, or the item of that
 * class, of a dead worker. Others could have it again from a time on. */
struct lb_recovery_wait {
    uint64_t again, from, until, bound_ns;
    uint32_t object, log; /* log: of the dead worker; its own tries do not count */
};

/* Is it beyond the bound, as lb_is_late says? If tries of unknown outcome may have had it, one
 * after the other, and no wait between them was that long, the guarantee is in doubt. tries.c. */
bool lb_is_late_recovery(struct lb_case *c, enum lb_guarantee guarantee,
                         const struct lb_recovery_wait *wait);
void lb_judge_late_waits(struct lb_case *c);

/* The worker leaves its place in line, if it has one: granted at the event grant, or LB_NONE. */
void lb_scan_leave_line(struct lb_scan *scan, uint64_t low, uint64_t high, uint32_t grant);
/* A worker that was granted nothing yet was not told how long a lease is: another one was. */
void lb_scan_others_lease(struct lb_scan *scan);
/* A line may drop waiters that it has not heard of for a lease. True if this one was silent for so
 * long, from the request of its last try to until_ns. */
bool lb_scan_was_silent(const struct lb_scan *scan, uint64_t until_ns);
/* Its place is lost then. */
void lb_scan_miss_try(struct lb_scan *scan, uint64_t asked_ns, uint64_t until_ns);

#endif
