/* A file that the user names for output.
 *
 * Works like a shell's `>`: it writes to a device, a FIFO or the target of a symlink, and a file
 * keeps its mode. A regular file is replaced in one step after all of it is written: a reader finds
 * the whole old file or the whole new one. Missing folders are made.
 */
#ifndef LB_OUTPUT_H
#define LB_OUTPUT_H

#include "error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct lb_output {
    FILE *file;
    const char *path;              /* as the user wrote it; borrowed */
    char final[PATH_MAX];          /* the file to replace */
    char temporary[PATH_MAX + 32]; /* "": written to directly */
};

/* LB_E_USAGE where path is a directory; LB_E_ENV with the reason. */
int lb_output_open(struct lb_output *output, const char *path, struct lb_error *err);
/* rc: the result of writing; on an error nothing is replaced. */
int lb_output_close(struct lb_output *output, int rc, struct lb_error *err);

/* Makes a directory with the ones above it; it may be there. */
int lb_make_folders(const char *path, struct lb_error *err);

#endif
