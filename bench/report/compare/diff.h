/* The regression gate: two stored results, cell by cell.
 *
 * Cells belong together by strategy, engine and scenario; they must have been run alike (same
 * configuration, options, server settings, machine), or nothing is said. For each metric asked for,
 * the runs of both sides are compared by ranks at level 0.90, Holm-corrected over everything that
 * is compared. Since a gate acts on slower alone, that cries wolf in at most 5 % of its runs.
 *
 *   slower        significantly so, and by more than the threshold
 *   faster        the same, the other way
 *   equivalent    the ratio's interval lies within the threshold
 *   not slower    a slowdown of twice the threshold is excluded (one-sided, 95 %)
 *   inconclusive otherwise: too few runs, too much noise, or no runs to compare; reason
 */
#ifndef LB_DIFF_H
#define LB_DIFF_H

#include "stats.h"
#include "stored.h"

#include <stdio.h>

#define LB_DIFF_LEVEL 0.90

enum lb_diff_outcome {
    LB_DIFF_SLOWER,
    LB_DIFF_INCONCLUSIVE,
    LB_DIFF_NOT_SLOWER,
    LB_DIFF_EQUIVALENT,
    LB_DIFF_FASTER,
    LB_DIFF_OUTCOMES
};
const char *lb_diff_outcome_name(enum lb_diff_outcome outcome);

struct lb_diff_options {
    double threshold; /* 0.05 */
    bool metrics[LB_METRICS];
    const char *const *allowed; /* keys that may differ, as differences name them */
    size_t n_allowed;
};

struct lb_diff_row {
    const struct lb_stored_cell *base, *new; /* new may be NULL */
    enum lb_metric metric;
    bool is_compared; /* comparison is filled */
    struct lb_comparison comparison;
    double shows;    /* the difference that is found in 80 of 100 cases; INFINITY: none */
    size_t runs_for; /* runs of each that the threshold needs for that; 0: more than 1000 */
    enum lb_diff_outcome outcome;
    char reason[200];
};

struct lb_diff {
    const struct lb_stored *base, *new;
    struct lb_diff_options options;
    struct lb_diff_row *rows;
    size_t n_rows;
    size_t n_outcomes[LB_DIFF_OUTCOMES];
    size_t n_violated;           /* cells that newly violate a guarantee: see lb_diff_violates */
    struct lb_difference *notes; /* differences that were allowed, each once */
    size_t n_notes;
};

/* Borrows both results and the options' keys. LB_E_USAGE names the first difference that is not
 * allowed. Release in any case. */
int lb_diff_make(const struct lb_stored *base, const struct lb_stored *new,
                 const struct lb_diff_options *options, struct lb_diff *ret, struct lb_error *err);
void lb_diff_release(struct lb_diff *diff);

/* Did the base keep its guarantees, and does the new one violate one? */
bool lb_diff_violates(const struct lb_diff_row *row);

/* For JSON documents. */
struct json_t *lb_diff_object(const struct lb_diff *diff);

/* Writes it: for people (on a terminal the table leaves columns out to fit), for programs, for a
 * pull request. 0 or LB_E_ENV. */
void lb_diff_text(const struct lb_diff *diff, FILE *out, bool color, bool terminal, unsigned width);
int lb_diff_json(const struct lb_diff *diff, FILE *out, struct lb_error *err);
int lb_diff_markdown(const struct lb_diff *diff, FILE *out, struct lb_error *err);

#endif
