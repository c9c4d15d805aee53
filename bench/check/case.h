/* Private to bench/check: the data extracted from a history before it is judged.
 *
 * The events stay where they are (mapped); a judgement keeps one small record per hold, claim, item
 * operation, put, ticket and guarded write, in arrays, so that memory is a fraction of the file's
 * size. Every record knows its log and its event's position there: a witness looks the rest up.
 *
 * Times. "low" is the earliest and "high" the latest moment at which something can have happened:
 * an invoke's time minus, an end's time plus, the uncertainty of the log's clock. All tests compare
 * lows with highs, so that what they report happened whatever the clocks did.
 */
#ifndef LB_CASE_H
#define LB_CASE_H

#include "array.h"
#include "attribute.h"
#include "check.h"
#include "memory.h"

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
    unsigned is_lost : 1;      /* its session may have ended before anything else ended it */
};

/* A release that changed something although its hold had ended before: see owner.c. */
struct lb_late_release {
    uint64_t low, high; /* of the release */
    uint64_t id;        /* resource or item */
    uint32_t log, event, grant;
    bool by_lease;   /* its lease had ended; else an earlier release of the same hold */
    bool by_session; /* another log noted before that its session had ended */
};

/* An item handed out by a claim, or an operation on an item, as the logs have it. There may be as
 * many as there are events in the history. */
struct lb_item_record {
    uint64_t id;
    uint64_t low, high;
    uint32_t log, event;
    uint32_t lease_ms;
    uint32_t class_no;
    uint8_t op; /* LB_OP_ITEM: a claim */
    uint8_t type;
    uint8_t flags;
    bool is_unclear; /* its worker may hold items that it was not told of */
};

/* The end of an item that was refused: its claimer does not have it. */
struct lb_let_go {
    uint64_t id;
    uint32_t log, event; /* of the invoke */
};

/* The process of a log said that it is alive. */
struct lb_beat {
    uint64_t low, high;
    uint32_t log, safe_ms;
};

/* A process was answered info. */
struct lb_info {
    uint64_t low;
    uint32_t log, event;
};

/* A claim that was answered with n items. */
struct lb_begun {
    uint64_t low, high;
    uint32_t n, log, event;
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
    uint64_t drawn; /* earliest time of the request for it */
    uint64_t low;   /* earliest time of its grant, or of its leaving the line */
    uint64_t high;  /* latest time of its grant; LB_NEVER: none */
    uint32_t resource, log, event;
    uint32_t grant; /* event of the grant's ok; LB_NONE */
    bool is_shared;
};

/* An accepted write; or a grant, of which fenced asks the same. */
struct lb_write {
    uint64_t token, low, high;
    uint32_t resource, log, event;
    bool is_shared;
};

/* A wait that was not answered in its log. */
struct lb_pending_wait {
    uint64_t since_ns, until_ns;
    uint32_t object, log, event;
};

/* A wait beyond the bound, by the clock. */
struct lb_late_wait {
    struct lb_pending_wait wait;
    uint32_t end; /* the event that answered; LB_NONE */
};

/* An answer "empty" or "busy". */
struct lb_refusal {
    uint64_t low, high;
    uint32_t object, log, event;
};

/* Items of a claim whose outcome is unknown, or that it marked or returned beyond those recorded.
 */
struct lb_unknown_claim {
    uint64_t low, high; /* LB_NEVER: not answered */
    uint64_t n;
    uint32_t class_no, log;
    bool is_final;  /* it took its items for good */
    bool is_beyond; /* these items were returned: only their names are not known */
};

/* How many permits the tables said were free, of one resource. */
struct lb_asked {
    uint64_t low, high;
    int64_t free;
    uint32_t resource;
};

/* The release that ended a hold whose worker had several of the resource at once. */
struct lb_crowded_end {
    uint32_t hold;
    uint64_t answered; /* high of its ok; LB_NEVER: it was not answered ok */
};

/* A hold that ended in the tick in which its worker was granted another of the resource beside it.
 */
struct lb_tie {
    uint32_t hold, resource;
    uint64_t time;
    uint32_t position; /* of its end, in its log */
};

/* An acquire whose outcome is unknown. */
struct lb_unknown_grant {
    uint64_t low, high; /* LB_NEVER: not answered */
    uint32_t resource, log, permits;
    bool is_given_back; /* a release had an effect that can be of nothing else */
};

/* A grant within another one of its worker: of a re-entrant lock. */
struct lb_inner {
    uint64_t start;
    uint32_t hold; /* the outermost */
};

/* The record of one id, a cache line: see ids.c. */
struct lb_id {
    uint64_t id;
    uint64_t put_low, put_high;     /* asked for; certainly there: LB_NEVER, not acknowledged */
    uint64_t claim_low, claim_high; /* of the claim that was answered first */
    uint32_t put_event, claim_event;
    uint32_t class_no; /* of the put */
    uint32_t n;        /* 1; or as many unclaimed ids of one put from this one on */
    unsigned put_log : 20, is_put : 1, is_claimed : 1;
    unsigned is_given_back : 1; /* certainly free at the end */
    unsigned is_ended : 1;      /* completed, or in error, by its claimer: for certain */
    unsigned is_open : 1;       /* its last claim has no certain end of its worker's */
    unsigned is_odd : 1;        /* more happened to it: its events are in lb_case.items */
    unsigned is_put_again : 1;
    unsigned is_claimed_again : 1;
    unsigned
        is_let_go : 1; /* its last claimer perhaps gave it back, and ended it in no other way */
    unsigned claim_log : 20;
    unsigned n_claims : 5;   /* or more: LB_ID_CLAIMS */
    unsigned is_refused : 1; /* it was claimed once, and its claimer was refused its end */
};

/* Reasons why guarantees are not tested, which several of them give. */
#define LB_PUT_AGAIN "an item was put more than once: give each one a name of its own"
#define LB_FREE_UNKNOWN                                                                            \
    "an item was not claimed again, and it is not known whether its worker gave it back"

/* As many claims of an item as are counted. */
enum { LB_ID_CLAIMS = 31 };

_Static_assert(sizeof(struct lb_id) == 64, "one cache line");
_Static_assert(LB_MAX_LOGS <= 1 << 20, "a log's number fits its field");

/* The facts of one log after it was read. */
struct lb_log_facts {
    size_t first_hold; /* its holds, by start */
    size_t n_holds, n_pieces;
    uint64_t n_successes, n_attempts; /* successes: of queues, and of calm locks */
    uint64_t last_ns;                 /* of its last event */
    uint64_t answered_low; /* the request time of the last operation answered ok or fail */
    uint64_t unnoted;  /* a history that was cut: from then on its session may have ended, and the
                          note be missing; LB_NEVER: of others */
    uint64_t death_ns; /* when its writer's death was noted; LB_NEVER: it did not die */
    uint64_t gone_ns;  /* the earliest time of its death; LB_NEVER */
    uint64_t unsure_beat; /* the request time of its process's first beat of unknown outcome */
    bool has_unsure_beat;
    bool keeps; /* a grant was committed, or is unknown: its session's end may leave it something */
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
    uint64_t end_ns;     /* for operations that never ended */
    uint64_t most_slack; /* of the logs' clocks: the largest uncertainty */
    uint64_t
        known_ns; /* from here on something of the history may be missing; LB_NEVER: nothing is */
    bool is_drained; /* nothing was left to claim at the end, and nothing of the history is missing
                      */
    uint64_t warm_ns;
    char stalled[160]; /* why times cannot be judged; "": they can */

    struct lb_array holds;  /* struct lb_hold, grouped by log */
    struct lb_array tokens; /* uint64_t, parallel to holds, if any grant had one */
    struct lb_array late;   /* struct lb_late_release */
    struct lb_array items;  /* struct lb_item_record */
    struct lb_array puts;
    struct lb_array moments; /* of world.c */
    struct lb_array world;
    struct lb_array waiters;
    struct lb_array writes;
    struct lb_array stalls;      /* of all workers: disjoint, in order, once all logs were read */
    struct lb_array unrun;       /* the same, and those of single workers */
    struct lb_array asked;       /* struct lb_asked */
    struct lb_array unique_puts; /* struct lb_put: one item each; n 0: refused as a duplicate */
    struct lb_array begun;       /* struct lb_begun; if the guarantee rate is judged */
    struct lb_array attributes[LB_ATTRIBUTES]; /* struct lb_key: id, value; by id */
    struct lb_array let_go;                    /* struct lb_let_go */
    struct lb_array beats; /* struct lb_beat; by log and low once the logs were read */
    bool has_unsure_beats; /* of some log */
    struct lb_array late_waits;
    struct lb_array refusals;
    struct lb_array unknown;        /* struct lb_unknown_claim */
    bool is_fifo_excused;           /* fifo holds only if some of these took items */
    struct lb_array pending;        /* struct lb_pending_wait */
    struct lb_array unknown_grants; /* struct lb_unknown_grant */
    struct lb_array inner;          /* struct lb_inner */
    struct lb_array crowded_ends;   /* struct lb_crowded_end; sorted by hold when all is read */
    struct lb_array ties;           /* struct lb_tie */
    struct lb_array
        over; /* uint32_t: holds by a lease that was over already, as the database said */
    bool has_shared, has_weights;
    bool is_calm;              /* a lock of which nothing needed a closer look: lock_calm.c */
    struct lb_array open;      /* uint32_t: holds that were still open when their log ended */
    struct lb_array infos;     /* struct lb_info: unknown outcomes, by log and event */
    uint32_t *order;           /* all holds by start */
    uint64_t *first_violation; /* of exclusive, per resource; NULL: not needed */
    uint64_t had_again;   /* from then on a hold may last longer than its core: renewed after its
                             session's end, or only perhaps ended */
    struct lb_key *by_id; /* positions in items, by id and then in order */
    struct lb_array put_again; /* uint64_t: claimed ids that were put more than once, in order */
    struct lb_id *ids;         /* dense ones by id, with holes: neither put nor claimed */
    size_t n_ids;
    bool is_dense;
    uint64_t first_id; /* dense: of ids[0] */
    size_t ids_room, lowest;
    void *table;        /* dense: the memory of ids, freed with free */
    uint64_t n_odd;     /* dense ids that are */
    uint32_t one_class; /* of all puts; LB_NONE: none was put */
    bool classes_differ;
    bool has_tokens;
    bool has_cuts;
    bool has_reopened;      /* items came back into the queue, by a reset-all or clear-all */
    bool may_have_reopened; /* ... perhaps */
    bool has_queue_ties;    /* a worker did two things to the queue in one tick */
    const char *doubt[LB_GUARANTEE_ROOM]; /* why a violation may have passed; NULL: none can */
    uint64_t n_releases;                  /* effective ones */
};

static inline struct lb_hold *lb_holds(const struct lb_case *c)
{
    return c->holds.items;
}

/* The event at a position of a log. */
const struct lb_event *lb_case_event(const struct lb_case *c, uint32_t log, uint32_t event);
/* The position of the invoke that the end at position event belongs to. */
uint32_t lb_case_invoke(const struct lb_case *c, uint32_t log, uint32_t event);
/* The position of the end that belongs to the invoke at position event; LB_NONE. */
uint32_t lb_case_end(const struct lb_case *c, uint32_t log, uint32_t event);
/* How many may hold a resource at once. */
static inline uint32_t lb_capacity_of(const struct lb_model *model, uint32_t resource)
{
    return model->capacity == NULL ? 1 : model->capacity[resource];
}
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

/* The earliest and the latest end of a lease of ms that was requested at low and answered at high.
 * A millisecond and a thousandth of the lease are given to clocks that count whole milliseconds or
 * run at another speed than ours, and model->tick_ms to clocks that count more. */
static inline uint64_t lb_lease_margin(const struct lb_case *c, uint32_t ms)
{
    return 1000000u + (uint64_t)ms * 1000u + (uint64_t)c->model->tick_ms * 1000000u;
}
static inline uint64_t lb_lease_low(const struct lb_case *c, uint64_t low, uint32_t ms)
{
    uint64_t length = (uint64_t)ms * 1000000u, margin = lb_lease_margin(c, ms);
    return low + (length > margin ? length - margin : 0);
}
static inline uint64_t lb_lease_high(const struct lb_case *c, uint64_t high, uint32_t ms)
{
    return high + (uint64_t)ms * 1000000u + lb_lease_margin(c, ms);
}

/* Until when a sign of life keeps recoveries of an age off, at the least. */
static inline uint64_t lb_kept_off(const struct lb_case *c, uint64_t from, uint32_t for_ms,
                                   uint32_t age_ms)
{
    return for_ms > 0 ? lb_lease_low(c, from, for_ms < age_ms ? for_ms : age_ms) : 0;
}

/* 0, or LB_E_INTERRUPTED: called between the steps of long work. */
int lb_case_goes_on(const struct lb_case *c);

#endif
