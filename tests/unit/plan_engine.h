/* A simulated engine for plans, in virtual time: one lock, Poisson arrivals, service times of a
 * known mean, which grows with the number of workers; or workers that serve by themselves.
 */
#ifndef LB_TEST_PLAN_ENGINE_H
#define LB_TEST_PLAN_ENGINE_H

#include "plan.h"
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 400 };
#define CLOSED_NS UINT64_C(10000000000)

struct engine {
    struct lb_random random;
    double service_s, contention, think_s; /* the service takes service (1 + contention (N-1)) */
    struct lb_outcome *runs[MOST_RUNS];
    size_t n_runs;
    size_t interrupt_after;   /* number of runs; 0: never */
    size_t invalid_open;      /* number of invalid open-loop runs */
    double invalid_above;     /* and those above this rate; 0: none */
    uint64_t invalid_at;      /* and those of so many workers, ... */
    size_t valid_before;      /* ... after so many that are valid */
    double fails_at;          /* number of workers with which a run fails; 0: none */
    uint64_t served_share_of; /* of 100 arrivals: so many are served; 0: all */
    bool is_pool;             /* open loop: each worker serves by itself */
};

static double mean_service(const struct engine *engine, double workers)
{
    return engine->service_s * (1 + engine->contention * (workers - 1));
}

static double exponential(struct engine *engine, double mean)
{
    return -log(1 - lb_random_unit(&engine->random)) * mean;
}

static struct lb_outcome *new_run(const struct lb_scenario *scenario)
{
    struct lb_outcome *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->config = *scenario;
    run->elapsed_ns = scenario->duration_ns;
    run->n_intervals = (size_t)(scenario->duration_ns / 1000000000u);
    run->intervals = calloc(run->n_intervals + 1, sizeof *run->intervals);
    assert_non_null(run->intervals);
    for (size_t i = 0; i < run->n_intervals; i++) {
        run->intervals[i].start_ns = i * UINT64_C(1000000000);
        run->intervals[i].length_ns = UINT64_C(1000000000);
    }
    return run;
}

static void count(struct lb_outcome *run, double at_s, bool due)
{
    size_t i = at_s < 0 ? SIZE_MAX : (size_t)at_s;
    if (i >= run->n_intervals)
        return;
    if (due)
        run->intervals[i].n_due++;
    else
        run->intervals[i].n_successes++;
}

/* Closed loop: thinkers come with rate 1/think each, the lock serves one at a time. */
static void run_closed(struct engine *engine, struct lb_outcome *run)
{
    double workers = (double)run->config.workers, inside = 0, done = 0;
    double service = mean_service(engine, workers);
    double warmup = (double)run->config.warmup_ns / 1e9, end = (double)run->elapsed_ns / 1e9;
    for (double now = -warmup; now < end;) {
        double come = (workers - inside) / engine->think_s, serve = inside > 0 ? 1 / service : 0;
        now += exponential(engine, 1 / (come + serve));
        if (lb_random_unit(&engine->random) * (come + serve) < come) {
            inside++;
            continue;
        }
        inside--;
        count(run, now, false);
        done += now >= 0 && now < end;
    }
    run->successes_per_s = done / end;
}

/* Open loop, first come first served: Lindley's recursion over the arrivals of the real schedule.
 */
static void run_open(struct engine *engine, struct lb_outcome *run)
{
    struct lb_schedule schedule;
    struct lb_error err;
    struct lb_counts *counts = &run->counts[LB_M_ACQUIRE];
    double service = mean_service(engine, (double)run->config.workers);
    double warmup = (double)run->config.warmup_ns / 1e9, end = (double)run->elapsed_ns / 1e9;
    enum { MOST_SERVERS = 64 };
    double free_s[MOST_SERVERS];
    size_t n_servers = engine->is_pool ? (size_t)run->config.workers : 1;
    assert_true(n_servers <= MOST_SERVERS);
    for (size_t i = 0; i < n_servers; i++)
        free_s[i] = -warmup;
    assert_int_equal(
        lb_schedule_init(&schedule, run->config.rate, lb_random_next(&engine->random), &err), 0);
    run->response[LB_M_ACQUIRE] = lb_histogram_new();
    run->service[LB_M_HOLD] = lb_histogram_new();
    assert_non_null(run->response[LB_M_ACQUIRE]);
    assert_non_null(run->service[LB_M_HOLD]);
    for (;;) {
        double due_s = (double)lb_schedule_next(&schedule, NULL) / 1e9 - warmup;
        if (due_s >= end)
            break;
        count(run, due_s, true);
        run->n_due += due_s >= 0;
        if (engine->served_share_of > 0 &&
            lb_random_below(&engine->random, 100) >= engine->served_share_of)
            continue;
        size_t next = 0;
        for (size_t i = 1; i < n_servers; i++)
            next = free_s[i] < free_s[next] ? i : next;
        double granted_s = fmax(due_s, free_s[next]);
        double job_s = exponential(engine, service);
        free_s[next] = granted_s + job_s;
        lb_histogram_record(run->service[LB_M_HOLD], (uint64_t)(job_s * 1e9));
        count(run, granted_s, false);
        if (due_s < 0 || granted_s >= end)
            continue;
        counts->finished++;
        counts->succeeded++;
        lb_histogram_record(run->response[LB_M_ACQUIRE], (uint64_t)((granted_s - due_s) * 1e9));
    }
    run->successes_per_s = (double)counts->succeeded / end;
}

static int measure(void *arg, const struct lb_plan *plan, const struct lb_scenario *scenario,
                   const struct lb_outcome **ret_run, struct lb_error *err)
{
    struct engine *engine = arg;
    (void)plan;
    if (engine->interrupt_after > 0 && engine->n_runs >= engine->interrupt_after)
        return lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    if (engine->fails_at > 0 && (double)scenario->workers == engine->fails_at)
        return lb_fail(err, LB_E_ENV, "too many connections");
    assert_true(engine->n_runs < MOST_RUNS);
    bool open = scenario->rate[0] != '\0';
    struct lb_scenario shorter = *scenario;
    if (!open && shorter.duration_ns > CLOSED_NS) /* enough for half a percent */
        shorter.duration_ns = CLOSED_NS;
    struct lb_outcome *run = engine->runs[engine->n_runs++] = new_run(&shorter);
    if (!open) {
        run_closed(engine, run);
    } else {
        double rate = strtod(strchr(scenario->rate, ':') + 1, NULL);
        run_open(engine, run);
        bool is_valid = scenario->workers != engine->invalid_at || engine->valid_before > 0;
        if (scenario->workers == engine->invalid_at && engine->valid_before > 0)
            engine->valid_before--;
        if (engine->invalid_open > 0 || !is_valid ||
            (engine->invalid_above > 0 && rate > engine->invalid_above)) {
            engine->invalid_open -= engine->invalid_open > 0;
            run->state = LB_RUN_INVALID;
            snprintf(run->reason, sizeof run->reason, "the generator fell behind");
        }
    }
    *ret_run = run;
    return 0;
}

static void release_engine(struct engine *engine)
{
    for (size_t i = 0; i < engine->n_runs; i++)
        lb_outcome_free(engine->runs[i]);
    engine->n_runs = 0;
}

#endif
