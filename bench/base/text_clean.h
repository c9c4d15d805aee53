/* Text that others wrote: servers, files, results. */
#ifndef LB_TEXT_CLEAN_H
#define LB_TEXT_CLEAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Makes text safe to print, in place: a line break or a tab becomes a blank; a character that
 * controls a terminal (C0, DEL, C1), or the direction of writing, and what is no UTF-8 become '?'s.
 * Returns text. */
char *lb_clean_text(char *text);
/* A clean copy in buf, for a line that names what the user named: a file, an option. Returns buf.
 */
char *lb_shown(const char *text, char *buf, size_t size);
/* A clean copy of the first n bytes, or of all. Free with free(). */
char *lb_clean_copy(const char *text, size_t n);
/* Writes a clean copy with instead[i] in place of each special[i]. */
void lb_print_clean(FILE *out, const char *text, const char *special, const char *const *instead);
/* A line of the YAML below a result of TAP: a key, and the text in quotes. */
void lb_print_yaml(FILE *out, const char *key, const char *text);

#endif
