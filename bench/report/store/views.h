/* A stored result in other formats, and the results that a directory has.
 *
 * The text, csv, markdown and junit forms of a result are written beside its run.json when it is
 * stored, while the runs' own histograms exist: later output is then identical to the first, and
 * does not change with the version of the program.
 */
#ifndef LB_VIEWS_H
#define LB_VIEWS_H

#include "report.h"
#include "stored.h"

/* Does a report have this view beside its run.json? A plan has no Markdown, and no test cases. */
bool lb_view_fits(const struct lb_sink *view, const struct lb_report *report);
/* Writes one view of a finished report. 0 or LB_E_ENV. */
int lb_view_write(const struct lb_sink *view, const struct lb_report *report, FILE *out,
                  struct lb_error *err);

/* Is there a result of that path or name? As for lb_stored_load. */
bool lb_result_exists(const char *path);
/* Prints a result as it was written in that format; "text" without one (NULL). LB_E_USAGE where
 * there is no such format, LB_E_FILE where the result, or that view of it, is missing. */
int lb_result_print(const char *path, const char *format, FILE *out, struct lb_error *err);

/* The names of the results in a directory, sorted; the caller frees each and the array. Returns
 * how many there are, 0 as well where there is no such directory. */
long lb_result_names(const char *directory, char ***ret);
void lb_result_names_free(char **names, long n);

#endif
