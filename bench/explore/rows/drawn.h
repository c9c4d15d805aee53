/* Numbers that an INSERT draws within itself, and whose order another statement uses; and answers
 * that chance decides.
 *
 * A statement is one step. But a server draws the number of an AUTO_INCREMENT column, or of a
 * sequence, before the row of that number exists, and lets others act in between. A reader by order
 * of the number can then skip a row that is still to come, and no order of whole statements shows
 * it. So the result of an exploration comes with this limit in words.
 */
#ifndef LB_DRAWN_H
#define LB_DRAWN_H

#include "footprint.h"
#include "program.h"

struct lb_drawn {
    char table[64], column[64]; /* "": there is none */
};

/* Looks at the statements of the sections in `played` (bit per enum lb_section_name). */
void lb_find_drawn(const struct lb_tables *tables, const struct lb_program *program,
                   uint32_t played, struct lb_drawn *ret);

/* The line of the first such statement with a function of chance in a condition or an order; 0:
 * there is none. One that only gives a value, such as a claim's stamp, decides nothing. */
int lb_find_random(const struct lb_program *program, uint32_t played);

#endif
