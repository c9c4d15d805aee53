/* Lines with a bound: see lines.h. getline(3) has none: a sparse file of a terabyte is one line. */
#include "lines.h"

#include "memory.h"
#include "regular_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lb_lines_open(struct lb_lines *lines, const char *path, struct lb_error *err)
{
    *lines = (struct lb_lines){.path = path, .file = lb_regular_file_open(path)};
    return lines->file != NULL
               ? 0
               : lb_fail(err, LB_E_FILE, "%s: %s", path, lb_regular_file_reason(errno));
}

static void add(struct lb_lines *lines, int c)
{
    if (lines->length == lines->room) {
        lines->room = lines->room > 0 ? 2 * lines->room : 4096;
        lines->text = lb_realloc(lines->text, lines->room, 1);
    }
    lines->text[lines->length] = (char)c;
}

int lb_lines_next(struct lb_lines *lines, struct lb_error *err)
{
    int c;
    lines->length = 0;
    lines->number++;
    while ((c = getc_unlocked(lines->file)) != EOF && c != '\n') {
        if (c == '\0')
            return lb_fail(err, LB_E_FILE, "%s:%zu: a NUL byte: not a text file", lines->path,
                           lines->number);
        if (lines->length == LB_LONGEST_LINE)
            return lb_fail(err, LB_E_FILE, "%s:%zu: the line is longer than %d MiB", lines->path,
                           lines->number, LB_LONGEST_LINE >> 20);
        add(lines, c);
        lines->length++;
    }
    if (ferror(lines->file))
        return lb_fail(err, LB_E_FILE, "%s: %s", lines->path, strerror(errno));
    if (c == EOF && lines->length == 0)
        return 0;
    add(lines, '\0');
    return 1;
}

void lb_lines_close(struct lb_lines *lines)
{
    if (lines->file != NULL)
        fclose(lines->file);
    free(lines->text);
    *lines = (struct lb_lines){0};
}
