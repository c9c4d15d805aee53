/* Rounds within a budget: see budget.h.
 *
 * A round of a table is one run of each of its strategies that are still in, in random order. After
 * some rounds there is a look: the strategies that are decided against all others, or equivalent to
 * them, are out and run no more; when no pair is open the table is done. Of the error of 5 % that
 * the whole table may make, the looks have spent as large a share as the time that was used has of
 * the budget (a spending function, as of Lan and DeMets 1983), and the last one spends the rest.
 * The shares add up by Bonferroni, so that it does not matter how many looks there were, nor when.
 *
 * Tables take turns: the next round is of the one that has used the least of its time, so that a
 * slow minute of the machine falls on all of them. A table with one strategy has nothing to decide:
 * it is run for its verdict.
 */
#include "budget.h"

#include "clock.h"
#include "length.h"
#include "memory.h"
#include "ranking.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 500, SINGLE_ROUNDS = 3 };
#define RUN_OVERHEAD_NS UINT64_C(150000000) /* set-up, check and clean-up, before it is known */

struct table {
    const struct lb_cell *first;
    struct lb_looks *looks;
    bool compares; /* at least two strategies */
    bool is_done;
    size_t n_rounds, next_look;
    uint64_t budget_ns, used_ns, last_ns; /* last: of the last round */
    double spent;                         /* of the error */
};

struct budget {
    struct lb_scheduler *scheduler;
    struct lb_report *report;
    struct table *tables;
    size_t n_tables;
    bool *is_in; /* by cell */
};

/* --- what there is --- */

static bool may_run(const struct lb_cell *cell)
{
    return !cell->is_explored && (cell->state == LB_CELL_PENDING || cell->state == LB_CELL_DONE);
}

static bool is_first(const struct lb_report *report, size_t cell)
{
    for (size_t i = 0; i < cell; i++)
        if (lb_ranking_same_table(&report->cells[i], &report->cells[cell]))
            return false;
    return true;
}

static size_t n_in_table(const struct lb_report *report, const struct lb_cell *first)
{
    size_t n = 0;
    for (size_t i = 0; i < report->n_cells; i++)
        n += may_run(&report->cells[i]) && lb_ranking_same_table(&report->cells[i], first);
    return n;
}

static bool applies(const struct lb_report *report)
{
    bool compares = false;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (lb_scenario_is_swept(cell->scenario.name) || cell->is_explored)
            return false;
        compares |= n_in_table(report, &report->cells[i]) >= 2;
    }
    return compares;
}

/* A strategy alone in its table is run for its verdict, for the scenario's duration. */
static void choose_length(const struct lb_report *report, const struct lb_cell *cell, bool compares,
                          size_t n_runs, struct lb_scenario *ret)
{
    if (compares)
        lb_length_choose(report, cell, n_runs, ret);
    else
        *ret = cell->scenario;
}

/* At least so long will a run take. */
static uint64_t run_ns(const struct lb_report *report, const struct lb_cell *cell, bool compares,
                       size_t n_runs)
{
    struct lb_scenario scenario;
    choose_length(report, cell, compares, n_runs, &scenario);
    bool ends_itself = scenario.drain || scenario.count > 0;
    return RUN_OVERHEAD_NS + scenario.warmup_ns + (ends_itself ? 0 : scenario.duration_ns);
}

/* Of the rounds of first's table up to n_rounds, less those that there were. */
static uint64_t rounds_ns(const struct lb_report *report, const struct lb_cell *first,
                          size_t n_before, size_t n_rounds)
{
    uint64_t sum_ns = 0;
    bool compares = n_before < n_rounds && n_in_table(report, first) >= 2;
    for (size_t i = 0; i < report->n_cells && n_before < n_rounds; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (!may_run(cell) || !lb_ranking_same_table(cell, first))
            continue;
        for (size_t round = n_before; round < n_rounds; round++)
            sum_ns += run_ns(report, cell, compares, round);
    }
    return sum_ns;
}

/* Of what is not compared. */
static uint64_t singles_ns(const struct lb_report *report)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < report->n_cells; i++)
        if (is_first(report, i) && n_in_table(report, &report->cells[i]) == 1)
            sum_ns += rounds_ns(report, &report->cells[i], 0, SINGLE_ROUNDS);
    return sum_ns;
}

static size_t n_compared(const struct lb_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->n_cells; i++)
        n += is_first(report, i) && n_in_table(report, &report->cells[i]) >= 2;
    return n;
}

/* Of each table that compares. */
static uint64_t share_ns(const struct lb_report *report, uint64_t total_ns)
{
    uint64_t singles = singles_ns(report), n = n_compared(report);
    if (total_ns == 0 || n == 0)
        return LB_BUDGET_TABLE_NS;
    return total_ns > singles ? (total_ns - singles) / n : 1;
}

static uint64_t forecast(const struct lb_report *report, uint64_t total_ns)
{
    uint64_t sum_ns = singles_ns(report), share = share_ns(report, total_ns);
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *first = &report->cells[i];
        if (!is_first(report, i) || n_in_table(report, first) < 2)
            continue;
        uint64_t least = rounds_ns(report, first, 0, LB_BLOCKS_MIN_ROUNDS);
        sum_ns += least > share ? least : share;
    }
    return sum_ns;
}

static void make_tables(struct budget *budget, uint64_t total_ns, struct lb_looks *looks)
{
    struct lb_report *report = budget->report;
    for (size_t i = 0; i < report->n_cells; i++) {
        struct lb_cell *first = &report->cells[i];
        if (!is_first(report, i) || n_in_table(report, first) == 0)
            continue;
        struct table *table = &budget->tables[budget->n_tables];
        *table = (struct table){.first = first,
                                .looks = &looks[budget->n_tables++],
                                .compares = n_in_table(report, first) >= 2,
                                .next_look = LB_BLOCKS_MIN_ROUNDS};
        table->budget_ns = table->compares ? share_ns(report, total_ns)
                                           : rounds_ns(report, first, 0, SINGLE_ROUNDS);
        for (size_t c = i; c < report->n_cells; c++)
            if (lb_ranking_same_table(&report->cells[c], first))
                budget->is_in[c] = true;
    }
}

/* --- running --- */

static uint64_t left_ns(const struct budget *budget)
{
    uint64_t sum_ns = 0;
    for (size_t t = 0; t < budget->n_tables; t++) {
        const struct table *table = &budget->tables[t];
        uint64_t least =
            rounds_ns(budget->report, table->first, table->n_rounds, LB_BLOCKS_MIN_ROUNDS);
        uint64_t rest = table->budget_ns > table->used_ns ? table->budget_ns - table->used_ns : 0;
        if (!table->is_done)
            sum_ns += rest > least ? rest : least;
    }
    return sum_ns;
}

/* The cells of a table that are still in, shuffled. */
static size_t order(const struct budget *budget, const struct table *table, size_t *cells)
{
    struct lb_random random;
    size_t n = 0;
    for (size_t i = 0; i < budget->report->n_cells; i++)
        if (budget->is_in[i] && may_run(&budget->report->cells[i]) &&
            lb_ranking_same_table(&budget->report->cells[i], table->first))
            cells[n++] = i;
    lb_random_init(&random, budget->report->seed,
                   (uint64_t)(table - budget->tables) * MOST_ROUNDS + table->n_rounds);
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)lb_random_below(&random, i), swap = cells[i - 1];
        cells[i - 1] = cells[j];
        cells[j] = swap;
    }
    return n;
}

/* The time of runs before an interruption. */
static uint64_t resumed_ns(const struct lb_cell *cell, uint64_t warmup_ns)
{
    const struct lb_outcome *run = cell->runs[cell->n_runs - 1];
    return RUN_OVERHEAD_NS + warmup_ns + run->elapsed_ns;
}

static int run_round(struct budget *budget, struct table *table, size_t *cells,
                     struct lb_error *err)
{
    size_t n = order(budget, table, cells);
    uint64_t used_ns = 0;
    for (size_t i = 0; i < n && !lb_scheduler_stopped(budget->scheduler); i++) {
        struct lb_cell *cell = &budget->report->cells[cells[i]];
        uint64_t start_ns = lb_now_ns(), left = left_ns(budget);
        struct lb_scenario scenario;
        bool resumed;
        if (cell->state == LB_CELL_NOT_RUN || cell->state == LB_CELL_FAILED)
            continue; /* the target has failed meanwhile */
        lb_scheduler_left(budget->scheduler, left > used_ns ? left - used_ns : 0);
        size_t n_runs = cell->n_runs;
        choose_length(budget->report, cell, table->compares, n_runs, &scenario);
        int rc =
            lb_scheduler_run(budget->scheduler, cell, &scenario, table->n_rounds, &resumed, err);
        if (rc != 0)
            return rc;
        used_ns += resumed && cell->n_runs > n_runs ? resumed_ns(cell, scenario.warmup_ns)
                                                    : lb_now_ns() - start_ns;
        /* A strategy without a success is not ranked. */
        if (table->compares && lb_ranking_is_without(cell))
            budget->is_in[cells[i]] = false;
    }
    table->n_rounds++;
    table->used_ns += used_ns;
    table->last_ns = used_ns;
    table->is_done = n == 0 || table->n_rounds == MOST_ROUNDS;
    return 0;
}

/* --- looking --- */

/* A strategy with an undecided pair stays in. */
static void decide(struct budget *budget, struct table *table)
{
    struct lb_ranking ranking;
    struct lb_report *report = budget->report;
    if (table->first->scenario.rate[0] != '\0')
        return; /* waits and costs are compared, by all rounds of the budget */
    lb_ranking_make(report, LB_RANK_RATE, &ranking);
    bool any = false;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_rank_table *ranks;
        const struct lb_rank *rank = lb_ranking_find(&ranking, &report->cells[i], &ranks);
        if (rank == NULL || !lb_ranking_same_table(&report->cells[i], table->first))
            continue;
        size_t at = (size_t)(rank - ranks->ranks);
        bool is_open = false;
        for (size_t j = 0; j < ranks->n; j++)
            is_open |= ranks->is_open[at * ranks->n + j];
        budget->is_in[i] = budget->is_in[i] && is_open;
        any |= budget->is_in[i];
    }
    lb_ranking_release(&ranking);
    table->is_done |= !any;
}

static void look(struct budget *budget, struct table *table)
{
    struct lb_report *report = budget->report;
    struct lb_looks *looks = table->looks;
    if (!table->compares) {
        table->is_done |= table->n_rounds >= SINGLE_ROUNDS;
        return;
    }
    if (table->n_rounds < LB_BLOCKS_MIN_ROUNDS)
        return;
    /* One more round is run if more than half of it is within the time. */
    bool is_last = table->is_done || looks->n == LB_MOST_LOOKS - 1 ||
                   table->used_ns + table->last_ns / 2 >= table->budget_ns;
    if (!is_last && table->n_rounds < table->next_look)
        return;
    double share = (double)table->used_ns / (double)table->budget_ns;
    double due = (1 - LB_RANKING_LEVEL) * fmin(1, share) - table->spent;
    double alpha = is_last ? 1 - LB_RANKING_LEVEL - table->spent : due;
    table->spent += alpha;
    looks->at[looks->n].n_rounds = table->n_rounds;
    looks->at[looks->n++].alpha = alpha;
    for (size_t i = 0; i < report->n_cells; i++)
        if (lb_ranking_same_table(&report->cells[i], table->first))
            report->cells[i].looks = looks;
    table->next_look = table->n_rounds + table->n_rounds * 2 / 3;
    table->is_done |= is_last;
    decide(budget, table);
}

/* The one that has used the least of its time; NULL: all are done. */
static struct table *next(const struct budget *budget)
{
    struct table *least = NULL;
    for (size_t t = 0; t < budget->n_tables; t++) {
        struct table *table = &budget->tables[t];
        if (!table->is_done &&
            (least == NULL || (double)table->used_ns / (double)table->budget_ns <
                                  (double)least->used_ns / (double)least->budget_ns))
            least = table;
    }
    return least;
}

/* The rounds after the last look: of a table that was interrupted. */
static void close_looks(struct budget *budget)
{
    for (size_t t = 0; t < budget->n_tables; t++) {
        struct table *table = &budget->tables[t];
        if (table->is_done || !table->compares || table->n_rounds < LB_BLOCKS_MIN_ROUNDS)
            continue;
        table->is_done = true;
        look(budget, table);
    }
}

static int run(struct lb_scheduler *scheduler, uint64_t total_ns, struct lb_looks **ret_looks,
               struct lb_error *err)
{
    struct lb_report *report = lb_scheduler_report(scheduler);
    size_t n = report->n_cells;
    struct budget budget = {.scheduler = scheduler,
                            .report = report,
                            .tables = lb_calloc(n, sizeof *budget.tables),
                            .is_in = lb_calloc(n, sizeof *budget.is_in)};
    size_t *cells = lb_calloc(n, sizeof *cells);
    int rc = 0;
    *ret_looks = lb_calloc(n, sizeof **ret_looks);
    make_tables(&budget, total_ns, *ret_looks);
    for (struct table *table = next(&budget);
         table != NULL && rc == 0 && !lb_scheduler_stopped(scheduler); table = next(&budget)) {
        rc = run_round(&budget, table, cells, err);
        if (rc == 0 && !lb_scheduler_stopped(scheduler))
            look(&budget, table);
    }
    if (rc == 0)
        close_looks(&budget);
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].n_runs > report->n_repeat)
            report->n_repeat = report->cells[i].n_runs;
    free(budget.tables);
    free(budget.is_in);
    free(cells);
    return rc;
}

const struct lb_budgeting lb_budgeting = {.applies = applies, .forecast = forecast, .run = run};
