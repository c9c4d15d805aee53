/* The combined measurements of several ranks equal those of one process: the same scripted
 * operations are counted once by all workers of one process, and once by the workers' own ranks,
 * with outcomes sent as bytes, as from other machines.
 */
#include "parts.h"
#include "peers.h"
#include "property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKERS = 7, RANKS = 3, OPERATIONS = 30000 };

static struct lb_outcome *outcome_of(const struct lb_scenario *scenario)
{
    struct lb_run_plan plan = {.strategy = lb_strategy_find("pthread-mutex"), .scenario = scenario};
    struct lb_outcome *outcome = lb_outcome_new(&plan);
    outcome->n_workers = (uint32_t)scenario->workers;
    outcome->has_cpu = true;
    return outcome;
}

struct operation {
    enum lb_measure measure;
    uint32_t worker;
    bool succeeded;
    uint64_t service_ns, response_ns, late_ns;
};

static struct operation any_operation(struct lb_random *random)
{
    uint64_t service_ns = lb_random_next(random) >> (20 + lb_random_below(random, 40));
    return (struct operation){.measure = (enum lb_measure)lb_random_below(random, LB_MEASURES),
                              .worker = (uint32_t)lb_random_below(random, WORKERS),
                              .succeeded = lb_random_below(random, 10) > 0,
                              .service_ns = service_ns,
                              .response_ns = service_ns + lb_random_below(random, 1000000),
                              .late_ns = lb_random_below(random, 5000)};
}

static void count(struct lb_outcome *outcome, uint32_t worker, const struct operation *op)
{
    struct lb_counts *counts = &outcome->counts[op->measure];
    counts->started++;
    counts->attempts += 2;
    counts->finished++;
    outcome->n_statements += 3;
    outcome->n_faults += op->late_ns % 2;
    outcome->cpu_user_ns += op->service_ns % 1000;
    if (!op->succeeded) {
        counts->given_up++;
        return;
    }
    counts->succeeded++;
    outcome->worker_successes[worker]++;
    lb_histogram_record(outcome->service[op->measure], op->service_ns);
    if (outcome->response[op->measure] != NULL)
        lb_histogram_record(outcome->response[op->measure], op->response_ns);
    lb_histogram_record(outcome->pacing, op->late_ns);
}

/* As it comes from another machine. */
static struct lb_outcome *sent(struct lb_outcome *outcome)
{
    struct lb_outcome *back = NULL;
    struct lb_error err = {0};
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);
    assert_int_equal(lb_outcome_write(outcome, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(lb_outcome_read((unsigned char *)bytes, n, &back, &err), 0);
    free(bytes);
    lb_outcome_free(outcome);
    return back;
}

static void assert_same(const struct lb_outcome *sum, const struct lb_outcome *whole)
{
    for (int m = 0; m < LB_MEASURES; m++) {
        assert_true(whole->counts[m].succeeded > 0);
        assert_memory_equal(sum->service[m], whole->service[m], sizeof *whole->service[m]);
        assert_int_equal(sum->response[m] != NULL, whole->response[m] != NULL);
        if (whole->response[m] != NULL)
            assert_memory_equal(sum->response[m], whole->response[m], sizeof *whole->response[m]);
    }
    assert_memory_equal(sum->counts, whole->counts, sizeof whole->counts);
    assert_memory_equal(sum->pacing, whole->pacing, sizeof *whole->pacing);
    assert_memory_equal(sum->worker_successes, whole->worker_successes,
                        WORKERS * sizeof *whole->worker_successes);
    assert_int_equal(sum->n_workers, WORKERS);
    assert_int_equal(sum->n_statements, whole->n_statements);
    assert_int_equal(sum->n_faults, whole->n_faults);
    assert_int_equal(sum->cpu_user_ns, whole->cpu_user_ns);
}

static void ranks_add_up_to_one_process(void **state)
{
    struct lb_random *random = *state;
    struct lb_scenario all, own;
    struct lb_share shares[RANKS];
    struct lb_outcome *parts[RANKS];
    struct lb_peer peer[RANKS] = {0};
    struct lb_peers peers = {.n = RANKS, .all = peer};
    lb_scenario_init(&all);
    all.workers = WORKERS;
    snprintf(all.rate, sizeof all.rate, "1000/s"); /* with responses, and pacing */
    struct lb_outcome *whole = outcome_of(&all);
    /* Rank 0's has room for the workers of all: it is the sum. */
    for (uint32_t r = 0; r < RANKS; r++) {
        lb_share_scenario(&all, r, RANKS, &own);
        lb_share_make(&all, false, r, RANKS, &shares[r]);
        parts[r] = outcome_of(r == 0 ? &all : &own);
        parts[r]->n_workers = (uint32_t)own.workers;
        peer[r].share = shares[r];
    }
    for (int i = 0; i < OPERATIONS; i++) {
        struct operation op = any_operation(random);
        uint32_t r = RANKS - 1;
        while (shares[r].first_seat > op.worker)
            r--;
        count(whole, op.worker, &op);
        count(parts[r], op.worker - shares[r].first_seat, &op);
    }
    for (uint32_t r = 1; r < RANKS; r++)
        peer[r].outcome = parts[r] = sent(parts[r]);
    struct lb_active_run run = {.outcome = parts[0], .peers = &peers};
    double busy_ns = 0, edge_ns = 0;
    lb_parts_add(&run, &busy_ns, &edge_ns);
    assert_same(parts[0], whole);
    lb_outcome_free(whole);
    for (uint32_t r = 0; r < RANKS; r++)
        lb_outcome_free(parts[r]);
}

/* Numbers of processes in the history and of workers' seats are unique. */
static void every_number_is_given_once(void **state)
{
    struct lb_random *random = *state;
    for (int i = 0; i < 200; i++) {
        struct lb_scenario all, own;
        struct lb_share share;
        bool beats = lb_random_below(random, 2) == 0;
        lb_scenario_init(&all);
        all.shape = lb_random_below(random, 2) == 0 ? LB_QUEUE : LB_LOCK;
        all.workers = 1 + lb_random_below(random, 9);
        all.producers = all.shape == LB_QUEUE ? lb_random_below(random, 5) : 0;
        all.fault = lb_random_below(random, 2) == 0 ? LB_FAULT_KILL : LB_FAULT_NONE;
        all.fault_count = 1 + lb_random_below(random, 4);
        all.duration_ns = 0;
        all.processes = all.fault == LB_FAULT_KILL ? all.workers + all.producers : 0;
        uint32_t n_ranks = lb_share_ranks(&all, 1 + (uint32_t)lb_random_below(random, 6));
        uint32_t worker = 0, seat = 0, log = 0;
        uint64_t n_workers = 0, n_producers = 0;
        assert_in_range(n_ranks, 1, all.workers);
        for (uint32_t r = 0; r < n_ranks; r++) {
            lb_share_scenario(&all, r, n_ranks, &own);
            lb_share_make(&all, beats, r, n_ranks, &share);
            uint32_t seats = (uint32_t)(own.workers + (all.producers > 0 ? own.producers : 0));
            uint32_t slots = seats + (uint32_t)lb_scenario_deaths(&own);
            assert_true(own.workers > 0);
            assert_int_equal(own.processes, all.processes > 0 ? seats : 0);
            assert_int_equal(share.first_worker, worker);
            assert_int_equal(share.first_seat, seat);
            log = r == 0 ? share.first_log : log;
            assert_int_equal(share.first_log, log);
            worker += slots;
            seat += seats;
            log += LB_EXTRA_LOGS + (beats ? 1 + slots : 0);
            n_workers += own.workers;
            n_producers += all.producers > 0 ? own.producers : 0;
        }
        assert_int_equal(n_workers, all.workers);
        assert_int_equal(n_producers, all.producers);
        lb_share_make(&all, beats, 0, n_ranks, &share);
        assert_int_equal(share.first_log, worker);
        assert_int_equal(share.n_logs, log);
    }
}

/* Rank by rank the arrivals of one schedule, each once: that is the next to come of all ranks. */
static void arrivals_are_those_of_one_schedule(void **state)
{
    struct lb_random *random = *state;
    static const char *const rates[] = {"1000/s", "poisson:1000/s",
                                        "poisson:repeat:burst:20,100/s@1s,pause@1s",
                                        "phases:ramp:10-300/s@2s,burst:50,40/s"};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct lb_schedule whole, part[RANKS];
        uint64_t next[RANKS], seed = lb_random_next(random), n[RANKS] = {0};
        struct lb_error err = {0};
        struct lb_scenario all;
        struct lb_share share;
        lb_scenario_init(&all);
        all.workers = WORKERS;
        assert_int_equal(lb_schedule_init(&whole, rates[i], seed, &err), 0);
        for (uint32_t r = 0; r < RANKS; r++) {
            lb_share_make(&all, false, r, RANKS, &share);
            assert_int_equal(lb_schedule_init(&part[r], rates[i], seed, &err), 0);
            part[r].own = share.arrivals;
            next[r] = lb_schedule_next(&part[r], NULL);
        }
        for (int k = 0; k < 3000; k++) {
            uint32_t first = 0;
            for (uint32_t r = 1; r < RANKS; r++)
                first = next[r] < next[first] ? r : first;
            assert_int_equal(next[first], lb_schedule_next(&whole, NULL));
            next[first] = lb_schedule_next(&part[first], NULL);
            n[first]++;
        }
        /* 3, 2 and 2 of 7 workers. */
        assert_in_range(n[0], 3000 * 3 / 7 - 150, 3000 * 3 / 7 + 150);
        assert_in_range(n[2], 3000 * 2 / 7 - 150, 3000 * 2 / 7 + 150);
    }
}

int main(void)
{
    uint64_t seed = lb_test_seed();
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(ranks_add_up_to_one_process, &random),
        cmocka_unit_test_prestate(every_number_is_given_once, &random),
        cmocka_unit_test_prestate(arrivals_are_those_of_one_schedule, &random),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
