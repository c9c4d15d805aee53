/* --trace: the statements of programs, a line each, in a file beside the result. */
#ifndef LB_TRACING_H
#define LB_TRACING_H

#include "args.h"

/* Empties the file, or makes it, and says what keeps a cell from being traced. 0 if --trace is not
 * given. *ret_fd: to be closed; 0: there is none. LB_E_USAGE, LB_E_ENV. */
int lb_tracing_open(const struct lb_args *args, const struct lb_report *report, int *ret_fd,
                    struct lb_error *err);

#endif
