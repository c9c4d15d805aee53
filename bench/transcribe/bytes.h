/* Values of bytea in which a program has packed the item's number, as libraries that keep their
 * arguments in a format of their own do. Private to bench/transcribe. */
#ifndef LB_BYTES_H
#define LB_BYTES_H

#include "values.h"

/* Is there a number of four bytes, the highest first, in the value, "\x0a0b..."? *ret_at: its first
 * byte, from 0. */
bool lb_bytes_find(const char *plain, const char *number, size_t *ret_at);
/* The value with :id in it, if all samples have their own number at the same place, and all else is
 * the same. */
bool lb_bytes_write(const struct lb_value_of *id, const char *const plain[LB_VALUE_SAMPLES],
                    char *out, size_t size);

#endif
