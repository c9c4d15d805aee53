/* Strategies against the fastest one: who is the reference, what is compared, what is corrected. */
#include "ranking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { RUNS = 6, MOST_CELLS = 8 };

struct fixture {
    struct lb_report report;
    struct lb_cell cells[MOST_CELLS];
};

static struct lb_cell *add_cell(struct fixture *f, const char *name, const char *engine)
{
    static const struct lb_strategy strategy = {.name = "s", .shape = LB_LOCK};
    struct lb_cell *cell = &f->cells[f->report.n_cells++];
    f->report.cells = f->cells;
    cell->strategy = &strategy;
    snprintf(cell->name, sizeof cell->name, "%s", name);
    snprintf(cell->engine, sizeof cell->engine, "%s", engine);
    lb_scenario_init(&cell->scenario);
    snprintf(cell->scenario.name, sizeof cell->scenario.name, "hot");
    return cell;
}

static struct lb_outcome *add_run(struct lb_cell *cell, double rate)
{
    struct lb_outcome *run = calloc(1, sizeof *run);
    struct lb_error err;
    assert_non_null(run);
    run->successes_per_s = rate;
    run->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_HELD;
    assert_int_equal(lb_cell_add(cell, run, &err), 0);
    return run;
}

/* RUNS runs around a rate, 1 % apart. */
static struct lb_cell *add_rates(struct fixture *f, const char *name, const char *engine,
                                 double rate)
{
    struct lb_cell *cell = add_cell(f, name, engine);
    for (int i = 0; i < RUNS; i++)
        add_run(cell, rate * (1 + 0.01 * (i - RUNS / 2)));
    return cell;
}

static void a_p_value_is_never_zero(void **state)
{
    (void)state;
    char text[16];
    assert_string_equal(lb_p_text(1e-11, text, sizeof text), "<0.001");
    assert_string_equal(lb_p_text(0.0476, text, sizeof text), "0.048");
    assert_string_equal(lb_p_text(1, text, sizeof text), "1.000");
}

static struct lb_ranking ranking_of(const struct fixture *f)
{
    struct lb_ranking ranking;
    struct lb_error err;
    assert_int_equal(lb_ranking_make(&f->report, &ranking, &err), 0);
    return ranking;
}

static void end(struct fixture *f, struct lb_ranking *ranking)
{
    lb_ranking_release(ranking);
    for (size_t i = 0; i < f->report.n_cells; i++)
        lb_cell_release(&f->cells[i]);
}

static void each_table_has_its_own_reference(void **state)
{
    (void)state;
    struct fixture f = {0};
    add_rates(&f, "slow", "sqlite", 100);
    add_rates(&f, "fast", "sqlite", 200);
    add_rates(&f, "fast", "postgres", 1000);
    add_rates(&f, "slow", "postgres", 500);
    struct lb_cell *other = add_rates(&f, "fast", "sqlite", 900);
    other->scenario.workers = 77; /* the same scenario, another number of workers: not comparable */
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.n_rows, 2);
    assert_int_equal(r.n_family, 2);
    assert_ptr_equal(r.rows[0].cell, &f.cells[0]);
    assert_ptr_equal(r.rows[0].reference, &f.cells[1]);
    assert_ptr_equal(r.rows[1].reference, &f.cells[2]);
    for (size_t i = 0; i < 2; i++) {
        assert_near(r.rows[i].comparison.ratio.value, 0.5, 1e-9);
        /* 6 against 6, none overlapping: 2 / C(12,6), twice by Holm for the smaller of two */
        assert_near(r.rows[i].comparison.p, 2.0 / 924, 1e-12);
        assert_near(r.rows[i].comparison.p_adjusted, 4.0 / 924, 1e-12);
        assert_int_equal(r.rows[i].comparison.verdict, LB_STATS_SLOWER);
    }
    end(&f, &r);
}

static void the_reference_held(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct lb_cell *broken = add_rates(&f, "broken", "sqlite", 900);
    broken->runs[2]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_VIOLATED;
    add_rates(&f, "good", "sqlite", 300);
    add_rates(&f, "also", "sqlite", 301);
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.n_rows, 2);
    assert_int_equal(r.n_family, 3); /* all pairs were looked at to pick the fastest */
    assert_string_equal(r.rows[0].cell->name, "broken");
    assert_string_equal(r.rows[0].reference->name, "also");
    assert_int_equal(r.rows[0].comparison.verdict, LB_STATS_FASTER);
    assert_near(r.rows[0].comparison.p_adjusted, 6.0 / 924, 1e-12);
    assert_string_equal(r.rows[1].cell->name, "good");
    assert_int_equal(r.rows[1].comparison.verdict, LB_STATS_EQUIVALENT);
    end(&f, &r);
}

static void only_complete_runs_count(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct lb_cell *a = add_rates(&f, "a", "sqlite", 100);
    struct lb_cell *b = add_rates(&f, "b", "sqlite", 50);
    struct lb_estimate rate;
    add_run(a, 1e9)->state = LB_RUN_INTERRUPTED;
    assert_true(lb_cell_rate(a, &rate));
    assert_near(rate.value, 99.5, 1e-9);
    assert_near(rate.interval.low, 97, 1e-9);
    assert_near(rate.interval.high, 102, 1e-9);
    for (int i = 1; i < RUNS; i++)
        b->runs[i]->state = LB_RUN_INVALID;
    assert_false(lb_cell_rate(b, &rate));
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.n_rows, 0);
    end(&f, &r);
}

static void nothing_to_compare_is_no_rows(void **state)
{
    (void)state;
    struct fixture f = {0};
    add_run(add_cell(&f, "a", "sqlite"), 100);
    add_run(add_cell(&f, "b", "sqlite"), 50);
    add_cell(&f, "skipped", "sqlite")->state = LB_CELL_SKIPPED;
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.n_rows, 0);
    end(&f, &r);
}

/* All of a held cell's runs came to nothing, those of a violated one did not: infinite ratios. */
static void a_reference_of_nothing_is_json(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct lb_cell *still = add_cell(&f, "still", "sqlite"), *bad = add_cell(&f, "bad", "sqlite");
    for (int i = 0; i < RUNS; i++) {
        add_run(still, 0);
        add_run(bad, 100)->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_VIOLATED;
    }
    struct lb_ranking r = ranking_of(&f);
    assert_ptr_equal(r.rows[0].reference, still);
    assert_true(r.rows[0].comparison.ratio.interval.low > 1e300);
    still->strategy_path = bad->strategy_path = "s";
    still->scenario_path = bad->scenario_path = "mutex-hot";
    char *text = NULL;
    size_t size = 0;
    struct lb_error err = {0};
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(lb_json_write(&f.report, out, &err), 0);
    fclose(out);
    assert_non_null(strstr(text, "\"low\": null"));
    free(text);
    end(&f, &r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_of_nothing_is_json),
        cmocka_unit_test(each_table_has_its_own_reference),
        cmocka_unit_test(the_reference_held),
        cmocka_unit_test(only_complete_runs_count),
        cmocka_unit_test(nothing_to_compare_is_no_rows),
        cmocka_unit_test(a_p_value_is_never_zero),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
