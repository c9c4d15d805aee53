/* What fits on a screen: the line of progress, and tables that leave columns out. */
#include "progress.h"
#include "table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void the_line_keeps_its_figures(void **state)
{
    (void)state;
    static struct lb_cell cell = {.name = "lease-update-safe", .engine = "postgres"};
    snprintf(cell.scenario.name, sizeof cell.scenario.name, "mutex-hot[workers=16 hold=10ms]");
    struct lb_progress_view view = {.n_done = 122,
                                    .n_total = 4000,
                                    .cell = &cell,
                                    .p50_ns = 55300,
                                    .p99_ns = 20400000,
                                    .busy_share = 0.97};
    struct lb_progress progress = {.phase = "running",
                                   .fraction = 0.84,
                                   .n_successes = 5,
                                   .successes_per_s = 12345,
                                   .n_overlaps = 123};
    char line[700];
    static const char figures[] = "84 % 123 OVERLAPS 12.3k/s p50 55.3 us p99 20.4 ms busy 97 %";
    for (unsigned width = 40; width <= 200; width += 5) {
        view.width = width;
        lb_progress_line(&view, &progress, line, sizeof line);
        assert_true(strlen(line) < width);
        if (width >= 80) {
            assert_non_null(strstr(line, figures));
            assert_non_null(strstr(line, "[123/4000] leas"));
        }
    }
    view.width = 200;
    assert_string_equal(lb_progress_line(&view, &progress, line, sizeof line),
                        "[123/4000] lease-update-safe postgres mutex-hot[workers=16 hold=10ms]: 84 "
                        "% 123 OVERLAPS 12.3k/s p50 55.3 us p99 20.4 ms busy 97 %");
    view.p99_ns = 0; /* too few for it, enough for the median */
    assert_non_null(
        strstr(lb_progress_line(&view, &progress, line, sizeof line), " p50 55.3 us p99 n/a busy"));
    progress = (struct lb_progress){.phase = "setup", .fraction = -1};
    view.p50_ns = 0;
    lb_progress_line(&view, &progress, line, sizeof line);
    assert_non_null(strstr(line, "]: setup"));
    assert_null(strstr(line, "/s"));
}

/* The remaining time of an exploration is shown once it is known, and is never below the certain
 * part. */
static void exploring_tells_how_much_is_left(void **state)
{
    (void)state;
    enum { SECOND = 1000000000 };
    struct lb_explore_view view = {.strategy = "cas", .engine = "sqlite"};
    struct lb_search_result so_far = {.n_schedules = 1, .n_moves = 10, .whole = 91000};
    char line[300];
    assert_string_equal(lb_explore_line(&view, &so_far, SECOND / 2, line, sizeof line),
                        "cas sqlite: 1 schedule, 500 ms");
    so_far.share = 0.0004;
    lb_explore_line(&view, &so_far, SECOND / 2, line, sizeof line);
    assert_string_equal(line, "cas sqlite: 1 schedule, less than 0.1 %, 500 ms");
    so_far = (struct lb_search_result){
        .n_schedules = 900, .n_moves = 9000, .whole = 91000, .share = 0.1};
    lb_explore_line(&view, &so_far, UINT64_C(2) * SECOND, line, sizeof line);
    assert_string_equal(line, "cas sqlite: 900 schedules, roughly 10 %, 2.00 s, some 18 s left");
    so_far.whole = 900000; /* it has jumped */
    lb_explore_line(&view, &so_far, UINT64_C(3) * SECOND, line, sizeof line);
    assert_non_null(strstr(line, ", 3.00 s, at least 1"));
    so_far.whole = 800000;
    lb_explore_line(&view, &so_far, UINT64_C(5) * SECOND, line, sizeof line);
    assert_non_null(strstr(line, ", at least "));
    lb_explore_line(&view, &so_far, UINT64_C(12) * SECOND, line, sizeof line);
    assert_non_null(strstr(line, ", some "));
    so_far = (struct lb_search_result){.n_schedules = 50, .share = 0.5, .violated = 1};
    lb_explore_line(&view, &so_far, UINT64_C(2) * SECOND, line, sizeof line); /* random ones */
    assert_string_equal(line,
                        "cas sqlite: 50 schedules, roughly 50 %, 2.00 s, some 2 s left, VIOLATED");
}

static void tables_leave_columns_out(void **state)
{
    (void)state;
    static const struct lb_column columns[] = {
        {"name", false}, {"a", true}, {"bb", true}, {"", false}};
    static const char *const order[] = {"", "a", "bb", "name", NULL};
    static const char *const all[] = {"name  a  bb\none   1  22  ###\n",
                                      "name  a  bb\none   1  22\n", "name  bb\none   22\n",
                                      "name\none\n"};
    static const struct {
        unsigned width;
        int which;
        const char *hidden;
    } cases[] = {{80, 0, ""},  {16, 0, ""}, {15, 1, ""},     {11, 1, ""},
                 {10, 2, "a"}, {8, 2, "a"}, {7, 3, "a, bb"}, {1, 3, "a, bb"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200] = "", hidden[50];
        struct lb_table *table = lb_table_new(columns, 4);
        FILE *out = fmemopen(text, sizeof text, "w");
        lb_table_add(table, "one", LB_INK_PLAIN);
        lb_table_add(table, "1", LB_INK_PLAIN);
        lb_table_add(table, "22", LB_INK_PLAIN);
        lb_table_add(table, "###", LB_INK_PLAIN);
        lb_table_fit(table, cases[i].width, order, hidden, sizeof hidden);
        lb_table_print(table, out, false);
        fclose(out);
        lb_table_free(table);
        assert_string_equal(text, all[cases[i].which]);
        assert_string_equal(hidden, cases[i].hidden);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_keeps_its_figures),
        cmocka_unit_test(exploring_tells_how_much_is_left),
        cmocka_unit_test(tables_leave_columns_out),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
