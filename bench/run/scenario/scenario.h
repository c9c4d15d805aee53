/* Scenarios: the demands on a strategy. A const table of keys serves the .ini files, the command
 * line (every key is a flag) and the results (every key is echoed).
 */
#ifndef LB_SCENARIO_H
#define LB_SCENARIO_H

#include "db.h"
#include "fault_list.h"
#include "program.h"
#include "stage.h"

enum lb_backoff { LB_BACKOFF_FIXED, LB_BACKOFF_EXPONENTIAL, LB_BACKOFF_JITTER };

enum { LB_MAX_CAPACITIES = 64 };

/* What a participant calls itself. */
enum lb_ids {
    LB_IDS_UNIQUE, /* a name that no other worker has, or had before */
    LB_IDS_SPID,   /* the number of the seat: the successor of a dead worker has its number */
    LB_IDS_GUID,   /* 128 random bits, drawn anew for each session */
    LB_IDS_HOST    /* host, process and handle */
};

/* The workers with clocks that are wrong by skew_ns. */
enum lb_skewed {
    LB_SKEWED_HALF,   /* every second worker's is ahead */
    LB_SKEWED_AHEAD,  /* all are ahead of the server's, and agree with each other */
    LB_SKEWED_BEHIND, /* all are behind it, likewise */
};

/* Times are ns, 0 = off, unless said otherwise. */
struct lb_scenario {
    char name[192];     /* of a sweep: "mutex-hot[workers=2 hold=1ms]" */
    char question[400]; /* the file's top comment: its question */
    enum lb_shape shape;

    uint64_t workers;      /* lock: participants; queue: consumers */
    uint64_t producers;    /* queue */
    uint64_t processes;    /* number of forked processes for the workers; 0: threads of this one */
    uint64_t threads;      /* that carry the workers; 0: as many as is good */
    uint64_t pool;         /* sessions that the workers share; 0: each has its own */
    uint64_t resources;    /* lock */
    double zipf;           /* lock: exponent by which the resources are chosen; 0: all alike */
    char capacity[256];    /* lock: "1", "3" or one per resource "1,2,4" */
    char rate[256];        /* open loop: see schedule.h; empty: closed loop */
    uint64_t max_pending;  /* open loop: arrivals that may wait; more are skipped */
    double shared;         /* lock: share of acquires in shared mode, 0..1 */
    uint64_t writers;      /* lock: workers that never ask for it; all others do. 0: by shared */
    uint64_t hold_ns;      /* time inside the hold, or processing one item; its mean */
    char holds[256];       /* its distribution, see service.h; empty: it is always the same */
    uint64_t hold_most_ns; /* the longest of a distribution; else 0 */
    uint64_t think_ns;     /* between a release and the next acquire */
    uint64_t poll_ns;      /* after a busy or empty answer, before the next try */
    enum lb_backoff backoff;     /* how poll grows with consecutive refusals */
    uint64_t poll_max_ns;        /* its ceiling */
    uint64_t tries;              /* refusals after which a worker gives up; 0: never */
    uint64_t acquire_timeout_ns; /* time after which a worker gives up */
    uint64_t ttl_ns;             /* lease length */
    bool ttl_is_said;            /* by the user or the scenario: it goes before a file's default */
    uint64_t stale_ns;           /* fifo-poll: age at which a request is deleted by the polls */
    double overrun;              /* share of holds that outlast their lease */
    uint64_t tx_pause_ns;        /* wait between the last statement and COMMIT of enqueue/claim */
    uint64_t backlog;            /* queue: items put before the start */
    uint64_t locked_ahead;       /* queue: items of the backlog that another session locks */
    uint64_t dead_rows;          /* queue: rows that a snapshot keeps from being removed */
    char aged[120];           /* queue: items that fill the tables, see aged_table.h; empty: none */
    int statistics;           /* of the aged tables: enum lb_aged_statistics */
    uint64_t rows;            /* queue: of a table whose ranges are the items; 0: none */
    uint64_t batch;           /* queue: items per claim */
    bool pipeline;            /* queue: the next claim goes out with the end of the last */
    bool pipeline_is_said;    /* by the user or the scenario: it goes before a file's header */
    uint64_t put_interval_ns; /* queue: between two puts of one producer; 0: as fast as it can */
    uint64_t put_batch;       /* queue: items per put of a producer */
    uint64_t claim_interval_ns; /* queue: between two claims of one consumer; 0: at once */
    uint64_t payload_bytes;
    double error;       /* queue: share of items that end in error */
    double free_share;  /* queue: share of items that are given back */
    uint64_t period_ns; /* recurring work */
    bool drain;         /* queue: ends when the backlog is empty */
    uint64_t classes;  /* queue: of task, in one table, each with its items and consumers; 0: one */
    uint64_t groups;   /* queue: of items, where the strategy has them; 0: 4 */
    uint64_t keys;     /* queue: of items, see attributes.h; 0: 8 */
    double key_zipf;   /* queue: exponent by which they are chosen; 0: all alike */
    char tenants[120]; /* queue: distributions; empty: the usual ones */
    char priority[120];
    char due[120];
    double unique;        /* queue: share of items with the unique key of an earlier one; 0: half */
    uint64_t rounds;      /* queue: drained, reset and drained again; counted at the end; 0: not */
    uint64_t readers;     /* queue: sessions that count its items all the while, without its lock */
    uint64_t duration_ns; /* of the measured part; with count or drain an upper bound, 0: none */
    uint64_t count;       /* operations per worker; 0: no limit */
    uint64_t warmup_ns;
    uint64_t lock_timeout_ns; /* the engine's bound on its lock waits */
    enum lb_isolation isolation;
    uint64_t progress_bound_ns;  /* no worker waits longer than this; 0: not judged */
    bool progress_bound_is_said; /* by the user: it is judged as it is (demand.h) */
    enum lb_fault fault;
    uint64_t fault_interval_ns; /* between two faults */
    uint64_t fault_length_ns; /* of a pause, a blocker, a snapshot; the delay of a slow statement */
    uint64_t grace_ns;        /* between the request to stop and the kill */
    uint64_t fault_count;     /* maximum number; 0: as many as there is time for */
    uint64_t skew_ns;         /* error of the workers' clocks; 0: none */
    enum lb_skewed skewed;    /* whose, and which way */
    uint64_t renew_ns;        /* interval of the holders' renewals; 0: never */
    uint64_t recover_ns;      /* queue: interval of the strategy's recovery; 0: never */
    uint64_t recovery_bound_ns; /* a dead holder's lock is granted again within; 0: not judged */
    enum lb_ids ids;            /* where :worker comes from */
    bool partial;       /* queue: a failing worker has updated half of the range, and keeps it */
    bool duplicate_ids; /* participants share their ids in pairs: shows the break */
    bool guard;         /* a guarded row in the database is read and written in each hold */
    struct lb_stage stages[LB_STAGES]; /* the phases of the measured part; none: it is one */
    uint32_t n_stages;
};

enum lb_key_type {
    LB_KEY_COUNT,
    LB_KEY_BYTES, /* a count, too */
    LB_KEY_TIME,
    LB_KEY_SHARE,
    LB_KEY_EXPONENT,
    LB_KEY_TEXT,
    LB_KEY_FLAG,
    LB_KEY_SHAPE,
    LB_KEY_CHOICE, /* a word of the argument, by its number */
    LB_KEY_ISOLATION,
    LB_KEY_FAULT,
    LB_KEY_RATE,
    LB_KEY_HOLD, /* a time or a distribution, see service.h */
    LB_KEY_AGED,
    LB_KEY_PARTS /* VALUE:SHARE[,...], see attributes.h */
};

enum { LB_MOST_WORKERS = 100000, LB_MOST_READERS = 1000, LB_MOST_ITEM_KEYS = 1000000 };
enum { LB_MOST_KEYS = 80 };
enum { LB_KEY_LOCK = 1, LB_KEY_QUEUE = 2, LB_KEY_BOTH = 3 };

struct lb_key {
    const char *name; /* "put-interval": also the flag --put-interval */
    enum lb_key_type type;
    size_t offset;        /* in struct lb_scenario */
    const char *help;     /* one line */
    const char *argument; /* "N", "TIME", ... */
    unsigned shapes;      /* LB_KEY_LOCK, LB_KEY_QUEUE or both: where it has a meaning */
};

extern const struct lb_key lb_scenario_keys[]; /* name NULL ends */

/* The key of that name, or NULL. */
const struct lb_key *lb_scenario_key(const char *name);
/* Has the key a meaning for this shape? */
static inline bool lb_key_applies(const struct lb_key *key, enum lb_shape shape)
{
    return (key->shapes & (shape == LB_LOCK ? LB_KEY_LOCK : LB_KEY_QUEUE)) != 0;
}
const char *lb_shape_name(enum lb_shape shape); /* "lock", "queue" */
/* Length of a scenario's name without what varies in a sweep: of "mutex-hot". */
size_t lb_scenario_base(const char *name);
/* Ends the name of a scenario that is run with fresh tables as well. */
#define LB_SCENARIO_AGED "[aged]"
/* True if the name is of a point of a sweep. */
bool lb_scenario_is_swept(const char *name);

/* The longest hold. */
static inline uint64_t lb_scenario_hold_most_ns(const struct lb_scenario *scenario)
{
    return scenario->holds[0] != '\0' ? scenario->hold_most_ns : scenario->hold_ns;
}

/* Times by factor: for a lease that cannot be as short as the scenario has it. */
void lb_scenario_stretch(struct lb_scenario *scenario, uint64_t factor);
/* Of a program that counts in units of unit_ms (0: it does not): the scenario as many times as long
 * as a lease of one unit wants, and its lease a multiple of the unit. */
void lb_scenario_fit_unit(struct lb_scenario *scenario, uint32_t unit_ms);

/* Defaults, before a file is read: a lock. */
void lb_scenario_init(struct lb_scenario *scenario);
/* Sets one key from text. LB_E_USAGE names the key and the accepted values. */
int lb_scenario_set(struct lb_scenario *scenario, const char *key, const char *value,
                    struct lb_error *err);
/* Sets several: "hold=5ms ttl=1s", of less than 300 characters. */
int lb_scenario_set_all(struct lb_scenario *scenario, const char *keys, struct lb_error *err);
/* Parses a scenario file's text; origin is what error messages call it: "origin:line: what". */
int lb_scenario_parse(const char *origin, const char *text, size_t length,
                      struct lb_scenario *ret_scenario, struct lb_error *err);
/* Value of a key as text, in the form that lb_scenario_set takes. */
void lb_scenario_get(const struct lb_scenario *scenario, const struct lb_key *key, char *buf,
                     size_t size);
bool lb_scenario_is_file(const char *name); /* it contains '/' or ends in .ini */
/* A built-in scenario (embedded from scenarios/ at build) by name, or a file. */
int lb_scenario_load(const char *name, struct lb_scenario *ret_scenario, struct lb_error *err);
/* Contradictions between keys. 0 or LB_E_USAGE. */
int lb_scenario_validate(const struct lb_scenario *scenario, struct lb_error *err);
/* Why claims cannot go out with the ends before them here; NULL: they can. */
const char *lb_scenario_unpiped(const struct lb_scenario *scenario);
/* Fault poison: the limit on deaths; items kill no further worker. */
enum { LB_POISON_DEATHS = 60 };
/* The maximum number of workers that a fault kills: this many may need replacement. */
uint64_t lb_scenario_deaths(const struct lb_scenario *scenario);
/* The capacity of each resource; *ret_capacity has scenario->resources entries, caller frees. */
int lb_scenario_capacities(const struct lb_scenario *scenario, uint32_t **ret_capacity,
                           struct lb_error *err);

/* Embedded scenarios, by name; name NULL ends. */
struct lb_embedded_scenario {
    const char *name;
    const unsigned char *text;
    const size_t *length;
};
extern const struct lb_embedded_scenario lb_embedded_scenarios[];

#endif
