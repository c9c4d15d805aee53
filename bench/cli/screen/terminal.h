/* What the user's terminal can show. */
#ifndef LB_TERMINAL_H
#define LB_TERMINAL_H

#include <stdbool.h>

/* Is fd a terminal that understands escape sequences? */
bool lb_terminal_is(int fd);
/* Its columns; 100 if it is no terminal. */
unsigned lb_terminal_width(int fd);
/* Are colours welcome on fd? Not with NO_COLOR (https://no-color.org) in the environment. */
bool lb_terminal_color(int fd);

/* Is the locale's encoding UTF-8? */
bool lb_terminal_utf8(void);

#endif
