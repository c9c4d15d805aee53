/* The regression gate on the command line: what diff and compare --baseline have in common. */
#ifndef LB_REGRESSION_H
#define LB_REGRESSION_H

#include "cli.h"
#include "diff.h"

/* Where results are kept by name, without -o. */
#define LB_RESULTS "results"

/* --threshold, --metric, --allow. Borrows the words. */
int lb_gate_options(const struct lb_args *args, struct lb_diff_options *ret, struct lb_error *err);
enum lb_exit lb_gate_status(const struct lb_diff *diff);

/* A stored result that what is run now is compared with. */
struct lb_baseline {
    bool is_given;
    struct lb_diff_options options;
    struct lb_stored base, new;
    struct lb_diff diff;
};

/* Reads it, if --baseline is given. Release in any case. */
int lb_baseline_load(struct lb_baseline *baseline, const struct lb_args *args,
                     struct lb_error *err);
/* Before anything is run: would the cells be run as in the baseline? What the servers are set to is
 * known later. */
int lb_baseline_check(struct lb_baseline *baseline, const struct lb_report *report,
                      struct lb_error *err);
/* After the runs; report->diff is set. */
int lb_baseline_compare(struct lb_baseline *baseline, struct lb_report *report,
                        struct lb_error *err);
/* Did the cell violate a guarantee in the baseline already? */
bool lb_baseline_violates(const struct lb_baseline *baseline, const struct lb_cell *cell);
void lb_baseline_release(struct lb_baseline *baseline);

/* Without a baseline: is a strategy slower than the --reference of the same rounds by more than the
 * --threshold? One line on standard error for each that is, or may be. */
bool lb_gate_is_against_reference(const struct lb_args *args);
/* compare with several servers of one engine: LB_EXIT_REGRESSION if one is shown slower than the
 * reference, LB_EXIT_INCONCLUSIVE if that is open. */
enum lb_exit lb_gate_servers(const struct lb_report *report);
enum lb_exit lb_gate_reference(const struct lb_report *report, double threshold);

#endif
