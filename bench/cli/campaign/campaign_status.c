/* The exit status of a campaign: see campaign_status.h. */
#include "campaign_status.h"

#include "untested.h"

/* Was anything violated that is not known to be broken? */
static bool has_finding(const struct lb_cell *cell)
{
    const struct lb_outcome *proven;
    bool found = lb_cell_proof(cell, &proven) == LB_EXPECT_BROKEN;
    for (int g = 0; g < LB_GUARANTEES; g++)
        found |= lb_cell_expectation(cell, (enum lb_guarantee)g) == LB_EXPECT_BROKEN;
    return found;
}

/* compare, run, plan: a violation counts, a known one too, unless it comes from options that the
 * user did not request and that exist to show it: the compared strategy does not have them. */
static bool is_violated(const struct lb_baseline *baseline, const struct lb_cell *cell)
{
    return lb_cell_standing(cell) == LB_STANDS_VIOLATED && !lb_baseline_violates(baseline, cell) &&
           (!cell->shows_break || has_finding(cell));
}

/* True if all its runs came to their end and nothing was granted in any, not even in a warm-up. */
static bool is_without_grant(const struct lb_cell *cell)
{
    bool is_idle = cell->n_runs > 0 && !cell->is_explored && cell->scenario.workers > 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        const struct lb_measures *measures = &run->judgement.measures;
        is_idle = is_idle && run->state == LB_RUN_COMPLETE &&
                  run->counts[LB_M_ACQUIRE].succeeded == 0 && run->n_items == 0 &&
                  measures->n_holds == 0 && measures->n_claims == 0;
    }
    return is_idle;
}

static enum lb_exit status_of_cell(const struct lb_campaign *campaign,
                                   const struct lb_baseline *baseline, const struct lb_cell *cell)
{
    enum lb_exit status = LB_EXIT_OK;
    if (cell->state == LB_CELL_FAILED)
        status = lb_exit_of(cell->error.code);
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        if (run->state == LB_RUN_SERVER_GONE)
            status = lb_exit_worse(status, LB_EXIT_ENVIRONMENT);
        /* The scheduler has judged an invalid run by its consequences. */
        for (int g = 0; g < LB_GUARANTEES; g++)
            if (run->judgement.findings[g].is_asked)
                status = lb_exit_worse(status, LB_EXIT_INCONCLUSIVE);
        bool is_invalid = run->state == LB_RUN_INVALID && !campaign->judges_runs;
        /* A line of a plan in which no fault happened says so; the others stand. */
        if (cell->outlook != NULL && run->lacks_fault)
            is_invalid = false;
        if (is_invalid && campaign->defaults.chooses && lb_run_is_spared(cell, run))
            is_invalid = false;
        if (is_invalid || lb_ranks_are_near(&run->ranks) || !run->witnesses_agree)
            status = lb_exit_worse(status, LB_EXIT_INCONCLUSIVE);
    }
    if (!campaign->judge_expectations && campaign->schedule == NULL && is_without_grant(cell))
        status = lb_exit_worse(status, LB_EXIT_INCONCLUSIVE);
    if (!campaign->judge_expectations)
        return is_violated(baseline, cell) ? lb_exit_worse(status, LB_EXIT_VIOLATED) : status;
    bool is_wrong = has_finding(cell);
    for (int g = 0; g < LB_GUARANTEES; g++)
        is_wrong |= lb_cell_expectation(cell, (enum lb_guarantee)g) == LB_EXPECT_MISSED;
    return is_wrong ? lb_exit_worse(status, LB_EXIT_VIOLATED) : status;
}

enum lb_exit lb_campaign_status(const struct lb_campaign *campaign, const struct lb_report *report,
                                const struct lb_baseline *baseline)
{
    enum lb_exit status = report->interrupted ? LB_EXIT_INTERRUPTED : LB_EXIT_OK;
    for (size_t i = 0; i < report->n_cells; i++)
        status = lb_exit_worse(status, status_of_cell(campaign, baseline, &report->cells[i]));
    return status;
}

/* Did any guarantee, or any proof of the cell, get a verdict? */
static bool is_judged(const struct lb_cell *cell)
{
    const struct lb_outcome *proven;
    enum lb_expectation proof = lb_cell_proof(cell, &proven);
    bool judged = proof != LB_EXPECT_NOTHING && proof != LB_EXPECT_UNTESTED;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        enum lb_expectation expectation = lb_cell_expectation(cell, (enum lb_guarantee)g);
        judged |= expectation != LB_EXPECT_NOTHING && expectation != LB_EXPECT_UNTESTED;
    }
    return judged;
}

/* Then it has been said what is wrong, and the exit status is not green. */
static bool has_failed(const struct lb_cell *cell)
{
    bool failed = cell->state == LB_CELL_FAILED;
    for (size_t i = 0; i < cell->n_runs; i++)
        failed |= cell->runs[i]->state == LB_RUN_SERVER_GONE;
    return failed;
}

bool lb_campaign_judged_nothing(const struct lb_campaign *campaign, const struct lb_report *report)
{
    const char *reason = "";
    size_t n_skipped = 0;
    if (!campaign->judge_expectations || report->interrupted)
        return false;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (has_failed(cell) || is_judged(cell))
            return false;
        if (cell->state == LB_CELL_SKIPPED && n_skipped++ == 0)
            reason = cell->reason;
    }
    if (n_skipped == report->n_cells)
        fprintf(stderr,
                "lockbench: nothing was tested: all %zu cells were skipped%s%s; choose others with "
                "-s, -S and -d\n",
                n_skipped, n_skipped > 0 ? ", the first since " : "", reason);
    else
        fprintf(
            stderr,
            "lockbench: nothing was tested: no claim got a verdict in any of the %zu cells that "
            "ran; the lines above say why: run longer, or choose others with -s and -S\n",
            report->n_cells - n_skipped);
    return true;
}

bool lb_campaign_left_untested(const struct lb_report *report)
{
    struct lb_untested first;
    size_t n = lb_untested_count(report, &first);
    if (n == 0 || report->interrupted)
        return false;
    fprintf(stderr, "lockbench: option --strict: %zu not tested, the first: %s on %s, %s: %s\n", n,
            first.cell->name, first.cell->engine,
            first.is_guarantee ? lb_guarantee_name(first.guarantee) : first.cell->scenario.name,
            first.reason);
    return true;
}
