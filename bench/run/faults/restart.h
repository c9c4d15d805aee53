/* The fault restart, and commands of the user. Private to bench/run. */
#ifndef LB_RESTART_H
#define LB_RESTART_H

#include "run_state.h"

/* Returns 0 if no other user has a session on the server, else LB_E_UNSUPPORTED. */
int lb_restart_private(struct lb_session *session, enum lb_fault fault, const char *label,
                       struct lb_error *err);
/* Runs a command of the user's to its end, with STEP in its environment if step is not NULL. */
int lb_restart_run_command(const char *name, const char *command, const char *step,
                           struct lb_error *err);
/* Connects again, with patience. */
int lb_restart_come_back(struct lb_session *session, struct lb_team *team, struct lb_error *err);

#endif
