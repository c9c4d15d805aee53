/* Exit statuses, and messages on stderr, for all commands. */
#include "complain.h"

#include "clock.h"

#include <stdio.h>

enum lb_exit lb_exit_of(int errcode)
{
    switch (errcode) {
    case LB_E_USAGE:
    case LB_E_FILE:
    case LB_E_UNSUPPORTED:
        return LB_EXIT_USAGE;
    case LB_E_ENV:
    case LB_E_SQL:
    case LB_E_PROGRAM:
    case LB_E_MEMORY:
    case LB_E_LATE:
        return LB_EXIT_ENVIRONMENT;
    case LB_E_INTERRUPTED:
        return LB_EXIT_INTERRUPTED;
    case LB_E_INTERNAL:
    case LB_E_RANK:
        return LB_EXIT_INCONCLUSIVE;
    default:
        return LB_EXIT_OK;
    }
}

enum lb_exit lb_exit_worse(enum lb_exit a, enum lb_exit b)
{
    static const enum lb_exit order[] = {LB_EXIT_INTERRUPTED, LB_EXIT_VIOLATED,
                                         LB_EXIT_ENVIRONMENT, LB_EXIT_USAGE,
                                         LB_EXIT_REGRESSION,  LB_EXIT_INCONCLUSIVE};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return LB_EXIT_OK;
}

enum lb_exit lb_cli_complain(const struct lb_error *err)
{
    fprintf(stderr, "lockbench: %s\n", err->message);
    return lb_exit_of(err->code);
}

enum lb_exit lb_cli_complain_of_output(const struct lb_error *err)
{
    return ferror(stdout) ? LB_EXIT_ENVIRONMENT : lb_cli_complain(err);
}

int lb_cli_check_clock(struct lb_error *err)
{
    if (lb_clock_is_real())
        return 0;
    return lb_fail(err, LB_E_ENV,
                   "the monotonic clock is not the system's: set FAKETIME_DONT_FAKE_MONOTONIC=1, "
                   "or run without libfaketime");
}
