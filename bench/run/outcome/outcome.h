/* The outcome of a run: figures, verdict, warnings. */
#ifndef LB_OUTCOME_H
#define LB_OUTCOME_H

#include "check.h"
#include "histogram.h"
#include "live.h"
#include "measure.h"
#include "migration.h"
#include "proof.h"
#include "ranks.h"
#include "run_plan.h"

#include <stdio.h>

/* What a run's server, tables and program are at. Rates are by the second. */
enum lb_gauge {
    LB_G_BACKLOG,      /* queue: items that were put and are not completed */
    LB_G_CPU,          /* of this program: in cores */
    LB_G_MEMORY_BYTES, /* of this program: resident */
    LB_G_SERVER_CPU,   /* in cores, where it is on this machine */
    LB_G_LIVE_ROWS,
    LB_G_DEAD_ROWS,
    LB_G_TABLE_BYTES,
    LB_G_INDEX_BYTES,
    LB_G_DATABASE_BYTES, /* SQLite: the file */
    LB_G_BUFFERS_HIT,
    LB_G_BUFFERS_READ,
    LB_G_WAL_BYTES,   /* of MariaDB: redo */
    LB_G_CHECKPOINTS, /* in the interval */
    LB_G_VACUUMS,     /* under way */
    LB_G_LOCKS,
    LB_G_LOCKS_WAITED,
    LB_G_HISTORY_LENGTH, /* MariaDB: transactions that are not purged */
    LB_G_WAITING,        /* sessions of the run that wait */
    LB_G_NET_SENT,       /* to the server over TCP, by the sessions of workers */
    LB_G_NET_RECEIVED,
    LB_GAUGES
};
/* "server_cpu": the column of a series. */
const char *lb_gauge_name(enum lb_gauge gauge);
enum { LB_GAUGE_WAIT = 40 };

/* One second of the measured part (of a long run, several), for charts and the live view; quantiles
 * within 7 %. */
struct lb_interval {
    uint64_t start_ns, length_ns; /* start: after the measured part's start */
    uint64_t n_successes, n_refusals;
    uint64_t n_due;           /* open loop: arrivals that were meant to come in it */
    uint64_t p50_ns, p99_ns;  /* of acquires or claims, open loop: responses; 0: too few */
    uint64_t n_overlaps;      /* seen by the live witness, so far */
    double gauges[LB_GAUGES]; /* NAN: unknown */
    char wait[LB_GAUGE_WAIT]; /* the most frequent wait of the sessions; "": none */
};

/* A phase of the scenario, as it was run. */
struct lb_stage_figures {
    uint64_t start_ns, length_ns; /* length 0: it did not come */
    uint64_t n_successes, n_due;
    uint64_t p50_ns, p99_ns; /* within 7 %; 0: too few */
};

/* How far the measured part had come: the test for a steady state looks at the rates between. */
struct lb_sample {
    uint64_t at_ns; /* after the measured part's start */
    uint64_t n_successes;
};
enum { LB_SAMPLES = 128 };

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
    LB_RUN_INTERRUPTED, /* Ctrl-C: the results so far are reported */
    LB_RUN_SERVER_GONE, /* the server went away for good: verdicts inconclusive */
    LB_RUN_INVALID      /* the measurement does not hold: see invalid */
};

/* How the reason of a run begins that is invalid only because its arrivals came late. */
#define LB_LATE_GENERATOR "the generator fell behind"

/* Of what was explored, and not stressed. */
struct lb_exploration {
    char covered[400]; /* what of, in words */
    char again[1400];  /* the command that does so again */
    char replay[810];  /* the schedule that shows what is violated; "" */
    /* Of what that does not show: the command, and schedules of their own; "" */
    char again_all[1400];
    char replays[LB_GUARANTEE_ROOM][810];
    unsigned shown; /* guarantees that `replay` shows */
    uint64_t n_schedules;
    bool complete; /* all schedules within the bounds */
};

enum { LB_WARNINGS = 8 };

/* The outcome of a run. Free with lb_outcome_free. */
struct lb_outcome {
    struct lb_scenario config;
    uint64_t seed;
    char options[512]; /* resolved options, "a=1 b=2" */
    enum lb_run_state state;
    char reason[300]; /* for a state that is not complete */

    uint64_t start_ns; /* monotonic: zero of all times in witnesses */
    int64_t start_unix_ms;
    uint64_t elapsed_ns; /* the measured part */
    uint32_t key_limit;  /* items of one key in hand at most, as the file says; 0: not known */
    struct lb_counts counts[LB_MEASURES];
    struct lb_histogram *service[LB_MEASURES];  /* from the actual start; NULL if unused */
    struct lb_histogram *response[LB_MEASURES]; /* from the intended start; NULL in closed loop */
    uint64_t n_due;                /* open loop: arrivals meant to come in the measured part */
    struct lb_histogram *pacing;   /* open loop: how late free workers began; NULL in closed loop */
    struct lb_interval *intervals; /* one per second of the measured part */
    size_t n_intervals;
    struct lb_stage_figures stages[LB_STAGES]; /* of config.n_stages */
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
    char warnings[LB_WARNINGS][400]; /* facts that no verdict covers, a sentence each */
    size_t n_warnings;
    bool witnesses_agree;
    uint64_t n_events;  /* in the history */
    uint64_t n_settled; /* events that were judged and dropped while the run went on */
    char kept[160];     /* why a long run kept all, or most, of its events until the end; "": it did
                           not, is short, or the user wants it */
    struct lb_exploration *exploration; /* NULL: stressed */

    uint64_t n_faults;
    bool lacks_fault;              /* invalid since none of the requested ones happened */
    struct lb_migration migration; /* of fault migrate */
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
    struct lb_fact *plans; /* of operations, "claim": how the server reads the tables for it */
    size_t n_plans;
    uint64_t n_successes_all; /* warm-up and draining too: the divisor of the counters */
    struct lb_wait *waits;    /* NULL: not sampled */
    size_t n_waits;
    uint64_t n_wait_samples;
    struct lb_ranks ranks; /* of a run that several did together */
};

/* The name of the scenario's phase that most of an interval is of; "": there are none. */
const char *lb_interval_stage(const struct lb_outcome *outcome, const struct lb_interval *interval);
/* How long the intervals of a run are: a second, and more in a run of hours. */
uint64_t lb_run_interval_ns(const struct lb_scenario *scenario);
/* An outcome without any measurement yet. */
struct lb_outcome *lb_outcome_new(const struct lb_run_plan *plan);
/* The measurement does not hold, for this reason. */
void lb_outcome_invalidate(struct lb_outcome *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lb_facts_free(struct lb_fact *facts, size_t n);
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

#endif
