/* Exit statuses, and messages on stderr, for all commands. */
#ifndef LB_COMPLAIN_H
#define LB_COMPLAIN_H

#include "error.h"

enum lb_exit {
    LB_EXIT_OK = 0,           /* all as claimed */
    LB_EXIT_VIOLATED = 1,     /* a guarantee was violated */
    LB_EXIT_USAGE = 2,        /* a wrong option or name, a bad file */
    LB_EXIT_ENVIRONMENT = 3,  /* cannot connect, no permission, disk full, server gone */
    LB_EXIT_REGRESSION = 4,   /* slower than the base, or an SLO missed */
    LB_EXIT_INCONCLUSIVE = 5, /* the measurement does not hold, or lockbench itself is wrong */
    LB_EXIT_INTERRUPTED = 130 /* by a signal; the results so far are still written */
};

/* The exit status that an enum lb_errcode stands for. */
enum lb_exit lb_exit_of(int errcode);
/* The graver of two statuses. */
enum lb_exit lb_exit_worse(enum lb_exit a, enum lb_exit b);

/* LB_E_ENV if the monotonic clock is not the system's: a command that measures needs it. */
int lb_cli_check_clock(struct lb_error *err);

/* Prints "lockbench: message" on stderr; returns the exit status for the error. */
enum lb_exit lb_cli_complain(const struct lb_error *err);
/* The same for a command that was printing. A failure of standard output is reported once, at the
 * end of the program. */
enum lb_exit lb_cli_complain_of_output(const struct lb_error *err);

#endif
