/* A line of a plan whose run the machine has spoilt: it is run again within the plan's budget. */
#ifndef LB_ASK_AGAIN_H
#define LB_ASK_AGAIN_H

#include "report.h"

/* Was progress or recovery, which the cell is there for, not tested, since the machine stood still
 * or nobody died in time; and is there time for another run, beside all that is still to be asked?
 */
bool lb_is_asked_again(const struct lb_report *report, const struct lb_cell *cell);

#endif
