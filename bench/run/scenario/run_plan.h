/* The plan of a run: strategy, target, scenario, and recording. */
#ifndef LB_RUN_PLAN_H
#define LB_RUN_PLAN_H

#include "scenario.h"
#include "strategy.h"

#include <stdatomic.h>

/* Set by the signal handler, read by everyone. 1: finish and report; 2: stop now. */
struct lb_stop {
    atomic_int requested;
};

/* The plan of a run. Borrowed; immutable during the run. */
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
    uint64_t history_limit; /* events of it until items that were completed are judged and dropped;
                               0: never */
    const char *history_path;    /* keep the history there; NULL: a temporary file */
    struct lb_trace_file *trace; /* programs: a line for each statement goes there; NULL: none */
    bool sample_waits;           /* sample wait events, if the engine reports them */
    bool read_plans;             /* how the server executes each operation, before the workers */
    bool has_series;             /* ask the server once in each interval what it is at */
    bool is_watched;             /* report the waits in progress, too: a walk over all workers */
    bool record;                 /* write a history at all (off: verdicts are not tested) */
    bool keep;                   /* leave the space in the database */
};

#endif
