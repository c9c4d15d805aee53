/* Parameters whose types the server inferred. Private to bench/transcribe. */
#ifndef LB_CASTS_H
#define LB_CASTS_H

#include "pieces.h"

#include <stdio.h>

/* Writes text, the replacement of the part's parameter, with the type that the server inferred. */
void lb_cast_write(const struct lb_part *part, struct lb_piece piece, const char *text, FILE *out);

/* True if this piece must be a number: a key of an advisory lock, or a parameter for which the
 * server inferred a number. */
bool lb_cast_wants_number(const struct lb_part *part, struct lb_piece piece);

#endif
