/* A run: one strategy on one engine under one scenario, from setup to verdict.
 */
#ifndef LB_RUN_H
#define LB_RUN_H

#include "check.h"
#include "histogram.h"
#include "scenario.h"
#include "strategy.h"

#include <stdatomic.h>
#include <stdio.h>

/* Set by the signal handler, read by everyone. 1: finish and report; 2: stop now. */
struct lb_stop {
    atomic_int requested;
};

/* What is to be run. Borrowed; immutable during the run. */
struct lb_run_plan {
    const struct lb_strategy *strategy;
    const struct lb_file *file;     /* its statements for this engine; NULL: none needed */
    const struct lb_target *target; /* NULL for strategies without a database */
    const struct lb_scenario *scenario;
    const struct lb_setting *settings; /* --opt */
    size_t n_settings;
    uint64_t seed;
    const char *after_setup;      /* SQL that is run once the tables are there; NULL: none */
    const char *failover_command; /* faults of replicated servers, see switchover.c; NULL: none */
    const char *restart_command;  /* fault restart: stops and starts the server; NULL: not given */
    const char *history_path;     /* keep the history there; NULL: a temporary file */
    bool sample_waits;            /* what sessions wait for, where the engine tells */
    bool record;                  /* write a history at all (off: verdicts are not tested) */
    bool keep;                    /* leave the space in the database */
};

/* What the operations are measured as. */
enum lb_measure {
    LB_M_ENQUEUE, /* taking a number */
    LB_M_ACQUIRE, /* acquire (first try to grant), or claim */
    LB_M_HOLD,    /* the hold */
    LB_M_RELEASE, /* release, or complete/error/free */
    LB_M_PUT,
    LB_M_CYCLE, /* end to end: first try to the end of the release */
    LB_M_POOL,  /* waiting for one of the sessions that workers share; part of all others */
    LB_M_READ,  /* a reader's count of the queue's items */
    LB_MEASURES
};
const char *lb_measure_name(enum lb_measure measure);

/* Counters of one kind of operation. Asserted at the end of every run:
 *   attempts = sum of answers            (one attempt is one call of the strategy)
 *   started  = finished + censored       (one operation: from the first attempt to its end)
 *   finished = succeeded + given_up; gave_up of these were refused `tries` times, and not empty
 *   histogram count = succeeded (measured part) */
struct lb_counts {
    uint64_t planned, skipped;
    uint64_t started, finished, censored, succeeded, given_up, gave_up;
    uint64_t attempts;
    uint64_t answers[LB_ANSWERS];
};
void lb_counts_add(struct lb_counts *sum, const struct lb_counts *one);

/* One second of the measured part, for charts and the live view; quantiles within 7 %. */
struct lb_interval {
    uint64_t start_ns, length_ns; /* start: after the measured part's start */
    uint64_t n_successes, n_refusals;
    uint64_t n_due;          /* open loop: arrivals that were meant to come in it */
    uint64_t p50_ns, p99_ns; /* of acquires or claims, open loop: responses; 0: too few */
    uint64_t n_overlaps;     /* seen by the live witness, so far */
};

/* How far the measured part had come: the test for a steady state looks at the rates between. */
struct lb_sample {
    uint64_t at_ns; /* after the measured part's start */
    uint64_t n_successes;
};
enum { LB_SAMPLES = 128 };

/* Witnesses that need no log. */
struct lb_live_witness {
    uint64_t n_overlaps;     /* owner word: somebody else was inside (or too many were) */
    uint64_t n_lost_updates; /* guarded counter: written back over somebody else's write */
    bool hold_sum_exceeds;   /* exclusive: sum of holds > wall time */
    uint32_t resource;       /* of the first overlap */
    uint32_t first, second;  /* workers of the first overlap */
    uint64_t at_ns;
};

/* What a scenario of its own proves beside the strategy's guarantees: that the work was done as
 * often as it should be. */
struct lb_proof {
    char name[24];           /* "chunks", ...; "": the scenario has nothing to prove */
    enum lb_verdict verdict; /* held, violated or not tested */
    char text[400];          /* one sentence, with the numbers */
};

struct lb_fact {
    char *name, *value;
};

/* Sessions seen doing something, over all samples. */
struct lb_wait {
    char name[64]; /* "Lock:transactionid", "running" */
    uint64_t n;
};

enum lb_run_state {
    LB_RUN_COMPLETE,
    LB_RUN_INTERRUPTED, /* Ctrl-C: what was measured is reported */
    LB_RUN_SERVER_GONE, /* the server went away for good: verdicts inconclusive */
    LB_RUN_INVALID      /* the measurement does not hold: see invalid */
};

enum { LB_WARNINGS = 8 };

/* What a run came to. Free with lb_outcome_free. */
struct lb_outcome {
    char strategy[64], engine[64], target[256], scenario[192];
    struct lb_scenario config;
    uint64_t seed;
    char options[512]; /* resolved options, "a=1 b=2" */
    enum lb_run_state state;
    char reason[300]; /* for a state that is not complete */

    uint64_t start_ns; /* monotonic: zero of all times in witnesses */
    int64_t start_unix_ms;
    uint64_t elapsed_ns; /* the measured part */
    struct lb_counts counts[LB_MEASURES];
    struct lb_histogram *service[LB_MEASURES];  /* from the actual start; NULL if unused */
    struct lb_histogram *response[LB_MEASURES]; /* from the intended start; NULL in closed loop */
    uint64_t n_due;                /* open loop: arrivals meant to come in the measured part */
    struct lb_histogram *pacing;   /* open loop: how late free workers began; NULL in closed loop */
    struct lb_interval *intervals; /* one per second of the measured part */
    size_t n_intervals;
    struct lb_sample
        samples[LB_SAMPLES]; /* evenly, from the start to the end; at least 100 ms apart */
    size_t n_samples;
    double in_flight_edge; /* share of it in cycles that the window cut off */
    double in_flight;      /* mean number of operations under way: measured */
    uint32_t n_workers;
    uint64_t *worker_successes; /* one per worker */
    double successes_per_s;     /* grants or claimed items */
    double attempts_per_success;
    uint64_t n_items; /* queue: items claimed */

    struct lb_judgement judgement;
    struct lb_live_witness live;
    struct lb_proof proof;
    char warnings[LB_WARNINGS][400]; /* what no verdict says, a sentence each */
    size_t n_warnings;
    bool witnesses_agree;
    uint64_t n_events; /* in the history */
    char covered[400]; /* explored: what of, in words; "": stressed */
    char again[1400];  /* explored: the command that does so again */
    char replay[810];  /* explored: the schedule that shows what is violated; "" */

    uint64_t n_faults;
    uint64_t n_guard_lost; /* accepted writes of the guarded row that another overwrote: harm */
    uint64_t n_statements, n_connects, n_lost;
    bool has_cpu;       /* not when the workers ran in processes of their own */
    uint32_t n_threads; /* that the workers ran in */
    uint64_t cpu_user_ns, cpu_system_ns, n_switches_voluntary, n_switches_involuntary;
    struct lb_fact *facts; /* of the server */
    size_t n_facts;
    struct lb_fact *nodes; /* of a target with several: their names, and the workers on them */
    size_t n_nodes;
    struct lb_fact *server; /* counters of the server, after minus before */
    size_t n_server;
    uint64_t n_successes_all; /* warm-up and draining too: what the counters are divided by */
    struct lb_wait *waits;    /* NULL: not sampled */
    size_t n_waits;
    uint64_t n_wait_samples;
};

/* Progress, from the controlling thread, about every 100 ms and at changes of phase. */
struct lb_progress {
    const char *phase; /* "setup", "warm-up", "running", "checking", "cleaning up" */
    double fraction;   /* 0..1 of the measured part; < 0: unknown */
    uint64_t n_successes;
    double successes_per_s;             /* since the last call */
    uint64_t n_overlaps;                /* seen so far by the live witness */
    const struct lb_interval *interval; /* a second that has just ended; NULL: none */
};
typedef void lb_progress_fn(void *arg, const struct lb_progress *progress);

/* Runs. Returns 0 with *ret_outcome, or an error when there is nothing to report (cannot connect,
 * strategy and engine do not fit: LB_E_UNSUPPORTED). */
int lb_run(const struct lb_run_plan *plan, const struct lb_stop *stop, lb_progress_fn *progress,
           void *arg, struct lb_outcome **ret_outcome, struct lb_error *err);
/* An outcome without any measurement yet. 0 or LB_E_MEMORY. */
int lb_outcome_new(const struct lb_run_plan *plan, struct lb_outcome **ret_outcome,
                   struct lb_error *err);
void lb_outcome_free(struct lb_outcome *outcome);
/* All of an outcome as bytes that this build of the program can read back; lb_outcome_read returns
 * LB_E_FILE for bytes that are cut. */
int lb_outcome_write(const struct lb_outcome *outcome, FILE *out, struct lb_error *err);
int lb_outcome_read(const unsigned char *bytes, size_t n, struct lb_outcome **ret,
                    struct lb_error *err);

/* Is what the workers saw of each other in the history as well? If not, lockbench is wrong itself.
 * The witnesses know nothing of leases: they are compared with what holders believed. is_timed:
 * claims end by themselves, or are recovered from the slow. */
bool lb_witnesses_agree(const struct lb_judgement *judgement, const struct lb_live_witness *live,
                        bool is_queue, bool is_timed);

/* Can this strategy run on this engine, and be asked what the scenario asks? 0, or LB_E_UNSUPPORTED
 * with the reason, which is what a SKIP prints. caps: what the server can do (0: unknown, only the
 * file is looked at). */
int lb_run_supported(const struct lb_strategy *strategy, const struct lb_file *file,
                     const struct lb_db *db, uint64_t caps, const struct lb_scenario *scenario,
                     struct lb_error *err);

#endif
