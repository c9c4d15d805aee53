/* Plans over a simulated engine, in virtual time: one lock, Poisson arrivals, service times of
 * known mean, which grows with the number of workers. Everything but lb_run is the real thing. */
#include "plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan_engine.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* --- what is true of it --- */

/* Exact throughput in the closed loop: the machine repairman's (M/M/1//N). */
static double true_throughput(const struct engine *engine, double workers)
{
    double service = mean_service(engine, workers), weight = 1, sum = 1;
    for (double n = 1; n <= workers; n++) {
        weight *= (workers - n + 1) * service / engine->think_s;
        sum += weight;
    }
    return (1 - 1 / sum) / service;
}

static double true_peak(const struct engine *engine)
{
    double most = 0;
    for (double n = 1; n < 200; n++)
        most = fmax(most, true_throughput(engine, n));
    return most;
}

/* The rate at which the q-quantile of the wait is bound: P(W > t) = rho exp(-(mu - lambda) t). */
static double true_slo_rate(const struct engine *engine, double workers, const struct lb_slo *slo)
{
    double mu = 1 / mean_service(engine, workers), low = 0, high = mu;
    for (int i = 0; i < 60; i++) {
        double rate = (low + high) / 2;
        double beyond = rate / mu * exp(-(mu - rate) * (double)slo->bound_ns / 1e9);
        *(beyond < 1 - slo->quantile ? &low : &high) = rate;
    }
    return low;
}

/* --- plans --- */

static struct lb_plan_question question_of(const char *slo, uint64_t seed)
{
    struct lb_plan_question question = {
        .levels = {1, 2, 4, 6, 8, 12, 16, 24}, .n_levels = 8, .n_repeat = 3, .seed = seed};
    struct lb_error err;
    if (slo != NULL) {
        assert_int_equal(lb_slo_parse(slo, &question.slo, &err), 0);
        question.has_slo = true;
    }
    return question;
}

static struct engine new_engine(uint64_t seed)
{
    struct engine engine = {.service_s = 1e-3, .contention = 0.02, .think_s = 5e-3};
    lb_random_init(&engine.random, seed, 7);
    return engine;
}

static void run_plan(struct engine *engine, const struct lb_plan_question *question,
                     double duration_s, struct lb_plan *plan, int wanted)
{
    const struct lb_lab lab = {engine, measure, NULL};
    struct lb_scenario scenario;
    struct lb_error err;
    lb_scenario_init(&scenario);
    snprintf(scenario.name, sizeof scenario.name, "simulated");
    scenario.duration_ns = (uint64_t)(duration_s * 1e9);
    scenario.warmup_ns = 1000000000;
    if (engine->is_pool)
        scenario.resources = 64;
    lb_plan_init(plan, question, "sim", "memory", &scenario);
    int rc = lb_plan_sweep(plan, 1, &lab, &err);
    lb_plan_fit(plan);
    if (rc == 0)
        rc = lb_plan_search(plan, &lab, &err);
    lb_plan_answer(plan);
    assert_int_equal(rc, wanted);
}

static const struct lb_plan_answer *answer_to(const struct lb_plan *plan, const char *question)
{
    for (size_t i = 0; i < plan->n_answers; i++)
        if (strcmp(plan->answers[i].question, question) == 0)
            return &plan->answers[i];
    return NULL;
}

/* Peak and SLO rate of a plan against the truth. Over 80 plans the rate found was 1.6 % too low on
 * average (the bracket is 3 % wide and its lower end is reported), with a standard deviation of 0.8
 * %: one of 20 misses by more than 5 % with a probability below 1e-3, three of them below 1e-6. */
static void plans_find_the_truth(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    enum { PLANS = 4 }; /* many times slower there */
#else
    enum { PLANS = 20 };
#endif
    uint64_t seed = lb_test_seed();
    int peaks = 0, places = 0, rates = 0;
    double worst_peak = 0, worst_rate = 0;
    for (uint64_t i = 0; i < PLANS; i++) {
        struct engine engine = new_engine(seed + i);
        struct lb_plan_question question = question_of("p99<400ms", seed + i);
        struct lb_plan plan;
        run_plan(&engine, &question, 100, &plan, 0);
        double peak = true_peak(&engine);
        double rate = true_slo_rate(&engine, (double)plan.at, &question.slo);
        assert_true(plan.has_peak);
        assert_int_equal(plan.slo_state, LB_SLO_FOUND);
        double off_peak = plan.peak_x.value / peak - 1, off_rate = plan.slo_rate.value / rate - 1;
        peaks += fabs(off_peak) <= 0.05;
        places += true_throughput(&engine, round(plan.peak_n.value)) >= 0.95 * peak;
        rates += fabs(off_rate) <= 0.05;
        worst_peak = fmax(worst_peak, fabs(off_peak));
        worst_rate = fmax(worst_rate, fabs(off_rate));
        if (getenv("LB_TEST_VERBOSE") != NULL)
            printf("# peak %+.3f at %.1f, slo %+.4f of %.1f at %d, %zu trials\n", off_peak,
                   plan.peak_n.value, off_rate, rate, (int)plan.at, plan.n_trials);
        lb_plan_release(&plan);
        release_engine(&engine);
    }
    printf("# of %d plans within 5 %%: peak %d (worst %.1f %%), place of the peak %d, SLO rate %d "
           "(worst %.1f %%)\n",
           PLANS, peaks, worst_peak * 100, places, rates, worst_rate * 100);
    const int wanted = PLANS * 9 / 10;
    assert_true(peaks >= wanted && places >= wanted && rates >= wanted);
}

static void expect_answer(const struct lb_plan *plan, const char *question,
                          enum lb_plan_verdict verdict, const char *part)
{
    const struct lb_plan_answer *answer = answer_to(plan, question);
    assert_non_null(answer);
    if (answer->verdict != verdict || strstr(answer->text, part) == NULL)
        print_error("%s: %s\n", question, answer->text);
    assert_int_equal(answer->verdict, verdict);
    assert_non_null(strstr(answer->text, part));
}

static void too_little_is_refused_beforehand(void **state)
{
    (void)state;
    struct lb_error err;
    struct lb_plan_question question = question_of(NULL, 1);
    assert_int_equal(lb_plan_check(&question, &err), 0);
    question.at = 48;
    assert_int_equal(lb_plan_check(&question, &err), 0);
    question.at = 49;
    assert_int_equal(lb_plan_check(&question, &err), LB_E_USAGE);
    assert_non_null(strstr(err.message, "beyond twice the 24"));
    question.at = 0;
    question.n_levels = 5;
    assert_int_equal(lb_plan_check(&question, &err), LB_E_USAGE);
    assert_non_null(strstr(err.message, "at least 6 different numbers of workers, not 5"));
}

/* Each condition of a trial can fail it. */
static void trials_are_judged(void **state)
{
    (void)state;
    struct lb_slo slo;
    struct lb_error err;
    assert_int_equal(lb_slo_parse("p99<50ms", &slo, &err), 0);
    struct engine engine = new_engine(lb_test_seed());
    engine.contention = 0; /* serves 1000/s */
    static const struct {
        double rate;
        uint64_t served;
        double failed;
        bool ok;
        const char *reason;
    } cases[] = {{500, 0, 0, true, ""},
                 {1010, 0, 0, false, ""},       /* p99, or the backlog, whichever is first */
                 {1500, 0, 0, false, "served"}, /* a third is left over */
                 {300, 97, 0, false, "served"}, /* 3 % are not served */
                 {300, 0, 0.02, false, "failed"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lb_scenario scenario;
        lb_scenario_init(&scenario);
        scenario.duration_ns = UINT64_C(20000000000);
        scenario.warmup_ns = 1000000000;
        snprintf(scenario.rate, sizeof scenario.rate, "poisson:%g/s", cases[i].rate);
        engine.served_share_of = cases[i].served;
        struct lb_outcome *run = new_run(&scenario);
        run_open(&engine, run);
        struct lb_counts *counts = &run->counts[LB_M_ACQUIRE];
        counts->given_up = (uint64_t)((double)counts->finished * cases[i].failed);
        counts->finished += counts->given_up;
        struct lb_trial trial = {.rate_per_s = cases[i].rate, .run = run};
        lb_trial_judge(&trial, &slo);
        if (trial.ok != cases[i].ok || strstr(trial.reason, cases[i].reason) == NULL)
            print_error("%g/s: %d %s\n", cases[i].rate, trial.ok, trial.reason);
        assert_true(trial.valid);
        assert_int_equal(trial.ok, cases[i].ok);
        assert_non_null(strstr(trial.reason, cases[i].reason));
        lb_outcome_free(run);
    }
}

/* A server that is 1.5 % too slow for 60 s has a wait of at most 0.9 s: below a bound of 5 s, and
 * almost all are served, but the backlog grows from second to second. */
static void a_growing_backlog_fails_a_trial(void **state)
{
    (void)state;
    struct lb_slo slo;
    struct lb_error err;
    struct lb_scenario scenario;
    lb_scenario_init(&scenario);
    scenario.duration_ns = UINT64_C(60000000000);
    struct lb_outcome *run = new_run(&scenario);
    run->response[LB_M_ACQUIRE] = lb_histogram_new();
    assert_non_null(run->response[LB_M_ACQUIRE]);
    for (size_t i = 0; i < run->n_intervals; i++) {
        run->intervals[i].n_due = 1000;
        run->intervals[i].n_successes = 985;
        for (size_t k = 0; k < 985; k++)
            lb_histogram_record(run->response[LB_M_ACQUIRE], 15000000 * (i + 1));
    }
    run->n_due = 60000;
    run->counts[LB_M_ACQUIRE].succeeded = run->counts[LB_M_ACQUIRE].finished = 59100;
    struct lb_trial trial = {.rate_per_s = 1000, .run = run};
    assert_int_equal(lb_slo_parse("p99<5s", &slo, &err), 0);
    lb_trial_judge(&trial, &slo);
    assert_true(trial.valid && !trial.ok);
    assert_string_equal(trial.reason, "the backlog grew by 1.5 % of the rate");
    for (size_t i = 0; i < run->n_intervals; i++) /* the same, but it does not grow */
        run->intervals[i].n_due = 985 + (i % 2);
    lb_trial_judge(&trial, &slo);
    assert_true(trial.valid && trial.ok);
    lb_outcome_free(run);
}

static void demand_and_headroom_are_told(void **state)
{
    (void)state;
    struct engine engine = new_engine(lb_test_seed());
    struct lb_plan_question question = question_of("p99<30ms", 3);
    struct lb_plan plan;
    question.demand_per_s = 300;
    question.at = 8; /* the rate of the SLO is asked as well */
    run_plan(&engine, &question, 10, &plan, 0);
    expect_answer(&plan, "workers", LB_PLAN_ANSWERED, "300/s need 1 worker under p99<30ms");
    expect_answer(&plan, "headroom", LB_PLAN_ANSWERED, "that the SLO allows");
    expect_answer(&plan, "slo", LB_PLAN_ANSWERED, "confirmed in 3 of 3 runs");
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_ANSWERED);
    question.demand_per_s = 5000;
    question.has_slo = false;
    plan.slo_state = LB_SLO_NOT_ASKED;
    lb_plan_answer(&plan);
    expect_answer(&plan, "workers", LB_PLAN_MISSED, "cannot be reached: the peak is ");
    expect_answer(&plan, "headroom", LB_PLAN_MISSED, "more than ");
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_MISSED);
    lb_plan_release(&plan);
    release_engine(&engine);
}

/* The wait of M/M/c that a share q of the arrivals does not exceed (Erlang's C). */
static double true_wait(double rate, double service_s, uint64_t servers, double q)
{
    double load = rate * service_s, b = 1, c = (double)servers;
    for (double n = 1; n <= c; n++)
        b = load * b / (n + load * b);
    double waits = b / (1 - load / c * (1 - b));
    return load >= c ? (double)INFINITY : fmax(0, log(waits / (1 - q)) / (c / service_s - rate));
}

/* 120/s of 20 ms each keep three servers busy to 80 %, and their p99 is 139 ms; that of four is
 * 42 ms. A closed loop says three. */
static void workers_for_an_slo_are_measured_in_an_open_loop(void **state)
{
    (void)state;
    struct engine engine = new_engine(lb_test_seed());
    struct lb_plan_question question = question_of("p99<65ms", 5);
    struct lb_plan plan;
    engine.is_pool = true;
    engine.service_s = 20e-3;
    engine.contention = 0;
    question.demand_per_s = 120;
    assert_true(true_wait(120, 20e-3, 3, 0.99) > 0.12 && true_wait(120, 20e-3, 4, 0.99) < 0.045);
    run_plan(&engine, &question, 100, &plan, 0);
    expect_answer(&plan, "workers", LB_PLAN_ANSWERED, "120/s need 4 workers under p99<65ms");
    expect_answer(&plan, "workers", LB_PLAN_ANSWERED, "4 kept it in 3 of 3 runs");
    expect_answer(&plan, "workers", LB_PLAN_ANSWERED, "; 3 did not (");
    expect_answer(&plan, "first answer", LB_PLAN_ANSWERED, "4 workers keep p99<65ms at 120/s");
    assert_int_equal(plan.trials[0].phase, LB_TRIAL_FIRST);
    assert_int_equal(plan.trials[1].run->config.workers, 4);
    assert_null(answer_to(&plan, "slo"));
    assert_null(answer_to(&plan, "headroom"));
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_ANSWERED);
    lb_plan_release(&plan);
    question.demand_per_s = 1300; /* 24 servers carry 1200/s */
    run_plan(&engine, &question, 20, &plan, 0);
    expect_answer(&plan, "workers", LB_PLAN_MISSED, "is not kept at 1.30k/s with up to 24 workers");
    expect_answer(&plan, "first answer", LB_PLAN_ANSWERED, "no number of workers up to 24 keeps");
    assert_int_equal(plan.n_trials, 3); /* the most twice: once may be chance */
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_MISSED);
    lb_plan_release(&plan);
    release_engine(&engine);
}

/* A number that no run can measure leaves those known that kept the SLO and that did not; and where
 * it had failed before, there is an answer. */
static void a_late_generator_leaves_what_is_known(void **state)
{
    (void)state;
    struct engine engine = new_engine(lb_test_seed());
    struct lb_plan_question question = question_of("p99<65ms", 5);
    struct lb_plan plan;
    engine.is_pool = true;
    engine.service_s = 20e-3;
    engine.contention = 0;
    engine.invalid_at = 3;
    question.demand_per_s = 120;
    run_plan(&engine, &question, 100, &plan, 0);
    expect_answer(&plan, "workers", LB_PLAN_REFUSED,
                  "is not known, with up to 24: 4 kept it, in fewer than 3 runs; 2 did not; the "
                  "run of 3 was not valid: the generator fell behind.");
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_REFUSED);
    lb_plan_release(&plan);
    engine.valid_before = 1;
    run_plan(&engine, &question, 100, &plan, 0);
    expect_answer(&plan, "workers", LB_PLAN_ANSWERED, "4 kept it in 3 of 3 runs");
    expect_answer(&plan, "workers", LB_PLAN_ANSWERED, "; 3 did not (");
    assert_null(strstr(answer_to(&plan, "workers")->text, "valid"));
    lb_plan_release(&plan);
    release_engine(&engine);
}

/* With half of the arrivals finding the lock taken at the lowest rate that is tried, and a bound
 * that nobody who waits meets. */
static void an_slo_that_is_never_met_is_told(void **state)
{
    (void)state;
    struct engine engine = new_engine(lb_test_seed());
    struct lb_plan_question question = question_of("p99<1us", 3);
    struct lb_plan plan;
    run_plan(&engine, &question, 10, &plan, 0);
    assert_int_equal(plan.slo_state, LB_SLO_NEVER_MET);
    expect_answer(&plan, "slo", LB_PLAN_MISSED, "was never met with ");
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_MISSED);
    lb_plan_release(&plan);
    release_engine(&engine);
}

static void invalid_trials_end_the_search(void **state)
{
    (void)state;
    struct engine engine = new_engine(lb_test_seed());
    struct lb_plan_question question = question_of("p99<30ms", 3);
    struct lb_plan plan;
    engine.invalid_open = 2; /* are repeated */
    run_plan(&engine, &question, 10, &plan, 0);
    assert_int_equal(plan.slo_state, LB_SLO_FOUND);
    assert_false(plan.trials[0].valid);
    assert_false(plan.trials[1].valid);
    assert_true(plan.trials[2].valid);
    lb_plan_release(&plan);

    engine.invalid_open = 3; /* is not believed */
    run_plan(&engine, &question, 10, &plan, 0);
    assert_int_equal(plan.slo_state, LB_SLO_UNKNOWN);
    expect_answer(&plan, "slo", LB_PLAN_REFUSED,
                  "the run was not valid: the generator fell behind");
    assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_REFUSED);
    lb_plan_release(&plan);

    engine.invalid_above = 500; /* a rate that passed below is still useful */
    run_plan(&engine, &question, 10, &plan, 0);
    assert_int_equal(plan.slo_state, LB_SLO_AT_LEAST);
    assert_true(plan.slo_rate.value <= 500 && isinf(plan.slo_rate.interval.high));
    expect_answer(&plan, "slo", LB_PLAN_REFUSED, "and perhaps at more: at ");
    lb_plan_release(&plan);
    release_engine(&engine);
}

/* A late generator makes waits longer: an SLO that is kept was kept, and one that is missed by more
 * than any arrival was late was missed. */
static void a_late_trial_stands_where_lateness_does_not_decide(void **state)
{
    (void)state;
    static const struct {
        uint64_t wait_ms;
        bool valid, ok;
    } cases[] = {{20, true, true}, {49, true, true}, {52, false, false}, {58, true, false}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lb_outcome run = {
            .state = LB_RUN_INVALID, .reason = LB_LATE_GENERATOR ": ...", .n_due = 2000};
        struct lb_trial trial = {.rate_per_s = 100, .run = &run};
        struct lb_slo slo;
        struct lb_error err;
        assert_int_equal(lb_slo_parse("p99<50ms", &slo, &err), 0);
        run.elapsed_ns = UINT64_C(20000000000);
        run.counts[LB_M_ACQUIRE].succeeded = run.counts[LB_M_ACQUIRE].finished = 2000;
        run.pacing = lb_histogram_new();
        run.response[LB_M_ACQUIRE] = lb_histogram_new();
        assert_true(run.pacing != NULL && run.response[LB_M_ACQUIRE] != NULL);
        lb_histogram_record(run.pacing, 7000000);
        for (int i = 0; i < 2000; i++)
            lb_histogram_record(run.response[LB_M_ACQUIRE], cases[c].wait_ms * 1000000);
        lb_trial_judge(&trial, &slo);
        assert_int_equal(trial.valid, cases[c].valid);
        assert_int_equal(trial.ok, cases[c].ok);
        snprintf(run.reason, sizeof run.reason, "a worker died");
        lb_trial_judge(&trial, &slo);
        assert_false(trial.valid || trial.ok);
        lb_histogram_free(run.pacing);
        lb_histogram_free(run.response[LB_M_ACQUIRE]);
    }
}

/* Returns a throughput of steps[workers], give or take 1 %, independent of any law. */
static int measure_steps(void *arg, const struct lb_plan *plan, const struct lb_scenario *scenario,
                         const struct lb_outcome **ret_run, struct lb_error *err)
{
    struct engine *engine = arg;
    (void)plan;
    (void)err;
    assert_true(engine->n_runs < MOST_RUNS && scenario->workers <= 32);
    struct lb_outcome *run = engine->runs[engine->n_runs++] = new_run(scenario);
    double n = (double)scenario->workers;
    double rate = n < 2 ? 1950 : n < 7 ? 4900 + n : 9000 - 10 * n;
    run->successes_per_s = rate * (0.99 + 0.02 * lb_random_unit(&engine->random));
    *ret_run = run;
    return 0;
}

/* A law cannot follow steps: the answers are from the points, numbers of workers are added until
 * the answer and one fewer were measured, and no interval excludes what was. */
static void steps_are_answered_from_the_points(void **state)
{
    (void)state;
    static const struct {
        double demand, workers;
    } cases[] = {{2300, 2}, {6000, 7}, {1000, 1}, {8000, 7}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct engine engine = {.think_s = 1};
        const struct lb_lab lab = {&engine, measure_steps, NULL};
        struct lb_plan_question question = {.levels = {1, 2, 4, 8, 16, 32},
                                            .n_levels = 6,
                                            .n_repeat = 3,
                                            .demand_per_s = cases[c].demand,
                                            .seed = 7};
        struct lb_scenario scenario;
        struct lb_plan plan;
        struct lb_error err;
        lb_random_init(&engine.random, lb_test_seed(), c);
        lb_scenario_init(&scenario);
        lb_plan_init(&plan, &question, "steps", "none", &scenario);
        assert_int_equal(lb_plan_sweep(&plan, 1, &lab, &err), 0);
        lb_plan_fit(&plan);
        assert_true(plan.by_points);
        size_t n_points = plan.n_points;
        assert_int_equal(lb_plan_refine(&plan, &lab, &err), 0);
        assert_int_equal(plan.n_points > n_points, cases[c].workers > 2); /* 7 depends on 6 and 7 */
        lb_plan_fit(&plan);
        lb_plan_answer(&plan);
        const struct lb_plan_answer *answer = answer_to(&plan, "workers");
        assert_int_equal(answer->verdict, LB_PLAN_ANSWERED);
        assert_false(answer->doubtful);
        assert_near(answer->estimate.value, cases[c].workers, 1e-9);
        assert_true(answer->estimate.interval.low <= cases[c].workers &&
                    answer->estimate.interval.high >= cases[c].workers);
        if (c == 0)
            assert_non_null(strstr(answer->text, "need 2 workers (75 %: 2 to 2): 1 carries 1.9"));
        struct lb_estimate rate;
        for (size_t i = 0; i < question.n_levels; i++) {
            assert_true(lb_plan_points_at(&plan, (double)question.levels[i], &rate));
            assert_true(rate.interval.low <= rate.value && rate.value <= rate.interval.high);
        }
        assert_false(lb_plan_points_at(&plan, 33, &rate));
        assert_true(isinf(lb_plan_points_need(&plan, 1e6)));
        lb_plan_release(&plan);
        release_engine(&engine);
    }
}

/* A lock that saturates with four workers, as measured on SQLite (hold 1 ms, think 5 ms), give or
 * take 0.5 %. */
static int measure_corner(void *arg, const struct lb_plan *plan, const struct lb_scenario *scenario,
                          const struct lb_outcome **ret_run, struct lb_error *err)
{
    static const double rates[] = {0, 161, 318, 478, 605, 633, 645, 661, 673, 678, 682, 684, 686};
    struct engine *engine = arg;
    (void)plan;
    (void)err;
    assert_true(engine->n_runs < MOST_RUNS && scenario->workers <= 12);
    struct lb_outcome *run = engine->runs[engine->n_runs++] = new_run(scenario);
    run->successes_per_s =
        rates[scenario->workers] * (0.995 + 0.01 * lb_random_unit(&engine->random));
    *ret_run = run;
    return 0;
}

/* The law fits it (it misses a point by 10 %, which is called no misfit), but names 5 workers for
 * 583/s of which 4 were measured to carry 605/s. */
static void a_demand_that_was_measured_is_answered_from_the_points(void **state)
{
    (void)state;
    static const struct {
        double demand, workers;
        enum lb_plan_verdict verdict;
    } cases[] = {{240, 2, LB_PLAN_ANSWERED}, {434, 3, LB_PLAN_ANSWERED}, {583, 4, LB_PLAN_ANSWERED},
                 {615, 5, LB_PLAN_ANSWERED}, {100, 1, LB_PLAN_ANSWERED}, {5000, 0, LB_PLAN_MISSED}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct engine engine = {.think_s = 1};
        const struct lb_lab lab = {&engine, measure_corner, NULL};
        struct lb_plan_question question = {.levels = {1, 2, 4, 6, 8, 12},
                                            .n_levels = 6,
                                            .n_repeat = 3,
                                            .demand_per_s = cases[c].demand,
                                            .seed = 7};
        struct lb_scenario scenario;
        struct lb_plan plan;
        struct lb_estimate law;
        struct lb_error err;
        lb_random_init(&engine.random, lb_test_seed(), c);
        lb_scenario_init(&scenario);
        lb_plan_init(&plan, &question, "corner", "none", &scenario);
        assert_int_equal(lb_plan_sweep(&plan, 1, &lab, &err), 0);
        lb_plan_fit(&plan);
        assert_true(plan.has_fit && !plan.by_points);
        assert_int_equal(lb_plan_refine(&plan, &lab, &err), 0);
        assert_int_equal(lb_usl_workers_for(&plan.fit, 583, &law, &err), 0);
        assert_near(law.value, 5, 1e-9); /* else this shows nothing */
        lb_plan_fit(&plan);
        lb_plan_answer(&plan);
        const struct lb_plan_answer *answer = answer_to(&plan, "workers");
        assert_int_equal(answer->verdict, cases[c].verdict);
        if (cases[c].verdict == LB_PLAN_ANSWERED) {
            assert_near(answer->estimate.value, cases[c].workers, 1e-9);
            assert_true(answer->estimate.interval.low <= cases[c].workers &&
                        answer->estimate.interval.high >= cases[c].workers);
        }
        if (c == 2)
            assert_non_null(strstr(answer->text, "need 4 workers (75 %: 4 to 4): 3 carry 4"));
        lb_plan_release(&plan);
        release_engine(&engine);
    }
}

static void an_interrupt_keeps_what_was_measured(void **state)
{
    (void)state;
    struct lb_plan plan;
    struct lb_plan_question question = question_of("p99<30ms", 3);
    static const struct {
        size_t after;
        bool has_fit;
        const char *carry;
    } cases[] = {{4, false, "interrupted: 4 of 8 numbers of workers were measured, a fit needs 6"},
                 {10, true, " carr"},
                 {27, true, " carr"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct engine engine = new_engine(lb_test_seed());
        engine.interrupt_after = cases[i].after;
        run_plan(&engine, &question, 5, &plan, LB_E_INTERRUPTED);
        assert_true(plan.interrupted);
        assert_int_equal(plan.has_fit, cases[i].has_fit);
        expect_answer(&plan, "carry", cases[i].has_fit ? LB_PLAN_ANSWERED : LB_PLAN_REFUSED,
                      cases[i].carry);
        assert_int_equal(answer_to(&plan, "carry")->doubtful, cases[i].after == 10);
        expect_answer(&plan, "slo", LB_PLAN_REFUSED, "is not known: ");
        lb_plan_release(&plan);
        release_engine(&engine);
    }
}

static void a_failure_is_the_reason(void **state)
{
    (void)state;
    struct engine engine = new_engine(lb_test_seed());
    struct lb_plan_question question = question_of(NULL, 3);
    struct lb_plan plan;
    engine.fails_at = 24;
    run_plan(&engine, &question, 5, &plan, 0);
    if (!plan.has_fit)
        expect_answer(&plan, "carry", LB_PLAN_REFUSED, "with 24 workers: too many connections");
    assert_non_null(strstr(plan.refusal, "with 24 workers: too many connections"));
    lb_plan_release(&plan);
    release_engine(&engine);
}

/* Two engines: one that is quick alone and gets slower, one that scales. */
static void the_choice_follows_the_demand(void **state)
{
    (void)state;
    struct engine quick = new_engine(lb_test_seed()), scales = quick;
    struct lb_plan_question question = question_of(NULL, 3);
    struct lb_plan plans[2];
    struct lb_plan_choice rows[4];
    quick.think_s = 1e-3;
    quick.contention = 0.1;
    scales.think_s = 20e-3;
    scales.contention = 0.001;
    run_plan(&quick, &question, 10, &plans[0], 0);
    run_plan(&scales, &question, 10, &plans[1], 0);
    const bool both[] = {true, true}, second[] = {false, true}, none[] = {false, false};
    assert_int_equal(lb_plan_choose(plans, both, 2, rows, 4), 2);
    assert_ptr_equal(rows[0].plan, &plans[0]);
    assert_ptr_equal(rows[1].plan, &plans[1]);
    struct lb_estimate capacity;
    assert_true(lb_plan_capacity(&plans[0], &capacity));
    assert_true(rows[0].up_to_per_s <= capacity.value &&
                rows[0].up_to_per_s > 0.9 * capacity.value);
    assert_true(lb_plan_capacity(&plans[1], &capacity));
    assert_near(rows[1].up_to_per_s, capacity.value, 1e-6);
    assert_int_equal(lb_plan_choose(plans, second, 2, rows, 4), 1);
    assert_ptr_equal(rows[0].plan, &plans[1]);
    assert_int_equal(lb_plan_choose(plans, none, 2, rows, 4), 0);
    lb_plan_release(&plans[0]);
    lb_plan_release(&plans[1]);
    release_engine(&quick);
    release_engine(&scales);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_little_is_refused_beforehand),
        cmocka_unit_test(trials_are_judged),
        cmocka_unit_test(a_growing_backlog_fails_a_trial),
        cmocka_unit_test(demand_and_headroom_are_told),
        cmocka_unit_test(a_late_trial_stands_where_lateness_does_not_decide),
        cmocka_unit_test(workers_for_an_slo_are_measured_in_an_open_loop),
        cmocka_unit_test(an_slo_that_is_never_met_is_told),
        cmocka_unit_test(invalid_trials_end_the_search),
        cmocka_unit_test(a_late_generator_leaves_what_is_known),
        cmocka_unit_test(steps_are_answered_from_the_points),
        cmocka_unit_test(a_demand_that_was_measured_is_answered_from_the_points),
        cmocka_unit_test(an_interrupt_keeps_what_was_measured),
        cmocka_unit_test(a_failure_is_the_reason),
        cmocka_unit_test(the_choice_follows_the_demand),
        cmocka_unit_test(plans_find_the_truth),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
