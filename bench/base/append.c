/* See append.h. */
#include "append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lb_append(char *buf, size_t size, const char *format, ...)
{
    size_t used = strnlen(buf, size);
    va_list args;
    va_start(args, format);
    vsnprintf(buf + used, size - used, format, args);
    va_end(args);
}
