/* The search for the number of workers that keep an SLO at a demand, where chance decides whether
 * one fewer keeps it: the search ends, and its answer was measured. A scripted lab, and the
 * simulated engine. */
#include "plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan_engine.h"
#include "property.h"

enum { MOST_SCRIPTED = 4 };

/* Its runs of n workers keep the SLO as script[n - 1] says, which begins again at its first '|'
 * when it is over: k kept, m missed. */
struct script {
    const char *of[MOST_SCRIPTED];
    size_t next[MOST_SCRIPTED];
    struct engine runs;
};

static int measure_script(void *arg, const struct lb_plan *plan, const struct lb_scenario *scenario,
                          const struct lb_outcome **ret_run, struct lb_error *err)
{
    struct script *script = arg;
    (void)plan;
    (void)err;
    size_t n = scenario->workers < MOST_SCRIPTED ? (size_t)scenario->workers : MOST_SCRIPTED;
    const char *text = script->of[n - 1];
    size_t *next = &script->next[n - 1];
    if (text[*next] == '\0')
        *next = (size_t)(strchr(text, '|') - text);
    *next += text[*next] == '|';
    uint64_t wait_ns = text[(*next)++] == 'k' ? 40000000 : 60000000;
    assert_true(script->runs.n_runs < MOST_RUNS);
    struct lb_outcome *run = script->runs.runs[script->runs.n_runs++] = new_run(scenario);
    run->n_due = run->counts[LB_M_ACQUIRE].succeeded = run->counts[LB_M_ACQUIRE].finished = 2000;
    run->response[LB_M_ACQUIRE] = lb_histogram_new();
    run->service[LB_M_HOLD] = lb_histogram_new();
    assert_true(run->response[LB_M_ACQUIRE] != NULL && run->service[LB_M_HOLD] != NULL);
    for (int i = 0; i < 2000; i++) {
        lb_histogram_record(run->response[LB_M_ACQUIRE], wait_ns);
        lb_histogram_record(run->service[LB_M_HOLD], 5000000);
    }
    *ret_run = run;
    return 0;
}

static void search(struct lb_plan *plan, const struct lb_plan_question *question,
                   const struct lb_lab *lab)
{
    struct lb_scenario scenario;
    struct lb_error err;
    lb_scenario_init(&scenario);
    scenario.duration_ns = UINT64_C(10000000000);
    scenario.hold_ns = 5000000;
    scenario.resources = 64;
    lb_plan_init(plan, question, "sim", "memory", &scenario);
    assert_int_equal(lb_plan_search(plan, lab, &err), 0);
    lb_plan_answer(plan);
}

static struct lb_plan_question question_of(const char *slo, double demand_per_s)
{
    struct lb_plan_question question = {.levels = {1, 2, 4, 8, 12, 16},
                                        .n_levels = 6,
                                        .n_repeat = 3,
                                        .has_slo = true,
                                        .demand_per_s = demand_per_s};
    struct lb_error err;
    assert_int_equal(lb_slo_parse(slo, &question.slo, &err), 0);
    return question;
}

static const char *answer_of(const struct lb_plan *plan)
{
    for (size_t i = 0; i < plan->n_answers; i++)
        if (strcmp(plan->answers[i].question, "workers") == 0)
            return plan->answers[i].text;
    return "";
}

/* One worker misses the SLO in some runs, and never says so for certain: two were confirmed, one
 * kept it twice behind that, and then missed it. The search used to confirm two again, and so on,
 * until it had used all trials and had no answer. */
static void one_fewer_that_wavers_ends_the_search(void **state)
{
    (void)state;
    static const struct {
        const char *script[MOST_SCRIPTED];
        const char *says;
        size_t n_trials;
    } cases[] = {
        /* 4 1 2, 2 2 2 confirmed; four times 1 1 kept, and 1 1 1 missed in between */
        {{"m|kkkkm", "k|k", "k|k", "k|k"}, ": 2 kept it in 3 of 3 runs (at most 40", 23},
        {{"m|kkkkm", "k|k", "k|k", "k|k"}, "; 1 did not in 4 of 18 (60.0 ms, the bound", 23},
        /* one fewer is confirmed as well: it is the answer */
        {{"m|kkkkk", "k|k", "k|k", "k|k"}, ": 1 kept it in 3 of 3 runs (at most 40", 11},
        /* one fewer misses it each time */
        {{"m|m", "k|k", "k|k", "k|k"}, "; 1 did not (60.0 ms, the bound", 7},
        /* two waver, one misses it */
        {{"m|m", "kmkkkm|km", "k|k", "k|k"}, ": 3 kept it in 3 of 3 runs", 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct script script = {.runs = {.n_runs = 0}};
        const struct lb_lab lab = {&script, measure_script, NULL};
        struct lb_plan_question question = question_of("p99<50ms", 150);
        struct lb_plan plan;
        memcpy(script.of, cases[c].script, sizeof script.of);
        search(&plan, &question, &lab);
        if (strstr(answer_of(&plan), cases[c].says) == NULL)
            print_message("# case %zu, %zu trials: %s\n", c, plan.n_trials, answer_of(&plan));
        assert_non_null(strstr(answer_of(&plan), cases[c].says));
        if (cases[c].n_trials > 0)
            assert_int_equal(plan.n_trials, cases[c].n_trials);
        assert_true(plan.n_trials < 30);
        lb_plan_release(&plan);
        release_engine(&script.runs);
    }
}

/* The p99 of three workers at this demand is the bound, give or take: chance decides about each
 * run, and the answer is three or four. Of 400 plans the longest had 30 trials. */
static void a_bound_that_is_the_truth_is_answered(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct engine engine = {.service_s = 20e-3, .is_pool = true};
        const struct lb_lab lab = {&engine, measure, NULL};
        struct lb_plan_question question = question_of("p99<139ms", 120);
        struct lb_plan plan;
        lb_random_init(&engine.random, lb_test_seed(), (uint64_t)i);
        search(&plan, &question, &lab);
        assert_true(plan.n_trials < 40);
        assert_int_equal(lb_plan_verdict(&plan), LB_PLAN_ANSWERED);
        assert_true(plan.need.workers == 3 || plan.need.workers == 4);
        lb_plan_release(&plan);
        release_engine(&engine);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_fewer_that_wavers_ends_the_search),
        cmocka_unit_test(a_bound_that_is_the_truth_is_answered),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
