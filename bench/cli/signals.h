/* Ctrl-C once: finish and report; twice: stop now; a third time: the signal's own effect. */
#ifndef LB_SIGNALS_H
#define LB_SIGNALS_H

#include "run.h"

/* Installs handlers for SIGINT and SIGTERM. The flag lives as long as the program. */
const struct lb_stop *lb_signals_install(void);

#endif
