/* Memory. If the system has no more, lb_memory_exhausted ends the program: no caller can go on
 * without it, and each path for that case would be code that no test reaches.
 *
 * Two kinds of memory are not from here, as their size is the user's choice and the answer is an
 * error: memory that processes share (shared.h), and the stacks of fibers (fiber.h). */
#ifndef LB_MEMORY_H
#define LB_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* One line on stderr, then exit status 3. Nothing is cleaned up, as after SIGKILL. bytes: the
 * size of the allocation. */
_Noreturn void lb_memory_exhausted(size_t bytes);

/* The owner frees what these return with free(). n * size may overflow: that is out of memory. */
void *lb_calloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *lb_malloc(size_t bytes) __attribute__((malloc, returns_nonnull));          /* not zeroed */
/* Moves old, which may be NULL. */
void *lb_realloc(void *old, size_t n, size_t size) __attribute__((returns_nonnull));
char *lb_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *lb_strndup(const char *text, size_t n) __attribute__((malloc, returns_nonnull));
/* A copy of n items. */
void *lb_copy(const void *items, size_t n, size_t size) __attribute__((malloc, returns_nonnull));
char *lb_format(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *lb_vformat(const char *format, va_list args)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/* open_memstream: *text and *n are complete after lb_close_memory. Free *text with free(). */
FILE *lb_open_memory(char **text, size_t *n) __attribute__((returns_nonnull));
void lb_close_memory(FILE *out);

#endif
