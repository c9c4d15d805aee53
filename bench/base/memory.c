/* See memory.h. */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS = 3 }; /* the environment's, as main.c has it */

void lb_memory_exhausted(size_t bytes)
{
    char text[120];
    int n =
        snprintf(text, sizeof text, "lockbench: out of memory: cannot allocate %zu bytes\n", bytes);
    (void)!write(STDERR_FILENO, text, (size_t)n);
    _exit(STATUS);
}

static void *checked(void *memory, size_t bytes)
{
    if (memory == NULL)
        lb_memory_exhausted(bytes);
    return memory;
}

/* At least 1: NULL means out of memory, and malloc(0) may return it. */
static size_t product(size_t n, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes))
        lb_memory_exhausted(SIZE_MAX);
    return bytes > 0 ? bytes : 1;
}

void *lb_calloc(size_t n, size_t size)
{
    return checked(calloc(1, product(n, size)), n * size);
}

void *lb_malloc(size_t bytes)
{
    return checked(malloc(product(1, bytes)), bytes);
}

void *lb_realloc(void *old, size_t n, size_t size)
{
    return checked(realloc(old, product(n, size)), n * size);
}

char *lb_strdup(const char *text)
{
    return lb_strndup(text, strlen(text));
}

char *lb_strndup(const char *text, size_t n)
{
    return checked(strndup(text, n), n);
}

void *lb_copy(const void *items, size_t n, size_t size)
{
    void *copy = lb_malloc(product(n, size));
    return n > 0 ? memcpy(copy, items, n * size) : copy;
}

char *lb_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = lb_vformat(format, args);
    va_end(args);
    return text;
}

char *lb_vformat(const char *format, va_list args)
{
    char *text = NULL;
    return vasprintf(&text, format, args) >= 0 ? text : checked(NULL, strlen(format));
}

FILE *lb_open_memory(char **text, size_t *n)
{
    return checked(open_memstream(text, n), BUFSIZ);
}

void lb_close_memory(FILE *out)
{
    if (ferror(out) || fclose(out) != 0)
        lb_memory_exhausted(BUFSIZ);
}
