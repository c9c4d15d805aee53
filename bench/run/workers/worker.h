/* One worker: its state, its counters, and its session. Private to bench/run.
 *
 * Workers live in memory that forked processes share: see team.h. What others read or write of one
 * while it works is atomic, or says which lock protects it.
 */
#ifndef LB_WORKER_H
#define LB_WORKER_H

#include "histogram.h"
#include "starved.h"
#include "team.h"

#include <pthread.h>

enum lb_role { LB_ROLE_LOCKER, LB_ROLE_CONSUMER, LB_ROLE_PRODUCER };

struct lb_pooled;
struct lb_guard;
struct lb_chunks;

enum { LB_NODES_KEPT = 3 };

/* The claim that went out with the end before it (a pipeline), until the consumer comes to it. */
struct lb_next_claim {
    bool is_wanted; /* the consumer has more claims to make than its present one */
    bool is_there;  /* it was made, and its result is in the pipeline */
    bool measured;  /* it counts */
    uint64_t start_ns, end_ns, epoch;
    struct lb_item *items; /* where its items go; NULL: there are no pipelines */
    struct lb_pipeline pipeline;
};

struct lb_worker {
    _Alignas(64) struct lb_team *team; /* no two workers share a cache line */
    uint32_t number;                   /* among all ranks; its log's number as well */
    enum lb_role role;
    pthread_t thread;
    struct lb_operator op;
    struct lb_actor actor;
    char class_name[24]; /* of the items that it puts or claims now; the actor borrows it */
    struct lb_session session;
    _Atomic uint64_t waited_ns;   /* its session was waiting then, as the engine said */
    pthread_mutex_t session_lock; /* session.conn may be replaced or cancelled: one at a time */
    bool has_session;
    struct lb_pooled *pooled; /* the shared session that it has now; NULL: none */
    bool keeps_pooled;        /* until the hold ends */
    struct lb_log log;
    struct lb_random random;
    struct lb_counts counts[LB_MEASURES];
    bool owns_histograms; /* or another worker of its thread does */
    struct lb_histogram *service[LB_MEASURES];
    struct lb_histogram *response[LB_MEASURES]; /* open loop */
    struct lb_histogram *pacing;                /* open loop: how late it began, when free */
    struct lb_coarse coarse;                    /* acquires and claims, for live figures */
    _Atomic uint64_t refusals;                  /* likewise */
    uint64_t intended_ns;                       /* of the present arrival */
    uint64_t busy_ns;                           /* time in operations within the measured part */
    uint64_t
        edge_ns; /* part of busy_ns in cycles that are not in the histogram: cut off or given up */
    uint64_t n_statements, n_connects; /* of its session, once it has ended */
    uint64_t n_guarded;                /* accepted writes of the guarded row */
    atomic_bool ready, ended;
    bool is_late;      /* its hold has outlasted its lease */
    double overruns;   /* of its holds that are due: it overruns when there is one */
    uint32_t seat;     /* consumer: the place that it took over; its own number at the start */
    atomic_int order;  /* enum lb_fault: the fault for its next hold */
    atomic_bool beats; /* consumer: its process has begun, and not signed off */
    /* The last sign of life of its process: it registered, it beat, or, without section register,
     * it claimed an item that it still has. 0: none */
    _Atomic uint64_t heard_ns;
    atomic_bool is_still;       /* a fault lets its thread stand still: its heart does, too */
    atomic_bool dying;          /* it is about to kill its process */
    atomic_bool is_stopping;    /* it was asked to stop, and does so behind its present hold */
    bool gives_back, leaves;    /* it frees what it has; or leaves that to section stop, ... */
    bool has_stopped;           /* ... which it has run */
    _Atomic uint64_t resume_ns; /* stopped: when to continue it; 0: not stopped */
    unsigned n_cuts;            /* of its program's connections */
    uint64_t slow_until_ns;     /* its statements are delayed until then */
    int64_t poison;             /* the item that is to fail in its hands; 0: none */
    bool fails;                 /* the end of that claim: it is retried, where the protocol can */
    bool in_fault;              /* it carried out an order in the hold that it is in */
    bool is_full;               /* its connection has been told that the disk is full */
    atomic_int zombie;          /* zombie.c: it slept past its lease, and is not through */
    _Atomic int64_t slept_on;   /* the lock, or the item, that it slept with */
    struct lb_error err; /* of its last call: not cleared for each, which costs more than a lock */
    bool died;           /* its process was killed */
    bool is_given_up;    /* by this run, since it did not end */
    int death_signal;    /* and by which signal; 0: it ended by itself */
    uint64_t died_ns;
    char *payload;
    uint64_t n_lost;
    char nodes[LB_NODES_KEPT][120]; /* of the target's, that its session was on; "": no more */
    uint64_t n_successes;           /* measured */
    uint64_t n_items;               /* measured */
    struct lb_guard *guard;
    struct lb_chunks *chunks;
    struct lb_ends *ends; /* NULL: each item is ended, and prolonged, by itself */
    struct lb_next_claim next;
    bool *lost_items; /* of the claim that it has: told by a renewal that they are not its own */
    _Atomic uint64_t progress;         /* successes so far, for the progress line */
    _Atomic uint64_t n_completed;      /* items whose completion was accepted, and is final */
    _Atomic uint64_t n_not_completed;  /* items whose completion found nothing to complete */
    _Atomic uint64_t waits_since_ns;   /* it has asked for a lock or an item since then; 0: no */
    _Atomic uint64_t starved_since_ns; /* it was not run from then on; 0: it was, or it is noted */
    uint64_t looked_ns;                /* when its thread's delay was last asked for (starved.c) */
    /* Of the consumer in this seat: */
    _Atomic uint64_t empty_epoch; /* the last epoch that was answered with "empty" */
    atomic_bool seat_has_items;   /* it has claimed some */
};

/* What a worker tells whoever disturbs it; called in its own thread or fiber. All are required. */
struct lb_worker_events {
    void (*opened)(struct lb_worker *worker);      /* it has a new session of its own */
    void (*reconnected)(struct lb_worker *worker); /* after its session was lost */
    void (*asks)(struct lb_worker *worker);        /* it is about to ask for a lock */
    /* It is inside: of a lock (request), or with n items, the first of which is its present one. */
    void (*holds)(struct lb_worker *worker, const struct lb_request *request,
                  const struct lb_item *items, uint32_t n);
    /* It is about to give that resource or item back. */
    void (*leaves)(struct lb_worker *worker, int64_t thing);
    void (*left)(struct lb_worker *worker); /* the hold has ended */
};

/* A worker's whole life, in a thread or a fiber; worker is a struct lb_worker. */
void lb_worker_live(void *worker);
/* The payload of an item; free with free(). */
char *lb_worker_payload(uint64_t n_bytes);
/* Starts the thread of one worker. */
int lb_worker_start(struct lb_worker *worker, struct lb_error *err);
/* The first worker of this process. */
static inline struct lb_worker *lb_worker_first(struct lb_worker *worker)
{
    return worker - (worker->number - worker->team->first_worker);
}

/* For the watchdog: since when it waits for a lock or an item; 0: it does not. */
static inline void lb_worker_waits(struct lb_worker *worker, uint64_t since_ns)
{
    atomic_store_explicit(&worker->waits_since_ns, since_ns, memory_order_relaxed);
}

/* After an operation: tells the watchdog if its thread waited for a processor for long, since the
 * last look. */
static inline void lb_worker_look(struct lb_worker *worker)
{
    if (worker->op.end_ns >= worker->looked_ns + LB_LOOK_NS)
        lb_worker_look_at(worker, worker->op.end_ns);
}

/* True if a fault can hit it while it works. If not, its events need not be reported. */
static inline bool lb_worker_has_faults(const struct lb_worker *worker)
{
    return worker->team->scenario->fault != LB_FAULT_NONE;
}

/* Of a worker that could not be started. */
void lb_worker_give_up(struct lb_worker *worker);
/* Interrupts whatever the worker's session is executing. Same process only. */
void lb_worker_cancel(struct lb_worker *worker);

/* The parts of a worker's life (worker_lock.c, worker_queue.c). */
void lb_worker_lock_loop(struct lb_worker *worker);
void lb_worker_consume_loop(struct lb_worker *worker);
void lb_worker_produce_loop(struct lb_worker *worker);

/* An item was put, claimed or given up. */
static inline void lb_team_new_epoch(struct lb_team *team)
{
    /* Sequentially consistent together with the reads in note_empty: an item that became claimable
     * before a claim was invoked must be seen as a newer epoch than that claim's. */
    atomic_fetch_add(&team->epoch, 1);
}

/* How items are ended (worker_ends.c). open: for claims of a number of items. choose: the end of
 * one item. end_batch: ends each list of items that end alike in one statement, as far as the
 * strategy can; lost items are left out. claims: the last of them may take the next claim along.
 * together: it can, for one of the ends. renew_batch: where section renew takes a batch; fills
 * is_lost. */
bool lb_ends_together(const struct lb_strategy_plan *plan);
void lb_ends_open(struct lb_worker *worker, uint32_t room);
void lb_ends_free(struct lb_worker *worker);
enum lb_op lb_worker_choose_end(struct lb_worker *worker, const struct lb_item *item);
void lb_worker_end_item(struct lb_worker *worker, struct lb_item *item, enum lb_op which,
                        bool claims);
void lb_worker_end_batch(struct lb_worker *worker, struct lb_item *items, uint32_t n,
                         const bool *is_lost, bool claims);
/* Runs section stop, once, if there is one: items that it gives back may be claimed from then on.
 */
void lb_worker_stop(struct lb_worker *worker);
/* Has it come back? False also if nothing was lost. */
bool lb_team_has_returned(const struct lb_team *team);
/* Items that a claim may bring. */
static inline uint32_t lb_claim_room(const struct lb_scenario *scenario)
{
    return scenario->batch > LB_CLAIM_ROOM ? (uint32_t)scenario->batch : LB_CLAIM_ROOM;
}
void lb_worker_renew_batch(struct lb_worker *worker, struct lb_item *items, uint32_t n,
                           bool *is_lost);

/* Waits for the next arrival; false: there is none any more. Sets intended_ns and op.measured. */
bool lb_worker_arrival(struct lb_worker *worker);

/* At the start of its life; a new session takes a new name. */
void lb_worker_name(struct lb_worker *worker);
/* How long its transactions pause before they commit. */
void lb_worker_set_pause(struct lb_worker *worker);
/* Its own session, where there is a database and the strategy is no program. */
int lb_worker_open_session(struct lb_worker *worker, struct lb_error *err);

/* Connects again what was lost, the worker's own session or the shared one that it has, with
 * growing pauses. false: the run is over, or the server gone. */
bool lb_worker_connect(struct lb_worker *worker);

/* The hold is over, or its session was lost: gives back what was kept for it. Does nothing without
 * one. */
void lb_worker_let_go(struct lb_worker *worker);

/* Counting. Before lb_worker_end: an acquire, or claim, is given up; counted if it was out of
 * tries.
 */
void lb_worker_gave_up(struct lb_worker *worker, bool out_of_tries);
/* A whole cycle, from the first try to the end of the release, for Little's law. */
void lb_worker_was_busy(struct lb_worker *worker, uint64_t start_ns, uint64_t end_ns, bool counted);
/* Begin and end of one measured operation. */
static inline void lb_worker_begin(struct lb_worker *worker, enum lb_measure measure)
{
    if (worker->op.measured)
        worker->counts[measure].started++;
}
/* true: it succeeded within the measured part and is in the histogram. Inline: four of them in a
 * cycle. */
static inline bool lb_worker_end(struct lb_worker *worker, enum lb_measure measure,
                                 uint64_t start_ns, uint64_t end_ns, bool succeeded)
{
    if (!worker->op.measured)
        return false;
    struct lb_counts *counts = &worker->counts[measure];
    if (lb_team_phase(worker->team) != LB_PHASE_MEASURE) {
        counts->censored++;
        return false;
    }
    counts->finished++;
    if (!succeeded) {
        counts->given_up++;
        return false;
    }
    counts->succeeded++;
    lb_histogram_record(worker->service[measure], end_ns - start_ns);
    /* A consumer's response is its items': see note_arrival. */
    if (worker->response[measure] != NULL && worker->role != LB_ROLE_CONSUMER) {
        lb_histogram_record(worker->response[measure], end_ns - worker->intended_ns);
        start_ns = worker->intended_ns;
    }
    /* Live figures are responses too, where there are any. */
    if (measure == LB_M_ACQUIRE &&
        (worker->response[measure] == NULL || worker->role != LB_ROLE_CONSUMER))
        lb_coarse_record(&worker->coarse, end_ns - start_ns);
    return true;
}
/* Can its history still be written? If not, the run is over. */
bool lb_worker_records(struct lb_worker *worker);
/* Remembers what the server said to the last operation, if no contention explains it. */
void lb_worker_note_refusal(struct lb_worker *worker, int answer);
/* After an answer that is no success: an error ends the run, a lost connection is made anew, for
 * anything else the worker waits by the scenario's back-off. n_refusals grows with each. false:
 * the worker must end its present operation. */
bool lb_worker_refused(struct lb_worker *worker, int answer, unsigned n_refusals,
                       struct lb_error *err);

#endif
