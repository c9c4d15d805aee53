/* Files of `key = value` lines in [sections].
 *
 * libinih does the parsing. It passes no line number to a handler, so the reader that feeds it
 * counts the lines; the reader also refuses input that inih would accept silently (lines that are
 * too long, indented continuation lines, unknown sections).
 */
#ifndef LB_INI_TEXT_H
#define LB_INI_TEXT_H

#include "error.h"

#include <stddef.h>

struct lb_ini {
    const char *origin; /* the file, for messages; borrowed, as all texts here are */
    /* A section begins, or a key has a value; section is "" before the first. 0, or an error, to
     * which the place is added: any is LB_E_FILE in the end. */
    int (*section)(void *arg, int line, const char *name, struct lb_error *err);
    int (*pair)(void *arg, int line, const char *section, const char *key, const char *value,
                struct lb_error *err);
    void *arg;
};

/* text needs no NUL at its end. 0 or LB_E_FILE. */
int lb_ini_parse(const struct lb_ini *ini, const char *text, size_t length, struct lb_error *err);
/* Reads a file of at most 64 KiB; what: "a scenario". The caller frees *ret_text. 0 or
 * LB_E_FILE. */
int lb_ini_read(const char *path, const char *what, char **ret_text, size_t *ret_length,
                struct lb_error *err);

#endif
