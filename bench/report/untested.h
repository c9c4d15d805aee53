/* The untested part of a verification: scenarios that did not run, or in which the fault
 * did not happen, and claimed guarantees that got no verdict in any scenario.
 *
 * Cells belong together by their plan (see lb_cell.outlook), or else by strategy and engine. The
 * functions take the first cell of those.
 */
#ifndef LB_UNTESTED_H
#define LB_UNTESTED_H

#include "report.h"

struct lb_untested {
    const struct lb_cell *cell; /* the scenario, or one that says why */
    bool is_guarantee;
    enum lb_guarantee guarantee; /* if it is one */
    const char *reason;          /* borrowed from the cell */
};

/* True if the cell is the first of those that belong together. */
bool lb_untested_begins(const struct lb_report *report, const struct lb_cell *cell);
/* The next one; *at counts from 0. false: there is no more. */
bool lb_untested_next(const struct lb_report *report, const struct lb_cell *first, size_t *at,
                      struct lb_untested *ret);
/* Prints "; not tested: a, b (reason; option)" on the line that was begun; nothing if all was
 * tested. */
void lb_untested_print(const struct lb_report *report, const struct lb_cell *first,
                       const char *before, FILE *out);
/* The option that tests this guarantee of an untested cell, as in "verify --faults kill"; "" if
 * none does. */
const char *lb_untested_option(const struct lb_cell *cell, enum lb_guarantee guarantee);
/* The guarantees that the cell claims and that its runs did not test: "fifo recovery". Returns buf.
 */
char *lb_untested_names(const struct lb_cell *cell, char *buf, size_t size);
/* How many there are in the whole report; *ret: the first. */
size_t lb_untested_count(const struct lb_report *report, struct lb_untested *ret);

#endif
