/* The results of cells: expectations, verdicts over several runs, medians, the command that
 * repeats.
 */
#include "report.h"
#include "alike.h"
#include "text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct lb_break breaks[] = {
    {.guarantee = LB_G_EXCLUSIVE,
     .engines = "postgres,mariadb",
     .scenario = "mutex-pair",
     .why = "a"},
    {.guarantee = LB_G_FIFO, .why = "b"},
    {.guarantee = LB_G_OWNER_RELEASE, .options = "form=in size=2", .why = "c"},
    {.guarantee = LB_G_PROGRESS, .room = "stale_ms!=0", .why = "d"},
    {.guarantee = LB_G_PROGRESS, .room = "stale_ms=0 read=snapshot", .why = "e"},
    {0},
};
static const struct lb_option options[] = {
    {.name = "stale_ms", .default_value = "0"}, {.name = "read", .default_value = "snapshot"}, {0}};
static const struct lb_strategy strategy = {
    .name = "s", .shape = LB_LOCK, .breaks = breaks, .options = options};
static struct lb_setting settings[] = {{"size", "2"}, {"form", "in"}};

/* A cell of the strategy with n runs; runs are zeroed. */
static struct lb_cell make_cell(const char *engine, const char *scenario, size_t n_runs)
{
    struct lb_cell cell = {
        .strategy = &strategy, .strategy_path = "s", .scenario_path = "mutex-hot"};
    snprintf(cell.name, sizeof cell.name, "s");
    snprintf(cell.engine, sizeof cell.engine, "%s", engine);
    lb_scenario_init(&cell.scenario);
    snprintf(cell.scenario.name, sizeof cell.scenario.name, "%s", scenario);
    for (size_t i = 0; i < n_runs; i++) {
        struct lb_outcome *run = calloc(1, sizeof *run);
        assert_non_null(run);
        for (int g = 0; g < LB_GUARANTEES; g++)
            run->judgement.findings[g].verdict = LB_V_NOT_CLAIMED;
        run->witnesses_agree = true;
        lb_cell_add(&cell, run);
    }
    return cell;
}

static enum lb_expectation expectation(const char *engine, const char *scenario, size_t n_settings,
                                       enum lb_guarantee guarantee, enum lb_verdict verdict)
{
    struct lb_cell cell = make_cell(engine, scenario, 1);
    cell.runs[0]->judgement.findings[guarantee].verdict = verdict;
    cell.settings = settings;
    cell.n_settings = n_settings;
    enum lb_expectation result = lb_cell_expectation(&cell, guarantee);
    cell.settings = NULL;
    lb_cell_release(&cell);
    return result;
}

/* A reason is given only where the options leave room for it, given ones and defaults alike. */
static void the_reason_of_a_known_break_fits_the_options(void **state)
{
    (void)state;
    static struct lb_setting given[] = {{"stale_ms", "100"}, {"read", "locking"}};
    struct lb_cell cell = make_cell("postgres", "mutex-hot", 1);
    assert_string_equal(lb_cell_why_broken(&cell, LB_G_PROGRESS), "e");
    cell.settings = given;
    cell.n_settings = 1;
    assert_string_equal(lb_cell_why_broken(&cell, LB_G_PROGRESS), "d");
    cell.settings = given + 1;
    assert_string_equal(lb_cell_why_broken(&cell, LB_G_PROGRESS), "");
    cell.settings = NULL;
    cell.n_settings = 0;
    cell.scenario.stale_ns = 1000000;
    assert_string_equal(lb_cell_why_broken(&cell, LB_G_PROGRESS), "d");
    /* A break that the user expected may show, but need not. */
    cell.runs[0]->judgement.findings[LB_G_PROGRESS].verdict = LB_V_HELD;
    assert_int_equal(lb_cell_expectation(&cell, LB_G_PROGRESS), LB_EXPECT_KEPT);
    cell.scenario.stale_ns = 0;
    assert_int_equal(lb_cell_expectation(&cell, LB_G_PROGRESS), LB_EXPECT_MISSED);
    lb_cell_release(&cell);
}

static void known_breaks_are_expected_where_they_apply(void **state)
{
    (void)state;
    static const struct {
        const char *engine, *scenario;
        size_t n_settings;
        enum lb_guarantee guarantee;
        enum lb_verdict verdict;
        enum lb_expectation wanted;
    } cases[] = {
        /* by engine and scenario */
        {"postgres", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_VIOLATED, LB_EXPECT_CAUGHT},
        {"postgres:2", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_VIOLATED, LB_EXPECT_CAUGHT},
        {"mariadb", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_HELD, LB_EXPECT_MISSED},
        {"sqlite", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_HELD, LB_EXPECT_KEPT},
        {"sqlite", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_VIOLATED, LB_EXPECT_BROKEN},
        {"post", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_VIOLATED, LB_EXPECT_BROKEN},
        /* in another scenario it may show, and need not */
        {"postgres", "mutex-hot", 0, LB_G_EXCLUSIVE, LB_V_VIOLATED, LB_EXPECT_CAUGHT},
        {"postgres", "mutex-hot", 0, LB_G_EXCLUSIVE, LB_V_HELD, LB_EXPECT_KEPT},
        /* everywhere */
        {"sqlite", "limited", 0, LB_G_FIFO, LB_V_HELD, LB_EXPECT_MISSED},
        {"sqlite", "limited", 0, LB_G_FIFO, LB_V_VIOLATED, LB_EXPECT_CAUGHT},
        /* a break of the defaults need not show with options */
        {"sqlite", "limited", 1, LB_G_FIFO, LB_V_HELD, LB_EXPECT_KEPT},
        /* a break of options: all of them */
        {"sqlite", "limited", 2, LB_G_OWNER_RELEASE, LB_V_VIOLATED, LB_EXPECT_CAUGHT},
        {"sqlite", "limited", 2, LB_G_OWNER_RELEASE, LB_V_HELD, LB_EXPECT_MISSED},
        {"sqlite", "limited", 1, LB_G_OWNER_RELEASE, LB_V_VIOLATED, LB_EXPECT_BROKEN},
        {"sqlite", "limited", 0, LB_G_OWNER_RELEASE, LB_V_HELD, LB_EXPECT_KEPT},
        /* no verdict */
        {"postgres", "mutex-pair", 0, LB_G_EXCLUSIVE, LB_V_NOT_TESTED, LB_EXPECT_UNTESTED},
        {"postgres", "mutex-pair", 0, LB_G_PROGRESS, LB_V_NOT_CLAIMED, LB_EXPECT_NOTHING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum lb_expectation got =
            expectation(cases[i].engine, cases[i].scenario, cases[i].n_settings, cases[i].guarantee,
                        cases[i].verdict);
        if (got != cases[i].wanted)
            fail_msg("case %zu: %d and not %d", i, (int)got, (int)cases[i].wanted);
    }
}

/* Breaks by replication are known for built-in strategies with committed grants, on the servers and
 * under the faults where they can happen: elsewhere a violation is unexpected. */
static void breaks_of_replication_are_known_where_they_can_happen(void **state)
{
    (void)state;
    static const struct {
        const char *strategy, *engine, *topology; /* NULL: no such fact */
        enum lb_fault fault;
        enum lb_guarantee guarantee;
        enum lb_verdict verdict;
        enum lb_expectation wanted;
    } cases[] = {
        {"lease-update-safe", "postgres", "async", LB_FAULT_FAILOVER, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        {"lease-update-safe", "postgres", "async", LB_FAULT_PARTITION, LB_G_FENCED, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        {"lease-update-safe", "postgres", "async", LB_FAULT_FAILOVER, LB_G_EXCLUSIVE, LB_V_HELD,
         LB_EXPECT_KEPT},
        {"lease-update-safe", "postgres", "async", LB_FAULT_NONE, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
        {"lease-update-safe", "postgres", "sync", LB_FAULT_FAILOVER, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
        {"lease-update-safe", "postgres", "sync", LB_FAULT_CANCEL_SYNC, LB_G_FENCED, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        {"lease-update-safe", "postgres", NULL, LB_FAULT_FAILOVER, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
        {"lease-queue", "postgres", "async", LB_FAULT_FAILOVER, LB_G_NO_LOSS, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        /* a fence with an epoch grows, but for two primaries at once */
        {"lease-epoch", "postgres", "async", LB_FAULT_FAILOVER, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        {"lease-epoch", "postgres", "async", LB_FAULT_FAILOVER, LB_G_FENCED, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
        {"lease-epoch", "postgres", "async", LB_FAULT_PARTITION, LB_G_FENCED, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        /* no worker may rely on a lock after its session ended */
        {"advisory-session", "postgres", "async", LB_FAULT_FAILOVER, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
        {"row-lock", "mariadb", "galera", LB_FAULT_NONE, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_CAUGHT},
        {"row-lock", "mariadb", "galera", LB_FAULT_NONE, LB_G_EXCLUSIVE, LB_V_HELD,
         LB_EXPECT_MISSED},
        {"row-lock", "mariadb", "galera-one", LB_FAULT_NONE, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
        {"row-lock", "mariadb", NULL, LB_FAULT_NONE, LB_G_EXCLUSIVE, LB_V_HELD, LB_EXPECT_KEPT},
        {"lease-upsert", "mariadb", "galera", LB_FAULT_NONE, LB_G_EXCLUSIVE, LB_V_VIOLATED,
         LB_EXPECT_BROKEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_cell cell = make_cell(cases[i].engine, "mutex-hot", 1);
        struct lb_outcome *run = cell.runs[0];
        cell.strategy = lb_strategy_find(cases[i].strategy);
        assert_non_null(cell.strategy);
        cell.scenario.fault = cases[i].fault;
        run->judgement.findings[cases[i].guarantee].verdict = cases[i].verdict;
        if (cases[i].topology != NULL) {
            run->facts = calloc(1, sizeof *run->facts);
            assert_non_null(run->facts);
            run->facts[0] =
                (struct lb_fact){.name = strdup("topology"), .value = strdup(cases[i].topology)};
            run->n_facts = 1;
        }
        enum lb_expectation got = lb_cell_expectation(&cell, cases[i].guarantee);
        if (got != cases[i].wanted)
            fail_msg("case %zu: %d and not %d", i, (int)got, (int)cases[i].wanted);
        lb_cell_release(&cell);
    }
    /* A user's strategy has no known breaks, even with a built-in name. */
    struct lb_strategy own = *lb_strategy_find("lease-update-safe");
    struct lb_cell cell = make_cell("postgres", "mutex-hot", 1);
    cell.strategy = &own;
    cell.scenario.fault = LB_FAULT_FAILOVER;
    cell.runs[0]->facts = calloc(1, sizeof *cell.runs[0]->facts);
    assert_non_null(cell.runs[0]->facts);
    cell.runs[0]->facts[0] = (struct lb_fact){.name = strdup("topology"), .value = strdup("async")};
    cell.runs[0]->n_facts = 1;
    cell.runs[0]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_VIOLATED;
    assert_int_equal(lb_cell_expectation(&cell, LB_G_EXCLUSIVE), LB_EXPECT_BROKEN);
    lb_cell_release(&cell);
}

static void a_run_that_ended_early_proves_nothing(void **state)
{
    (void)state;
    struct lb_cell cell = make_cell("sqlite", "mutex-hot", 1);
    struct lb_finding *finding = &cell.runs[0]->judgement.findings[LB_G_EXCLUSIVE];
    finding->verdict = LB_V_HELD;
    assert_int_equal(lb_cell_standing(&cell), LB_STANDS_HELD);
    cell.runs[0]->state = LB_RUN_INTERRUPTED;
    assert_int_equal(lb_cell_standing(&cell), LB_STANDS_INCONCLUSIVE);
    assert_int_equal(lb_cell_expectation(&cell, LB_G_EXCLUSIVE), LB_EXPECT_UNTESTED);
    finding->verdict = LB_V_VIOLATED; /* that stands */
    assert_int_equal(lb_cell_standing(&cell), LB_STANDS_VIOLATED);
    assert_int_equal(lb_cell_expectation(&cell, LB_G_EXCLUSIVE), LB_EXPECT_BROKEN);
    lb_cell_release(&cell);
}

static char *as_text(struct lb_cell *cell)
{
    char *text = NULL;
    size_t size = 0;
    struct lb_report report = {.cells = cell, .n_cells = 1};
    struct lb_sink_state sink = {
        .report = &report, .out = open_memstream(&text, &size), .width = 200};
    assert_non_null(sink.out);
    lb_text_details(&sink);
    fclose(sink.out);
    return text;
}

/* Other guarantees may have held: the one that most is about is open. */
static void what_the_clocks_do_not_tell_is_not_held(void **state)
{
    (void)state;
    struct lb_cell cell = make_cell("postgres", "mutex-hot", 1);
    struct lb_finding *findings = cell.runs[0]->judgement.findings;
    findings[LB_G_PROGRESS].verdict = LB_V_HELD;
    findings[LB_G_EXCLUSIVE] = (struct lb_finding){
        .verdict = LB_V_NOT_TESTED, .n_tested = 7, .reason = "2 possible violations"};
    cell.runs[0]->ranks.near[LB_G_EXCLUSIVE].n_violations = 2;
    assert_int_equal(lb_cell_standing(&cell), LB_STANDS_INCONCLUSIVE);
    lb_cell_release(&cell);
}

static void what_could_not_be_judged_is_told(void **state)
{
    (void)state;
    struct lb_cell cell = make_cell("postgres", "mutex-hot", 1);
    struct lb_finding *progress = &cell.runs[0]->judgement.findings[LB_G_PROGRESS];
    cell.state = LB_CELL_DONE;
    cell.runs[0]->witnesses_agree = true;
    *progress = (struct lb_finding){
        .verdict = LB_V_NOT_TESTED, .n_tested = 7, .reason = "all workers stood still"};
    char *text = as_text(&cell);
    assert_null(strstr(text, "stood still")); /* not requested */
    free(text);
    cell.scenario.progress_bound_ns = 1;
    text = as_text(&cell);
    assert_non_null(strstr(text, "not tested"));
    assert_non_null(strstr(text, "progress: all workers stood still"));
    free(text);
    lb_cell_release(&cell);
}

/* Runs that were not planned, since a stall had spoilt the one before, have a file of their own. */
static void each_run_has_a_history_of_its_own(void **state)
{
    (void)state;
    char first[200], second[200];
    struct lb_cell cell = make_cell("sqlite", "mutex-hot", 1);
    const struct lb_report report = {.cells = &cell, .n_cells = 1, .n_repeat = 1};
    lb_store_history_name(&report, &cell, 0, first, sizeof first);
    lb_store_history_name(&report, &cell, 1, second, sizeof second);
    assert_string_equal(first, "history.lbh");
    assert_string_equal(second, "history-2.lbh");
    lb_cell_release(&cell);
}

static void one_violation_in_several_runs_is_one(void **state)
{
    (void)state;
    char text[200];
    const struct lb_outcome *run = NULL;
    struct lb_cell cell = make_cell("sqlite", "mutex-hot", 3);
    for (size_t i = 0; i < 3; i++)
        cell.runs[i]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_HELD;
    assert_string_equal(lb_cell_verdict(&cell, text, sizeof text), "held");
    cell.runs[1]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_VIOLATED;
    cell.runs[2]->judgement.findings[LB_G_FENCED].verdict = LB_V_VIOLATED;
    assert_string_equal(lb_cell_verdict(&cell, text, sizeof text), "VIOLATED exclusive fenced 2/3");
    const struct lb_finding *finding = lb_cell_finding(&cell, LB_G_EXCLUSIVE, &run);
    assert_int_equal(finding->verdict, LB_V_VIOLATED);
    assert_ptr_equal(run, cell.runs[1]);
    lb_cell_release(&cell);
}

static void a_cell_without_verdicts_is_not_held(void **state)
{
    (void)state;
    char text[200];
    struct lb_cell cell = make_cell("sqlite", "mutex-hot", 1);
    cell.runs[0]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_NOT_TESTED;
    assert_string_equal(lb_cell_verdict(&cell, text, sizeof text), "not tested");
    lb_cell_release(&cell);
}

static void numbers_are_medians(void **state)
{
    (void)state;
    struct lb_summary summary;
    struct lb_cell cell = make_cell("sqlite", "mutex-hot", 3);
    static const double rates[] = {300, 100, 110};
    for (size_t i = 0; i < 3; i++) {
        cell.runs[i]->successes_per_s = rates[i];
        cell.runs[i]->service[LB_M_ACQUIRE] = lb_histogram_new();
        assert_non_null(cell.runs[i]->service[LB_M_ACQUIRE]);
        for (size_t n = 0; n < (i == 2 ? 99 : 100); n++)
            lb_histogram_record(cell.runs[i]->service[LB_M_ACQUIRE], 10 * (i + 1));
    }
    lb_cell_summarise(&cell, &summary);
    assert_true(summary.successes_per_s > 109 && summary.successes_per_s < 111);
    assert_int_equal(summary.quantile_ns[0], 20);
    assert_int_equal(summary.max_ns, 30); /* of all runs: below no percentile of theirs */
    /* p90 wants 100 samples of every run; else it is that of all runs together. p99 wants 1000. */
    assert_int_equal(summary.quantile_ns[1], 30);
    assert_int_equal(summary.quantile_ns[3], UINT64_MAX);
    lb_histogram_record(cell.runs[2]->service[LB_M_ACQUIRE], 30);
    lb_cell_summarise(&cell, &summary);
    assert_int_equal(summary.quantile_ns[1], 20);
    lb_cell_release(&cell);
}

static void the_command_repeats_what_differs(void **state)
{
    (void)state;
    char text[1200], label[] = "postgresql://u@h/x?a=1&b=it's";
    struct lb_error err;
    struct lb_target target = {.label = label};
    struct lb_setting option = {"form", "a b"};
    struct lb_cell cell = make_cell("postgres", "mutex-hot", 1);
    cell.strategy_path = "./my lock.sql";
    cell.target = &target;
    assert_int_equal(lb_scenario_load("mutex-hot", &cell.scenario, &err), 0);
    assert_int_equal(lb_scenario_set(&cell.scenario, "workers", "3", &err), 0);
    assert_int_equal(lb_scenario_set(&cell.scenario, "guard", "yes", &err), 0);
    cell.settings = &option;
    cell.n_settings = 1;
    cell.runs[0]->seed = 7;
    assert_string_equal(lb_reproduce(&cell, cell.runs[0], NULL, text, sizeof text),
                        "lockbench run -s './my lock.sql' -d 'postgresql://u@h/x?a=1&b=it'\\''s' "
                        "-S mutex-hot --workers 3 --guard --opt 'form=a b' --seed 7");
    cell.runs[0]->ranks.n = 4;
    lb_reproduce(&cell, cell.runs[0], NULL, text, sizeof text);
    assert_int_equal(strncmp(text, "mpirun -n 4 lockbench-mpi run -s ", 33), 0);
    char small[20];
    lb_reproduce(&cell, cell.runs[0], NULL, small, sizeof small);
    assert_int_equal(strlen(small), sizeof small - 1);
    cell.settings = NULL;
    lb_cell_release(&cell);
}

/* Where a person or a script looks. */
static void a_disagreement_is_an_internal_error_by_name(void **state)
{
    (void)state;
    const struct lb_sink *const sinks[] = {&lb_sink_tap, &lb_sink_text};
    struct lb_cell cell = make_cell("sqlite", "mutex-hot", 1);
    cell.state = LB_CELL_DONE;
    for (int agree = 0; agree < 2; agree++)
        for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
            char *text = NULL;
            size_t size = 0;
            struct lb_report report = {.cells = &cell, .n_cells = 1};
            struct lb_sink_state sink = {
                .report = &report, .out = open_memstream(&text, &size), .width = 80};
            cell.runs[0]->witnesses_agree = agree;
            if (sinks[i]->begin != NULL)
                sinks[i]->begin(&sink);
            if (sinks[i]->cell != NULL)
                sinks[i]->cell(&sink, &cell);
            sinks[i]->end(&sink);
            fclose(sink.out);
            assert_int_equal(strstr(text, "internal error") == NULL, agree);
            assert_int_equal(strstr(text, "not ok") != NULL, !agree && sinks[i] == &lb_sink_tap);
            free(text);
        }
    lb_cell_release(&cell);
}

/* A warning has its own figures in every run, but is one warning. */
static void warnings_that_differ_in_figures_are_alike(void **state)
{
    (void)state;
    assert_true(lb_is_alike("", ""));
    assert_true(lb_is_alike("stood still for 332 ms: stopped", "stood still for 1.20 s: stopped"));
    assert_true(lb_is_alike("it took 3 of 12 s, in all", "it took 5 of 900 ms, in all"));
    assert_false(lb_is_alike("stood still for 332 ms", "stood still for 332 ms: stopped"));
    assert_false(lb_is_alike("late by 5 ms", "early by 5 ms"));
    assert_false(lb_is_alike("late by 5 ms", "late by some ms"));
    assert_false(lb_is_alike("", "late"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_run_has_a_history_of_its_own),
        cmocka_unit_test(the_reason_of_a_known_break_fits_the_options),
        cmocka_unit_test(known_breaks_are_expected_where_they_apply),
        cmocka_unit_test(breaks_of_replication_are_known_where_they_can_happen),
        cmocka_unit_test(a_run_that_ended_early_proves_nothing),
        cmocka_unit_test(what_the_clocks_do_not_tell_is_not_held),
        cmocka_unit_test(what_could_not_be_judged_is_told),
        cmocka_unit_test(one_violation_in_several_runs_is_one),
        cmocka_unit_test(a_cell_without_verdicts_is_not_held),
        cmocka_unit_test(numbers_are_medians),
        cmocka_unit_test(a_disagreement_is_an_internal_error_by_name),
        cmocka_unit_test(the_command_repeats_what_differs),
        cmocka_unit_test(warnings_that_differ_in_figures_are_alike),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
