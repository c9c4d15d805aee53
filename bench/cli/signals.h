/* Ctrl-C once: finish and report; twice: stop now; a third time: the signal's own effect. */
#ifndef LB_SIGNALS_H
#define LB_SIGNALS_H

#include "run.h"

/* For what opens databases: installs handlers for SIGINT, SIGTERM and SIGHUP, and takes a closed
 * pipe as an error of the write. The flag lives as long as the program. */
const struct lb_stop *lb_signals_install(void);

/* True if a write to standard output failed because its reader is gone. */
bool lb_reader_is_gone(void);
/* Ends the process as a closed pipe ends other programs: quietly, by the signal. */
void lb_end_by_sigpipe(void);

#endif
