/* Which lines of a plan are run again, when the machine stood still: no clock is asked here. */
#include "ask_again.h"

#include "outlook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

struct made {
    struct lb_strategy strategy;
    struct lb_outlook outlook;
    struct lb_report report;
    struct lb_cell cells[2];
    struct lb_outcome outcome;
    struct lb_outcome *runs[8];
};

/* A plan of 20 s: one line of 4 s with a bound on the recovery, in which the machine stood still,
 * and one of 3 s that is done and took 2 s. */
static void make(struct made *m)
{
    *m = (struct made){.strategy = {.name = "stranger",
                                    .claims = LB_G_BIT(LB_G_RECOVERY) | LB_G_BIT(LB_G_PROGRESS)}};
    m->outlook.budget_ns = 20 * S;
    m->outlook.n_asks = 2;
    m->outlook.asks[0] = (struct lb_ask){.name = "dead-holder", .cost_ns = 4 * S};
    m->outlook.asks[1] = (struct lb_ask){.name = "mutex-hot", .cost_ns = 3 * S};
    for (int i = 0; i < 8; i++)
        m->runs[i] = &m->outcome;
    m->outcome.judgement.measures.n_stalls = 1;
    m->outcome.judgement.measures.n_deaths = 1;
    for (int g = 0; g < LB_GUARANTEES; g++)
        m->outcome.judgement.findings[g].verdict = LB_V_NOT_CLAIMED;
    m->outcome.judgement.findings[LB_G_RECOVERY].verdict = LB_V_NOT_TESTED;
    m->outcome.judgement.findings[LB_G_PROGRESS].verdict = LB_V_HELD;
    static const char *const names[] = {"dead-holder", "mutex-hot"}; /* the same as the asks' */
    for (int i = 0; i < 2; i++) {
        struct lb_cell *cell = &m->cells[i];
        *cell = (struct lb_cell){.strategy = &m->strategy,
                                 .outlook = &m->outlook,
                                 .state = LB_CELL_DONE,
                                 .n_runs = 1,
                                 .runs = m->runs,
                                 .took_ns = (i == 0 ? 4 : 2) * S};
        cell->scenario.recovery_bound_ns = cell->scenario.progress_bound_ns = S;
        snprintf(cell->scenario.name, sizeof cell->scenario.name, "%s", names[i]);
    }
    m->report.n_repeat = 1;
    m->report.cells = m->cells;
    m->report.n_cells = 2;
}

static bool is_asked(const struct made *m)
{
    return lb_is_asked_again(&m->report, &m->cells[0]);
}

static void what_a_stall_has_spoilt_is_asked_again(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    assert_true(is_asked(&m));
    m.outcome.judgement.findings[LB_G_RECOVERY].verdict = LB_V_HELD;
    assert_false(is_asked(&m));
    m.outcome.judgement.findings[LB_G_RECOVERY].verdict = LB_V_VIOLATED;
    assert_false(is_asked(&m));
    make(&m);
    m.cells[0].outlook = NULL; /* the user's own scenario */
    assert_false(is_asked(&m));
    make(&m);
    m.cells[0].is_explored = true;
    assert_false(is_asked(&m));
    make(&m);
    m.outcome.state = LB_RUN_INTERRUPTED;
    assert_false(is_asked(&m));
}

static void without_a_bound_or_a_death_there_is_nothing_to_tell(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    m.cells[0].scenario.recovery_bound_ns = 0;
    assert_false(is_asked(&m));
    make(&m);
    m.outcome.judgement.measures.n_deaths = 0;
    assert_false(is_asked(&m));
    m.cells[0].scenario.fault =
        LB_FAULT_KILL; /* no worker has died yet: the next run may show a death */
    assert_true(is_asked(&m));
    make(&m);
    m.outcome.judgement.findings[LB_G_RECOVERY].verdict = LB_V_HELD;
    m.outcome.judgement.findings[LB_G_PROGRESS].verdict = LB_V_NOT_TESTED;
    assert_true(is_asked(&m));
    m.outcome.judgement.measures.n_stalls = 0; /* not tested for another reason */
    assert_false(is_asked(&m));
}

static void only_within_the_budget_and_not_for_ever(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    m.outlook.budget_ns = 10 * S; /* 4 + 2 have gone by, 4 more fit */
    assert_true(is_asked(&m));
    m.outlook.budget_ns = 10 * S - 1;
    assert_false(is_asked(&m));
    make(&m);
    m.outlook.budget_ns = 11 * S;
    m.cells[1].state = LB_CELL_PENDING; /* pending cells count with their cost */
    assert_true(is_asked(&m));
    m.outlook.budget_ns = 11 * S - 1;
    assert_false(is_asked(&m));
    make(&m);
    m.outlook.budget_ns = 1000 * S;
    m.cells[0].n_runs = 4;
    assert_true(is_asked(&m));
    m.cells[0].n_runs = 5;
    assert_false(is_asked(&m));
}

static void what_there_is_no_time_for_is_not_run(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    m.cells[0].state = LB_CELL_PENDING;
    m.cells[0].n_runs = 0;
    m.cells[0].took_ns = 0;
    m.outlook.budget_ns = 6 * S; /* 2 have gone by, 4 fit */
    assert_false(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.outlook.budget_ns = 6 * S - 1;
    assert_true(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.cells[1].took_ns = 6 * S;   /* a slow machine: twice the 3 that it should have taken */
    m.outlook.budget_ns = 12 * S; /* 6 have gone by, 4 become 8, and a sixth may be added */
    assert_false(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.outlook.budget_ns = 12 * S - 1;
    assert_true(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.cells[1].took_ns = 20 * S;
    m.outlook.budget_ns = 20 * S;
    assert_true(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.outlook.is_guest = true; /* a program: its start does not count, and its run took 3 */
    m.outcome.elapsed_ns = 3 * S;
    m.outlook.budget_ns = 7 * S;
    assert_false(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.outlook.budget_ns = 6 * S - 1;
    assert_true(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.cells[1].n_runs = 0; /* nothing was run before */
    m.outlook.budget_ns = 1 * S;
    assert_false(lb_is_out_of_budget(&m.report, &m.cells[0]));
    m.cells[1].n_runs = 1;
    m.cells[0].outlook = NULL; /* the user's own scenario */
    assert_false(lb_is_out_of_budget(&m.report, &m.cells[0]));
}

/* A plan of 20 s, with 20 / 12 s in reserve. */
static void unused_time_goes_to_later_explorations(void **state)
{
    (void)state;
    struct made m;
    const uint64_t free_ns = 20 * S - 20 * S / LB_OUTLOOK_RESERVE;
    make(&m);
    m.cells[0].is_explored = true;
    m.cells[0].state = LB_CELL_PENDING;
    m.cells[0].n_runs = 0;
    m.cells[0].took_ns = 0;
    assert_int_equal(lb_exploring_time(&m.report, &m.cells[0]), free_ns - 2 * S); /* all the rest */
    m.cells[1].took_ns = 17 * S; /* late: some of its own time comes off */
    assert_true(lb_exploring_time(&m.report, &m.cells[0]) < 4 * S);
    make(&m);
    for (int i = 0; i < 2; i++) {
        m.cells[i].is_explored = true;
        m.cells[i].state = LB_CELL_PENDING;
        m.cells[i].n_runs = 0;
        m.cells[i].took_ns = 0;
    }
    uint64_t half_ns = (free_ns - 7 * S) / 2; /* both are to come: each has a half */
    assert_in_range(lb_exploring_time(&m.report, &m.cells[0]), 4 * S + half_ns,
                    4 * S + half_ns + 1);
    m.outlook.budget_ns = 7 * S; /* with the reserve the plan is too long: each has its own */
    assert_int_equal(lb_exploring_time(&m.report, &m.cells[0]), 4 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_stall_has_spoilt_is_asked_again),
        cmocka_unit_test(without_a_bound_or_a_death_there_is_nothing_to_tell),
        cmocka_unit_test(only_within_the_budget_and_not_for_ever),
        cmocka_unit_test(what_there_is_no_time_for_is_not_run),
        cmocka_unit_test(unused_time_goes_to_later_explorations),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
