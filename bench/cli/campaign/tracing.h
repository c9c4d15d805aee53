/* --trace: the statements of programs, a line each, in a file beside the result. */
#ifndef LB_TRACING_H
#define LB_TRACING_H

#include "args.h"

/* Empties the file, or makes it, and says what keeps a cell from being traced. Nothing is opened,
 * and trace stays as it is, if --trace is not given. LB_E_USAGE, LB_E_ENV. */
int lb_tracing_open(const struct lb_args *args, const struct lb_report *report,
                    struct lb_trace_file *trace, struct lb_error *err);
/* LB_E_ENV: not all lines are there. */
int lb_tracing_close(struct lb_trace_file *trace, const struct lb_args *args, struct lb_error *err);

#endif
