/* Was the server started anew, and not by us? Private to bench/run. */
#ifndef LB_RESTARTED_H
#define LB_RESTARTED_H

#include "team.h"

/* As db.h has up_since. False: it does not say, or is another node than that one. */
bool lb_uptime_ask(struct lb_session *session, const char *node, int64_t *ret_since_us,
                   uint64_t *ret_up_us);
/* begin: before the workers start. look: over a session that was connected anew, and
 * at the end; a server that was started anew meanwhile is noted, once. */
void lb_uptime_begin(struct lb_team *team, struct lb_session *control);
void lb_uptime_look(struct lb_team *team, struct lb_session *session, struct lb_log *log,
                    uint32_t process);

#endif
