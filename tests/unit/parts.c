/* What several ranks measured, put together, is what one process would have measured: the same
 * scripted operations are counted once by all workers of one process, and once by the workers' own
 * ranks, whose outcomes come as bytes, as they do from other machines.
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
    struct lb_outcome *outcome = NULL;
    struct lb_error err = {0};
    struct lb_run_plan plan = {.strategy = lb_strategy_find("pthread-mutex"), .scenario = scenario};
    assert_int_equal(lb_outcome_new(&plan, &outcome, &err), 0);
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
        lb_peers_share(&all, r, RANKS, &own, &shares[r]);
        parts[r] = outcome_of(r == 0 ? &all : &own);
        parts[r]->n_workers = (uint32_t)own.workers;
        peer[r].first_worker = shares[r].first_worker;
    }
    for (int i = 0; i < OPERATIONS; i++) {
        struct operation op = any_operation(random);
        uint32_t r = RANKS - 1;
        while (shares[r].first_worker > op.worker)
            r--;
        count(whole, op.worker, &op);
        count(parts[r], op.worker - shares[r].first_worker, &op);
    }
    for (uint32_t r = 1; r < RANKS; r++)
        peer[r].outcome = parts[r] = sent(parts[r]);
    struct lb_active_run run = {.outcome = parts[0], .peers = &peers};
    struct lb_error err = {0};
    double busy_ns = 0, edge_ns = 0;
    assert_int_equal(lb_parts_add(&run, &busy_ns, &edge_ns, &err), 0);
    assert_same(parts[0], whole);
    lb_outcome_free(whole);
    for (uint32_t r = 0; r < RANKS; r++)
        lb_outcome_free(parts[r]);
}

int main(void)
{
    uint64_t seed = lb_test_seed();
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(ranks_add_up_to_one_process, &random),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
