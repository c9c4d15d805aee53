/* The report page: one HTML file that shows stored results, with all that it needs in it. */
#ifndef LB_PAGE_H
#define LB_PAGE_H

#include "stored.h"

#include <jansson.h>
#include <stdio.h>

/* Reads a result as lb_stored_load does, or the output of `lockbench age --format json`, which
 * becomes a result of the command "age" without cells and with "aged". */
int lb_page_load(const char *path, struct lb_stored *ret, struct lb_error *err);

/* Adds to the results' JSON what lies beside run.json (intervals, histories, mutants, ages), made
 * small, and writes the page. Returns 0, LB_E_FILE, or LB_E_ENV: out is in error, a name is not
 * UTF-8, or this lockbench was built without the charting library. */
int lb_page_write(struct lb_stored *results, size_t n, FILE *out, struct lb_error *err);

/* --- its parts, added to the cells of one result; directory is where its files are --- */

/* Is there such a file beside run.json? Its path goes into path. A file that cannot be read counts:
 * its reader says why. */
bool lb_page_has_file(const char *directory, const char *name, char *path, size_t size);
/* intervals.jsonl, where it is there. */
int lb_page_intervals(const char *directory, json_t *cells, struct lb_error *err);
/* The digest of one run's history for the cell that it is of. */
int lb_page_history(const char *path, json_t *cell, json_t **ret, struct lb_error *err);
/* "fits" of the result: the scalability law for every sweep over workers that is long enough. */
void lb_page_fits(json_t *run);

/* The objects of one output of lockbench age as a list; LB_E_FILE: it is none. */
int lb_page_ages(const char *path, json_t **ret, struct lb_error *err);

/* The files embedded at build time: those of bench/report/page/html, and the charting library with
 * its licence (of length 0 if it was not there). NULL name ends. */
struct lb_page_part {
    const char *name;
    const unsigned char *bytes;
    const size_t *length;
};
extern const struct lb_page_part lb_page_parts[];

#endif
