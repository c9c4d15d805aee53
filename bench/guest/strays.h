/* Finds processes that programs started and left behind in sessions of their own, where killing a
 * process group does not reach them. Private to bench/guest. */
#ifndef LB_STRAYS_H
#define LB_STRAYS_H

#include <stddef.h>

enum { LB_STRAY_MARK = 80 };

/* Writes a setting of the environment that no other command's programs have: "NAME=value". */
void lb_stray_mark(char *mark, size_t size);
/* The environment of this process with mark in it, for execve. Free it; its texts are borrowed. */
char **lb_stray_environment(const char *mark);
/* Kills what has this mark in the environment that it was started with. */
void lb_stray_end(const char *mark);

#endif
