/* Files of `key = value` lines: see ini_text.h. */
#include "ini_text.h"

#include "memory.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const struct lb_ini *ini;
    const char *at, *end;
    int line;
    struct lb_error *err;
    int rc;
};

static void refuse(struct reading *reading, const char *what)
{
    if (reading->rc == 0)
        reading->rc = lb_fail(reading->err, LB_E_FILE, "%s:%d: %s", reading->ini->origin,
                              reading->line, what);
}

/* Rejects mistakes that inih would accept. line ends with a NUL. */
static void inspect_line(struct reading *reading, const char *line)
{
    size_t blanks = strspn(line, " \t\r\n");
    char name[65];
    struct lb_error why;
    if (line[blanks] == '\0' || line[blanks] == '#' || line[blanks] == ';')
        return;
    if (blanks > 0) {
        refuse(reading, "an indented line; every key stands at the start of its line");
        return;
    }
    if (line[0] != '[')
        return;
    size_t length = strcspn(line + 1, "]\r\n");
    snprintf(name, sizeof name, "%.*s", (int)(length < 64 ? length : 64), line + 1);
    if (reading->ini->section(reading->ini->arg, reading->line, name, &why) != 0)
        refuse(reading, why.message);
}

/* fgets over memory, for inih. */
static char *read_line(char *buf, int size, void *stream)
{
    struct reading *reading = stream;
    if (reading->rc != 0 || reading->at >= reading->end)
        return NULL;
    reading->line++;
    size_t left = (size_t)(reading->end - reading->at);
    const char *newline = memchr(reading->at, '\n', left);
    size_t length = newline != NULL ? (size_t)(newline - reading->at) : left;
    if (memchr(reading->at, '\0', length) != NULL) {
        refuse(reading, "a NUL byte: not a text file");
        return NULL;
    }
    if (length + 2 > (size_t)size && reading->at[0] != '#' && reading->at[0] != ';') {
        refuse(reading, "the line is too long");
        return NULL;
    }
    size_t copied = length + 2 > (size_t)size ? (size_t)size - 2 : length;
    memcpy(buf, reading->at, copied);
    buf[copied] = '\n';
    buf[copied + 1] = '\0';
    reading->at += length + (newline != NULL);
    inspect_line(reading, buf);
    return reading->rc == 0 ? buf : NULL;
}

static int take_pair(void *user, const char *section, const char *key, const char *value)
{
    struct reading *reading = user;
    struct lb_error why;
    if (reading->ini->pair(reading->ini->arg, reading->line, section, key, value, &why) == 0)
        return 1;
    refuse(reading, why.message);
    return 0;
}

int lb_ini_parse(const struct lb_ini *ini, const char *text, size_t length, struct lb_error *err)
{
    struct reading reading = {.ini = ini, .at = text, .end = text + length, .err = err};
    int line = ini_parse_stream(read_line, &reading, take_pair, &reading);
    if (reading.rc != 0)
        return reading.rc;
    if (line > 0)
        return lb_fail(err, LB_E_FILE, "%s:%d: neither a comment nor `key = value`", ini->origin,
                       line);
    if (line < 0) /* inih could not allocate its line */
        lb_memory_exhausted(BUFSIZ);
    return 0;
}

int lb_ini_read(const char *path, const char *what, char **ret_text, size_t *ret_length,
                struct lb_error *err)
{
    enum { LARGEST = 1 << 16 };
    int rc = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno));
    char *text = lb_malloc(LARGEST);
    size_t length = fread(text, 1, LARGEST, file);
    if (ferror(file))
        rc = lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno));
    else if (length == LARGEST)
        rc = lb_fail(err, LB_E_FILE, "%s: larger than %s can be (64 KiB)", path, what);
    fclose(file);
    if (rc != 0) {
        free(text);
        return rc;
    }
    *ret_text = text;
    *ret_length = length;
    return 0;
}
