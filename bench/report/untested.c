/* See untested.h. */
#include "untested.h"

#include "append.h"
#include "text_clean.h"

#include <stdlib.h>
#include <string.h>

static bool belong_together(const struct lb_cell *a, const struct lb_cell *b)
{
    if (a->outlook != NULL || b->outlook != NULL)
        return a->outlook == b->outlook;
    return strcmp(a->name, b->name) == 0 && strcmp(a->engine, b->engine) == 0;
}

bool lb_untested_begins(const struct lb_report *report, const struct lb_cell *cell)
{
    for (const struct lb_cell *other = report->cells; other < cell; other++)
        if (belong_together(other, cell))
            return false;
    return true;
}

/* Of an exploration that came to its end, and has no verdict: why. NULL: it has one. */
static const char *reason_of_explored(const struct lb_cell *cell)
{
    const char *reason = NULL;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_outcome *run = NULL;
        const struct lb_finding *finding = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        enum lb_expectation expectation = lb_cell_expectation(cell, (enum lb_guarantee)g);
        if (expectation != LB_EXPECT_UNTESTED && expectation != LB_EXPECT_NOTHING)
            return NULL;
        if (expectation == LB_EXPECT_UNTESTED && reason == NULL)
            reason = finding->reason;
    }
    return reason;
}

/* The reason why the whole cell says nothing; NULL: it has a run that does. */
static const char *reason_of(const struct lb_cell *cell)
{
    if (cell->state == LB_CELL_FAILED)
        return cell->error.message;
    if (cell->state != LB_CELL_DONE || cell->n_runs == 0)
        return cell->reason[0] != '\0' ? cell->reason : "it was not run";
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_exploration *exploration = cell->runs[i]->exploration;
        if (cell->runs[i]->state != LB_RUN_INVALID)
            return exploration != NULL && exploration->complete ? reason_of_explored(cell) : NULL;
    }
    return cell->runs[0]->reason;
}

/* True if no cell has a verdict about the guarantee, and one was to have one. */
static bool is_untested(const struct lb_report *report, const struct lb_cell *first,
                        enum lb_guarantee guarantee, struct lb_untested *ret)
{
    *ret = (struct lb_untested){.is_guarantee = true, .guarantee = guarantee};
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (!belong_together(first, cell) || cell->state != LB_CELL_DONE)
            continue;
        const struct lb_outcome *run = NULL;
        const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
        enum lb_expectation expectation = lb_cell_expectation(cell, guarantee);
        if (expectation != LB_EXPECT_UNTESTED && expectation != LB_EXPECT_NOTHING)
            return false;
        /* If a worker died, the line must not say that none did. */
        bool is_next = ret->cell == NULL || guarantee != LB_G_RECOVERY ||
                       (run != NULL && run->judgement.measures.n_deaths > 0);
        if (expectation == LB_EXPECT_UNTESTED && is_next) {
            ret->cell = cell;
            ret->reason = finding->verdict == LB_V_NOT_TESTED ? finding->reason : run->reason;
        }
    }
    return ret->cell != NULL;
}

bool lb_untested_next(const struct lb_report *report, const struct lb_cell *first, size_t *at,
                      struct lb_untested *ret)
{
    for (; *at < report->n_cells; (*at)++) {
        const struct lb_cell *cell = &report->cells[*at];
        if (!belong_together(first, cell))
            continue;
        *ret = (struct lb_untested){.cell = cell, .reason = reason_of(cell)};
        if (ret->reason != NULL) {
            (*at)++;
            return true;
        }
    }
    while (*at < report->n_cells + (size_t)LB_GUARANTEES) {
        enum lb_guarantee guarantee = (enum lb_guarantee)(*at - report->n_cells);
        (*at)++;
        if (is_untested(report, first, guarantee, ret))
            return true;
    }
    return false;
}

char *lb_untested_names(const struct lb_cell *cell, char *buf, size_t size)
{
    buf[0] = '\0';
    for (int g = 0; g < LB_GUARANTEES && cell->state == LB_CELL_DONE; g++) {
        const struct lb_outcome *run = NULL;
        const struct lb_finding *finding = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (finding != NULL && finding->verdict == LB_V_NOT_TESTED)
            lb_append(buf, size, "%s%s", buf[0] != '\0' ? " " : "",
                      lb_guarantee_name((enum lb_guarantee)g));
    }
    return buf;
}

/* A plan runs all that can test it. Elsewhere a bound is missing, mostly. */
const char *lb_untested_option(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    if (cell->outlook != NULL)
        return "";
    if (guarantee == LB_G_RECOVERY && cell->scenario.recovery_bound_ns == 0)
        return "verify --faults kill";
    if (guarantee == LB_G_PROGRESS && cell->scenario.progress_bound_ns == 0)
        return "--progress-bound TIME";
    return "";
}

static const char *option_of(const struct lb_untested *one)
{
    return one->is_guarantee ? lb_untested_option(one->cell, one->guarantee) : "";
}

void lb_untested_print(const struct lb_report *report, const struct lb_cell *first,
                       const char *before, FILE *out)
{
    struct lb_untested one, next;
    size_t at = 0;
    bool is_more = lb_untested_next(report, first, &at, &one);
    const char *separator = before;
    while (is_more) {
        is_more = lb_untested_next(report, first, &at, &next);
        fputs(separator, out);
        lb_print_clean(
            out, one.is_guarantee ? lb_guarantee_name(one.guarantee) : one.cell->scenario.name, "",
            NULL);
        const char *option = option_of(&one);
        bool is_last = !is_more || strcmp(one.reason, next.reason) != 0 ||
                       strcmp(option, option_of(&next)) != 0;
        if (one.reason[0] != '\0' && is_last) {
            fputs(" (", out);
            lb_print_clean(out, one.reason, "", NULL);
            fprintf(out, "%s%s%s)", option[0] != '\0' ? "; " : "", option,
                    option[0] != '\0' ? " tests it" : "");
        }
        separator = ", ";
        one = next;
    }
}

size_t lb_untested_count(const struct lb_report *report, struct lb_untested *ret)
{
    size_t n = 0;
    struct lb_untested one;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *first = &report->cells[i];
        if (!lb_untested_begins(report, first))
            continue;
        for (size_t at = 0; lb_untested_next(report, first, &at, &one); n++)
            if (n == 0)
                *ret = one;
    }
    return n;
}
