/* Files of a stored result: regular ones only. A FIFO in the place of one would block for ever. */
#ifndef LB_REGULAR_FILE_H
#define LB_REGULAR_FILE_H

#include <stdio.h>

/* Opens for reading; NULL with errno, EINVAL where path is no regular file. */
FILE *lb_regular_file_open(const char *path);
/* The errno of that in words. */
const char *lb_regular_file_reason(int code);

#endif
