/* Lines of a plan that are run again: see ask_again.h.
 *
 * Bounds are judged by a clock. A machine that stands still for a fifth of a run, or does not run a
 * worker, cannot decide them, and a defect of the protocol would be missed. The unused budget of a
 * plan (from explorations that are complete) is for such lines.
 */
#include "ask_again.h"

#include "outlook.h"

#include <string.h>

enum { MOST_RUNS = 5 };

static bool is_untested(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    return lb_cell_expectation(cell, guarantee) == LB_EXPECT_UNTESTED;
}

/* Without a bound, and without deaths, another run could show nothing new. */
static bool is_spoilt(const struct lb_cell *cell)
{
    const struct lb_scenario *scenario = &cell->scenario;
    const bool is_long_enough =
        scenario->duration_ns == 0 ||
        scenario->progress_bound_ns <= scenario->warmup_ns + scenario->duration_ns;
    const struct lb_outcome *last = cell->runs[cell->n_runs - 1];
    if (last->state != LB_RUN_COMPLETE)
        return false;
    bool stood_still = last->judgement.measures.n_stalls > 0;
    bool dies = lb_fault_is(cell->scenario.fault, LB_FAULT_KILLS) ||
                (stood_still && last->judgement.measures.n_deaths > 0);
    return (cell->scenario.recovery_bound_ns > 0 && dies && is_untested(cell, LB_G_RECOVERY)) ||
           (scenario->progress_bound_ns > 0 && is_long_enough && stood_still &&
            is_untested(cell, LB_G_PROGRESS));
}

/* Another run draws other times. It has a use where chance has shown nothing yet. */
static bool draws_anew(const struct lb_cell *cell)
{
    bool shows = false;
    for (int g = 0; g < LB_GUARANTEES; g++)
        shows = shows || lb_cell_expectation(cell, (enum lb_guarantee)g) == LB_EXPECT_BROKEN;
    return !shows && cell->outlook->budget_ns >= LB_OUTLOOK_LONG_NS;
}

static uint64_t cost_of(const struct lb_cell *cell)
{
    const struct lb_outlook *outlook = cell->outlook;
    for (size_t i = 0; i < outlook->n_asks; i++)
        if (strcmp(outlook->asks[i].name, cell->scenario.name) == 0)
            return outlook->asks[i].cost_ns;
    return 0;
}

/* The finished part of a plan, with its planned cost. */
struct used {
    uint64_t took_ns, planned_ns; /* planned: no more than it cost */
    uint64_t late_ns;             /* by which runs took longer than they cost */
    double slowness;              /* of stressed runs, by which more is reckoned with; from 1 on */
};

/* The time that counts. A program's start may take seconds, at each run anew: only its work counts.
 */
static uint64_t counted(const struct lb_cell *cell)
{
    uint64_t ns = 0;
    if (!cell->outlook->is_guest)
        return cell->took_ns;
    for (size_t r = 0; r < cell->n_runs; r++)
        ns += cell->scenario.warmup_ns + cell->runs[r]->elapsed_ns;
    return ns < cell->took_ns ? ns : cell->took_ns;
}

static struct used used_by(const struct lb_report *report, const struct lb_outlook *outlook)
{
    struct used used = {.slowness = 1};
    double took_ns = 0, cost_ns = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != outlook || cell->n_runs == 0)
            continue;
        uint64_t counted_ns = counted(cell), whole_ns = cost_of(cell) * cell->n_runs;
        used.took_ns += counted_ns;
        used.planned_ns += counted_ns < whole_ns ? counted_ns : whole_ns;
        used.late_ns += counted_ns > whole_ns ? counted_ns - whole_ns : 0;
        took_ns += cell->is_explored ? 0 : (double)counted_ns;
        cost_ns += cell->is_explored ? 0 : (double)whole_ns;
    }
    if (cost_ns > 0 && took_ns > cost_ns)
        used.slowness = took_ns / cost_ns;
    return used;
}

/* A busy machine takes longer for each run, to set it up and to judge it. A sixth of the budget is
 * for that; more comes off the last lines. */
bool lb_is_out_of_budget(const struct lb_report *report, const struct lb_cell *cell)
{
    if (cell->outlook == NULL || cell->n_runs > 0 || report->n_repeat > 1)
        return false;
    const uint64_t budget_ns = cell->outlook->budget_ns, cost_ns = cost_of(cell);
    const struct used used = used_by(report, cell->outlook);
    double end_ns = (double)used.took_ns + (double)cost_ns * used.slowness;
    return used.took_ns > 0 && (used.planned_ns + cost_ns > budget_ns ||
                                end_ns > (double)budget_ns + (double)budget_ns / 6);
}

/* Explorations that were complete early leave their time to those behind them, as long as all later
 * ones have their own. Overruns are taken off again, but for a third of theirs.
 */
uint64_t lb_exploring_time(const struct lb_report *report, const struct lb_cell *cell)
{
    const uint64_t own_ns = cost_of(cell), budget_ns = cell->outlook->budget_ns;
    const struct used used = used_by(report, cell->outlook);
    uint64_t ns = budget_ns / LB_OUTLOOK_RESERVE, n_to_come = 0;
    if (used.late_ns > budget_ns / 3)
        return own_ns / 3;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *other = &report->cells[i];
        if (other->outlook != cell->outlook)
            continue;
        bool is_to_come = other->state == LB_CELL_PENDING;
        n_to_come += is_to_come && other->is_explored;
        ns += is_to_come ? cost_of(other) : other->took_ns;
    }
    if (report->n_repeat > 1 || n_to_come == 0)
        return own_ns;
    if (ns >= budget_ns)
        return own_ns - (uint64_t)(2.0 * (double)own_ns * (double)used.late_ns / (double)budget_ns);
    return own_ns + (budget_ns - ns) / n_to_come;
}

bool lb_is_asked_again(const struct lb_report *report, const struct lb_cell *cell)
{
    if (cell->outlook == NULL || cell->is_explored || cell->state != LB_CELL_DONE ||
        cell->n_runs >= report->n_repeat - 1 + MOST_RUNS || !(is_spoilt(cell) || draws_anew(cell)))
        return false;
    uint64_t ns = cost_of(cell);
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *other = &report->cells[i];
        const bool is_to_come = other->state == LB_CELL_PENDING;
        if (other->outlook != cell->outlook)
            continue;
        ns += is_to_come ? cost_of(other) : counted(other);
        /* Each of the runs to come is to be repeated as often. */
        ns += is_to_come && !other->is_explored && !is_spoilt(cell) ? cost_of(other) : 0;
    }
    return ns <= cell->outlook->budget_ns;
}
