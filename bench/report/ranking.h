/* How sure is the order of the table? Rates of strategies against the fastest one, with intervals.
 */
#ifndef LB_RANKING_H
#define LB_RANKING_H

#include "report.h"
#include "stats.h"

/* One cell against the reference: the fastest, of those that held if any did, among the cells with
 * its engine and its scenario. */
struct lb_ranking_row {
    const struct lb_cell *cell, *reference;
    struct lb_comparison comparison; /* base: the reference; new: the cell */
};

struct lb_ranking {
    struct lb_ranking_row *rows; /* tables in the order of the report, each fastest first */
    size_t n_rows;
    size_t n_family; /* comparisons that were corrected for */
};

extern const struct lb_compare_options lb_ranking_options;

/* Compares all cells with at least two complete runs; no rows if there are no two of them to
 * compare. 0 or LB_E_MEMORY. Release with lb_ranking_release. */
int lb_ranking_make(const struct lb_report *report, struct lb_ranking *ret, struct lb_error *err);
/* By which test its p-values were found: a few words. */
const char *lb_ranking_test(const struct lb_ranking *ranking);
/* "95 % intervals", and how much the least of them cover where the runs are too few for that: take
 * goes over all comparisons. */
struct lb_coverage {
    double least; /* begin with 1 */
};
void lb_coverage_take(struct lb_coverage *coverage, const struct lb_comparison *comparison);
char *lb_coverage_text(const struct lb_coverage *coverage, double level, char *buf, size_t size);
/* "0.048", "<0.001". */
char *lb_p_text(double p, char *buf, size_t size);
void lb_ranking_release(struct lb_ranking *ranking);

/* Are there two cells that could be compared, had they been run more than once? */
bool lb_ranking_lacks_runs(const struct lb_report *report);
/* What to say then. */
#define LB_ONE_RUN                                                                                 \
    "One run per cell: it shows what was violated and the size of the numbers. It cannot tell a "  \
    "difference between strategies from noise; --repeat 5, the default of compare, or more can."

/* Median successes/s over the complete runs of a cell, with its interval. False with fewer than two
 * of them, or when memory ran out. */
bool lb_cell_rate(const struct lb_cell *cell, struct lb_estimate *ret);

#endif
