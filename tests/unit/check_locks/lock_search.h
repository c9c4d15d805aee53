/* Locks, judged by a search for an order: random histories, what they become as operations, and the
 * models that say which orders are legal. The translation is written anew here, from the
 * definitions, and shares no code with the judge. */
#ifndef LOCK_SEARCH_H
#define LOCK_SEARCH_H

#include "../check_brute.h"

enum { LOGS = 4, MS = 1000000 };

struct shape {
    const char *name;
    uint32_t capacity, max_permits, shared_percent, resources;
    bool reentrant, lease, tokens, tickets, writes, odd_ends;
    bool sound_only; /* the judge may let a violation pass; it may not invent one */
    bool late;       /* the first worker overruns its lease */
    bool bare;       /* releases say nothing but the resource, as other tools' do */
    bool retry;      /* a worker asks again after any answer */
    bool untold;     /* some renewals do not state their length */
    bool brief;      /* some renewals shorten the lease */
    bool later;      /* some grants say no length; a renewal may */
    bool fleeting;   /* leases may be over before their grants are answered */
    bool alone;      /* exclusion is not claimed */
    bool sessions;   /* notes of sessions that ended */
    uint32_t most_held;
    enum lb_release_semantics release;
    uint64_t tick;
    enum lb_guarantee guarantee;
    bool (*legal)(const struct shape *shape);
};

/* --- random histories --- */

void generate(const struct shape *shape, struct lb_random *random);

/* --- from a history to operations --- */

enum kind { ACQUIRE, RELEASE, RENEW, EXPIRE, WRITE, LEAVE, GONE };

struct grant {
    uint32_t log, resource, permits, token;
    bool shared, open;  /* open: it can be released still */
    bool is_lapsed;     /* its worker's connection was lost */
    bool is_lost;       /* its session may have ended before it was given back */
    bool believed;      /* the core has not ended */
    uint32_t lapsed;    /* its end when the connection was lost: place in brute.ops + 1; 0: none */
    uint64_t low, high; /* of its acquire */
    uint64_t expiry_low, expiry_high; /* of its lease, as it was prolonged last */
    uint32_t n_renewals;              /* the number of the last one; 0: none */
    const struct lb_event *acquired;
};

/* A release that had an effect: of which grant, if any, and whether that had ended before. */
struct effect {
    const struct lb_event *invoke, *end;
    const struct grant *grant;
    bool was_over;
    bool is_sure; /* its worker can have nothing else of the resource, but what it was granted */
};

struct translation {
    struct grant grants[BRUTE_OPS];
    uint32_t n;
    struct effect effects[BRUTE_OPS];
    uint32_t n_effects;
};

extern struct translation translation;
bool is_end(const struct lb_event *e);
void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional, uint64_t a,
               uint64_t b);

/* Which of the equally good grants each release that does not say it is taken to be of. */
extern uint32_t choices[BRUTE_OPS], n_choices, n_open[BRUTE_OPS];

/* The holds of all logs, as operations. */
void translate_holds(const struct shape *shape);

/* Adds the grants that may have been lost with the sessions that ended by a note. */
void translate_sessions(void);

/* The operations of a log follow one another. */
void keep_log_order(void);

/* --- the models: is there a legal order? --- */

/* Legal if any assignment of the releases to grants is legal. */
bool legal_holds(const struct shape *shape);
bool legal_reentrant(const struct shape *shape);
bool legal_lease(const struct shape *shape);

/* Effective releases of holds that had ended before: legal if one of the orders in which the lock
 * excluded until then has no other owner at the release, or if there are no such orders. A release
 * without a hold: never. */
bool legal_owner(const struct shape *shape);
bool legal_tokens(const struct shape *shape);
bool legal_fence(const struct shape *shape);
bool legal_lease_fence(const struct shape *shape);

/* Where the lock did not exclude, nothing is said of its refusals. */
bool legal_refusals(const struct shape *shape);
extern uint64_t tickets[BRUTE_OPS];
bool legal_line(const struct shape *shape);

/* --- what is compared --- */

extern struct test_history history;
extern struct brute brute;

#endif
