/* An outcome as bytes and back: nothing is lost, and no cut of the bytes is taken for a whole. */
#include "run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct lb_strategy *strategy(const char *name)
{
    for (const struct lb_strategy *const *s = lb_strategies; *s != NULL; s++)
        if (strcmp((*s)->name, name) == 0)
            return *s;
    return NULL;
}

static struct lb_outcome *some_outcome(void)
{
    struct lb_scenario scenario;
    struct lb_outcome *outcome = NULL;
    struct lb_error err = {0};
    lb_scenario_init(&scenario);
    scenario.workers = 3;
    scenario.warmup_ns = 0;
    scenario.duration_ns = 30000000;
    snprintf(scenario.rate, sizeof scenario.rate, "20000/s");
    struct lb_run_plan plan = {
        .strategy = strategy("pthread-mutex"), .scenario = &scenario, .seed = 5, .record = true};
    assert_int_equal(lb_run(&plan, NULL, NULL, NULL, &outcome, &err), 0);
    /* What only a server tells. */
    outcome->facts = calloc(2, sizeof *outcome->facts);
    outcome->facts[0] = (struct lb_fact){strdup("version"), strdup("15.1")};
    outcome->facts[1] = (struct lb_fact){strdup("empty"), strdup("")};
    outcome->n_facts = 2;
    outcome->waits = calloc(1, sizeof *outcome->waits);
    snprintf(outcome->waits[0].name, sizeof outcome->waits[0].name, "Lock:tuple");
    outcome->waits[0].n = 7;
    outcome->n_waits = 1;
    /* Fields that only an exploration has. */
    outcome->exploration = calloc(1, sizeof *outcome->exploration);
    outcome->exploration->n_schedules = 16;
    snprintf(outcome->exploration->replay, sizeof outcome->exploration->replay, "0.1.0");
    return outcome;
}

static char *pack(const struct lb_outcome *outcome, size_t *ret_n)
{
    char *bytes = NULL;
    struct lb_error err = {0};
    FILE *out = open_memstream(&bytes, ret_n);
    assert_int_equal(lb_outcome_write(outcome, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    return bytes;
}

static void nothing_is_lost(void **state)
{
    (void)state;
    struct lb_outcome *outcome = some_outcome(), *back = NULL;
    struct lb_error err = {0};
    size_t n;
    char *bytes = pack(outcome, &n);
    assert_int_equal(lb_outcome_read((unsigned char *)bytes, n, &back, &err), 0);
    assert_true(outcome->counts[LB_M_ACQUIRE].succeeded > 0);
    assert_memory_equal(back->counts, outcome->counts, sizeof outcome->counts);
    assert_memory_equal(&back->judgement, &outcome->judgement, sizeof outcome->judgement);
    assert_memory_equal(&back->config, &outcome->config, sizeof outcome->config);
    for (int m = 0; m < LB_MEASURES; m++) {
        assert_memory_equal(back->service[m], outcome->service[m], sizeof *outcome->service[m]);
        assert_int_equal(back->response[m] != NULL, outcome->response[m] != NULL);
    }
    assert_memory_equal(back->response[LB_M_ACQUIRE], outcome->response[LB_M_ACQUIRE],
                        sizeof *outcome->response[LB_M_ACQUIRE]);
    assert_memory_equal(back->pacing, outcome->pacing, sizeof *outcome->pacing);
    assert_memory_equal(back->worker_successes, outcome->worker_successes,
                        3 * sizeof *outcome->worker_successes);
    assert_memory_equal(back->intervals, outcome->intervals,
                        outcome->n_intervals * sizeof *outcome->intervals);
    assert_string_equal(back->facts[0].value, "15.1");
    assert_string_equal(back->facts[1].value, "");
    assert_int_equal(back->exploration->n_schedules, 16);
    assert_string_equal(back->exploration->replay, "0.1.0");
    assert_string_equal(back->waits[0].name, "Lock:tuple");
    lb_outcome_free(outcome);
    lb_outcome_free(back);
    free(bytes);
}

/* Within the struct every cut is alike; at the end each of them counts. */
static size_t step_from(size_t length, size_t n)
{
    if (length + 64 < sizeof(struct lb_outcome))
        return 61;
    return length + 64 < n ? 7 : 1;
}

static void no_cut_is_a_whole(void **state)
{
    (void)state;
    struct lb_outcome *outcome = some_outcome(), *back = NULL;
    size_t n;
    char *bytes = pack(outcome, &n);
    for (size_t length = 0; length <= n + 1; length += step_from(length, n)) {
        struct lb_error err = {0};
        /* A copy of exactly that length: a sanitizer sees a read behind it. */
        unsigned char *copy = calloc(length > 0 ? length : 1, 1);
        memcpy(copy, bytes, length < n ? length : n);
        int rc = lb_outcome_read(copy, length, &back, &err);
        assert_int_equal(rc, length == n ? 0 : LB_E_FILE);
        if (rc == 0)
            lb_outcome_free(back);
        free(copy);
    }
    lb_outcome_free(outcome);
    free(bytes);
}

/* A run of less than a second, or one that nothing was measured in. */
static void what_is_empty_comes_back_empty(void **state)
{
    (void)state;
    struct lb_outcome *outcome = calloc(1, sizeof *outcome), *back = NULL;
    struct lb_error err = {0};
    size_t n;
    assert_non_null(outcome);
    char *bytes = pack(outcome, &n);
    assert_int_equal(lb_outcome_read((unsigned char *)bytes, n, &back, &err), 0);
    assert_int_equal(back->n_intervals, 0);
    assert_null(back->service[0]);
    lb_outcome_free(back);
    lb_outcome_free(outcome);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(no_cut_is_a_whole),
        cmocka_unit_test(what_is_empty_comes_back_empty),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
