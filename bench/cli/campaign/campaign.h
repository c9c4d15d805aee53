/* Running the cells of a report: what run, compare and verify have in common. */
#ifndef LB_CAMPAIGN_H
#define LB_CAMPAIGN_H

#include "cli.h"
#include "select.h"

/* A campaign that is under way: decides which run is next. */
struct lb_scheduler;
struct lb_budgeting;

struct lb_campaign {
    const struct lb_args *args;
    struct lb_select_defaults defaults;
    unsigned of;                /* enum lb_sink_use: what --format is about; 0: runs */
    const struct lb_sink *sink; /* without --format */
    bool judge_expectations;    /* exit status by expectation: a caught control is a success */
    uint64_t n_repeat;          /* runs of each cell without --repeat; 0: 1 */
    bool refuse_skips;          /* a cell that cannot run is an error */
    bool sample_waits;          /* sample wait events, with or without --costs */
    bool explores;              /* each strategy as well, in cells of their own */
    /* Without --repeat, where strategies are compared: see budget.h. NULL: --repeat decides. */
    const struct lb_budgeting *budgeting;
    /* For --dry-run, where the function schedule decides what is run: puts it into the report's
     * cells. */
    int (*preview)(struct lb_scheduler *scheduler, void *arg, struct lb_error *err);
    bool judges_runs; /* schedule says what an invalid run is worth */
    /* Decides by itself what is run, instead of each cell --repeat times. May replace the report's
     * cells. Returns a status; that of the cells is added. NULL: the usual rounds. */
    enum lb_exit (*schedule)(struct lb_scheduler *scheduler, void *arg);
    void *arg;
};

/* For schedule: the report, with cells that may grow; */
struct lb_report *lb_scheduler_report(struct lb_scheduler *scheduler);
/* how many runs there will be, for the progress line; */
void lb_scheduler_expect(struct lb_scheduler *scheduler, size_t n_runs);
/* or how much time is left; */
void lb_scheduler_left(struct lb_scheduler *scheduler, uint64_t left_ns);
/* one run of a cell, with the seed of that round; scenario: the cell's own, or one that differs
 * from it in the length of the run. The cell gets the result: one more run, or its state.
 * *ret_resumed: the run existed from before an interruption, if schedule asks for the same cells in
 * the same order. An error is one of the checkpoint. */
int lb_scheduler_run(struct lb_scheduler *scheduler, struct lb_cell *cell,
                     const struct lb_scenario *scenario, size_t round, bool *ret_resumed,
                     struct lb_error *err);
/* Did the user ask to stop? */
bool lb_scheduler_stopped(const struct lb_scheduler *scheduler);

/* Selects, connects, runs, reports, stores. Returns the exit status; has complained by then. */
enum lb_exit lb_campaign_run(const struct lb_campaign *campaign);

#endif
