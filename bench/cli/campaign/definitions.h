/* The lines of setup that a finding shows below its statements. */
#ifndef LB_DEFINITIONS_H
#define LB_DEFINITIONS_H

#include "outlook.h"

enum { LB_DEFINED_SHOWN = 8 };

/* Text of the file, on one line, and cut where it is too long. */
void lb_quote_set(struct lb_quote *ret, int line, const char *text, size_t length);
/* Fills the outlook's definitions. Its statements are there, those of the program. */
void lb_outlook_define(const struct lb_program *program, struct lb_outlook *outlook);
/* Selects the definitions for the shown statements (bits), in the order of the file. Compared
 * columns and keys go before columns that are only written. Returns their number. */
size_t lb_outlook_definitions(const struct lb_outlook *outlook, uint64_t shown,
                              const struct lb_quote *ret[LB_DEFINED_SHOWN]);

#endif
