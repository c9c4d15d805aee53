/* Which formats each command has. The formats of a campaign are named by the sinks; those of the
 * other commands are in one table. Help and messages use both.
 */
#ifndef LB_FORMAT_NAMES_H
#define LB_FORMAT_NAMES_H

#include "args.h"

enum { LB_FORMATS_MOST = 16 };

struct lb_format_names {
    const char *names[LB_FORMATS_MOST];
    size_t n;
};

/* Those of --format in a group of flags, for one command. */
void lb_formats_of(struct lb_format_names *formats, unsigned group,
                   const struct lb_command *command);
/* Those of the sinks for runs, plans or matrices (enum lb_sink_use). */
void lb_formats_of_sinks(struct lb_format_names *formats, unsigned of);
/* "text, json or tap". Returns buf. */
char *lb_formats_text(const struct lb_format_names *formats, const char *last, char *buf,
                      size_t size);
/* LB_E_USAGE: there is no such format; which there are, and which may have been meant. */
int lb_format_unknown(const struct lb_format_names *formats, const char *name,
                      struct lb_error *err);
/* Does the command have the format that was given? 0 or LB_E_USAGE. */
int lb_format_check(const struct lb_args *args, struct lb_error *err);

#endif
