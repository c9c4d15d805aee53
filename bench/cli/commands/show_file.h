/* A strategy's statements for one engine as a file of lockbench-strategy(5), with its options
 * filled in. */
#ifndef LB_SHOW_FILE_H
#define LB_SHOW_FILE_H

#include "strategy.h"

#include <stdio.h>

/* Its header; file: where the program comes from. */
void lb_show_header(const struct lb_strategy *strategy, const struct lb_file *file,
                    const struct lb_program *program, FILE *out);
/* The sections, with the engine's mark: the statements are for that one. */
void lb_show_sections(const struct lb_program *program, FILE *out);

#endif
