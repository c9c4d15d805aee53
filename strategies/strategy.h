/* The strategy contract: one protocol for locking or queueing with a table.
 *
 * A strategy is one const struct lb_strategy at the end of its file, with designated initialisers
 * in life-cycle order, and one name in strategies/CMakeLists.txt. Where the flow is the
 * ordinary one, .flow = &lb_ordinary_flow and the statements in sql/<name>/<engine>.sql do the
 * rest; a module has functions of its own only where its flow differs.
 *
 * Threads: setup and teardown are called by the controlling thread while no worker runs. open,
 * close and all operations are called by the worker that owns the actor. The descriptor and the
 * plan are immutable and shared.
 *
 * Operations return an enum lb_answer (LB_OK: granted, done) or a negative error. They are never
 * called raw: bench/run/workers/operation.h asserts the actor's state, takes the times and records.
 */
#ifndef LB_STRATEGY_H
#define LB_STRATEGY_H

#include "attribute.h"
#include "program.h"

#include <stdatomic.h>

enum {
    LB_CLAIM_MAX = 10000, /* items that a claim may ask for */
    LB_CLAIM_ROOM = 256   /* minimum room: a claim may return more than requested */
};

/* How a lock is wanted. */
struct lb_request {
    uint32_t resource; /* from 0 */
    bool shared;
    uint32_t capacity; /* the resource's limit: how many may hold it */
};

/* A granted lock. Owned by the caller, filled by acquire, handed to renew and release. */
struct lb_grant {
    int64_t token;  /* fence; 0 if the strategy has none */
    int64_t ticket; /* place in line from enqueue; 0 if none */
    bool has_token, has_ticket;
    bool effective; /* release: did it change anything? */
    bool is_over;   /* acquire: the database itself says that the lease is over already */
    struct lb_bag bag;
};

/* A claimed item. Owned by the caller. */
struct lb_item {
    int64_t id;
    int64_t token;
    bool has_token;
    struct lb_bag bag;
};

/* Items of one claim that one statement ends, or prolongs. Owned by the caller; the items are
 * borrowed. Several batches may follow each other in one struct. */
struct lb_batch {
    struct lb_item **items;
    uint32_t n;
    /* Filled by the call: an enum lb_answer for each item. LB_LOST: unknown if it happened, though
     * the batch was answered. */
    uint8_t *answers;
    int64_t
        *others; /* items that the statement reached besides, without being named in the batch */
    uint32_t n_others;
    struct lb_batch_memory *memory; /* private */
};

/* Cannot fail: 0. */
int lb_batch_init(struct lb_batch *batch, uint32_t room, struct lb_error *err);
void lb_batch_release(struct lb_batch *batch); /* zeroed ones too */
/* For who fills the answers by ids: begin once the items are in it (none was reached), then reach
 * for each id that the answer names, then end. */
void lb_batch_begin(struct lb_batch *batch);
void lb_batch_reach(struct lb_batch *batch, int64_t id);
void lb_batch_end(struct lb_batch *batch);

/* The end of the items in hand and the next claim, in one round trip. Owned by the caller. */
struct lb_pipeline {
    enum lb_section_name section; /* LB_S_COMPLETE, LB_S_ERROR or LB_S_FREE */
    struct lb_item *item;         /* what it ends: one item, ... */
    struct lb_batch *batch;       /* ... or those; NULL: the item */
    uint32_t n;                   /* how many the claim asks for */
    struct lb_item *items;        /* where they go */
    uint32_t max;
    /* Filled by the call, as by the two operations: */
    int end_answer, claim_answer;
    uint64_t ended_ns; /* when the first of the answers had come */
    uint32_t got;
    int64_t marked;
    struct lb_error end_err, claim_err;
};

struct lb_stepper;
struct lb_actor;

/* What all workers of a run share. Immutable while they run. */
struct lb_strategy_plan {
    const struct lb_strategy *strategy;
    const struct lb_program *program; /* NULL for strategies without statements */
    int32_t space_no;
    uint32_t n_resources;
    const uint32_t *capacity;   /* one per resource */
    uint32_t ttl_ms, period_ms; /* length of a lease; of a period */
    uint32_t limit_ms;          /* recover takes claims that are older */
    uint32_t delay_ms;          /* delay until a retried item is due */
    int64_t clock_ahead_ms;     /* added to :now for every worker */
    int64_t still_unix_ms;      /* :now in place of the time; 0: the time */
    bool is_forked;             /* actors are in processes of their own, which may die */
    uint32_t groups;            /* item i is of group i % groups; 0: items have none */
    const struct lb_attribute_source *attributes; /* of items; NULL: they have none */
    bool is_pipelined;                 /* the next claim goes out with the end of the last */
    const struct lb_setting *settings; /* --opt, as given: for programs (guest) */
    size_t n_settings;
    void *shared; /* a strategy's own, made by setup (pthread controls) */
    /* Of programs (guest): */
    bool is_gated;       /* their statements pass a gate, where faults and the trace are */
    bool is_setup_gated; /* ... also those of setup and teardown */
    const struct lb_stepper *stepper; /* NULL: they come as they like */
    struct lb_trace_file *trace; /* a line for each statement is written there; NULL: none is */
};

/* True if a put may answer so, and is over with it: its item has a unique key, and is not put. */
bool lb_strategy_refuses(const struct lb_strategy_plan *plan, int answer);

/* The facts about items that the file, or a program's first line, states; NULL: there are none. */
const struct lb_program *lb_strategy_stated(const struct lb_strategy_plan *plan);

/* The letters of an attribute's value, "key" of "key7"; NULL: it is a number. */
extern const char *const lb_attribute_letters[LB_ATTRIBUTES];

/* A file that several threads append lines to. */
struct lb_trace_file {
    int fd;
    atomic_int error; /* errno of the first line that could not be written: none is behind it */
};

/* A statement of a program that is stepped: before it goes out, and behind its answer. */
struct lb_stepped {
    const char *sql, *params; /* literals, one a line */
    const char *operation;
    bool is_cut; /* there is more text than that */
    uint32_t n_statements;
    int64_t session; /* the server's number of it */
    bool in_tx;      /* behind it */
    int answer;      /* enum lb_answer */
    uint64_t n_rows;
    int64_t n_changed;
    const char *rows; /* the first of them */
};

/* Lets a program's statements go one by one. asks may stand; an error ends the program's
 * connections, and its operation. */
struct lb_stepper {
    int (*asks)(struct lb_actor *actor, const struct lb_stepped *stepped, struct lb_error *err);
    void (*answered)(struct lb_actor *actor, const struct lb_stepped *stepped);
    void *arg; /* theirs */
};

/* A connection that is cut, by the gate of a program, ... */
enum lb_cut {
    LB_CUT_NOTHING,
    LB_CUT_BEFORE, /* before its next statement goes out */
    LB_CUT_AFTER   /* after that went out, and before its answer */
};

/* One participant: a worker's side of the strategy. */
struct lb_actor {
    const struct lb_strategy_plan *plan;
    struct lb_session *session; /* NULL for strategies without statements */
    char name[40];              /* :worker, unique unless --duplicate-ids */
    uint32_t number;
    char process[24]; /* :process, the participant's process; "": as its name */
    char host[24];    /* :host */
    const char
        *task_class; /* :class, of the items that this actor puts and claims; NULL: "default" */
    int64_t clock_skew_ms;   /* added to :now, beside the plan's */
    struct lb_runner runner; /* the ordinary flow's state */
    uint32_t n_held;         /* items of the claim whose transaction is open (tx=hold) */
    void *state;             /* a strategy's own */
    /* Of a program (guest): */
    atomic_int program;       /* its process, and the process group; 0: there is none */
    atomic_bool is_cancelled; /* it was killed, as the run is given up */
    atomic_uint n_cuts;       /* how often a fault has ended its sessions */
    unsigned n_cuts_before;   /* before it was opened */
    bool is_apart;            /* setup or teardown */
    atomic_int cut;           /* enum lb_cut: what becomes of its next statement */
    _Atomic uint64_t slow_until_ns, slow_ns; /* until then each of its statements waits so long */
    int64_t sessions[8]; /* the server's numbers of its sessions, as far as it says them */
    uint32_t n_sessions;
    char said[200]; /* the error of its last operation */
};

typedef int lb_actor_fn(struct lb_actor *actor, struct lb_error *err);

struct lb_flow {
    /* Control thread, once, before any worker: creates tables and n_resources resources.
     * session is the control session (NULL without statements). Required. */
    int (*setup)(struct lb_strategy_plan *plan, struct lb_session *session, struct lb_error *err);
    /* Worker, once, before its first operation; and again after a reconnect. Required. */
    lb_actor_fn *open;

    /* Locks, by section. LB_S_ENQUEUE: once before acquire is first tried; fills grant->ticket.
     * LB_S_ACQUIRE: one attempt; may block in the engine; LB_BUSY: try again later.
     * LB_S_RENEW: prolongs the lease; LB_REFUSED: not ours any more.
     * LB_S_RELEASE: grant->effective says whether it changed anything; LB_REFUSED: not ours.
     * LB_S_CANCEL: the waiter gives up after enqueue. */
    int (*lock)(struct lb_actor *actor, enum lb_section_name section,
                const struct lb_request *request, struct lb_grant *grant, struct lb_error *err);

    /* Queues. put (Required): n items with the ids first..first+n-1 and payload; commits.
     * claim (Required): up to n items into items[]; *ret_n how many, *ret_marked how many rows it
     * marked (may exceed n: that is a finding; items beyond max are counted, not stored).
     * LB_EMPTY: none eligible.
     * item (Required): one item, by section: LB_S_COMPLETE, LB_S_ERROR, LB_S_FREE, LB_S_RETRY (it
     * failed, and is due later), LB_S_CLEAR_ERROR or LB_S_RENEW. LB_REFUSED when it is not ours or
     * in the wrong state.
     * class (Required): the whole class, by section: LB_S_CLEAR_ALL_ERRORS, LB_S_RESET_ALL or
     * LB_S_RECOVER; or a queue's process: LB_S_SWEEP and LB_S_REGISTER before its first claim,
     * LB_S_HEARTBEAT again and again (LB_REFUSED: it is no longer registered), and LB_S_UNREGISTER
     * once it has nothing and claims nothing more.
     * Callers pass only sections for which lb_strategy_has is true. */
    int (*put)(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
               struct lb_error *err);
    int (*claim)(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                 uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err);
    int (*item)(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                struct lb_error *err);
    int (*class)(struct lb_actor *actor, enum lb_section_name section, struct lb_error *err);
    /* Where lb_strategy_takes_batch says so (Optional): all items of the batch by section, which is
     * LB_S_COMPLETE, LB_S_ERROR, LB_S_FREE or LB_S_RENEW. The answer is LB_OK if it ended, or
     * prolonged, any of them; batch->answers has the answer of each, unless it is an error. */
    int (*batch)(struct lb_actor *actor, enum lb_section_name section, struct lb_batch *batch,
                 struct lb_error *err);
    /* Where lb_strategy_unpiped has no objection (Optional). The session is not in a transaction.
     */
    void (*pipeline)(struct lb_actor *actor, struct lb_pipeline *pipeline);

    /* Worker, once, after its last operation (not after a lost connection). Required. */
    void (*close)(struct lb_actor *actor);
    /* Control thread, once, after all workers. Required. */
    int (*teardown)(struct lb_strategy_plan *plan, struct lb_session *session,
                    struct lb_error *err);
};

/* Runs the sections of the strategy's program. */
extern const struct lb_flow lb_ordinary_flow;

/* open and close of a flow whose actors have nothing of their own. */
int lb_open_nothing(struct lb_actor *actor, struct lb_error *err);
void lb_close_nothing(struct lb_actor *actor);

/* A guarantee that a control is known to break. engines: comma-separated names or NULL for all. */
struct lb_break {
    unsigned guarantee; /* enum lb_guarantee */
    const char *engines;
    const char *scenario; /* the scenario that shows it, NULL: any of its shape */
    const char *why;      /* one line */
    const char *options;  /* settings that show it, "form=in"; NULL: the defaults do */
    const char *room; /* settings that leave room for it, with defaults and as sections have them:
                         "read=snapshot stale_ms!=0"; NULL: any */
    const char *without; /* settings that do away with it, "first_run=now"; NULL: none are known */
    const char *faults;  /* "kill,pause": it may show under these only; NULL: without any too */
    const char *topologies; /* of servers, "galera", see lb_db.facts; NULL: any, and none */
};

/* What several descriptors claim. */
enum {
    LB_CLAIMS_LOCK = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_OWNER_RELEASE),
    LB_CLAIMS_SESSION_LOCK = LB_CLAIMS_LOCK | LB_G_BIT(LB_G_PROGRESS) | LB_G_BIT(LB_G_RECOVERY),
    LB_CLAIMS_LEASE = LB_CLAIMS_SESSION_LOCK | LB_G_BIT(LB_G_FENCED),
    LB_CLAIMS_ITEMS =
        LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_NO_LOSS) | LB_G_BIT(LB_G_BOUNDED_CLAIM),
    LB_CLAIMS_OWNED_ITEMS = LB_CLAIMS_ITEMS | LB_G_BIT(LB_G_OWNER_RELEASE)
};

/* Lists of a descriptor, with their ends. */
#define LB_BREAKS(...)  ((const struct lb_break[]){__VA_ARGS__, {0}})
#define LB_OPTIONS(...) ((const struct lb_option[]){__VA_ARGS__, {0}})
#define LB_TEXTS(...)   ((const char *const[]){__VA_ARGS__, NULL})

/* Rows that several descriptors have. */
#define LB_BREAKS_ON_GALERA(reason)                                                                \
    {                                                                                              \
        .guarantee = LB_G_EXCLUSIVE, .engines = "mariadb", .topologies = "galera",                 \
        .scenario = "mutex-hot", .why = (reason)                                                   \
    }
#define LB_OPTION_RECURRING                                                                        \
    {                                                                                              \
        .name = "recurring", .default_value = "no", .choices = LB_TEXTS("no", "yes"),              \
        .help = "complete items are due again after the scenario's period"                         \
    }
#define LB_OPTION_DONE                                                                             \
    {                                                                                              \
        .name = "done", .default_value = "keep", .choices = LB_TEXTS("keep", "delete"),            \
        .help = "what becomes of completed items; reset-all and recurring=yes need keep"           \
    }
#define LB_OPTION_ENDS                                                                             \
    {                                                                                              \
        .name = "ends", .default_value = "each", .choices = LB_TEXTS("each", "batch"),             \
        .help = "items of a claim are ended, and renewed, one by one, or all by one statement"     \
    }
#define LB_OPTION_WAIT                                                                             \
    {                                                                                              \
        .name = "wait", .default_value = "block", .choices = LB_TEXTS("block", "try"),             \
        .help = "wait in the server's queue, or ask and poll"                                      \
    }

/* Guarantees that every strategy with committed grants breaks if an acknowledged commit is lost.
 * `why` NULL ends. */
extern const struct lb_break lb_replication_breaks[];

struct lb_guest;

struct lb_strategy {
    const char *name;           /* [a-z0-9-]+, the file's and the folder's name */
    const char *summary;        /* one line */
    const char *origin;         /* where the protocol was published; who uses it */
    const char *const *changed; /* differences from the source, one line each; NULL ends.
                                   lb_no_changes: nothing, or there is no text to differ from */
    enum lb_shape shape;
    bool is_control;               /* known to be broken, or trivially right */
    bool is_shared_capable;        /* lock: has a shared mode */
    bool is_capacity_capable;      /* lock: admits a capacity above 1 */
    bool is_lease;                 /* a hold ends by itself after ttl_ms */
    bool is_pushed;                /* claims by itself; claim reports it later */
    bool ends_with_session;        /* lock: a grant is its session's, or its transaction's */
    bool keeps_fence;              /* its fence grows across a failover that loses grants */
    bool is_heard_of;              /* a program: its processes say that they are alive */
    uint32_t lease_unit_ms;        /* its ttl is a multiple of this; 0: any ttl */
    bool no_database;              /* runs without any engine */
    uint64_t needs;                /* enum lb_cap bits */
    unsigned claims;               /* LB_G_BIT()s that the protocol promises */
    const struct lb_break *breaks; /* known violations; `why` NULL ends; NULL: none */
    const char *by_hand; /* the operator's remedy after a death, if the protocol has none and no
                            `recover`; NULL: none */
    const char *twin;    /* the repaired (or broken) twin's name; NULL: none */
    const struct lb_option *options; /* name NULL ends; NULL: none */
    enum lb_isolation
        isolation; /* the isolation level that the protocol requires; LB_ISO_DEFAULT: the run's */
    const struct lb_flow *flow;
    const struct lb_guest *guest; /* a program of the user's (bench/guest); NULL: it is none */
    unsigned operations;          /* without statements: 1u << enum lb_section_name that it has */
    unsigned batches;             /* of a program: those that take a whole claim */
    const char *engines;          /* of a program: "sqlite,postgres" */
    const struct lb_program *stated; /* of a program: attributes, key_limit, unique and priority,
                                        and no statements; NULL: it states none of them */
    const char *attempts; /* of a program: the option that says how often an item is tried;
                             NULL: it has none */
};

extern const char *const lb_no_changes[];

/* All built-in strategies in the order of strategies/CMakeLists.txt; NULL-terminated. Generated. */
extern const struct lb_strategy *const lb_strategies[];

const struct lb_strategy *lb_strategy_find(const char *name);

/* A user's file as a strategy. Borrows from file. */
void lb_strategy_of_file(const struct lb_file *file, struct lb_strategy *ret_strategy);

/* True if this operation can be called: the program has the section or, without statements, the
 * strategy names it among its operations. */
bool lb_strategy_has(const struct lb_strategy_plan *plan, enum lb_section_name name);

/* The value of a setting, of several with its name the last; or else its default. */
const char *lb_setting_of(const struct lb_setting *settings, size_t n, const char *name,
                          const char *by_default);

/* How often an item is tried at most, as the file or program says; 0: it does not say. */
uint32_t lb_strategy_attempts(const struct lb_strategy_plan *plan);

/* Does this section take all items of a claim at once: complete, error, free or renew? */
bool lb_strategy_takes_batch(const struct lb_strategy_plan *plan, enum lb_section_name section);

/* Can this section, an end or LB_S_CLAIM, be a part of a pipeline? NULL, or why not: "has several
 * statements, ...". */
const char *lb_strategy_unpiped(const struct lb_strategy_plan *plan, enum lb_section_name section);

/* Is a claim of this queue one transaction up to its end (tx=hold)? */
bool lb_strategy_holds_in_tx(const struct lb_strategy_plan *plan);

/* Items by state, as the queue's own statement counts them; answers as lb_runner_section. The
 * runner is of the plan's program, in a session that has no gate. */
enum { LB_COUNTED = 4 };
int lb_count_items(const struct lb_strategy_plan *plan, struct lb_runner *runner,
                   int64_t ret_counts[LB_COUNTED], struct lb_error *err);
/* How many permits of a resource can be taken, as the section `permits` says: an answer, with the
 * number on LB_OK, or an error. clock_skew_ms: added to :now, beside the plan's. */
int lb_permits_ask(const struct lb_strategy_plan *plan, struct lb_runner *runner, uint32_t resource,
                   int64_t clock_skew_ms, int64_t *ret_free, struct lb_error *err);

/* The embedded statements of a built-in strategy for an engine; NULL if there are none. Generated
 * from sql/<strategy>/<engine>.sql. */
struct lb_embedded {
    const char *strategy, *engine;
    const unsigned char *text;
    const size_t *length;
};
extern const struct lb_embedded lb_embedded_sql[]; /* strategy NULL ends */
const struct lb_embedded *lb_embedded_find(const char *strategy, const char *engine);

#endif
