/* Scenario keys, files, and every built-in scenario. */
#include "scenario.h"
#include "demand.h"
#include "nearest.h"
#include "strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(const char *text, struct lb_scenario *scenario, struct lb_error *err)
{
    err->message[0] = '\0';
    return lb_scenario_parse("some/x.ini", text, strlen(text), scenario, err);
}

static void built_in_scenarios_are_valid_and_ask(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct lb_embedded_scenario *e = lb_embedded_scenarios; e->name != NULL; e++, n++) {
        struct lb_scenario scenario;
        struct lb_error err;
        if (lb_scenario_load(e->name, &scenario, &err) != 0)
            fail_msg("%s", err.message);
        assert_string_equal(scenario.name, e->name);
        size_t length = strlen(scenario.question);
        assert_true(length > 20);
        assert_int_equal(scenario.question[length - 1], '?');
    }
    assert_true(n >= 8);
}

/* The key's value in mutex-hot with one change. */
static uint64_t demand(const char *key, const char *value, bool is_lease)
{
    struct lb_scenario scenario;
    struct lb_error err;
    assert_int_equal(lb_scenario_load("mutex-hot", &scenario, &err), 0);
    if (key != NULL)
        assert_int_equal(lb_scenario_set(&scenario, key, value, &err), 0);
    return lb_scenario_demand_ns(&scenario, is_lease);
}

/* The bound on the workers' waits includes the scenario's demands. */
static void demands_are_in_the_bound(void **state)
{
    (void)state;
    static const char *const more[][2] = {
        {"workers", "200"}, {"hold", "1ms"},       {"poll-max", "1s"},  {"tx-pause", "1ms"},
        {"fault", "pause"}, {"fault", "kill"},     {"fault", "slow"},   {"fault", "cut"},
        {"overrun", "0.5"}, {"fault", "blocker"},  {"think", "100us"},  {"fault", "disconnect"},
        {"fault", "full"},  {"fault", "failover"}, {"fault", "restart"}};
    struct lb_scenario scenario;
    struct lb_error err;
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        assert_true(demand(more[i][0], more[i][1], false) > demand(NULL, NULL, false));
    assert_true(demand("capacity", "3", false) <= demand(NULL, NULL, false));
    /* All workers' holds, and the leases of the dead. */
    assert_true(demand("hold", "300ms", false) > UINT64_C(7) * 300000000);
    assert_true(demand("fault", "kill", true) > UINT64_C(30000000000));
    assert_true(demand("fault", "kill", true) > demand("fault", "kill", false));
    assert_int_equal(demand("hold", "2000000h", true), UINT64_MAX);
    /* The longest time of a distribution: of this one, with a mean of 3 ms, 10 s. */
    assert_true(demand("hold", "pareto:1ms,1.5", false) > UINT64_C(9999000000));

    /* A built-in scenario's own bound grows; the user's does not. */
    assert_int_equal(lb_scenario_load("mutex-hot", &scenario, &err), 0);
    const uint64_t own_ns = scenario.progress_bound_ns;
    assert_int_equal(lb_scenario_bound_ns(&scenario, own_ns - 1), own_ns);
    assert_int_equal(lb_scenario_bound_ns(&scenario, own_ns + 1), own_ns + 1);
    assert_int_equal(lb_scenario_set(&scenario, "progress-bound", "1s", &err), 0);
    assert_int_equal(lb_scenario_bound_ns(&scenario, own_ns), 1000000000);
    assert_int_equal(lb_scenario_set(&scenario, "progress-bound", "0", &err), 0);
    assert_int_equal(lb_scenario_bound_ns(&scenario, own_ns), 0);
    /* As they are, all built-in scenarios are judged by their own. */
    for (const struct lb_embedded_scenario *e = lb_embedded_scenarios; e->name != NULL; e++) {
        assert_int_equal(lb_scenario_load(e->name, &scenario, &err), 0);
        if (scenario.progress_bound_ns > 0)
            assert_true(lb_scenario_demand_ns(&scenario, true) <= scenario.progress_bound_ns);
    }
}

/* What get writes, set takes, and it comes to the same. */
static void values_go_both_ways(void **state)
{
    (void)state;
    static const char *const samples[] = {"0",
                                          "1",
                                          "7",
                                          "0.125",
                                          "1h",
                                          "90s",
                                          "1500ms",
                                          "12345ns",
                                          "1,2,4",
                                          "no",
                                          "yes",
                                          "jitter",
                                          "fixed",
                                          "queue",
                                          "exponential",
                                          "serializable",
                                          "lock",
                                          "read-committed",
                                          "kill",
                                          "pause",
                                          "none",
                                          "800/s",
                                          "poisson:10/s",
                                          "spid",
                                          "guid",
                                          "ahead",
                                          "behind",
                                          "now:0.7,10s:0.3",
                                          "0:0.9,9:0.1",
                                          "a:0.5,b:0.5",
                                          "finished=1M",
                                          "failed=3,delayed=7",
                                          "fresh",
                                          "stale"};
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        size_t n_taken = 0;
        for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
            struct lb_scenario a, b;
            struct lb_error err;
            char first[300], second[300];
            lb_scenario_init(&a);
            lb_scenario_init(&b);
            if (lb_scenario_set(&a, key->name, samples[i], &err) != 0)
                continue;
            n_taken++;
            lb_scenario_get(&a, key, first, sizeof first);
            assert_int_equal(lb_scenario_set(&b, key->name, first, &err), 0);
            lb_scenario_get(&b, key, second, sizeof second);
            assert_string_equal(first, second);
        }
        if (n_taken < 2)
            fail_msg("%s took %zu of the samples", key->name, n_taken);
        assert_non_null(key->help);
        assert_true(key->shapes != 0);
    }
}

static void a_file_sets_keys(void **state)
{
    (void)state;
    struct lb_scenario s;
    struct lb_error err;
    assert_int_equal(parse("# Question: is it\n# so?\n# Expected: yes\nworkers = 3\n"
                           "[scenario]\nhold=2.5ms ; a comment\nshared = 0.5\n",
                           &s, &err),
                     0);
    assert_string_equal(s.name, "x");
    assert_string_equal(s.question, "is it so?");
    assert_int_equal(s.workers, 3);
    assert_int_equal(s.hold_ns, 2500000);
    assert_true(s.shared > 0.49 && s.shared < 0.51);
}

static void mistakes_are_told_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"workers = 3\nwokers = 4\n", "some/x.ini:2: unknown key 'wokers'; did you mean workers?"},
        {"\n\nhold = 3\n",
         "some/x.ini:3: hold: '3' is not a time with its unit, such as 10s, 5ms or 500us"},
        {"workers\n", "some/x.ini:1: neither a comment nor `key = value`"},
        {"[scenari]\nworkers = 3\n",
         "some/x.ini:1: unknown section [scenari]; did you mean scenario?"},
        {"workers = 3\n  4\n",
         "some/x.ini:2: an indented line; every key stands at the start of its line"},
        {"workers = 3\nhold = 1ms\nworkers = 4\n", "some/x.ini:3: workers is set a second time"},
        {"shape = lock\nbacklog = 10\n", "some/x.ini: backlog has no meaning for a lock scenario"},
        {"resources = 3\ncapacity = 1,2\n",
         "some/x.ini: capacity: 2 numbers for 3 resources; give one number, or one for each"},
        {"duration = 0\n",
         "some/x.ini: duration: 0 needs count, drain or fault-count: nothing else ends it"},
        {"shape = queue\n", "some/x.ini: backlog: 0 without producers: there is nothing to claim"},
        {"shared = 1.5\n", "some/x.ini:1: shared: '1.5' is not a share from 0 to 1"},
        {"workers = 0\n", "some/x.ini: workers: at least 1 is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_scenario s;
        struct lb_error err;
        assert_int_equal(parse(cases[i].text, &s, &err), LB_E_FILE);
        assert_string_equal(err.message, cases[i].message);
    }
    char line[1000] = "hold = ";
    memset(line + 7, '1', sizeof line - 8);
    struct lb_scenario s;
    struct lb_error err;
    assert_int_equal(parse(line, &s, &err), LB_E_FILE);
    assert_string_equal(err.message, "some/x.ini:1: the line is too long");
    assert_int_equal(lb_scenario_load("mutx-hot", &s, &err), LB_E_USAGE);
    assert_string_equal(err.message, "unknown scenario 'mutx-hot'; did you mean mutex-hot?");
    assert_int_equal(lb_scenario_load("./no-such.ini", &s, &err), LB_E_FILE);
}

static void a_pool_goes_with_what_needs_no_session_of_its_own(void **state)
{
    static const struct {
        const char *key, *value, *message;
    } cases[] = {{"pool", "9", "pool: at most one session per worker"},
                 {"processes", "2", "pool: processes cannot share connections"},
                 {"threads", "1", "pool: each worker needs a thread"},
                 {"fault", "cut", "pool: fault cut befalls"},
                 {"fault", "disconnect", NULL},
                 {"guard", "yes", "pool: guard needs a session per worker"},
                 {"fault", "restart", NULL},
                 {"pool", "8", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_scenario scenario;
        struct lb_error err = {0};
        lb_scenario_init(&scenario);
        assert_int_equal(lb_scenario_set(&scenario, "pool", "2", &err), 0);
        assert_int_equal(lb_scenario_set(&scenario, cases[i].key, cases[i].value, &err), 0);
        int rc = lb_scenario_validate(&scenario, &err);
        assert_int_equal(rc, cases[i].message != NULL ? LB_E_USAGE : 0);
        if (cases[i].message != NULL)
            assert_non_null(strstr(err.message, cases[i].message));
    }
}

static void capacities_are_one_for_all_or_one_each(void **state)
{
    (void)state;
    struct lb_scenario s;
    struct lb_error err;
    uint32_t *capacity;
    lb_scenario_init(&s);
    s.resources = 3;
    assert_int_equal(lb_scenario_set(&s, "capacity", "2", &err), 0);
    assert_int_equal(lb_scenario_capacities(&s, &capacity, &err), 0);
    assert_int_equal(capacity[0] + 10 * capacity[1] + 100 * capacity[2], 222);
    free(capacity);
    assert_int_equal(lb_scenario_set(&s, "capacity", "1, 2,4", &err), 0);
    assert_int_equal(lb_scenario_capacities(&s, &capacity, &err), 0);
    assert_int_equal(capacity[0] + 10 * capacity[1] + 100 * capacity[2], 421);
    free(capacity);
    static const char *const bad[] = {"0", "1,,2", "1,2,", "1 2 3", "1,2,3,4"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(lb_scenario_set(&s, "capacity", bad[i], &err), 0);
        assert_int_equal(lb_scenario_capacities(&s, &capacity, &err), LB_E_USAGE);
    }
}

/* The known breaks of a strategy can be shown: verify uses these names. */
static void known_breaks_name_scenarios_that_exist(void **state)
{
    (void)state;
    for (const struct lb_strategy *const *strategy = lb_strategies; *strategy != NULL; strategy++) {
        for (const struct lb_break *b = (*strategy)->breaks; b != NULL && b->why != NULL; b++) {
            struct lb_scenario scenario;
            struct lb_error err;
            if (b->scenario == NULL)
                continue;
            if (lb_scenario_load(b->scenario, &scenario, &err) != 0)
                fail_msg("%s: %s", (*strategy)->name, err.message);
            assert_int_equal(scenario.shape, (*strategy)->shape);
        }
    }
}

static void near_names_are_offered_nearest_first(void **state)
{
    (void)state;
    struct lb_nearest nearest;
    char text[128];
    lb_nearest_init(&nearest, "lease-updat");
    lb_nearest_offer(&nearest, "nowait");
    lb_nearest_offer(&nearest, "lease-update-safe");
    lb_nearest_offer(&nearest, "lease-update");
    assert_string_equal(lb_nearest_text(&nearest, text, sizeof text),
                        "; did you mean lease-update or lease-update-safe?");
    lb_nearest_init(&nearest, "zzzz");
    lb_nearest_offer(&nearest, "nowait");
    assert_string_equal(lb_nearest_text(&nearest, text, sizeof text), "");
    /* In a short word a replaced letter makes another word; a letter too much, too few or swapped
     * does not. */
    static const struct {
        const char *wanted, *name;
        bool is_near;
    } shorts[] = {{"nope", "none", false}, {"rnu", "run", true},  {"rum", "run", false},
                  {"kil", "kill", true},   {"runn", "run", true}, {"lsit", "list", true},
                  {"pausr", "pause", true}};
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++) {
        lb_nearest_init(&nearest, shorts[i].wanted);
        lb_nearest_offer(&nearest, shorts[i].name);
        assert_int_equal(nearest.n, shorts[i].is_near ? 1 : 0);
    }
    lb_nearest_init(&nearest, "none-such");
    lb_nearest_offer(&nearest, "none");
    lb_nearest_offer(&nearest, "slots");
    assert_string_equal(lb_nearest_text(&nearest, text, sizeof text), "");
    lb_nearest_init(&nearest, "npoe");
    lb_nearest_offer(&nearest, "none");
    assert_string_equal(lb_nearest_text(&nearest, text, sizeof text), "");
}

/* A file's text has no NUL behind it. */
static void nothing_behind_the_text_is_read(void **state)
{
    (void)state;
    static const char text[] = "# Question: is it\n# so?\n# Expected: yes\nworkers = 3\n#\n";
    for (size_t n = 0; n < sizeof text; n++) {
        struct lb_scenario s;
        struct lb_error err = {0};
        char *exact = malloc(n > 0 ? n : 1); /* a sanitizer sees a read behind it */
        assert_non_null(exact);
        memcpy(exact, text, n);
        int rc = lb_scenario_parse("some/x.ini", exact, n, &s, &err);
        assert_true(rc == 0 || rc == LB_E_FILE);
        free(exact);
    }
    /* The file ends in the middle of a word. */
    struct lb_scenario s;
    struct lb_error err;
    assert_int_equal(lb_scenario_parse("x", "# Question: so?\n# Expected", 23, &s, &err), 0);
    assert_string_equal(s.question, "so? Expec");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_scenarios_are_valid_and_ask),
        cmocka_unit_test(demands_are_in_the_bound),
        cmocka_unit_test(values_go_both_ways),
        cmocka_unit_test(a_file_sets_keys),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(a_pool_goes_with_what_needs_no_session_of_its_own),
        cmocka_unit_test(capacities_are_one_for_all_or_one_each),
        cmocka_unit_test(known_breaks_name_scenarios_that_exist),
        cmocka_unit_test(nothing_behind_the_text_is_read),
        cmocka_unit_test(near_names_are_offered_nearest_first),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
