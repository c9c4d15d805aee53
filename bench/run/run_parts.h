/* The parts of a run, in files of their own. Private to bench/run. */
#ifndef LB_RUN_PARTS_H
#define LB_RUN_PARTS_H

#include "run_state.h"

/* --- setup.c: building a run up, and taking it down --- */

/* Does the strategy have heartbeats? */
bool lb_run_beats(const struct lb_run_plan *request);
/* Everything up to the moment when all workers are started; undone by lb_run_clean_up and
 * lb_run_release, after a failure too. */
int lb_run_set_up(struct lb_active_run *run, struct lb_error *err);
int lb_run_start_workers(struct lb_active_run *run, struct lb_error *err);
int lb_run_clean_up(struct lb_active_run *run, struct lb_error *err);
void lb_run_release(struct lb_active_run *run);

/* --- plans.c: how the server reads the tables for each operation --- */

/* Before the first worker starts. Fills the outcome's plans if they are wanted. An operation that
 * cannot be tried has none. */
void lb_plans_read(struct lb_active_run *run);

/* --- backlog.c: the items that a queue has at the start --- */

/* free ends the sessions that lock rows or keep a snapshot; more than once does no harm. */
int lb_backlog_check(const struct lb_scenario *scenario, const struct lb_db *db,
                     struct lb_error *err);
int lb_backlog_put(struct lb_active_run *run, struct lb_error *err);
void lb_backlog_free(struct lb_active_run *run);
/* A transaction that stays open, on a session of its own: the server keeps the rows that are
 * removed after it began. Taking it twice, or dropping it without one, does nothing. LB_OK, an
 * answer of the server (run->snapshot.message), or an error. */
int lb_backlog_take_snapshot(struct lb_active_run *run, struct lb_error *err);
void lb_backlog_drop_snapshot(struct lb_active_run *run);

/* --- putters.c: several sessions that put a large backlog together --- */

/* Puts the items first .. first + n - 1 by op, of the control session. Where it pays, and changes
 * nothing but the order of the puts, further sessions help; they are gone when this returns. An
 * answer or an error. */
int lb_putters_put(struct lb_active_run *run, struct lb_operator *op, int64_t first, uint64_t n,
                   const char *payload, struct lb_error *err);

/* --- phases.c: the phases of a run, which rank 0 leads, and other ranks follow --- */

/* Waits for at most a tick, or until something changed; watches over processes, faults and other
 * ranks. true once `wanted` workers have reached the milestone here, and all other ranks theirs.
 */
bool lb_phases_tick(struct lb_active_run *run, enum lb_milestone milestone, uint32_t wanted,
                    uint64_t until_ns);
/* All workers, of all ranks, have their sessions; or the user lost his patience. */
void lb_phases_wait_ready(struct lb_active_run *run);
/* Of this rank: the measured part begins at a time; and ends now. */
void lb_phases_measure(struct lb_active_run *run, uint64_t at_ns);
void lb_phases_measured(struct lb_active_run *run);
/* Lets the workers finish; then, one after the other less patient, cancels what still waits. */
void lb_phases_stop(struct lb_active_run *run);

/* --- stages.c: the phases of a scenario while it runs --- */

/* The measured part begins: with its first phase. */
void lb_stages_begin(struct lb_active_run *run);
/* Begins and ends phases as their times come; the controlling thread, often. */
void lb_stages_watch(struct lb_active_run *run);
/* When the next phase is to begin; UINT64_MAX: there is none. */
uint64_t lb_stages_next_ns(const struct lb_active_run *run);
/* The measured part is over. */
void lb_stages_end(struct lb_active_run *run);

/* --- workers/carriers.c: workers as fibers of a few threads --- */

/* How many threads; 0: each worker has its own. */
int lb_carriers_wanted(const struct lb_active_run *run, uint32_t *ret_n, struct lb_error *err);
int lb_carriers_start(struct lb_active_run *run, uint32_t n, struct lb_error *err);
void lb_carriers_end(struct lb_active_run *run); /* waits for them */
void lb_carriers_release(struct lb_active_run *run);

/* --- workers/processes.c: workers in forked processes --- */

/* start forks them all; the parent has no thread then and
 * no connection open. watch notices deaths; end waits for the remaining processes, or kills
 * them. */
int lb_processes_start(struct lb_active_run *run, struct lb_error *err);
void lb_processes_watch(struct lb_active_run *run);
void lb_processes_end(struct lb_active_run *run, bool kill_now);

#endif
