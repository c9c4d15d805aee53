/* Private to bench/check: what is taken out of a history before it is judged.
 *
 * The events stay where they are (mapped); a judgement keeps one small record per hold, claim, item
 * operation, put, ticket and guarded write, in arrays, so that memory is a fraction of the file's
 * size. Every record knows its log and its event's position there: a witness looks the rest up.
 *
 * Times. "low" is the earliest and "high" the latest moment at which something can have happened:
 * an invoke's time minus, an end's time plus, the uncertainty of the log's clock. All tests compare
 * lows with highs, so that what they report happened whatever the clocks did.
 */
#ifndef LB_CHECK_INTERNAL_H
#define LB_CHECK_INTERNAL_H

#include "check.h"

#include <string.h>

enum { LB_PERMITS_MAX = (1 << 25) - 1 };
#define LB_NONE  UINT32_MAX /* no place in an array; an enumerator would have to fit an int */
#define LB_NEVER UINT64_MAX
/* No clock says more; uncertainties and leases can be added without overflow. */
#define LB_TIME_MAX (UINT64_C(1) << 62)

/* A grant, from its acquire's ok to its release's invoke: the core. */
struct lb_hold {
    uint64_t start, end; /* high of the ok, low of the release: as the holder believed */
    uint64_t cut;        /* <= end: earliest time at which lease or session ended it */
    uint32_t resource;
    uint32_t log;           /* position in the view */
    uint32_t event;         /* of the acquire's ok, in its log */
    unsigned permits : 25;  /* a number that large is more than any capacity anyway */
    unsigned is_shared : 1; /* reader */
    unsigned is_piece : 1;  /* goes on after a lease that was renewed too late */
    unsigned is_dead : 1;   /* its holder died inside */
    unsigned has_token : 1;
    unsigned is_committed : 1; /* its session's loss does not end it */
};

/* A release that changed something although its hold had ended before: see owner.c. */
struct lb_late_release {
    uint64_t low, high; /* of the release */
    uint64_t id;        /* resource or item */
    uint32_t log, event, grant;
    bool by_lease; /* its lease had ended; else an earlier release of the same hold */
};

/* An item handed out by a claim, or an operation on an item: judged together, sorted by id. */
struct lb_item_event {
    uint64_t id;
    uint64_t low, high;
    uint64_t since; /* a claim: from when a recovery counts its age: its own low, or a renewal's */
    uint32_t log, event;
    uint32_t lease_ms;
    uint32_t class_no;
    uint8_t op; /* LB_OP_ITEM: a claim */
    uint8_t type;
    uint8_t flags;
    bool is_unclear; /* its worker may hold items that it was not told of */
    bool is_resumed; /* a claim that goes on: it was renewed when it may have been over */
};

/* A process was answered info. */
struct lb_info {
    uint64_t low;
    uint32_t log, event;
};

/* Items first .. first + n - 1. */
struct lb_put {
    uint64_t first, low, high; /* high: LB_NEVER unless it was answered ok */
    uint32_t n, log, event, class_no;
};

/* An operation on a whole class, and notes about a log. */
struct lb_world_event {
    uint64_t low, high;
    uint64_t alive; /* a session's end: when it was certainly there still; 0: not known */
    uint32_t log, event;
    uint32_t target; /* log, for notes; class, for operations */
    uint32_t phase;
    uint32_t age_ms; /* recovery: claims of the living that are older are freed too; 0: none */
    uint8_t op, type;
};

struct lb_waiter {
    uint64_t ticket;
    uint64_t low;  /* earliest time of its grant, or of its leaving the line */
    uint64_t high; /* latest time of its grant; LB_NEVER: none */
    uint32_t resource, log, event;
    uint32_t grant; /* event of the grant's ok; LB_NONE */
    bool is_shared;
};

struct lb_write {
    uint64_t token, low, high;
    uint32_t resource, log, event;
};

/* A wait that was not answered in its log. */
struct lb_pending_wait {
    uint64_t since_ns, until_ns;
    uint32_t object, log, event;
};

/* A wait beyond the bound, by the clock. */
struct lb_late_wait {
    struct lb_pending_wait wait;
    uint32_t end; /* as in lb_witness_wait */
};

/* An answer "empty" or "busy". */
struct lb_refusal {
    uint64_t low, high;
    uint32_t object, log, event;
};

/* A claim whose outcome is unknown, or that brought more items than were recorded. */
struct lb_unknown_claim {
    uint64_t low;
    uint64_t n;
    uint32_t class_no;
};

/* The release that ended a hold whose worker had several of the resource at once. */
struct lb_crowded_end {
    uint32_t hold;
    uint64_t answered; /* high of its ok; LB_NEVER: it was not answered ok */
};

/* A hold that ended in the tick in which its worker was granted another of the resource beside it.
 */
struct lb_tie {
    uint64_t time;
    uint32_t resource, hold;
    uint32_t position; /* of what ended it, in its log */
};

/* An acquire whose outcome is unknown. */
struct lb_unknown_grant {
    uint64_t low;
    uint32_t resource;
};

struct lb_array {
    void *items;
    size_t n, room;
};

/* Room for one more item of size bytes; NULL: out of memory. The pointer is good until the next
 * push. */
static inline void *lb_array_push(struct lb_array *array, size_t size);
void *lb_array_grow(struct lb_array *array, size_t size);

static inline void *lb_array_push(struct lb_array *array, size_t size)
{
    if (__builtin_expect(array->n == array->room, 0))
        return lb_array_grow(array, size);
    return (char *)array->items + size * array->n++;
}

/* What is known of one id, a cache line: see ids.c. */
struct lb_id {
    uint64_t id;
    uint64_t put_low, put_high;     /* asked for; certainly there: LB_NEVER, not acknowledged */
    uint64_t claim_low, claim_high; /* of the claim that was answered first */
    uint32_t put_event, claim_event;
    uint32_t class_no; /* of the put */
    uint32_t n;        /* 1; or so many ids of one put, this one the first, that nobody claimed */
    unsigned put_log : 20, is_put : 1, is_claimed : 1;
    unsigned is_given_back : 1; /* certainly free at the end */
    unsigned is_ended : 1;      /* completed, or in error, by its claimer: for certain */
    unsigned is_odd : 1;        /* more happened to it: its events are in lb_case.items */
    unsigned is_put_again : 1;
    unsigned is_claimed_again : 1;
    unsigned claim_log : 20;
};

_Static_assert(sizeof(struct lb_id) == 64, "one cache line");
_Static_assert(LB_MAX_LOGS <= 1 << 20, "a log's number fits its field");

/* What is known of one log after it was read. */
struct lb_log_facts {
    size_t first_hold; /* its holds, by start */
    size_t n_holds, n_pieces;
    uint64_t n_successes, n_attempts;
    uint64_t last_ns;  /* of its last event */
    uint64_t death_ns; /* when its writer's death was noted; LB_NEVER: it did not die */
    uint64_t gone_ns;  /* when it can have died at the earliest; LB_NEVER */
    size_t *span_first;
};

struct lb_key {
    uint64_t key;
    uint32_t index, extra;
};

struct lb_case {
    const struct lb_history_view *history;
    const struct lb_model *model;
    struct lb_error *err;
    struct lb_judgement *out;
    struct lb_log_facts *logs;
    uint32_t n_resources;
    uint64_t end_ns; /* for what never ended */
    uint64_t
        known_ns; /* from here on something of the history may be missing; LB_NEVER: nothing is */
    uint64_t warm_ns;
    int failed;        /* memory ran out where nothing can be returned */
    char stalled[160]; /* why times cannot be judged; "": they can */

    struct lb_array holds;  /* struct lb_hold, grouped by log */
    struct lb_array tokens; /* uint64_t, parallel to holds, if any grant had one */
    struct lb_array late;   /* struct lb_late_release */
    struct lb_array items;  /* struct lb_item_event */
    struct lb_array puts;
    struct lb_array moments; /* of world.c */
    struct lb_array world;
    struct lb_array waiters;
    struct lb_array writes;
    struct lb_array stalls; /* apart, in order, once all logs were read */
    struct lb_array late_waits;
    struct lb_array refusals;
    struct lb_array unknown;        /* struct lb_unknown_claim */
    struct lb_array pending;        /* struct lb_pending_wait */
    struct lb_array unknown_grants; /* struct lb_unknown_grant */
    struct lb_array crowded_ends;   /* struct lb_crowded_end; sorted by hold when all is read */
    struct lb_array ties;           /* struct lb_tie */
    bool lacks_memory;              /* for a tie */
    uint64_t n_over;     /* grants by a lease that was over already, as the database said */
    uint32_t first_over; /* the hold of the first of them */
    bool has_shared, has_weights;
    struct lb_array open;      /* uint32_t: holds that were still open when their log ended */
    struct lb_array infos;     /* struct lb_info: unknown outcomes, by log and event */
    uint32_t *order;           /* all holds by start */
    uint64_t *first_violation; /* of exclusive, per resource; NULL: nobody wants to know */
    struct lb_key *by_id;      /* positions in items, by id and then in order */
    struct lb_array put_again; /* uint64_t: claimed ids that were put more than once, in order */
    struct lb_id *ids;         /* dense ones by id, with holes: neither put nor claimed */
    size_t n_ids;
    bool is_dense;
    uint64_t first_id; /* dense: of ids[0] */
    size_t ids_room, lowest;
    void *table;    /* dense: the memory of ids, freed with free */
    uint64_t n_odd; /* dense ids that are */
    uint32_t first_class;
    bool has_put;
    bool classes_differ;
    bool has_tokens;
    bool has_cuts;
    bool has_queue_ties;              /* a worker did two things to the queue in one tick */
    const char *doubt[LB_GUARANTEES]; /* why a violation may have passed; NULL: none can */
    uint64_t n_releases;              /* effective ones */
};

static inline struct lb_hold *lb_holds(const struct lb_case *c)
{
    return c->holds.items;
}

static inline const struct lb_event *lb_event_in(const struct lb_log_view *log, size_t span,
                                                 size_t i)
{
    return &log->spans[span].events[i];
}

/* The event at a position of a log. */
const struct lb_event *lb_case_event(const struct lb_case *c, uint32_t log, uint32_t event);
/* The position of the invoke that the end at position event belongs to. */
uint32_t lb_case_invoke(const struct lb_case *c, uint32_t log, uint32_t event);
/* The position of the end that belongs to the invoke at position event; LB_NONE. */
uint32_t lb_case_end(const struct lb_case *c, uint32_t log, uint32_t event);
static inline uint64_t lb_slack(const struct lb_case *c, uint32_t log)
{
    return c->history->logs[log].uncertainty_ns;
}
static inline uint64_t lb_low(uint64_t time_ns, uint64_t slack)
{
    return time_ns > slack ? time_ns - slack : 0;
}
static inline uint64_t lb_high(uint64_t time_ns, uint64_t slack)
{
    return time_ns < LB_NEVER - slack ? time_ns + slack : LB_NEVER;
}
/* The low of the grant's acquire. */
uint64_t lb_hold_asked(const struct lb_case *c, const struct lb_hold *hold);

/* When a lease of ms that was asked for at low, and answered at high, can have ended at the
 * earliest and must have ended at the latest. A millisecond and a thousandth of the lease are given
 * to clocks that count whole milliseconds or run at another speed than ours. */
static inline uint64_t lb_lease_margin(uint32_t ms)
{
    return 1000000u + (uint64_t)ms * 1000u;
}
static inline uint64_t lb_lease_low(uint64_t low, uint32_t ms)
{
    uint64_t length = (uint64_t)ms * 1000000u, margin = lb_lease_margin(ms);
    return low + (length > margin ? length - margin : 0);
}
static inline uint64_t lb_lease_high(uint64_t high, uint32_t ms)
{
    return high + (uint64_t)ms * 1000000u + lb_lease_margin(ms);
}

/* --- reading: scan_logs.c, scan_lock.c, scan_queue.c, world.c --- */

/* An operation under way, or a claim that is out, of the log that is being read. */
struct lb_open {
    uint32_t hold, piece; /* positions in holds; piece: the latest part, the hold itself at first */
    uint32_t newer, older; /* grants of the same resource, a list; LB_NONE ends */
    uint32_t depth;        /* re-entrant: acquires within the outermost */
    uint64_t expiry_low, expiry_high;
    uint64_t lapsed_cut; /* the piece's cut, before it lapsed */
    uint64_t
        newer_start; /* of the last grant of the resource that its log got beside it; LB_NEVER */
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
    uint64_t answered_low; /* when the operation was asked for that was last answered ok or fail */
    uint32_t index;        /* of the event being read */
    uint32_t retired;      /* process that must not come back */
    bool has_retired;
    const struct lb_event *invoke; /* of the operation under way; NULL */
    uint64_t waited_ns;            /* it was waiting still, as the engine said; 0: nobody knows */
    uint32_t invoke_index;
    /* locks */
    uint32_t *newest; /* per resource: the newest open grant of this log, or LB_NONE */
    struct lb_array grants;
    bool is_waiting;
    uint32_t wait_object, wait_event;
    uint64_t wait_ns;
    bool has_ticket;
    struct lb_waiter ticket; /* the place in line, while it has_ticket */
    bool has_unknown_grant;  /* an acquire's outcome was unknown: it may hold something */
    /* queues */
    struct lb_array noted;             /* struct lb_noted: the items of the claim under way */
    uint64_t claimed_high, queue_high; /* of the last claim; of the last put, claim or "empty" */
    bool has_claimed, has_queued;      /* there was one */
};

struct lb_noted {
    uint64_t id;
    uint32_t event;
};

int lb_scan_history(struct lb_case *c);
int lb_scan_bad(struct lb_scan *scan, const char *what);
int lb_scan_lock_end(struct lb_scan *scan, const struct lb_event *end, int type);
/* Takes as many whole cycles (acquire ok, release ok, nothing else about) as stand at the head of
 * events; returns how many events that were. What it does is what the others would do, in short. */
size_t lb_scan_cycles(struct lb_scan *scan, const struct lb_event *events, size_t n);
int lb_scan_lock_finish(struct lb_scan *scan);
int lb_scan_queue_end(struct lb_scan *scan, const struct lb_event *end, int type);
int lb_scan_item(struct lb_scan *scan, const struct lb_event *note);
/* An operation on everybody's: recover, reset-all, clear-all. */
int lb_scan_write(struct lb_scan *scan, const struct lb_event *end, int type);
int lb_scan_world(struct lb_scan *scan, const struct lb_event *end, int type);
void lb_scan_wait_begin(struct lb_scan *scan);
/* The wait under way ends; granted: with the event being read, otherwise the worker gave up. */
void lb_scan_wait_end(struct lb_scan *scan, uint64_t time_ns, bool granted);
/* A process that was answered info does not go on: its grants lapse, its place in line is left. */
int lb_scan_retire(struct lb_scan *scan, uint64_t low);
/* What notes and recoveries say about holds that had not ended when their log did. */
int lb_world_apply(struct lb_case *c);
/* Fills the logs' death_ns and gone_ns. */
void lb_world_deaths(struct lb_case *c);
/* Before lb_world_session_end: sorts what it looks up. */
int lb_world_sessions(struct lb_case *c);
/* The earliest time at which a recovery can have freed what the dead of that time held; LB_NEVER.
 */
uint64_t lb_world_recovered(const struct lb_case *c, uint64_t death);
/* The earliest time at which the session that a note speaks of can have ended. */
uint64_t lb_world_session_end(const struct lb_case *c, const struct lb_world_event *note);

/* --- the ids of a queue: ids.c, scan_items.c --- */

/* Before the logs are read. */
void lb_ids_open(struct lb_case *c);
/* After: fills items and by_id, and completes ids. */
int lb_ids_finish(struct lb_case *c);
void lb_ids_release(struct lb_case *c);
/* What becomes known while the logs are read. */
int lb_ids_put(struct lb_case *c, const struct lb_put *put);
int lb_ids_claim(struct lb_case *c, const struct lb_item_event *claim);
int lb_ids_end(struct lb_case *c, const struct lb_item_event *end);
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

/* --- merging and sorting: merge.c, sort.c --- */

/* Fills c->order: all holds by start. */
int lb_merge_holds(struct lb_case *c);

/* Sorts by key, stable. 0 or LB_E_MEMORY. */
int lb_sort(struct lb_key *keys, size_t n);

/* --- standing still: stalls.c --- */

int lb_scan_stall(struct lb_case *c, const struct lb_event *e);
/* Once all logs were read. */
void lb_judge_stalls(struct lb_case *c);
/* For how long everybody stood still between these times. */
uint64_t lb_stalled_within(const struct lb_case *c, uint64_t from, uint64_t until);
int lb_keep_late_wait(struct lb_case *c, const struct lb_pending_wait *wait, uint32_t end);
void lb_judge_late_waits(struct lb_case *c);

/* --- judging --- */

int lb_judge_exclusive(struct lb_case *c);
/* What the order of each worker's own operations adds, within a tick: how many violations more. */
int lb_judge_ties(struct lb_case *c, uint64_t *ret_n);
int lb_judge_owner(struct lb_case *c);
int lb_judge_fenced(struct lb_case *c);
int lb_judge_lock_fifo(struct lb_case *c);
int lb_judge_items(struct lb_case *c);
int lb_judge_loss(struct lb_case *c);
int lb_judge_queue_fifo(struct lb_case *c);
/* The ids of one class, by number: the keys' indexes. Says also what cannot be told. */
int lb_judge_queue_ties(struct lb_case *c, const struct lb_key *keys, size_t n, bool are_excused);
int lb_judge_recovery(struct lb_case *c);
int lb_judge_item_deaths(struct lb_case *c);
/* Sorts the n lengths and takes count, percentiles and maximum. */
void lb_measure_recovery(struct lb_case *c, uint64_t *took_ns, size_t n);
int lb_judge_fairness(struct lb_case *c);
int lb_judge_answers(struct lb_case *c);
int lb_judge_empty(struct lb_case *c);

/* --- findings: witness.c --- */

/* The finding of a guarantee. */
static inline struct lb_finding *lb_finding_of(struct lb_case *c, enum lb_guarantee guarantee)
{
    return &c->out->findings[guarantee];
}
/* Where the next witness of a finding goes; NULL when all places are taken. Zeroed. */
struct lb_witness *lb_witness_new(struct lb_finding *finding);
/* Adds the operation that the end (or unanswered invoke) at position event belongs to. */
void lb_witness_add(const struct lb_case *c, struct lb_witness *witness, uint32_t log,
                    uint32_t event);
/* Adds a grant's acquire and its release, if there was one. */
void lb_witness_add_hold(const struct lb_case *c, struct lb_witness *witness,
                         const struct lb_hold *hold);
void lb_witness_text(struct lb_witness *witness, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A wait that was longer than the bound. end: the event that answered, or LB_NONE. */
void lb_witness_wait(struct lb_case *c, const struct lb_pending_wait *wait, uint32_t end);
/* A point in time for people: "12.041 ms" after the history's start. */
char *lb_at(const struct lb_case *c, uint64_t time_ns, char *buf, size_t size);

enum { LB_AT = 40 };
/* Room for one name, until the end of the block that asks. */
#define LB_WHOM ((char[LB_WHO]){0})
/* Whose log it is, for people: "worker 3"; in a history from elsewhere "process 7". */
const char *lb_who(const struct lb_case *c, uint32_t log, char buf[LB_WHO]);

/* An item as its history calls it. */
enum { LB_ITEM_NAME = 48 };
#define LB_ITEM_OF(c, id)                                                                          \
    lb_item_name((c)->history->names, id, (char[LB_ITEM_NAME]){0}, LB_ITEM_NAME)

int lb_out_of_memory(struct lb_case *c);
/* 0, or LB_E_INTERRUPTED: asked between the steps of what may take long. */
int lb_case_goes_on(const struct lb_case *c);

#endif
