/* The remaining time: from the known length of each run, and the overhead of earlier ones. */
#include "forecast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

struct made {
    struct lb_report report;
    struct lb_cell cells[3];
    struct lb_outcome outcomes[3];
    struct lb_outcome *runs[3][4];
    struct lb_forecast forecast;
};

static void make(struct made *made, size_t n_cells, size_t n_repeat)
{
    *made = (struct made){.report = {.n_repeat = n_repeat, .n_cells = n_cells}};
    made->report.cells = made->cells;
    for (size_t i = 0; i < 3; i++) {
        for (size_t r = 0; r < 4; r++)
            made->runs[i][r] = &made->outcomes[i];
        made->cells[i] = (struct lb_cell){.state = LB_CELL_PENDING, .runs = made->runs[i]};
    }
    lb_forecast_init(&made->forecast, &made->report, 100 * S);
}

static void ends(struct made *made, size_t cell, uint64_t elapsed_ns, uint64_t at_ns)
{
    made->outcomes[cell].elapsed_ns = elapsed_ns;
    made->cells[cell].n_runs++;
    made->cells[cell].state = LB_CELL_DONE;
    lb_forecast_learn(&made->forecast, &made->cells[cell], at_ns);
}

static uint64_t left(const struct made *made, uint64_t now_s)
{
    return lb_forecast_left(&made->forecast, now_s * S);
}

/* Runs of unlike lengths: a forecast from the first moment, and the overhead of each is learned. */
static void runs_of_known_length(void **state)
{
    (void)state;
    struct made made;
    make(&made, 2, 2);
    made.cells[0].scenario = (struct lb_scenario){.warmup_ns = 1 * S, .duration_ns = 9 * S};
    made.cells[1].scenario = (struct lb_scenario){.duration_ns = 60 * S};
    assert_int_equal(left(&made, 100), 140 * S);
    assert_int_equal(left(&made, 104), 136 * S);
    ends(&made, 0, 9 * S, 112 * S); /* 2 s more than its length */
    assert_int_equal(left(&made, 112), (60 + 10 + 60 + 3 * 2) * S);
    ends(&made, 1, 60 * S, 174 * S);
    ends(&made, 0, 9 * S, 186 * S);
    assert_int_equal(left(&made, 186), 62 * S);
    assert_int_equal(left(&made, 300), 0); /* longer than thought */
    ends(&made, 1, 60 * S, 250 * S);
    assert_int_equal(left(&made, 250), 0);
}

/* A backlog ends when it is empty: unknown until one was emptied; then as its own runs, or else as
 * the others. */
static void runs_that_end_by_themselves(void **state)
{
    (void)state;
    struct made made;
    make(&made, 2, 3);
    made.cells[0].scenario = (struct lb_scenario){.duration_ns = 10 * S, .drain = true};
    made.cells[1].scenario = (struct lb_scenario){.duration_ns = 10 * S, .count = 100};
    assert_int_equal(left(&made, 100), 0);
    ends(&made, 0, 4 * S, 105 * S); /* 1 s besides */
    assert_int_equal(left(&made, 105), 5 * 5 * S);
    ends(&made, 1, 20 * S, 126 * S);
    assert_int_equal(left(&made, 126), (2 * 5 + 2 * 21) * S);
    /* With duration 0 it is the last fault that ends it. */
    make(&made, 1, 2);
    made.cells[0].scenario = (struct lb_scenario){.fault_count = 3};
    assert_int_equal(left(&made, 100), 0);
    ends(&made, 0, 7 * S, 107 * S);
    assert_int_equal(left(&made, 107), 7 * S);
}

/* An exploration has a bound, and most end long before it. Skipped work takes no time. */
static void explorations_and_skips(void **state)
{
    (void)state;
    struct made made;
    make(&made, 3, 1);
    for (size_t i = 0; i < 2; i++) {
        made.cells[i].is_explored = true;
        made.cells[i].explored.time_ns = 6 * S;
    }
    made.cells[2].scenario = (struct lb_scenario){.duration_ns = 2 * S};
    assert_int_equal(left(&made, 100), 14 * S);
    ends(&made, 0, 0, 101 * S);
    assert_int_equal(left(&made, 101), 3 * S);
    made.cells[2].state = LB_CELL_SKIPPED;
    assert_int_equal(left(&made, 101), 1 * S);
    made.forecast.report = NULL;
    assert_int_equal(left(&made, 101), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_known_length),
        cmocka_unit_test(runs_that_end_by_themselves),
        cmocka_unit_test(explorations_and_skips),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
