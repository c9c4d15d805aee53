/* The help of one command, printed from its popt tables. */
#ifndef LB_HELP_H
#define LB_HELP_H

#include "cli.h"

#include <popt.h>

/* Writes the usage, the summary and the options. Without all, a command with many options gets the
 * common ones only, on one screen of 80x24. groups ends with a zeroed entry. False: out failed. */
bool lb_help_print(const struct lb_command *command, const struct poptOption *groups, bool all,
                   FILE *out);

#endif
