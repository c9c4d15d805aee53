/* Was the server started anew, and not by us? Private to bench/run. */
#ifndef LB_RESTARTED_H
#define LB_RESTARTED_H

#include "team.h"

/* restarted.c. begin: before the workers start. look: over a session that was connected anew, and
 * at the end; a server that was started anew meanwhile is noted, once. */
void lb_uptime_begin(struct lb_team *team, struct lb_session *control);
void lb_uptime_look(struct lb_team *team, struct lb_session *session, struct lb_log *log,
                    uint32_t process);

#endif
