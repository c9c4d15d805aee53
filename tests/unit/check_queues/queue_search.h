/* Queues, judged by a search for an order: random histories, what they become as operations, and
 * the models that say which orders are legal. Items are followed one by one: new, active, complete,
 * in error. Shares no code with the judge. */
#ifndef QUEUE_SEARCH_H
#define QUEUE_SEARCH_H

#include "../check_brute.h"
#include "attribute.h"

enum {
    PRODUCER,
    FIRST_CONSUMER,
    OPERATOR = 3,
    LOGS = 4,
    IDS = 10,
    MS = 1000000,
    LEASE_MS = 8,
    GROUPS = 5,
    KEYS = 1
};

struct shape {
    const char *name;
    bool lease, odd_ends, once, resets, late, drained, batches;
    bool recurring;          /* one item, done again and again */
    bool recovers;           /* old claims are freed */
    bool renews;             /* claims are renewed: leases always are */
    bool untold;             /* some renewals do not say their length */
    bool brief;              /* some renewals last shorter than recoveries ask for */
    bool beats;              /* workers' processes say that they are alive */
    bool sessions;           /* notes of sessions that ended */
    bool final;              /* items are taken out for good */
    bool strangers;          /* items are ended by who never claimed them */
    bool mixed;              /* who produces consumes, too */
    bool may_not_tell;       /* not tested, for a reason, is no disagreement */
    bool may_miss;           /* a recovery takes each item by itself */
    bool strict;             /* "empty" is judged with the order */
    bool again;              /* order: of items that come back, the first claim */
    bool pipelines;          /* some claims go out with an end, before its answer */
    uint64_t uncertainty_ns; /* of all clocks: the judge may let a violation pass */
    uint64_t tick;
    enum lb_guarantee guarantee;
    bool (*legal)(void);
};

/* --- random histories --- */

struct item {
    enum { ABSENT, NEW, ACTIVE, COMPLETE, ERROR } state;
    uint64_t claimed, expires;
    uint32_t owner; /* the log that claimed it last */
    uint64_t ghost; /* until then a claim that was never answered has it; 0: none */
};

void generate(const struct shape *shape, struct lb_random *random);

/* --- one item: from the history to operations --- */

/* In place of a log: done by the database, at any time from the given one on. */
enum { DATABASE = LOGS };

/* END: the first end of a claim that certainly had an effect. KEEP: a renewal of what its worker
 * may have ended. */
enum kind {
    CLAIM,
    RENEW,
    KEEP,
    CLOSE,
    END,
    EXPIRE,
    GONE,
    CLEAR,
    RESET,
    LEAVE,
    PUT,
    TAKE,
    RECOVER,
    BEAT
};

/* The recoveries that took a claim of the item: each is one moment, and takes one. */
enum { USED_SHIFT = 40 };

enum { RENEWALS = 20, ANY_RENEWAL = 31 };

struct claim_info {
    uint32_t log;
    const struct lb_event *note;
    uint64_t low, high, expiry_low;
    uint64_t renewed_low[RENEWALS]; /* from when its age counts, by number of the renewal */
    uint32_t renewed_ms[RENEWALS];  /* ... and for how long at most it keeps the claim young */
    const struct lb_event *renewal[RENEWALS];
    bool is_kept[RENEWALS];
    uint32_t n_renewals, aged; /* aged: the newest that says a length, and so keeps it young */
    bool is_closed, is_ended;  /* perhaps; certainly */
    const struct lb_event *unknown_ends[4]; /* its worker's ends of unknown outcome */
    uint32_t n_unknown_ends;
};

/* Of a CLOSE, beside the operation: its outcome is unknown, and the claim may have been let go. */
enum { LETS_GO = 256 };

extern struct claim_info claims[BRUTE_OPS];
extern uint32_t n_claims, first_claim; /* first: of the item that is being translated */

/* A worker's request comes after its earlier requests, even those of unknown outcome. */
extern uint32_t place_now; /* in the log, from 1 */

void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional, uint64_t a,
               uint32_t log);
const struct lb_event *end_of(uint32_t log, size_t i);
uint64_t asked_at(uint32_t log, size_t at);

/* The newest claim of a log before an event; 0: none. Claims are numbered from 1. */
uint32_t claim_before(uint32_t log, const struct lb_event *event);
void translate_recoveries(void);

/* More happened to the item than the search has room for. */
extern bool is_too_much;

/* All that concerns item id, but recoveries. */
void translate_one(uint64_t id);
void translate_item(uint64_t id);

/* --- one item, its owner, and a group of items --- */

bool legal_items(void);
bool legal_owners(void);
/* Was an item that was claimed free at the end, in every order in which it was not claimed twice?
 */
bool is_given_back(uint64_t id);
/* The last history was found legal, but only just: owners depend on the order of answers within a
 * tick, or an item that may be lost was claimed twice. */
extern bool is_close;
bool legal_once(void);
bool legal_groups(void);
bool legal_keys(void);

/* --- all items: order, empty, loss --- */

bool legal_order(void);

/* Is it linearizable as a queue? */
bool legal_strict(void);
bool legal_empty(void);
bool legal_loss(void);

/* --- a part that is settled: queue_settled.c --- */

/* n_dropped: histories with a dropped part. n_violated: histories with a duplicate. n_untold:
 * findings that are not tested because of the dropped part. n_fewer: violated findings with another
 * number of violations. */
struct settled_tally {
    uint64_t n, n_dropped, n_violated, n_untold, n_fewer;
};
extern struct settled_tally settled_tally;

void compare_settled(const struct shape *shape, struct lb_random *random);

/* --- what is compared --- */

extern struct test_history history;
extern struct brute brute;
extern uint64_t uncertainty_ns; /* of all clocks */

#endif
