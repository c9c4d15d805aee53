/* Reads the lines of a text file that may come from another program, be damaged, or lack its last
 * newline. */
#ifndef LB_LINES_H
#define LB_LINES_H

#include "error.h"

#include <stdio.h>

enum { LB_LONGEST_LINE = 16 << 20 };

struct lb_lines {
    const char *path; /* the caller's */
    FILE *file;
    char *text; /* the line, without its end */
    size_t length, room;
    size_t number; /* of the line, from 1 */
};

/* Opens path, which must outlive lines. Returns 0 or LB_E_FILE; errno is lb_regular_file_open's
 * then. */
int lb_lines_open(struct lb_lines *lines, const char *path, struct lb_error *err);
/* The next line in text. Returns 1, 0 at the end, or LB_E_FILE: the file cannot be read, or the
 * line has a NUL byte (as the holes of a file have) or more than LB_LONGEST_LINE bytes. */
int lb_lines_next(struct lb_lines *lines, struct lb_error *err);
/* Zeroed lines are allowed. */
void lb_lines_close(struct lb_lines *lines);

#endif
