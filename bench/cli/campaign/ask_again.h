/* What a plan's budget is still for: a line whose run the machine has spoilt is run again, one for
 * which there is no time any more is not run. */
#ifndef LB_ASK_AGAIN_H
#define LB_ASK_AGAIN_H

#include "report.h"

/* True if progress or recovery, the purpose of the cell, was not tested, since the machine stood
 * still or no worker died in time; and there is time for another run besides all later lines.
 */
bool lb_is_asked_again(const struct lb_report *report, const struct lb_cell *cell);

/* Has its plan taken so long that there is no time for it any more? Never of the first one. */
bool lb_is_out_of_budget(const struct lb_report *report, const struct lb_cell *cell);

/* How long an exploration of a plan may take: its share, and a part of the time left by earlier
 * ones. */
uint64_t lb_exploring_time(const struct lb_report *report, const struct lb_cell *cell);

#endif
