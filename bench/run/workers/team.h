/* A team: the workers of one run, and what they share with the thread that controls them (the word
 * is OpenMP's). Private to bench/run.
 *
 * The configuration is immutable. The phase only ever rises; the controlling thread raises it, or a
 * worker that failed does, to LB_PHASE_ABORT. Team and workers live in memory that forked processes
 * share, and no lock is held in it: a process may be killed at any instruction.
 */
#ifndef LB_TEAM_H
#define LB_TEAM_H

#include "coarse.h"
#include "common.h"
#include "live.h"
#include "note.h"
#include "operation.h"
#include "run_plan.h"
#include "schedule.h"
#include "service.h"
#include "watched.h"

struct lb_pool;
struct lb_worker_events;

/* Of the server, or of the first node of several: see restarted.c. */
struct lb_uptime {
    char node[120];
    _Atomic int64_t since_us; /* of its present life; 0: not known */
    _Atomic uint64_t n;       /* it was started anew */
    _Atomic uint64_t seen_ns; /* when that was first seen */
};

struct lb_team {
    const struct lb_run_plan *run;
    const struct lb_scenario *scenario;
    const struct lb_strategy_plan *plan;
    const struct lb_db *db; /* NULL for strategies without a database */
    struct lb_space *space;
    struct lb_history *history; /* NULL: not recorded */
    struct lb_live *live;
    bool guard;           /* the guarded row is used */
    bool enqueues;        /* locks: the strategy has section enqueue */
    bool recovers;        /* locks: leases that are over are ended by recover */
    const double *choice; /* of resources, by Zipf's law; NULL: all alike */

    struct lb_common common;
    _Atomic uint64_t n_faults;         /* that were carried out */
    _Atomic uint64_t n_faults_over;    /* including the victim's later actions */
    _Atomic uint64_t n_poisoned;       /* workers that an item has killed */
    atomic_bool disk_full;             /* fault full: now */
    atomic_bool no_faults, no_readers; /* in the present phase of the scenario */

    const struct lb_worker_events *events; /* the listeners to the workers: the faults */
    void (*on_phase)(void *arg);           /* called when a phase was raised; NULL: no listener */
    void *on_phase_arg;
    struct lb_pool *pool;         /* sessions that the workers share; NULL: each has its own */
    struct lb_carrier **carriers; /* threads that run workers as fibers; none: each has a thread */
    uint32_t n_carriers;
    uint32_t first_worker;    /* the number of the first: others run elsewhere */
    bool has_others;          /* workers in other ranks: peers.c has the state shared with them */
    _Atomic uint64_t emptied; /* has_others: the last epoch, + 1, in which the queue was drained */
    uint32_t n_workers;
    atomic_uint n_successors; /* their numbers follow those of n_workers */
    atomic_int error_state;   /* 0: none; 1: being written; 2: error can be read */
    struct lb_error error;    /* the first error of a worker */
    struct lb_uptime uptime;
    struct lb_first lost;    /* of sessions that ended */
    struct lb_first doubled; /* of operations that found their key there already */
    struct lb_first refused; /* of operations that were refused, and not for contention */

    struct lb_service service; /* how long holds are */

    _Atomic uint32_t n_arrived;        /* by two: the worker that is about to take a number */
    atomic_int switchover;             /* enum lb_switchover */
    _Atomic uint64_t stalled_ns;       /* since then nothing is replicated */
    _Atomic uint32_t n_asking, n_late; /* overruns: acquires, and late releases, under way */

    /* Queues. */
    struct lb_schedule schedule; /* open loop */
    bool open_loop;
    uint64_t schedule_start_ns;
    _Atomic uint64_t *due;        /* open loop, queues: lb_due_mark() of items on their way */
    _Atomic uint64_t n_displaced; /* claimed items that were not in it any more */
    _Atomic uint64_t measure_ns;  /* when the measured part began; 0 before */
    _Atomic uint64_t stop_ns;     /* and ended; 0: not yet */
    /* Producers between their look at the phase and their item's epoch, and recoveries. */
    _Atomic uint32_t n_adding;
    _Atomic uint64_t epoch; /* grows whenever an item may have become claimable, or stopped being */
    _Atomic uint64_t confirming; /* the epoch in which all ask once more whether it is drained */
    uint32_t n_consumers;
    /* Heartbeats of processes that had been heard of in time, and how many of these found a row. */
    _Atomic uint64_t n_beats, n_beats_found;
    _Atomic uint64_t recover_due_ns; /* the next run of the strategy's recovery */
    _Atomic uint64_t recovered_ns;   /* when the last one that worked began */
    _Atomic uint64_t item_death_ns;  /* when a consumer last died with items */
    _Atomic uint64_t retried_ns;     /* when all items that failed are due again; 0: none is not */
    _Atomic uint64_t n_operator_steps; /* of rounds: that are still to come, two of each round */
    _Atomic uint64_t n_strays;         /* items that were handed to workers of another class */
    _Atomic int64_t stray_id;          /* the last of these */
    _Atomic uint32_t n_claiming;       /* consumers in a claim or with items; counted with rounds */
    atomic_bool in_reset;              /* an operator is at work between two rounds: do not claim */
    _Atomic int64_t errored_id;        /* the last item that ended in error; 0: none */
    _Atomic uint64_t n_errored;        /* chunked update: items in error since the last restart */
    _Atomic uint64_t n_restarts;       /* how often errors were cleared */
    atomic_bool ahead_is_locked;       /* the first items are locked by a session of ours */
    atomic_bool only_ahead;            /* and nothing else is left to claim */
    atomic_bool drained;               /* all consumers got "empty" within one epoch */
};

static inline enum lb_phase lb_team_phase(const struct lb_team *team)
{
    return lb_common_phase(&team->common);
}

/* Raises the phase, never lowers it, and wakes all who wait. */
void lb_team_raise(struct lb_team *team, enum lb_phase phase);
/* Keeps the first error and raises the phase to ABORT. */
void lb_team_fail(struct lb_team *team, const struct lb_error *error);
/* The first error, or NULL. */
const struct lb_error *lb_team_error(const struct lb_team *team);
/* How a session of the workers' is opened, but for its role. */
void lb_team_conn_options(const struct lb_team *team, const struct lb_strategy_plan *plan,
                          struct lb_conn_options *ret_options);
/* Waits until deadline_ns, or until the phase has reached limit. true: the deadline passed. */
bool lb_team_wait(struct lb_team *team, uint64_t deadline_ns, enum lb_phase limit);

/* An item is due in ms milliseconds: until then the queue is not drained. Called before the
 * epoch in which it was ended. */
void lb_team_note_due(struct lb_team *team, uint64_t ms);
/* The outcome of a consumer's operation is unknown. If the protocol claims recovery, the queue is
 * not drained before everything that may have been in hand has come back. */
void lb_team_lost_items(struct lb_team *team);

#endif
