/* Strategies against the fastest one: the reference, the comparisons, and their correction. */
#include "ranking.h"
#include "text.h"

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
    assert_non_null(run);
    run->successes_per_s = rate;
    run->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_HELD;
    lb_cell_add(cell, run);
    return run;
}

/* RUNS runs around a rate, which scatter by 1 % in an order of the cell's own. */
static struct lb_cell *add_rates(struct fixture *f, const char *name, const char *engine,
                                 double rate)
{
    struct lb_cell *cell = add_cell(f, name, engine);
    size_t shift = f->report.n_cells;
    for (size_t i = 0; i < RUNS; i++)
        add_run(cell,
                rate * (1 + 0.01 * ((double)((i * (1 + shift % 2 * 4) + shift) % RUNS) - 2.5)));
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
    lb_ranking_make(&f->report, LB_RANK_RATE, &ranking);
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
    assert_int_equal(r.n_tables, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct lb_rank_table *table = &r.tables[i];
        assert_int_equal(table->n, 2);
        assert_ptr_equal(table->ranks[0].cell, &f.cells[1 + i]);
        assert_int_equal(table->reference, 0);
        assert_int_equal(table->n_rounds, RUNS);
        assert_near(table->ranks[1].ratio.value, 0.5, 0.001);
        assert_int_equal(table->ranks[1].verdict, LB_STATS_SLOWER);
        assert_string_equal(table->ranks[0].letters, "a");
        assert_string_equal(table->ranks[1].letters, "b");
        assert_int_equal(table->n_open, 0);
        assert_true(table->ranks[1].ratio.interval.low < 0.5 &&
                    table->ranks[1].ratio.interval.high > 0.5);
    }
    const struct lb_rank_table *table;
    assert_ptr_equal(lb_ranking_find(&r, &f.cells[3], &table), &r.tables[1].ranks[1]);
    assert_null(lb_ranking_find(&r, other, &table));
    end(&f, &r);
}

static void the_reference_held(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[3000];
    struct lb_cell *broken = add_rates(&f, "broken", "sqlite", 900);
    broken->runs[2]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_VIOLATED;
    add_rates(&f, "good", "sqlite", 300);
    add_rates(&f, "also", "sqlite", 300.5);
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.n_tables, 1);
    struct lb_rank_table *table = &r.tables[0];
    assert_string_equal(table->ranks[0].cell->name, "broken");
    assert_int_equal(table->ranks[0].verdict, LB_STATS_FASTER);
    assert_int_equal(table->reference, 1);
    assert_int_equal(table->ranks[2].verdict, LB_STATS_EQUIVALENT);
    assert_string_equal(table->ranks[1].letters, table->ranks[2].letters);
    assert_string_not_equal(table->ranks[0].letters, table->ranks[1].letters);
    lb_rank_answer(table, LB_RANK_RATE, text, sizeof text);
    assert_non_null(strstr(text, "Fastest: "));
    assert_non_null(strstr(text, "Not to choose: broken (violated) 3.0"));
    assert_null(strstr(text, "Fastest: broken"));
    end(&f, &r);
}

/* A named reference is compared with all, even if another is the fastest; then there are no
 * groups. */
static void a_reference_can_be_named(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[3000];
    add_rates(&f, "a", "sqlite", 100);
    add_rates(&f, "b", "sqlite", 200);
    add_rates(&f, "c", "sqlite", 50);
    f.report.reference = "a";
    struct lb_ranking r = ranking_of(&f);
    const struct lb_rank_table *table = &r.tables[0];
    assert_true(table->is_named);
    assert_int_equal(table->reference, 1);
    assert_int_equal(table->ranks[0].verdict, LB_STATS_FASTER);
    assert_int_equal(table->ranks[2].verdict, LB_STATS_SLOWER);
    assert_string_equal(table->ranks[0].letters, "");
    lb_rank_answer(table, LB_RANK_RATE, text, sizeof text);
    assert_non_null(strstr(text, "Against a, the reference: Faster: b 2.0"));
    end(&f, &r);
}

/* A strategy without a success has no rate to rank. */
static void without_a_success_there_is_no_rank(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[3000];
    struct lb_cell *never = add_cell(&f, "never", "sqlite");
    for (int i = 0; i < RUNS; i++)
        add_run(never, 0);
    add_rates(&f, "a", "sqlite", 100);
    add_rates(&f, "b", "sqlite", 200);
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.tables[0].n, 2);
    assert_int_equal(r.tables[0].n_without, 1);
    assert_non_null(strstr(lb_rank_answer(&r.tables[0], LB_RANK_RATE, text, sizeof text),
                           "nothing succeeded: never."));
    end(&f, &r);
}

/* Of those that hold, the fastest that recovers by itself; one that an operator must help is not.
 */
static void the_choice_weighs_recovery(void **state)
{
    (void)state;
    static const struct lb_strategy helped = {.name = "h", .shape = LB_LOCK, .by_hand = "delete"};
    static const struct lb_strategy recovers = {
        .name = "r", .shape = LB_LOCK, .claims = LB_G_BIT(LB_G_RECOVERY)};
    struct fixture f = {0};
    char text[3000];
    add_rates(&f, "fast", "sqlite", 200)->strategy = &helped;
    add_rates(&f, "lease", "sqlite", 100)->strategy = &recovers;
    struct lb_cell *slow = add_rates(&f, "slow", "sqlite", 50);
    slow->strategy = &recovers;
    struct lb_ranking r = ranking_of(&f);
    lb_rank_choice(&r.tables[0], &r, text, sizeof text);
    assert_non_null(strstr(text, "dies: lease, 0.50 ["));
    assert_non_null(strstr(text, "of the rate of fast."));
    lb_ranking_release(&r);
    f.cells[1].runs[0]->judgement.findings[LB_G_EXCLUSIVE].verdict = LB_V_VIOLATED;
    r = ranking_of(&f);
    assert_non_null(strstr(lb_rank_choice(&r.tables[0], &r, text, sizeof text), "dies: slow, "));
    lb_ranking_release(&r);
    f.cells[1].strategy = slow->strategy = &helped;
    r = ranking_of(&f);
    assert_non_null(strstr(lb_rank_choice(&r.tables[0], &r, text, sizeof text),
                           "fast is the first of those that held, but none"));
    assert_non_null(strstr(text, "then, delete."));
    end(&f, &r);
}

/* RUNS runs of an open loop, each of which served so many of 1000 arrivals. */
static struct lb_cell *add_load(struct fixture *f, const char *name, uint64_t n_served)
{
    struct lb_cell *cell = add_rates(f, name, "sqlite", 300);
    snprintf(cell->scenario.rate, sizeof cell->scenario.rate, "300/s");
    for (size_t i = 0; i < cell->n_runs; i++) {
        cell->runs[i]->n_due = 1000;
        cell->runs[i]->counts[LB_M_ACQUIRE].succeeded = n_served;
    }
    return cell;
}

static const char *answer_of(const struct fixture *f, char *buf, size_t size)
{
    FILE *out = fmemopen(buf, size, "w");
    assert_non_null(out);
    struct lb_sink_state state = {.out = out, .report = &f->report, .width = 400};
    assert_true(lb_text_answer(&state));
    fclose(out);
    return buf;
}

/* All that keep up have the same rate: none is the fastest. A generator that was late speaks
 * against no strategy. */
static void an_open_loop_has_no_fastest(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[6000];
    add_load(&f, "behind", 900);
    struct lb_cell *late = add_load(&f, "late", 1000);
    add_load(&f, "good", 1000);
    add_load(&f, "broken", 1000)->runs[2]->judgement.findings[LB_G_EXCLUSIVE].verdict =
        LB_V_VIOLATED;
    late->runs[1]->state = LB_RUN_INVALID;
    snprintf(late->runs[1]->reason, sizeof late->runs[1]->reason,
             LB_LATE_GENERATOR ": free workers began 5.03 ms late");
    assert_true(lb_run_is_late(late->runs[1]));
    struct lb_ranking r[LB_RANK_MEASURES];
    lb_rankings_make(&f.report, r);
    const struct lb_rank_table *table = &r[LB_RANK_RATE].tables[0];
    assert_string_equal(lb_rank_question(table, text, sizeof text), "Which keep up with 300/s?");
    lb_rank_answer(table, LB_RANK_RATE, text, sizeof text);
    assert_true(strstr(text, "Keep up: late, good.") != NULL ||
                strstr(text, "Keep up: good, late.") != NULL);
    assert_non_null(strstr(text, "Fall behind: behind (served 90.0 %)."));
    assert_non_null(strstr(text, "broken (violated)"));
    assert_null(strstr(text, "astest"));
    assert_string_equal(lb_rank_power(table, LB_RANK_RATE, text, sizeof text), "");
    lb_rank_choice(table, r, text, sizeof text);
    assert_null(strstr(text, "none held"));
    lb_rankings_release(r);
    assert_null(strstr(answer_of(&f, text, sizeof text), "do not count"));
    for (size_t i = 2; i < RUNS; i++) {
        late->runs[i]->state = LB_RUN_INVALID;
        snprintf(late->runs[i]->reason, sizeof late->runs[i]->reason, "%s", late->runs[1]->reason);
    }
    assert_non_null(strstr(
        answer_of(&f, text, sizeof text),
        "late on sqlite, hot: inconclusive, as 5 of 6 rounds do not count: " LB_LATE_GENERATOR));
    for (size_t i = 0; i < f.report.n_cells; i++)
        lb_cell_release(&f.cells[i]);
}

/* "None held" is a finding about strategies, not about a measurement. */
static void what_is_undecided_is_not_called_broken(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[3000];
    for (int i = 0; i < 2; i++) {
        struct lb_cell *cell = add_rates(&f, i == 0 ? "a" : "b", "sqlite", 300);
        cell->runs[3]->state = LB_RUN_INTERRUPTED;
    }
    struct lb_ranking r = ranking_of(&f);
    assert_null(strstr(lb_rank_answer(&r.tables[0], LB_RANK_RATE, text, sizeof text), "none held"));
    assert_non_null(strstr(text, "Not decided: "));
    assert_null(strstr(text, "Not to choose"));
    lb_rank_choice(&r.tables[0], &r, text, sizeof text);
    assert_non_null(strstr(text, "To choose: not decided by these runs"));
    end(&f, &r);
}

/* A protocol that is known to be broken is no choice, even if these runs did not show it. */
static void what_is_known_to_be_broken_is_no_choice(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[3000];
    add_rates(&f, "fifo-poll", "postgres", 300)->strategy = lb_strategy_find("fifo-poll");
    add_rates(&f, "lock-row", "postgres", 100)->strategy = lb_strategy_find("lock-row");
    struct lb_ranking r = ranking_of(&f);
    lb_rank_answer(&r.tables[0], LB_RANK_RATE, text, sizeof text);
    assert_non_null(strstr(text, "Fastest: lock-row."));
    assert_non_null(strstr(text, "Not to choose: fifo-poll (known to be broken)"));
    assert_true(lb_strategy_is_broken(lb_strategy_find("fifo-poll")));
    assert_true(lb_strategy_is_broken(lb_strategy_find("lease-update")));
    assert_false(lb_strategy_is_broken(lb_strategy_find("fifo-poll-safe")));
    assert_false(lb_strategy_is_broken(lb_strategy_find("skip-locked")));
    end(&f, &r);
}

/* Two rounds say nothing, and that is said. */
static void two_rounds_decide_nothing(void **state)
{
    (void)state;
    struct fixture f = {0};
    char text[3000];
    for (int c = 0; c < 2; c++) {
        struct lb_cell *cell = add_cell(&f, c == 0 ? "a" : "b", "sqlite");
        add_run(cell, 100 + 100 * c);
        add_run(cell, 101 + 100 * c);
    }
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.tables[0].ranks[1].verdict, LB_STATS_INCONCLUSIVE);
    assert_non_null(
        strstr(lb_rank_power(&r.tables[0], LB_RANK_RATE, text, sizeof text), "at least 3"));
    assert_string_equal(lb_rank_ratio(&r.tables[0].ranks[1], text, sizeof text), "0.50");
    end(&f, &r);
}

/* The looks of a table are replayed: what the first of them decided stays. */
static void looks_are_replayed(void **state)
{
    (void)state;
    static const struct lb_looks looks = {2, {{3, 0.02}, {6, 0.03}}};
    struct fixture f = {0};
    struct lb_cell *a = add_rates(&f, "a", "sqlite", 100), *b = add_rates(&f, "b", "sqlite", 200);
    a->looks = b->looks = &looks;
    a->runs[5]->successes_per_s = 20000; /* after the first look */
    a->runs[4]->successes_per_s = 1;
    struct lb_ranking r = ranking_of(&f);
    const struct lb_rank_table *table;
    const struct lb_rank *rank = lb_ranking_find(&r, a, &table);
    assert_int_equal(table->n_looks, 2);
    assert_near(table->alpha, 0.03, 1e-12);
    const struct lb_rank *other = lb_ranking_find(&r, b, &table);
    const struct lb_rank *loser = rank == &table->ranks[table->reference] ? other : rank;
    assert_int_equal(loser->look, 0);
    assert_int_equal(loser->n_rounds, 3);
    assert_int_not_equal(loser->verdict, LB_STATS_INCONCLUSIVE);
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
    assert_near(rate.value, 100, 1e-9);
    assert_near(rate.interval.low, 97.5, 1e-9);
    assert_near(rate.interval.high, 102.5, 1e-9);
    for (int i = 1; i < RUNS; i++)
        b->runs[i]->state = LB_RUN_INVALID;
    assert_false(lb_cell_rate(b, &rate));
    struct lb_ranking r = ranking_of(&f);
    assert_int_equal(r.n_tables, 0);
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
    assert_int_equal(r.n_tables, 0);
    end(&f, &r);
}

/* --- of all rounds together --- */

/* n waits around scale ms, and CPU that goes with it. */
static void add_waits(struct lb_cell *cell, double scale, size_t n, struct lb_random *random)
{
    for (size_t i = 0; i < cell->n_runs; i++) {
        struct lb_outcome *run = cell->runs[i];
        double slow = 1 + 0.05 * lb_random_unit(random);
        run->elapsed_ns = 1000000000;
        run->has_cpu = true;
        run->cpu_user_ns = (uint64_t)(1e6 * scale * slow * run->successes_per_s);
        run->service[LB_M_ACQUIRE] = lb_histogram_new();
        assert_non_null(run->service[LB_M_ACQUIRE]);
        for (size_t k = 0; k < n; k++)
            lb_histogram_record(run->service[LB_M_ACQUIRE],
                                (uint64_t)(1e6 * scale * slow * (1 + lb_random_unit(random))));
    }
}

/* Without line breaks, and without the marks of an escape. */
static char *plain(const char *text)
{
    char *copy = strdup(text), *to = copy;
    assert_non_null(copy);
    for (const char *from = text; *from != '\0'; from++) {
        bool is_blank = *from == ' ' || *from == '\n';
        if (*from != '\\' && !(is_blank && to > copy && to[-1] == ' '))
            *to++ = is_blank ? ' ' : *from;
    }
    *to = '\0';
    return copy;
}

static char *rendered(const struct fixture *f, const struct lb_sink *sink)
{
    char *text = NULL;
    size_t size = 0;
    struct lb_error err = {0};
    struct lb_sink_state state = {
        .report = &f->report, .out = open_memstream(&text, &size), .width = 80, .err = &err};
    assert_non_null(state.out);
    if (sink->begin != NULL)
        sink->begin(&state);
    sink->end(&state);
    fclose(state.out);
    char *copy = plain(text);
    free(text);
    return copy;
}

static void expect_in(const struct fixture *f, const char *line)
{
    const struct lb_sink *const sinks[] = {&lb_sink_text, &lb_sink_markdown, &lb_sink_json};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        char *text = rendered(f, sinks[i]);
        if (strstr(text, line) == NULL)
            print_error("%s lacks: %s\n", sinks[i]->name, line);
        assert_non_null(strstr(text, line));
        free(text);
    }
}

/* p99 and CPU: of all rounds, in the same words and numbers everywhere, with who lacks what. */
/* A run that ends by the clock cuts off the waits that are long for it. */
static void waits_that_are_long_for_their_runs_are_not_compared(void **state)
{
    (void)state;
    struct fixture f = {.report = {.seed = 3}};
    struct lb_random random;
    char text[LB_RANK_TEXT];
    lb_random_init(&random, lb_test_seed(), 0);
    for (int c = 0; c < 3; c++) {
        struct lb_cell *cell = add_rates(&f,
                                         c == 0   ? "a"
                                         : c == 1 ? "b"
                                                  : "long",
                                         "sqlite", 100 + c);
        add_waits(cell, c == 2 ? 60 : 1, 400, &random); /* the runs are of 1 s */
    }
    for (int drain = 0; drain < 2; drain++) {
        struct lb_ranking r[LB_RANK_MEASURES];
        lb_rankings_make(&f.report, r);
        assert_int_equal(r[LB_RANK_P99].tables[0].n, drain ? 3 : 2);
        assert_int_equal(r[LB_RANK_CPU].tables[0].n, 3);
        lb_rank_beside(&f.report, &r[LB_RANK_RATE].tables[0], &r[LB_RANK_P99], text, sizeof text);
        bool is_told = strstr(text, "Not compared, for too little was measured: long (1") != NULL &&
                       strstr(text, ", in runs of 1.00 s)") != NULL;
        if (is_told == (drain == 1))
            print_error("%s\n", text);
        assert_int_equal(is_told, drain == 0);
        lb_rankings_release(r);
        for (size_t c = 0; c < 3; c++)
            f.cells[c].scenario.drain = true; /* it ends by itself: nothing is cut off */
    }
    for (size_t i = 0; i < f.report.n_cells; i++)
        lb_cell_release(&f.cells[i]);
}

static void waits_and_cpu_are_of_all_rounds(void **state)
{
    (void)state;
    struct fixture f = {.report = {.seed = 3}};
    struct lb_random random;
    char text[LB_RANK_TEXT], row[400];
    static const uint64_t waits[] = {400, 400, 100, 2000};
    static const char *const names[] = {"a", "b", "few", "short"};
    lb_random_init(&random, lb_test_seed(), 0);
    for (int c = 0; c < 4; c++) {
        struct lb_cell *cell = add_rates(&f, names[c], "sqlite", 100 + c);
        cell->strategy_path = "s";
        cell->scenario_path = "mutex-hot";
        for (int i = 2; i < RUNS && c == 3; i++)
            cell->runs[i]->state = LB_RUN_INVALID;
        add_waits(cell, c == 1 ? 2 : 1, waits[c], &random);
    }
    struct lb_ranking r[LB_RANK_MEASURES];
    lb_rankings_make(&f.report, r);
    for (int m = LB_RANK_P99; m < LB_RANK_MEASURES; m++) {
        const struct lb_rank_table *table;
        const struct lb_rank *b = lb_ranking_find(&r[m], &f.cells[1], &table);
        assert_non_null(b);
        assert_int_equal(table->n, m == LB_RANK_P99 ? 2 : 3);
        assert_near(b->ratio.value, 2, 0.15);
        assert_true(b->ratio.interval.low > 1.05 && b->ratio.interval.high < 3.8);
        assert_int_equal(b->verdict, LB_STATS_SLOWER);
        assert_int_equal(b->n_rounds, RUNS);
        lb_rank_beside(&f.report, &r[LB_RANK_RATE].tables[0], &r[m], text, sizeof text);
        assert_non_null(strstr(text, m == LB_RANK_P99 ? "p99 of the wait: Lowest: a. "
                                                      : "CPU per success: Lowest: "));
        assert_non_null(strstr(text, "Higher: b "));
        assert_non_null(strstr(text, "6 rounds show a difference of "));
        assert_non_null(strstr(
            text,
            m == LB_RANK_P99
                ? "measured: few (600 of at least 1000 waits), short (2 of at least 3 rounds)."
                : "measured: short (2 of at least 3 rounds)."));
        expect_in(&f, text);
        /* CSV: the numbers of the interval. */
        char *csv = rendered(&f, &lb_sink_csv);
        snprintf(row, sizeof row, ",%.6g,%.6g,%.6g,%s,higher,", b->ratio.value,
                 b->ratio.interval.low, b->ratio.interval.high, b->letters);
        if (strstr(csv, row) == NULL)
            print_error("csv lacks %s\n", row);
        assert_non_null(strstr(csv, row));
        free(csv);
    }
    lb_rankings_release(r);
    for (size_t i = 0; i < f.report.n_cells; i++)
        lb_cell_release(&f.cells[i]);
}

/* If the waits show no difference, the costs decide. The choice says if they show none either. */
static void alike_waits_leave_the_choice_to_the_cost(void **state)
{
    (void)state;
    for (int is_dear = 0; is_dear < 2; is_dear++) {
        struct fixture f = {.report = {.seed = 3}};
        struct lb_random random;
        char text[LB_RANK_TEXT];
        lb_random_init(&random, lb_test_seed(), 0);
        for (int c = 0; c < 2; c++) {
            struct lb_cell *cell = add_load(&f, c == 0 ? "first" : "second", 1000);
            add_waits(cell, 1, 400, &random);
            for (size_t i = 0; i < cell->n_runs && c == 0 && is_dear; i++)
                cell->runs[i]->cpu_user_ns *= 3;
        }
        struct lb_ranking r[LB_RANK_MEASURES];
        lb_rankings_make(&f.report, r);
        const struct lb_rank_table *rates = &r[LB_RANK_RATE].tables[0];
        struct lb_choice choice = lb_rank_choose(rates, r);
        assert_int_equal(choice.measured, is_dear ? LB_RANK_CPU : LB_RANK_P99);
        assert_int_equal(choice.is_alike, !is_dear);
        if (is_dear)
            assert_string_equal(choice.rank->cell->name, "second");
        lb_rank_choice(rates, r, text, sizeof text);
        assert_non_null(strstr(text, is_dear ? "by the CPU per success, since the waits do not"
                                             : "by the p99 of the wait, which tells none of them"));
        lb_rankings_release(r);
        for (size_t i = 0; i < f.report.n_cells; i++)
            lb_cell_release(&f.cells[i]);
    }
}

/* Of no two strategies there are waits enough: that is said, too. */
static void too_few_waits_are_told(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int c = 0; c < 2; c++) {
        struct lb_cell *cell = add_rates(&f, c == 0 ? "a" : "b", "sqlite", 100);
        cell->strategy_path = "s";
        cell->scenario_path = "mutex-hot";
        add_waits(cell, 1, 20, &random);
    }
    expect_in(&f, "p99 of the wait: Not compared, for too little was measured: a (120 of at least "
                  "1000 waits), "
                  "b (120 of at least 1000 waits).");
    for (size_t i = 0; i < f.report.n_cells; i++)
        lb_cell_release(&f.cells[i]);
}

/* Few rounds have intervals without ends: JSON has no number for them. */
static void no_interval_is_json(void **state)
{
    (void)state;
    struct fixture f = {0};
    for (int c = 0; c < 2; c++) {
        struct lb_cell *cell = add_cell(&f, c == 0 ? "a" : "b", "sqlite");
        add_run(cell, 100 + 100 * c);
        add_run(cell, 0); /* half a success */
        cell->strategy_path = "s";
        cell->scenario_path = "mutex-hot";
    }
    struct lb_ranking r = ranking_of(&f);
    char *text = NULL;
    size_t size = 0;
    struct lb_error err = {0};
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(lb_json_write(&f.report, out, &err), 0);
    fclose(out);
    assert_non_null(strstr(text, "\"high\": null"));
    assert_non_null(strstr(text, "\"answer\": \"Fastest: "));
    free(text);
    end(&f, &r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_that_are_long_for_their_runs_are_not_compared),
        cmocka_unit_test(waits_and_cpu_are_of_all_rounds),
        cmocka_unit_test(alike_waits_leave_the_choice_to_the_cost),
        cmocka_unit_test(too_few_waits_are_told),
        cmocka_unit_test(no_interval_is_json),
        cmocka_unit_test(each_table_has_its_own_reference),
        cmocka_unit_test(the_reference_held),
        cmocka_unit_test(a_reference_can_be_named),
        cmocka_unit_test(without_a_success_there_is_no_rank),
        cmocka_unit_test(the_choice_weighs_recovery),
        cmocka_unit_test(an_open_loop_has_no_fastest),
        cmocka_unit_test(what_is_undecided_is_not_called_broken),
        cmocka_unit_test(what_is_known_to_be_broken_is_no_choice),
        cmocka_unit_test(two_rounds_decide_nothing),
        cmocka_unit_test(looks_are_replayed),
        cmocka_unit_test(only_complete_runs_count),
        cmocka_unit_test(nothing_to_compare_is_no_rows),
        cmocka_unit_test(a_p_value_is_never_zero),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
