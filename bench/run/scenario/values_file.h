/* A file with one number on each line, as psql --csv and similar clients write it: durations of
 * jobs, or times at which jobs arrived. */
#ifndef LB_VALUES_FILE_H
#define LB_VALUES_FILE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

enum lb_values {
    LB_VALUES_DURATIONS, /* seconds, or a number with a unit; never negative */
    LB_VALUES_TIMES      /* seconds since any origin; the values are times since the first one */
};

/* The values in ns, ascending, and at least one; caller frees. key names the scenario's key in
 * messages. LB_E_USAGE: "key: path:line: problem; remedy". */
int lb_values_read(const char *key, const char *path, enum lb_values kind, uint64_t **ret_values,
                   size_t *ret_n, struct lb_error *err);

#endif
