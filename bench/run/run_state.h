/* One run while it is under way. Private to bench/run: run.c leads it, setup.c builds it, settle.c
 * makes the outcome.
 */
#ifndef LB_RUN_STATE_H
#define LB_RUN_STATE_H

#include "crew.h"
#include "watchdog.h"

#include <sys/resource.h>

/* Logs beside the workers': the controlling thread's, the faults', the watchdog's. */
enum { LB_EXTRA_LOGS = 3 };

/* Crew and workers, in memory that forked processes share. */
struct lb_shared_run {
    struct lb_crew crew;
    struct lb_worker workers[];
};

struct lb_active_run {
    const struct lb_run_plan *request;
    const struct lb_stop *stop;
    lb_progress_fn *progress;
    void *progress_arg;
    struct lb_outcome *outcome;

    struct lb_space *space;
    struct lb_session control;
    bool has_control;
    struct lb_program *program;
    uint32_t *capacity;
    double *choice;                   /* the crew's */
    struct lb_session locker, keeper; /* of locked rows, and of an old snapshot */
    bool has_locker, has_keeper;
    struct lb_strategy_plan plan;
    bool is_set_up;
    struct lb_shared_run *shared;
    struct lb_histogram *histograms; /* shared: some per worker or thread */
    struct lb_process *processes;    /* forked ones; NULL: threads of this process */
    uint32_t n_processes;            /* entries of processes, the dead included */
    bool control_closed;
    struct lb_crew *crew;
    struct lb_worker *workers;
    uint32_t n_workers; /* at a time */
    uint32_t n_slots;   /* lives: n_workers, and room for those who replace the killed */
    uint32_t n_started; /* lives so far */
    uint64_t n_orders;  /* faults that workers were told to carry out */
    uint64_t next_fault_ns, faults_over_ns;
    struct lb_random fault_random;
    struct lb_readers *readers;  /* NULL: none */
    int64_t counted[LB_COUNTED]; /* at the end, by the strategy's own statement */
    bool is_counted;
    pthread_t world; /* the thread of a blocker or snapshot */
    bool has_world;
    bool counts_waits; /* the lease is the server's to count, from the moment of the grant */
    struct lb_watchdog watchdog;
    struct lb_history *history;
    struct lb_live *live;
    struct lb_log control_log;
    struct lb_fact *counters_before;
    size_t n_counters_before;
    uint64_t first_ns, measure_ns, stop_ns;
    bool may_last; /* what is granted outside of a transaction outlasts its session, and a failover
                      is to come */
    uint64_t sample_spacing_ns; /* between two of the outcome's samples */
    uint64_t interval_ns;       /* start of the present interval */
    uint64_t interval_sums[LB_COARSE_BUCKETS], interval_successes, interval_refusals;
    struct rusage usage_before;
    uint64_t next_sample_ns; /* of waits */
    uint64_t last_tick_ns, last_progress;
};

/* setup.c: everything up to the moment when all workers are started; what was made is undone by
 * lb_run_clean_up and lb_run_release, after a failure too. */
/* A control session that was lost is opened again, or the set-up begun again, for so long. */
enum { LB_CONTROL_PATIENCE_S = 30 };

/* Of the control session, as far as is known. */
bool lb_run_has_connection(const struct lb_active_run *run);
/* The control session had nothing to do while the workers ran: if it was lost meanwhile, it is
 * opened again, for LB_CONTROL_PATIENCE_S at most. */
int lb_run_mend_control(struct lb_active_run *run, struct lb_error *err);
int lb_run_set_up(struct lb_active_run *run, struct lb_error *err);
int lb_run_start_workers(struct lb_active_run *run, struct lb_error *err);
int lb_run_clean_up(struct lb_active_run *run, struct lb_error *err);
void lb_run_release(struct lb_active_run *run);

/* backlog.c: the items at the start. free ends the sessions that lock rows or keep a snapshot; more
 * than once does no harm. */
int lb_backlog_check(const struct lb_scenario *scenario, const struct lb_db *db,
                     struct lb_error *err);
int lb_backlog_put(struct lb_active_run *run, struct lb_error *err);
void lb_backlog_free(struct lb_active_run *run);

/* settle.c: the server's counters, before and after; the outcome; the verdict. */
void lb_run_take_counters(struct lb_active_run *run, struct lb_fact **ret, size_t *ret_n);
/* Into the outcome: the counters now, minus those taken before. */
void lb_run_subtract_counters(struct lb_active_run *run);
int lb_run_settle(struct lb_active_run *run, struct lb_error *err);
int lb_run_judge(struct lb_active_run *run, struct lb_error *err);
/* warnings.c: an error if nothing was ever granted and the server said why; after the verdict, what
 * else there is to say. */
/* outlasted: the lease of a drain whose every hold outlasts it, so that others are given each item
 * over and over and the queue may never be empty; 0: it is no such run. */
uint64_t lb_run_outlasted_ns(const struct lb_active_run *run);
int lb_run_check_errors(struct lb_active_run *run, struct lb_error *err);
void lb_run_warn(struct lb_active_run *run);
/* What the history's file says of itself until the run has ended. */
int lb_run_begin_meta(struct lb_active_run *run, struct lb_error *err);
/* overdue.c: does a queue of recurring work keep up? From the history, between the two times. */
int lb_overdue_tell(const struct lb_history_view *view, uint64_t start_ns, uint64_t end_ns,
                    const struct lb_scenario *scenario, struct lb_proof *ret_proof,
                    struct lb_error *err);
/* ledger.c: can what the scenario wants be counted, and brought back? After the crew is made.
 * Counts, once the workers have ended; and compares that with the history. */
int lb_ledger_check(const struct lb_active_run *run, struct lb_error *err);
int lb_ledger_count(struct lb_active_run *run, struct lb_error *err);
void lb_ledger_prove(const struct lb_active_run *run, const struct lb_history_view *view,
                     struct lb_proof *ret_proof);
/* classes.c */
int lb_classes_check(const struct lb_active_run *run, struct lb_error *err);
void lb_classes_prove(const struct lb_active_run *run, struct lb_proof *ret_proof);
/* readers.c: sessions that count the queue's items while the workers run. end: after the workers;
 * settle: into the outcome; release: NULL is allowed. */
struct lb_readers;
int lb_readers_start(struct lb_active_run *run, struct lb_error *err);
void lb_readers_cancel(struct lb_readers *readers);
void lb_readers_end(struct lb_readers *readers);
void lb_readers_settle(const struct lb_readers *readers, struct lb_outcome *outcome);
void lb_readers_release(struct lb_readers *readers);
/* periodic.c: was a job with a period run once in each? From the history. */
int lb_periodic_prove(const struct lb_history_view *view, uint64_t start_ns,
                      const struct lb_scenario *scenario, struct lb_proof *ret_proof,
                      struct lb_error *err);
/* Collects facts into a growing array; arg is a struct lb_fact_list. */
struct lb_fact_list {
    struct lb_fact **facts;
    size_t *n;
};
void lb_run_add_fact(void *arg, const char *name, const char *value);

/* arrival.c: how many arrivals were meant to come, in the measured part and in each interval. */
int lb_run_count_due(struct lb_active_run *run, struct lb_error *err);

/* faults.c: start after the workers, watch from time to time, end before the clean-up. */
int lb_faults_start(struct lb_active_run *run, struct lb_error *err);
void lb_faults_watch(struct lb_active_run *run);
void lb_faults_end(struct lb_active_run *run);
/* Of a run that lasts as long as its faults do: are they over? */
bool lb_faults_done(struct lb_active_run *run);

/* restart.c. check: is the command given? private: has nobody else a session on the server? Either
 * is LB_E_UNSUPPORTED otherwise. world: restarts it over and over, until the run stops. */
int lb_restart_check(const struct lb_run_plan *plan, struct lb_error *err);
int lb_restart_private(struct lb_session *session, enum lb_fault fault, const char *label,
                       struct lb_error *err);
void lb_restart_world(struct lb_active_run *run, struct lb_session *session, struct lb_log *log);
/* Runs a command of the user's to its end, with STEP in its environment if step is not NULL. */
int lb_restart_run_command(const char *name, const char *command, const char *step,
                           struct lb_error *err);
/* Connects again, with patience. */
int lb_restart_come_back(struct lb_session *session, struct lb_crew *crew, struct lb_error *err);

/* switchover.c: as restart's. */
int lb_switchover_check(const struct lb_run_plan *plan, struct lb_error *err);
void lb_switchover_world(struct lb_active_run *run, struct lb_session *session, struct lb_log *log);

/* processes.c: workers in forked processes. start forks them all; the parent has no thread then and
 * no connection open. watch notices the dead; end waits for, or kills, what is left. */
int lb_processes_start(struct lb_active_run *run, struct lb_error *err);
void lb_processes_watch(struct lb_active_run *run);
void lb_processes_end(struct lb_active_run *run, bool kill_now);
/* Opens the control session again, where it had to be closed for the fork or was lost with the
 * server. */
int lb_processes_reopen(struct lb_active_run *run, struct lb_error *err);

/* carriers.c: workers as fibers of a few threads. How many threads; 0: each worker has its own. */
int lb_carriers_wanted(const struct lb_active_run *run, uint32_t *ret_n, struct lb_error *err);
int lb_carriers_start(struct lb_active_run *run, uint32_t n, struct lb_error *err);
void lb_carriers_end(struct lb_active_run *run); /* waits for them */
void lb_carriers_release(struct lb_active_run *run);

/* waits.c: samples them, if it is wanted and time. */
#define LB_SAMPLE_NS UINT64_C(20000000)
bool lb_waits_wanted(const struct lb_active_run *run);
void lb_waits_sample(struct lb_active_run *run);

/* intervals.c: closes the present interval if its second is over, or with force; NULL: not yet. */
const struct lb_interval *lb_run_interval(struct lb_active_run *run, bool force);

/* Notes how far the measured part has come, if it is time at now_ns. */
void lb_run_sample(struct lb_active_run *run, uint64_t now_ns);

/* run.c: 0, 1 (finish and report) or 2 (stop now). */
int lb_run_interrupted(const struct lb_active_run *run);
void lb_run_report(struct lb_active_run *run, const char *phase, double fraction);

#endif
