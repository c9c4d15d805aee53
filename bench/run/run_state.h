/* One run while it is under way: data only. Private to bench/run: run.c leads it, setup.c builds
 * it, settle.c makes the outcome; each room reads what is its own.
 */
#ifndef LB_RUN_STATE_H
#define LB_RUN_STATE_H

#include "clock_set.h"
#include "outcome.h"
#include "run.h"
#include "share.h"
#include "watchdog.h"
#include "worker.h"

#include <sys/resource.h>

/* Team and workers, in memory that forked processes share. */
struct lb_shared_run {
    struct lb_team team;
    struct lb_worker workers[];
};

/* The other ranks' progress, as last reported. */
struct lb_elsewhere {
    uint64_t n_successes, n_refusals, n_overlaps;
    uint64_t n_faults, n_faults_over;
    uint64_t sums[LB_COARSE_BUCKETS];
};

/* Where a rank that does not set up joins in. */
struct lb_joining {
    const char *space; /* its name */
    int32_t number;    /* and number */
    int64_t next_id;   /* of the first item that is put */
};

struct lb_active_run;
struct lb_beater;
struct lb_gauges;
struct lb_peers;
struct lb_settler;

/* Access to other ranks for a waiting function: the leader's, or a follower's. */
struct lb_company {
    void (*poll)(struct lb_active_run *run); /* takes and sends messages; does not wait */
    bool (*are_ready)(const struct lb_active_run *run);
    bool (*have_ended)(const struct lb_active_run *run);
};

struct lb_active_run {
    const struct lb_run_plan *request;
    const struct lb_stop *stop;
    lb_progress_fn *progress;
    void *progress_arg;
    struct lb_outcome *outcome;

    struct lb_share share;
    const struct lb_company *company; /* NULL: there are no others */
    struct lb_peers *peers;           /* of the leader of several ranks; else NULL */
    void *follower;                   /* of who follows: see follow.c */
    const struct lb_joining *joining; /* who follows: the space that is there already */
    struct lb_elsewhere elsewhere;
    uint64_t wake_ns; /* something of the others' is due then; 0: nothing */

    struct lb_space *space;
    struct lb_session control;
    bool has_control;
    struct lb_server_clock server_clock;
    struct lb_program *program, *program_before; /* the version before; NULL: there is none */
    uint32_t *capacity;
    double *choice;                         /* the team's */
    struct lb_attribute_source *attributes; /* of items; NULL: they have none */
    struct lb_session locker, snapshot;     /* of locked rows, and of an old snapshot */
    bool has_locker, has_snapshot;
    struct lb_strategy_plan plan, plan_before;
    bool is_set_up;
    struct lb_shared_run *shared;
    struct lb_histogram *histograms; /* shared: some per worker or thread */
    struct lb_process *processes;    /* forked ones; NULL: threads of this process */
    uint32_t n_processes;            /* entries of processes, the dead included */
    bool control_closed;
    struct lb_team *team;
    struct lb_worker *workers;
    uint32_t n_workers; /* at a time */
    uint32_t n_slots;   /* lives: n_workers, and room for those who replace the killed */
    uint32_t n_started; /* lives so far */
    uint64_t n_orders;  /* faults ordered from workers */
    uint64_t n_told;    /* ordered by another rank, and not yet passed to a worker */
    uint64_t next_fault_ns, faults_over_ns;
    struct lb_random fault_random;
    struct lb_beater *beater;   /* of workers that are threads of this process; NULL: none */
    struct lb_readers *readers; /* NULL: none */
    struct lb_settler *settler; /* NULL: the record is kept whole */
    const char *kept_because;   /* then: why; NULL: the user wants it */
    struct lb_gauges *gauges;   /* NULL: the server is not asked */
    uint32_t stage;             /* the scenario's present phase */
    uint64_t stage_successes;   /* when it began */
    uint64_t stage_sums[LB_COARSE_BUCKETS];
    double own_cpu_ns; /* of this program, when the last interval ended */
    uint64_t own_cpu_at_ns;
    int64_t counted[LB_COUNTED]; /* at the end, by the strategy's own statement */
    bool is_counted;
    bool is_endless; /* items come back after they were ended: the run was over at once */
    pthread_t world; /* the thread of a blocker or snapshot */
    bool has_world;
    bool counts_waits; /* the lease is the server's to count, from the moment of the grant */
    struct lb_watchdog watchdog;
    struct lb_history *history;
    struct lb_live *live;
    struct lb_log control_log;
    struct lb_log put_logs[LB_PUT_LOGS];
    struct lb_fact *counters_before;
    size_t n_counters_before;
    uint64_t first_ns, measure_ns, stop_ns;
    bool may_last; /* grants outside of a transaction outlast their session, and a failover is
                      planned */
    uint64_t sample_spacing_ns; /* between two of the outcome's samples */
    uint64_t interval_ns;       /* start of the present interval */
    uint64_t interval_sums[LB_COARSE_BUCKETS], interval_successes, interval_refusals;
    uint64_t first_successes,
        last_successes; /* this rank's count when the measured part began, and when it ended */
    struct rusage usage_before;
    uint64_t next_sample_ns; /* of waits */
    uint64_t last_tick_ns, last_progress;
};

/* The plan by which the tables are made and filled: with two versions, that of the older one. */
static inline struct lb_strategy_plan *lb_run_first_plan(struct lb_active_run *run)
{
    return run->program_before != NULL ? &run->plan_before : &run->plan;
}

#endif
