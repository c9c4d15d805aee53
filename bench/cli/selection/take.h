/* Values of options: each is named by a message, if it is none of the kind. Where text is NULL, the
 * option was not given, and the value stays. All return 0 or LB_E_USAGE.
 */
#ifndef LB_TAKE_H
#define LB_TAKE_H

#include "error.h"

#include <stdint.h>

/* A number from least to most. */
int lb_take_count(const char *option, const char *text, uint64_t least, uint64_t most,
                  uint64_t *value, struct lb_error *err);
/* A length of time. kind: what it should be, for the message: "a time such as 10s". */
int lb_take_time(const char *option, const char *text, const char *kind, uint64_t *ns,
                 struct lb_error *err);
/* "10%", or "10": 0.1. */
int lb_take_share(const char *option, const char *text, double *share, struct lb_error *err);
/* One rate, as the example is: "800/s". */
int lb_take_rate(const char *option, const char *text, const char *example, double *per_s,
                 struct lb_error *err);

#endif
