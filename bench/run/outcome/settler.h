/* Judges and drops a queue's completed items while the run goes on, so that the record of a long
 * run takes neither memory nor disk without end: check/settling.h. */
#ifndef LB_SETTLER_H
#define LB_SETTLER_H

#include "run_state.h"

struct lb_settler; /* a thread */

/* Sets run->settler, unless the record is to be kept whole. */
int lb_settler_start(struct lb_active_run *run, struct lb_error *err);
/* Once the workers have ended. Accepts NULL. */
void lb_settler_join(struct lb_settler *settler);
/* After that: the dropped part, for the judge; NULL: nothing was dropped. Views of the history
 * borrow memory of the settler. */
const struct lb_settled *lb_settler_result(struct lb_settler *settler);
/* After the outcome has its numbers of events: says why the record was kept, if it was. */
void lb_settler_explain(const struct lb_active_run *run);
void lb_settler_free(struct lb_settler *settler); /* accepts NULL */

#endif
