/* A run: one strategy on one engine under one scenario, from setup to verdict.
 */
#ifndef LB_RUN_H
#define LB_RUN_H

#include "coarse.h"
#include "link.h"
#include "outcome.h"
#include "run_plan.h"

/* A worker as it is now. */
struct lb_worker_view {
    uint32_t number;
    bool has_ended, has_died;
    uint64_t n_successes;
    uint64_t waits_ns; /* for so long; 0: it does not */
};
enum { LB_WORKER_VIEWS = 64 };

/* Progress, from the controlling thread, about every 100 ms and at changes of phase. */
struct lb_progress {
    const char *phase; /* "setup", "warm-up", "running", "checking", "cleaning up" */
    double fraction;   /* 0..1 of the measured part; < 0: unknown */
    uint64_t n_successes;
    double successes_per_s;        /* since the last call */
    uint64_t n_overlaps;           /* seen so far by the live witness */
    uint64_t n_refusals, n_faults; /* so far */
    uint32_t n_workers;            /* that are alive */
    const uint64_t *waits; /* so far, in LB_COARSE_BUCKETS; NULL unless the plan is_watched */
    const struct lb_worker_view
        *workers; /* likewise: the first LB_WORKER_VIEWS that were started */
    uint32_t n_views;
    const struct lb_interval *interval; /* a second that has just ended; NULL: none */
};
typedef void lb_progress_fn(void *arg, const struct lb_progress *progress);

/* Runs. Returns 0 with *ret_outcome, or an error when there is nothing to report (cannot connect,
 * strategy and engine do not fit: LB_E_UNSUPPORTED). */
int lb_run(const struct lb_run_plan *plan, const struct lb_stop *stop, lb_progress_fn *progress,
           void *arg, struct lb_outcome **ret_outcome, struct lb_error *err);
/* This process leads other ranks: from now on all runs are theirs, too. Waits until all have come;
 * LB_E_RANK if one does not. where, of that size, has the URI of the server while a space is
 * there: for whoever outlives this process. After the last run: lb_run_part. The others call
 * lb_follow. */
int lb_run_lead(struct lb_link *link, char *where, size_t size, struct lb_error *err);
/* Follows rank 0 until it says that there is nothing more to do. LB_E_RANK: it was not heard of in
 * the middle of a run. */
int lb_follow(struct lb_link *link, struct lb_error *err);
/* How many run together with this process, itself included; 1: it is alone. */
uint32_t lb_run_ranks(void);
/* true: one of them was lost, and will not come to the end. */
bool lb_run_part(void);
/* Checks that this strategy can run on this engine with this scenario. Returns 0, or
 * LB_E_UNSUPPORTED with the reason, which a SKIP prints. caps: the server's capabilities (0:
 * unknown, only the file is checked). */
int lb_run_supported(const struct lb_strategy *strategy, const struct lb_file *file,
                     const struct lb_db *db, uint64_t caps, const struct lb_scenario *scenario,
                     struct lb_error *err);

#endif
