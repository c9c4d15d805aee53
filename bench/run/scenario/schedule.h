/* The open loop's schedule of arrivals: when each operation should start, on any worker.
 *
 * One schedule serves all workers: a free worker claims the next arrival and waits for its time, so
 * that a worker stuck on a lock does not delay other workers' arrivals, and latency counts from the
 * intended time. Which arrivals there are depends on the text and the seed alone, not on who claims
 * them.
 *
 * Text of the scenario's key `rate`:
 *
 *     800/s                      evenly spaced; units /s /ms /min /h, numbers 0.5 20 1.5k 2M
 *     poisson:800/s              exponential gaps
 *     phases:PHASE,PHASE,...     one after the other; then no more arrivals
 *     repeat:PHASE,PHASE,...     one after the other, again and again
 *     poisson:phases:PHASE,...   the same with a random process of these rates (poisson:repeat:
 * too)
 *     trace:FILE[,speed=10]      at the times in a file, counted from the first, ten times as fast;
 *                                then no more arrivals. Only lb_schedule_open() takes it.
 *
 * A PHASE is one of
 *     100/s@2s                   a rate for a time; the last one of phases: may leave out the time
 *                                and then never ends
 *     ramp:100-1000/s@5s         a rate that changes evenly
 *     burst:500                  500 arrivals at one instant (exactly 500, also in poisson)
 *     pause@3s                   none
 *
 * The struct can live in memory that processes share: the only pointer is to the times of a trace,
 * which are read before the processes are forked. Claiming is one atomic operation on it (evenly
 * spaced) or a short loop of them (Poisson), and allocates nothing.
 */
#ifndef LB_SCHEDULE_H
#define LB_SCHEDULE_H

#include "error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LB_SCHEDULE_PHASES = 32 };
#define LB_SCHEDULE_END UINT64_MAX

/* A machine's own arrivals, if several have the same schedule: those with a number, or for Poisson
 * a hash of the seed and their position, that modulo `of` is one of n from `first` on. of 0: all of
 * them. */
struct lb_arrivals {
    uint32_t first, n, of;
};

/* Part of the schedule with a rate that changes evenly from one value to another; a burst is a
 * phase that takes no time. Positions count arrivals in units of 2^-24: see schedule.c. */
struct lb_rate_phase {
    uint64_t start_ns, end_ns;   /* within the cycle */
    double from_per_s, to_per_s; /* burst: unused */
    uint64_t first, last;        /* positions, last excluded */
    bool burst;
};

struct lb_schedule {
    struct lb_rate_phase phases[LB_SCHEDULE_PHASES];
    uint32_t n_phases;
    bool poisson, repeat;
    uint64_t cycle_ns; /* of all phases; UINT64_MAX if the last one never ends */
    uint64_t cycle;    /* positions of all phases; likewise */
    uint64_t seed;
    struct lb_arrivals own; /* only these are claimed here; set before the first claim */
    uint64_t *trace;        /* times of arrivals, ascending; NULL: there are phases */
    size_t n_trace;
    _Atomic uint64_t position; /* where the next arrival is looked for */
};

/* Parses text. LB_E_USAGE names the error and the accepted form. */
int lb_schedule_init(struct lb_schedule *schedule, const char *text, uint64_t seed,
                     struct lb_error *err);

/* As lb_schedule_init(), and reads the file of a trace. Close what was opened. */
int lb_schedule_open(struct lb_schedule *schedule, const char *text, uint64_t seed,
                     struct lb_error *err);
void lb_schedule_close(struct lb_schedule *schedule);
bool lb_schedule_is_trace(const char *text);
/* Starts a copy, with the arrivals of all machines, from the beginning. It is not to be closed, and
 * ends with the schedule. */
void lb_schedule_again(const struct lb_schedule *schedule, struct lb_schedule *ret);

/* Claims the next arrival: its intended time in ns after the schedule's start, never before that of
 * an earlier claim; LB_SCHEDULE_END when there are no more. Any thread or process, at any time.
 * *ret_place, unless NULL: how many are planned (for Poisson: expected) before it, those of the
 * same instant (a burst) included. */
uint64_t lb_schedule_next(struct lb_schedule *schedule, double *ret_place);

/* How many arrivals are planned (for Poisson: expected) before at_ns. Less the place of an arrival
 * it says how many are due since. */
double lb_schedule_expected(const struct lb_schedule *schedule, uint64_t at_ns);

#endif
