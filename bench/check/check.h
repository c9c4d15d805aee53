/* The judge: verdicts over a history. Pure: no I/O, no SQL, and no threads but where model->threads
 * asks for a second one; the judgement is the same.
 *
 * Each guarantee has an exact test in closed form; the argument is beside its code and in
 * docs/guarantees.md. A violation is reported only if every possible order of the recorded
 * operations contains it; a guarantee is "held" only if some possible order contains no violation.
 */
#ifndef LB_CHECK_H
#define LB_CHECK_H

#include "guarantee.h"
#include "history.h"

enum lb_release_semantics {
    LB_RELEASE_BELIEF, /* a hold ends when its release is invoked, whatever the answer */
    LB_RELEASE_STATE   /* a release that failed means: still held */
};

/* Which items are the most urgent. */
enum lb_priority { LB_PRIORITY_NONE, LB_PRIORITY_HIGHEST, LB_PRIORITY_LOWEST };

enum lb_unique {
    LB_UNIQUE_NOT,
    LB_UNIQUE_UNTIL_DONE, /* or in error: then the database may keep the key, in case it is cleared
                           */
    LB_UNIQUE_UNTIL_CLAIMED,
    LB_UNIQUE_UNTIL_ENDED, /* as UNTIL_DONE, of a file in which an error is for good */
    LB_UNIQUE_UNTIL_GONE   /* as UNTIL_CLAIMED: all that gives a claim back is in the history */
};

/* A fact that the history cannot show, and that is only assumed. A guarantee that is violated with
 * the fact or without it, and not in both cases, is not judged. */
enum lb_doubted {
    LB_DOUBT_LEASE,    /* holds end by themselves: model->lease is the guess */
    LB_DOUBT_ATTEMPTS, /* an item is tried `value` times at most */
    LB_DOUBT_ROWS,     /* a release changes a row of its worker's own */
    LB_DOUBT_DUE,      /* an item may be due after the queue was drained */
    LB_DOUBT_CLOCK,    /* leases and limits end up to `value` ms early or late */
    LB_DOUBT_LIMIT,    /* a recovery takes claims of living workers that are old enough */
    LB_DOUBTS
};

struct lb_doubt {
    char reason[180]; /* why nothing is judged, and what to write into the file; "": no doubt */
    uint32_t value;
    bool is_said; /* by the file: nothing is asked */
};

/* The model against which the history is judged. */
struct lb_model {
    bool queue;               /* shape */
    uint32_t n_resources;     /* lock: resources 0 .. n-1 */
    const uint32_t *capacity; /* lock: one per resource; NULL: 1 each */
    bool reentrant;
    bool lease;      /* holds, or claims, end by themselves after arg ms of their ok */
    unsigned claims; /* LB_G_BIT()s to judge; others are "not claimed" */
    enum lb_release_semantics release;
    bool own_rows; /* lock: a release changes a row of its worker's own, and no other's hold */
    bool drained;  /* queue: at the end nothing was left to claim: no-loss can be judged */
    bool returned; /* the items of dead workers and lost connections had come back before the queue
                      was drained: an unknown outcome excuses no loss */
    bool refused_free; /* queue: no worker died or gave an operation up, and none can have an item
                          for longer, by time: an item whose only claimer was refused its end is
                          no worker's */
    bool clocks_apart; /* queue: workers' clocks differ from the server's by more than the history
                          lasts: an item that no worker has had may be due by the other clock */
    bool plain;        /* without shortcuts: each object is searched for an order */
    bool strict;       /* queue: "empty" is a promise, too, and judged with fifo */
    bool complete;     /* the history reaches the end of the run: nothing was cut off */
    uint64_t end_ns;   /* when the run ended (for waits that never were answered) */
    uint64_t progress_bound_ns;  /* 0: progress is not tested */
    uint64_t progress_demand_ns; /* the scenario may itself keep a worker waiting so long: with a
                                    shorter bound progress is not tested; 0: not known */
    bool item_waits; /* queue: some workers are idle, and no item waits for its first claim for
                        longer than the bound on waits either */
    uint64_t recovery_bound_ns; /* 0: recovery is not tested */
    uint32_t attempts;          /* queue: maximum attempts of an item; 0: no limit */
    enum lb_priority priority;  /* queue: which priorities are urgent */
    enum lb_unique unique;      /* queue: how long an item has its unique key for itself */
    uint32_t rate, rate_ms; /* queue: items begun in a window of that length at most; 0: unknown */
    uint32_t share_milli;   /* queue: thousandths of a fair share, for each tenant; 0: unknown */
    uint32_t key_limit;     /* queue: items of one key in hand at most; 0: unknown */
    uint32_t groups;        /* queue: item i is of group i % groups; 0: unknown */
    uint64_t
        period_ns; /* queue: time after its completion at which an item is due again; 0: never */
    struct lb_doubt doubts[LB_DOUBTS];
    uint32_t tick_ms;  /* by the clock, leases and limits end early or late by this at most */
    bool no_lease;     /* queue: in this reading no claim ends by itself */
    bool takes_living; /* ... a recovery takes any claim */
    bool takes_dead;   /* ... it takes claims of dead workers only */
    const struct lb_settled *settled; /* queue: a part of the record that was dropped; NULL: none */
    unsigned threads; /* that read a lock's logs while all goes well: 2, else one; if gives_up is
                         NULL */
    bool (*gives_up)(void *arg); /* asked every few milliseconds: true ends it; NULL: never */
    void *gives_up_arg;
};

enum { LB_WHO = 64 };

/* One operation as a witness shows it. */
struct lb_witness_op {
    uint32_t log, process;
    int op;   /* enum lb_op */
    int type; /* how it ended: enum lb_event_type; LB_EV_NONE: never */
    int answer;
    uint32_t object;
    uint64_t value; /* token, ticket or id */
    bool has_value;
    uint64_t invoke_ns, end_ns; /* end_ns UINT64_MAX: never */
    char who[LB_WHO];           /* "worker 3", "process w1" */
};

enum { LB_WITNESS_OPS = 16, LB_WITNESSES = 3, LB_WITNESS_TEXT = 600 };

/* The smallest part of the history that shows one violation. */
struct lb_witness {
    size_t n_ops;
    struct lb_witness_op ops[LB_WITNESS_OPS];
    uint64_t overlap_ns;        /* exclusion: how long together; else 0 */
    uint64_t at_ns;             /* when it became a violation */
    char text[LB_WITNESS_TEXT]; /* one sentence in plain words, times relative to the history's
                                   start */
};

struct lb_finding {
    enum lb_verdict verdict;
    uint64_t n_violations;
    uint64_t n_tested;  /* operations, holds or items that the test looked at */
    char reason[200];   /* for not tested: why */
    bool is_doubted;    /* not tested: whether it is violated depends on a fact that is assumed */
    bool is_asked;      /* ... which the file does not state, or nothing does: exit status 5 */
    size_t n_witnesses; /* the first, the shortest and the longest overlap */
    struct lb_witness witness[LB_WITNESSES];
};

/* How long items waited from their put to their first claim: of one tenant, or priority, or of
 * those that have few items. Filled after the warm-up. */
enum lb_waits_by { LB_BY_TENANT, LB_BY_PRIORITY, LB_WAITS_BY };
enum { LB_WAIT_ROWS = 6, LB_WAIT_BLOCKS = 20 };
struct lb_wait_row {
    char name[32];              /* "tenant0"; "others" */
    uint64_t n_claimed, n_left; /* left: never claimed */
    uint64_t p50_ns, p95_ns, max_ns;
    /* By tenant, of each part of the claims: those of its own, and its fair share of those while
     * it had work: 1/n of each claim, where n tenants had some. */
    double served[LB_WAIT_BLOCKS], due[LB_WAIT_BLOCKS];
};
struct lb_waits {
    size_t n;
    struct lb_wait_row rows[LB_WAIT_ROWS];
};

/* The first of the times at which a clock was set. */
struct lb_clock_set {
    uint64_t n; /* how often one was set; 0: never */
    uint64_t since_ns, seen_ns;
    uint32_t ms, how; /* enum lb_clock_how */
};

enum { LB_CLOCK_SET_TEXT = 160 };
/* "this machine's clock was set 400 ms ahead, seen at 1.52 s: later violations may be due to it",
 * into buf of LB_CLOCK_SET_TEXT bytes; times count from start_ns. */
const char *lb_clock_set_text(const struct lb_clock_set *set, uint64_t start_ns, char *buf);

/* Measurements besides the guarantees. */
struct lb_measures {
    struct lb_clock_set clock_set;
    struct lb_waits waits[LB_WAITS_BY];
    uint64_t n_holds, n_claims, n_refusals, n_refusals_unjustified, n_empty, n_empty_unjustified;
    uint64_t longest_wait_ns;            /* first acquire's invoke (or enqueue's) to its grant */
    uint64_t n_overtakes, max_overtakes; /* against ticket order; most suffered by one waiter */
    double jain, gini;  /* over successes per process-log; 1 and 0 are perfectly fair */
    uint64_t max_depth; /* most holders of one resource at one time */
    /* leases */
    uint64_t n_cut_violations;   /* overlaps of holds cut at the database's expiry: protocol */
    uint64_t n_uncut_violations; /* overlaps of what holders believed: hazard */
    uint64_t n_stale_writes_accepted, n_stale_writes_refused; /* harm */
    /* Items that a recovery, or the end of a lease, gave to others while their worker was alive and
     * not done with them; and how often these were claimed. */
    uint64_t n_taken_items, n_taken_claims;
    /* Holds, or items in hand, of dead workers; those that were granted again, and the time until
     * then; items that no worker had again when the queue was drained. */
    uint64_t n_deaths, n_recovered, n_stuck;
    uint64_t n_deaths_beside; /* of holders beside whom others may hold: no grant shows that their
                                 holds were recovered */
    uint64_t p50_recovery_ns, p95_recovery_ns, max_recovery_ns;
    /* All workers stood still, for a reason outside the protocol: not part of recoveries. */
    uint64_t n_stalls, stalled_ns;
    uint64_t n_restarts; /* of the database server, not by the run */
};

struct lb_judgement {
    struct lb_finding findings[LB_GUARANTEE_ROOM];
    struct lb_measures measures;
};

/* Judges. Returns 0, LB_E_FILE for a history that breaks the event grammar (two invokes without an
 * end between, time going backwards in one log) or has more records than can be numbered, or
 * LB_E_INTERRUPTED if the model gave up. judgement is filled on 0. */
int lb_check(const struct lb_history_view *history, const struct lb_model *model,
             struct lb_judgement *ret_judgement, struct lb_error *err);

/* Draws the two holds of a witness as ASCII lines, width columns, into buf; returns buf. */
char *lb_witness_draw(const struct lb_witness *witness, uint64_t start_ns, size_t width, char *buf,
                      size_t size);

#endif
