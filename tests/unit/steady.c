/* Steady state: runs judged steady, drifting or unclear, and the samples behind the verdict. */
#include "steady.h"
#include "intervals.h"
#include "random.h"
#include "text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 21 samples over two seconds, of a rate that changes by that share from start to end, with noise
 * of that share in each piece. */
static struct lb_outcome run_of(double change, double noise, uint64_t seed)
{
    static struct lb_outcome run;
    struct lb_random random;
    memset(&run, 0, sizeof run);
    lb_scenario_init(&run.config);
    lb_random_init(&random, seed, 0);
    double done = 0;
    for (size_t i = 0; i < 21; i++) {
        run.samples[i] = (struct lb_sample){i * 100000000, (uint64_t)done};
        double rate = 1e6 * (1 + change * ((double)i / 19 - 0.5));
        done += 0.1 * rate * (1 + noise * (2 * lb_random_unit(&random) - 1));
    }
    run.n_samples = 21;
    return run;
}

static enum lb_steadiness_verdict verdict_of(double change, double noise, uint64_t seed)
{
    struct lb_outcome run = run_of(change, noise, seed);
    struct lb_steadiness steady;
    lb_run_steadiness(&run, &steady);
    return steady.verdict;
}

static void a_slope_is_found_and_noise_is_not(void **state)
{
    (void)state;
    enum { SEEDS = 200 };
    size_t false_alarms = 0, found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        assert_int_equal(verdict_of(0, 0.02, seed), LB_RUN_STEADY);
        false_alarms += verdict_of(0, 0.3, seed) == LB_RUN_DRIFTING;
        found += verdict_of(-0.3, 0.1, seed) == LB_RUN_DRIFTING;
    }
    /* By the interval 5 % of the noisy ones; 25 of 200 by chance: below 1e-4. */
    print_message("# %zu of %d noisy runs called drifting, %zu of %d that fell by 30 %%\n",
                  false_alarms, SEEDS, found, SEEDS);
    assert_true(false_alarms < 25);
    assert_true(found > SEEDS * 9 / 10);
    assert_int_equal(verdict_of(0.05, 0.9, 1), LB_RUN_UNCLEAR);

    struct lb_outcome run = run_of(-0.3, 0, 1);
    struct lb_steadiness steady;
    lb_run_steadiness(&run, &steady);
    assert_true(steady.change.value > -0.31 && steady.change.value < -0.27);
    assert_true(steady.change.interval.low <= steady.change.value &&
                steady.change.value <= steady.change.interval.high);
}

static void what_has_no_steady_state_is_not_judged(void **state)
{
    (void)state;
    struct lb_steadiness steady;
    for (int i = 0; i < 6; i++) {
        struct lb_outcome run = run_of(-0.5, 0, 1);
        run.config.drain = i == 0;
        run.config.fault = i == 1 ? LB_FAULT_PAUSE : LB_FAULT_NONE;
        run.config.period_ns = i == 2 ? 1000000 : 0;
        if (i == 3)
            snprintf(run.config.rate, sizeof run.config.rate, "poisson:phases:10/s@1s,20/s");
        if (i == 4)
            run.n_samples = 8;
        if (i == 5)
            for (size_t k = 0; k < run.n_samples; k++)
                run.samples[k].n_successes = 0;
        lb_run_steadiness(&run, &steady);
        assert_int_equal(steady.verdict, LB_RUN_NOT_JUDGED);
        assert_true(steady.reason[0] != '\0');
    }
    struct lb_outcome run = run_of(-0.5, 0, 1);
    snprintf(run.config.rate, sizeof run.config.rate, "poisson:800/s");
    lb_run_steadiness(&run, &steady);
    assert_int_equal(steady.verdict, LB_RUN_DRIFTING);
}

static void it_is_said(void **state)
{
    (void)state;
    struct lb_outcome runs[3] = {run_of(0, 0.01, 1), run_of(-0.3, 0.01, 2), run_of(0.05, 0.9, 1)};
    struct lb_outcome *pointers[3] = {&runs[0], &runs[1], &runs[2]};
    struct lb_cell cell = {.name = "a", .engine = "memory", .n_runs = 3, .runs = pointers};
    snprintf(cell.scenario.name, sizeof cell.scenario.name, "mutex-hot");
    struct lb_report report = {.n_cells = 1, .cells = &cell};
    char text[1000] = "";
    struct lb_sink_state sink = {
        .out = fmemopen(text, sizeof text, "w"), .report = &report, .width = 400};
    lb_text_steady(&sink);
    fclose(sink.out);
    assert_non_null(strstr(text, "steady state: 1 of 3 runs, 1 drifted, 1 too noisy to say\n"));
    assert_non_null(
        strstr(text, "not steady: a on memory, mutex-hot, run 2 of 3: the rate fell from "));
    assert_null(strstr(text, "run 3 of 3"));
}

/* However many there are, the samples span the run evenly. */
static void samples_are_thinned(void **state)
{
    (void)state;
    static struct lb_outcome outcome;
    enum { N = 5000, APART_NS = 7 };
    struct lb_active_run run = {.outcome = &outcome, .sample_spacing_ns = 1, .measure_ns = 1000};
    for (uint64_t i = 0; i < N; i++)
        lb_run_sample(&run, run.measure_ns + i * APART_NS);
    assert_true(outcome.n_samples <= LB_SAMPLES && outcome.n_samples > LB_SAMPLES / 4);
    assert_true(run.sample_spacing_ns > 1);
    for (size_t i = 1; i < outcome.n_samples; i++)
        assert_true(outcome.samples[i].at_ns > outcome.samples[i - 1].at_ns);
    assert_int_equal(outcome.samples[0].at_ns, 0);
    assert_true(outcome.samples[outcome.n_samples - 1].at_ns > N * APART_NS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slope_is_found_and_noise_is_not),
        cmocka_unit_test(what_has_no_steady_state_is_not_judged),
        cmocka_unit_test(it_is_said),
        cmocka_unit_test(samples_are_thinned),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
