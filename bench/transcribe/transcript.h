/* A recording as a strategy file: see recording.h and lockbench-strategy(5). */
#ifndef LB_TRANSCRIPT_H
#define LB_TRANSCRIPT_H

#include "recording.h"

#include <stdio.h>

/* The first words of such a file. */
#define LB_TRANSCRIPT_BEGIN "-- Recorded by lockbench from "

/* path: the program's, for people. *ret_n_open: places where a reader must help: incomplete
 * statements, literals that are not understood, answers that look the same. */
void lb_transcript_write(FILE *file, const struct lb_recording *recording, const char *path,
                         const char *version, size_t *ret_n_open);

#endif
