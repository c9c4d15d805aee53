/* Texts that are put together from parts, in a buffer of fixed size. */
#ifndef LB_APPEND_H
#define LB_APPEND_H

#include <stddef.h>

/* Formats behind the text that is in buf, which has size bytes. The rest is cut off. */
void lb_append(char *buf, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
