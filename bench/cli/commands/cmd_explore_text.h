/* What explore found, for people and as JSON. */
#ifndef LB_EXPLORE_TEXT_H
#define LB_EXPLORE_TEXT_H

#include "explore.h"

#include <stdio.h>

/* command: how to play the witness again, without the schedule itself. */
void lb_explored_print(FILE *out, const struct lb_explored *explored, const char *command,
                       unsigned width);
/* "held", or a weaker word if not everything was explored. */
const char *lb_explored_verdict(const struct lb_explored *explored, enum lb_guarantee guarantee);
void lb_explored_json(FILE *out, const struct lb_explored *explored, const char *command);

#endif
