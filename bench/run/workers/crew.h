/* What the workers of one run share with the thread that controls them. Private to bench/run.
 *
 * The configuration is immutable. The phase only ever rises; the controlling thread raises it, or a
 * worker that failed does, to LB_PHASE_ABORT. Everything that is waited for is signalled by
 * `change`. Crew and workers live in memory that forked processes share, and no lock is held in it:
 * a process may be killed at any instruction.
 */
#ifndef LB_CREW_H
#define LB_CREW_H

#include "coarse.h"
#include "event.h"
#include "live.h"
#include "operation.h"
#include "run.h"
#include "schedule.h"

#include <pthread.h>

enum lb_phase {
    LB_PHASE_PREPARE, /* sessions are being opened */
    LB_PHASE_WARMUP,  /* working, not measured */
    LB_PHASE_MEASURE, /* working and measured */
    LB_PHASE_DRAIN,   /* queues: producers have stopped, consumers empty the queue, not measured */
    LB_PHASE_STOP,    /* finish what is under way, then end */
    LB_PHASE_ABORT    /* end now */
};

enum lb_role { LB_ROLE_LOCKER, LB_ROLE_CONSUMER, LB_ROLE_PRODUCER };

struct lb_pool;
struct lb_pooled;

/* The first of its kind, and how many there were. */
struct lb_first {
    atomic_int state; /* 0: none; 1: being written; 2: can be read */
    _Atomic uint64_t n;
    uint64_t at_ns;
    char text[280]; /* the server's, one line */
};
/* What the session was answered last. Any worker, of any process. */
void lb_first_note(struct lb_first *first, const struct lb_session *session);

/* Of the server, or of the first node of several: see restarted.c. */
struct lb_uptime {
    char node[120];
    _Atomic int64_t since_us; /* of its present life; 0: not known */
    _Atomic uint64_t n;       /* it was started anew */
    _Atomic uint64_t seen_ns; /* when that was first seen */
};

struct lb_crew {
    const struct lb_run_plan *run;
    const struct lb_scenario *scenario;
    const struct lb_strategy_plan *plan;
    const struct lb_db *db; /* NULL for strategies without a database */
    struct lb_space *space;
    struct lb_history *history; /* NULL: not recorded */
    struct lb_live *live;
    bool guard;           /* the guarded row is used */
    const double *choice; /* of resources, by Zipf's law; NULL: all alike */

    atomic_int phase; /* enum lb_phase */
    atomic_bool server_gone;
    _Atomic uint64_t n_faults;      /* that were carried out */
    _Atomic uint64_t n_faults_over; /* with what the victim did afterwards */
    atomic_bool disk_full;          /* fault full: now */

    struct lb_pool *pool;         /* sessions that the workers share; NULL: each has its own */
    struct lb_carrier **carriers; /* threads that run workers as fibers; none: each has a thread */
    uint32_t n_carriers;
    struct lb_waitable change; /* a phase, n_ready, n_ended or drained changed */
    uint32_t n_workers;
    _Atomic uint32_t n_ready, n_ended;
    atomic_int error_state; /* 0: none; 1: being written; 2: error can be read */
    struct lb_error error;  /* the first error of a worker */
    struct lb_uptime uptime;
    struct lb_first lost;    /* of sessions that ended */
    struct lb_first doubled; /* of operations that found their key there already */
    struct lb_first refused; /* of operations that were refused, and not for contention */

    _Atomic uint32_t n_arrived;        /* by two: who is about to take a number */
    atomic_int switchover;             /* enum lb_switchover */
    _Atomic uint64_t stalled_ns;       /* since then nothing is replicated */
    _Atomic uint32_t n_asking, n_late; /* overruns: acquires, and late releases, under way */

    /* Queues. */
    _Atomic int64_t next_id;     /* the next item's id */
    struct lb_schedule schedule; /* open loop */
    bool open_loop;
    uint64_t schedule_start_ns;
    _Atomic uint64_t *due_ns; /* open loop, queues: when item i + 1 was meant to arrive */
    uint64_t n_due;
    _Atomic uint64_t measure_ns; /* when the measured part began; 0 before */
    _Atomic uint64_t stop_ns;    /* and ended; 0: not yet */
    /* Producers between their look at the phase and their item's epoch, and recoveries. */
    _Atomic uint32_t n_adding;
    _Atomic uint64_t epoch; /* grows whenever an item may have become claimable, or stopped being */
    uint32_t n_consumers;
    _Atomic uint64_t recover_due_ns; /* the next run of the strategy's recovery */
    _Atomic uint64_t recovered_ns;   /* when the last one that worked began */
    _Atomic uint64_t item_death_ns;  /* when a consumer last died with items */
    _Atomic uint64_t n_rounds;       /* that are still to come, the present one included */
    _Atomic uint64_t n_strays;       /* items that were handed to workers of another class */
    _Atomic int64_t stray_id;        /* the last of these */
    _Atomic uint32_t n_claiming;     /* consumers in a claim or with items; counted with rounds */
    atomic_bool in_reset;            /* an operator is at work between two rounds: do not claim */
    _Atomic int64_t errored_id;      /* the last item that ended in error; 0: none */
    _Atomic uint64_t n_errored;      /* chunked update: items in error since the last restart */
    _Atomic uint64_t n_restarts;     /* how often errors were cleared */
    atomic_bool ahead_is_locked;     /* the first items are locked by a session of ours */
    atomic_bool only_ahead;          /* and nothing else is left to claim */
    atomic_bool drained;             /* all consumers were told "empty" within one epoch */
};

enum { LB_NODES_KEPT = 3 };

struct lb_worker {
    _Alignas(64) struct lb_crew *crew; /* no two workers share a cache line */
    uint32_t number;                   /* its log's number as well */
    enum lb_role role;
    pthread_t thread;
    struct lb_operator op;
    struct lb_actor actor;
    char class_name[24]; /* of what it puts or claims now; the actor borrows it */
    char role_name[24];  /* for the server's process list; the session borrows it */
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
    uint64_t edge_ns; /* of that, in cycles that are not in the histogram: cut off or given up */
    uint64_t n_statements, n_connects; /* of its session, once it has ended */
    uint64_t n_guarded;                /* accepted writes of the guarded row */
    atomic_bool ready, ended;
    bool is_late;               /* its hold has outlasted its lease */
    double overruns;            /* of its holds that are due: it overruns when there is one */
    uint32_t seat;              /* consumer: whose place it took; its own number at the start */
    atomic_int order;           /* enum lb_fault: what it must do to itself at its next hold */
    atomic_bool dying;          /* it is about to kill its process */
    _Atomic uint64_t resume_ns; /* stopped: when to continue it; 0: not stopped */
    uint64_t slow_until_ns;     /* its statements are delayed until then */
    bool in_fault;              /* it carried out an order in the hold that it is in */
    bool is_full;               /* its connection has been told that the disk is full */
    atomic_int zombie;          /* zombie.c: it slept past its lease, and is not through */
    _Atomic int64_t slept_on;   /* the lock, or the item, that it slept with */
    struct lb_error err; /* of its last call: not cleared for each, which costs more than a lock */
    bool died;           /* its process was killed */
    int death_signal;    /* and by which signal; 0: it ended by itself */
    uint64_t died_ns;
    char *payload;
    uint64_t n_lost;
    char nodes[LB_NODES_KEPT][120]; /* of the target's, that its session was on; "": no more */
    uint64_t n_successes;           /* measured */
    uint64_t n_items;               /* measured */
    struct lb_guard *guard;
    struct lb_chunks *chunks;
    _Atomic uint64_t progress;       /* successes so far, for the progress line */
    _Atomic uint64_t waits_since_ns; /* it has asked for a lock or an item since then; 0: no */
    /* Of the consumer in this seat: */
    _Atomic uint64_t empty_epoch; /* the last epoch that was answered with "empty" */
    atomic_bool seat_has_items;   /* it has claimed some */
};

static inline enum lb_phase lb_crew_phase(const struct lb_crew *crew)
{
    /* Relaxed: what a phase tells is only to stop or to count; data is handed over by joins. */
    return (enum lb_phase)atomic_load_explicit(&crew->phase, memory_order_relaxed);
}

void lb_facts_free(struct lb_fact *facts, size_t n);

/* Raises the phase, never lowers it, and wakes all who wait. */
void lb_crew_raise(struct lb_crew *crew, enum lb_phase phase);
/* Keeps the first error and raises the phase to ABORT. */
void lb_crew_fail(struct lb_crew *crew, const struct lb_error *error);
/* The first error, or NULL. */
const struct lb_error *lb_crew_error(const struct lb_crew *crew);
/* How a session of the workers' is opened, but for its role. */
void lb_crew_conn_options(const struct lb_crew *crew, struct lb_conn_options *ret_options);
/* Waits until deadline_ns, or until the phase has reached limit. true: the deadline passed. */
bool lb_crew_wait(struct lb_crew *crew, uint64_t deadline_ns, enum lb_phase limit);

/* classes.c: several task classes in the queue's table: of an item; of a consumer; and its name,
 * into buffer, NULL where there is but one. */
enum { LB_CLASS_NAME = 24 };
uint64_t lb_class_of(const struct lb_scenario *scenario, int64_t id);
const char *lb_class_name(const struct lb_scenario *scenario, uint64_t number, char *buffer);

/* restarted.c. begin: before the workers start. look: over a session that was connected anew, and
 * at the end; a server that was started anew meanwhile is noted, once. */
void lb_uptime_begin(struct lb_crew *crew, struct lb_session *control);
void lb_uptime_look(struct lb_crew *crew, struct lb_session *session, struct lb_log *log,
                    uint32_t process);

/* A worker's whole life, in a thread or a fiber; worker is a struct lb_worker. */
void lb_worker_live(void *worker);
/* Starts the thread of one worker. */
int lb_worker_start(struct lb_worker *worker, struct lb_error *err);
/* For the watchdog: since when it waits for a lock or an item; 0: it does not. */
static inline void lb_worker_waits(struct lb_worker *worker, uint64_t since_ns)
{
    atomic_store_explicit(&worker->waits_since_ns, since_ns, memory_order_relaxed);
}

/* Of a worker that could not be started. */
void lb_worker_give_up(struct lb_worker *worker);
/* Interrupts whatever the worker's session is executing. Same process only. */
void lb_worker_cancel(struct lb_worker *worker);

/* The parts of a worker's life (worker_lock.c, worker_queue.c). */
void lb_worker_lock_loop(struct lb_worker *worker);
void lb_worker_consume_loop(struct lb_worker *worker);
void lb_worker_produce_loop(struct lb_worker *worker);

/* Waits for the next arrival; false: there is none any more. Sets intended_ns and op.measured. */
bool lb_worker_arrival(struct lb_worker *worker);

/* Connects again what was lost, the worker's own session or the shared one that it has, with
 * growing pauses. false: the run is over, or the server gone. */
bool lb_worker_connect(struct lb_worker *worker);

/* Counting: begin and end of one measured operation. */
/* A whole cycle, from the first try to the end of the release, for Little's law. */
/* Before lb_worker_end: an acquire, or claim, is given up; counted if it was out of tries. */
void lb_worker_gave_up(struct lb_worker *worker, bool out_of_tries);
void lb_worker_was_busy(struct lb_worker *worker, uint64_t start_ns, uint64_t end_ns, bool counted);
void lb_worker_begin(struct lb_worker *worker, enum lb_measure measure);
/* true: it succeeded within the measured part and is in the histogram. */
bool lb_worker_end(struct lb_worker *worker, enum lb_measure measure, uint64_t start_ns,
                   uint64_t end_ns, bool succeeded);
/* Can its history still be written? If not, the run is over. */
bool lb_worker_records(struct lb_worker *worker);
/* After an answer that is no success: an error ends the run, a lost connection is made anew, for
 * anything else the worker waits by the scenario's back-off. n_refusals grows with each. false:
 * the worker must end its present operation. */
bool lb_worker_refused(struct lb_worker *worker, int answer, unsigned n_refusals,
                       struct lb_error *err);

/* Faults (faults.c). obey: called inside of each hold; carries out the order, if there is one. What
 * is held: a lock (request), or n items. */
void lb_worker_obey(struct lb_worker *worker, const struct lb_request *request,
                    const struct lb_item *items, uint32_t n);
/* The hold has ended, and with it what was carried out in it. */
void lb_worker_obeyed(struct lb_worker *worker);
/* Into the history; log NULL: none is written. */
void lb_fault_note(struct lb_log *log, uint32_t process, enum lb_op op, uint64_t value,
                   uint32_t target, uint32_t phase);
extern const struct lb_gate lb_fault_gate; /* what befalls statements; arg is the worker */
/* Has this fault a meaning on this engine? 0 or LB_E_UNSUPPORTED. db NULL: no database. */
int lb_fault_check(const struct lb_strategy *strategy, const struct lb_scenario *scenario,
                   const struct lb_db *db, struct lb_error *err);

/* Failovers (switchover.c): a holder of a lock (request) or of an item that was granted what it
 * has while replication stood still stays inside until another took over. */
enum lb_switchover {
    LB_SWITCHOVER_NONE,
    LB_SWITCHOVER_PREPARED, /* nobody asks: the others are to know every lock as free */
    LB_SWITCHOVER_STALLED,  /* a holder is wanted */
    LB_SWITCHOVER_PLACED,   /* there is one: the primary may be lost */
    LB_SWITCHOVER_OVER      /* another has its place */
};
/* Before it asks. */
void lb_switchover_wait(struct lb_worker *worker);
void lb_switchover_hold(struct lb_worker *worker, const struct lb_request *request,
                        const struct lb_item *item);

/* Zombies (zombie.c). awaits: is one to wake up in this hold? sleep: with an item, before the
 * pause. wait: the pause is over; returns inside of a later hold of the same thing, a resource or
 * an item. gone: what the zombie believed to hold is given back. call: a holder, at the end of its
 * hold. */
bool lb_zombie_awaits(struct lb_worker *worker, int64_t thing);
void lb_zombie_sleep(struct lb_worker *worker, int64_t item);
void lb_zombie_wait(struct lb_worker *worker, int64_t thing);
void lb_zombie_gone(struct lb_worker *worker);
void lb_zombie_call(struct lb_worker *worker, int64_t thing);

/* The guarded row (guard.c). */
struct lb_guard;
int lb_guard_setup(struct lb_session *control, uint32_t n_resources, struct lb_error *err);
int lb_guard_open(struct lb_worker *worker, struct lb_guard **ret_guard, struct lb_error *err);
void lb_guard_free(struct lb_guard *guard);
/* Shows the grant's token to the row and reads it; then writes it back, incremented, with the
 * token. LB_REFUSED: a later token was seen. */
int lb_guard_read(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                  struct lb_error *err);
int lb_guard_write(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                   struct lb_error *err);
/* The hold's release was answered; committed: with LB_OK. */
void lb_guard_released(struct lb_worker *worker, bool committed);
/* After the run: writes that were accepted minus what the rows count. */
int lb_guard_lost_updates(struct lb_session *control, const struct lb_worker *workers,
                          uint32_t n_workers, uint64_t *ret_lost, struct lb_error *err);

/* The chunked update (chunks.c). */
struct lb_chunks;
enum { LB_CHUNK_SUMS = 5 };
int lb_chunks_setup(struct lb_session *control, uint64_t n_rows, struct lb_error *err);
int lb_chunks_open(struct lb_worker *worker, struct lb_chunks **ret_chunks, struct lb_error *err);
void lb_chunks_free(struct lb_chunks *chunks);
/* Updates the range of item id. An answer, or an error; contention is waited out, but inside of the
 * strategy's transaction, which then has to be rolled back. */
int lb_chunks_update(struct lb_worker *worker, int64_t id, struct lb_error *err);
/* The first half of it: what a worker has done that fails in the middle. */
int lb_chunks_update_half(struct lb_worker *worker, int64_t id, struct lb_error *err);
/* After the run: was every row updated exactly once? */
int lb_chunks_prove(struct lb_session *control, const struct lb_crew *crew,
                    const struct lb_outcome *outcome, struct lb_proof *ret_proof,
                    struct lb_error *err);

#endif
