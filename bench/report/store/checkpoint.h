/* Finished runs, kept while a report is being filled, so that whoever was interrupted can go on.
 *
 * A checkpoint is the file `checkpoint` in a result's directory. It is removed when the result is
 * complete; run.json is for other readers. It has the plan (everything that decides what is run, in
 * which order and from which seed, as JSON) and one record for each run that came to its end,
 * brought to the disk before the next begins. A record that a kill cut off is dropped, and its run
 * done again.
 *
 * Records are outcomes as this program has them in memory, so only the same program reads them.
 */
#ifndef LB_CHECKPOINT_H
#define LB_CHECKPOINT_H

#include "report.h"

struct lb_checkpoint;

/* Begins one in a directory, which must have none. grows: which cells there are besides the
 * report's is found out on the way, each from the runs before it. Close with lb_checkpoint_close.
 */
int lb_checkpoint_begin(const char *directory, const struct lb_report *report, bool grows,
                        struct lb_checkpoint **ret, struct lb_error *err);

/* Opens the one of a directory; no other process may have it open. The report's seed (unless
 * is_seed_given) and start become those of the checkpoint; nothing else is taken yet. */
int lb_checkpoint_open(const char *directory, bool is_seed_given, struct lb_report *report,
                       struct lb_checkpoint **ret, struct lb_error *err);
/* Compares the report's plan with the checkpoint's: LB_E_USAGE names the first difference. Then
 * adds the finished runs to the report's cells; if it grows, they are there to be taken. */
int lb_checkpoint_load(struct lb_checkpoint *checkpoint, struct lb_report *report, bool grows,
                       struct lb_error *err);

/* A run has ended: keeps it, if it was not cut short. LB_E_USAGE if the server is not set as it was
 * for the runs that were loaded. checkpoint may be NULL. */
int lb_checkpoint_add(struct lb_checkpoint *checkpoint, const struct lb_report *report,
                      const struct lb_cell *cell, size_t round, const struct lb_outcome *outcome,
                      struct lb_error *err);
/* Is it in the file? false for NULL. */
bool lb_checkpoint_has(const struct lb_checkpoint *checkpoint, const struct lb_report *report,
                       const struct lb_cell *cell, size_t round);
/* If it grows: the run that this cell had in that round, once; the caller frees it. NULL: it had
 * none, or checkpoint is NULL. Cells are identified by their place in the report, so they must come
 * in the same order again. */
struct lb_outcome *lb_checkpoint_take(struct lb_checkpoint *checkpoint,
                                      const struct lb_report *report, const struct lb_cell *cell,
                                      size_t round);
/* How many runs the file has; 0 for NULL. */
size_t lb_checkpoint_runs(const struct lb_checkpoint *checkpoint);

/* The result is whole: deletes the file from its directory, which may have got another name. */
void lb_checkpoint_remove(const struct lb_checkpoint *checkpoint, const char *directory);
/* Accepts NULL. */
void lb_checkpoint_close(struct lb_checkpoint *checkpoint);

#endif
