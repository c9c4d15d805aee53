/* Parameters whose types the server inferred. Private to bench/transcribe. */
#ifndef LB_CASTS_H
#define LB_CASTS_H

#include "pieces.h"

#include <stdio.h>

/* Writes text, which stands for the part's parameter, as what the server took it for. */
void lb_cast_write(const struct lb_part *part, struct lb_piece piece, const char *text, FILE *out);

/* Must what stands here be a number? A key of an advisory lock, or a parameter that the server took
 * for one. */
bool lb_cast_wants_number(const struct lb_part *part, struct lb_piece piece);

#endif
