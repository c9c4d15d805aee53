/* Sizes and times as people write them: 10s, 500us, 1k, 2.5ms, 16M. */
#ifndef LB_UNITS_H
#define LB_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Why a text is not taken. */
enum { LB_UNITS_NOT = -1, LB_UNITS_LARGE = -2 };
/* The longest time that is taken, for messages: below 2^63 ns. */
#define LB_NS_MOST "2562047h"

/* Text to nanoseconds. Suffix ns, us, ms, s, m or min, h; a bare number is seconds only if it is
 * 0, otherwise an error: a unit is required. Returns 0, LB_UNITS_NOT for text that is not a time
 * (negative, no number, unknown unit, above 0 and below 1 ns), or LB_UNITS_LARGE. */
int lb_parse_ns(const char *text, uint64_t *ret_ns);

/* Text to a count. Suffix k, M, G (powers of 1000) or Ki, Mi, Gi. Returns 0, LB_UNITS_NOT or
 * LB_UNITS_LARGE: not below 2^63. */
int lb_parse_count(const char *text, uint64_t *ret_count);

/* Text to a double; the whole text must be a finite number. Returns 0 or -1. */
int lb_parse_double(const char *text, double *ret_value);

/* Nanoseconds for people, three significant digits: "12.0 ms", "431 us", "2.04 s". Returns buf. */
char *lb_format_ns(uint64_t ns, char *buf, size_t size);

/* A count for people: "950", "12.4k", "3.10M". Returns buf. */
char *lb_format_count(double value, char *buf, size_t size);

/* How many letters of one name were changed, left out, added, or swapped with their neighbour to
 * get the other: for "did you mean". Names are compared up to 63 letters. */
unsigned lb_edit_distance(const char *a, const char *b);

#endif
