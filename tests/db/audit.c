/* Exploring on a real engine with a rule that is wrong on purpose: the audit of what it left out
 * finds a schedule that does not come to the same, and says so.
 */
#include "explore.h"
#include "select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The worker whose name comes last takes the lock from any holder. */
static const char steals[] =
    "-- strategy: steals\n-- shape: lock\n-- claims: exclusive\n"
    "-- name: setup\nCREATE TABLE sl (name varchar(64) PRIMARY KEY, owner varchar(64));\n"
    "-- name: resource\nINSERT INTO sl (name) VALUES (:resource);\n"
    "-- name: acquire\nUPDATE sl SET owner = :worker WHERE name = :resource AND (owner IS NULL OR "
    "owner > :worker);\n"
    "-- name: release\nUPDATE sl SET owner = NULL WHERE name = :resource AND owner = :worker;\n"
    "-- name: teardown\nDROP TABLE sl;\n";

static int explore(unsigned without, double audit, struct lb_explored **ret, struct lb_error *err)
{
    struct lb_target target;
    struct lb_file *file = NULL;
    struct lb_strategy strategy;
    assert_int_equal(lb_target_parse("sqlite:", &target, err), 0);
    assert_int_equal(lb_file_parse("steals.sql", steals, strlen(steals), -1, &file, err), 0);
    lb_strategy_of_file(file, &strategy);
    const struct lb_explore_plan plan = {.strategy = &strategy,
                                         .target = &target,
                                         .file = file,
                                         .workers = 3,
                                         .rounds = 1,
                                         .polls = 5,
                                         .batch = 1,
                                         .capacity = 1,
                                         .ttl_ms = 10000,
                                         .without = without,
                                         .audit = audit,
                                         .search = {.preemptions = -1, .seed = 1, .all = true}};
    int r = lb_explore(&plan, ret, err);
    lb_file_free(file);
    lb_target_release(&target);
    return r;
}

static void a_rule_that_is_wrong_is_an_error(void **state)
{
    static const unsigned rules[] = {LB_WITHOUT_NAMES, LB_WITHOUT_COMMITS};
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct lb_explored *explored = NULL;
        struct lb_error err = {0};
        int r = explore(rules[i], 10, &explored, &err);
        lb_explored_free(explored);
        if (r != LB_E_ENV || strstr(err.message, "an error of lockbench: the schedule ") == NULL)
            fail_msg("rule %u: %d, %s", rules[i], r, err.message);
    }
}

static void what_is_right_passes(void **state)
{
    (void)state;
    struct lb_explored *explored = NULL;
    struct lb_error err = {0};
    assert_int_equal(explore(0, 10, &explored, &err), 0);
    assert_true(explored->complete);
    assert_int_equal(explored->findings[LB_G_EXCLUSIVE].verdict, LB_V_VIOLATED);
    lb_explored_free(explored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_that_is_wrong_is_an_error),
        cmocka_unit_test(what_is_right_passes),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
