/* Scenario files: see scenario.h.
 *
 * libinih does the parsing. It tells a handler no line number, so the reader that hands it the
 * lines counts them; it also refuses what inih would take silently (lines that are too long,
 * indented continuation lines, unknown sections).
 */
#include "nearest.h"
#include "scenario.h"
#include "text_clean.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *origin, *at, *end;
    int line;
    struct lb_scenario *scenario;
    uint64_t seen; /* bit per key (scenario.c asserts that they are enough): a key is set once */
    struct lb_error *err;
    int rc;
};

static void refuse(struct reading *reading, const char *what)
{
    if (reading->rc == 0)
        reading->rc =
            lb_fail(reading->err, LB_E_FILE, "%s:%d: %s", reading->origin, reading->line, what);
}

/* What inih would take although it is a mistake. line ends with a NUL. */
static void inspect_line(struct reading *reading, const char *line)
{
    size_t blanks = strspn(line, " \t\r\n");
    char text[300], nearest_text[128];
    if (line[blanks] == '\0' || line[blanks] == '#' || line[blanks] == ';')
        return;
    if (blanks > 0) {
        refuse(reading, "an indented line; every key stands at the start of its line");
        return;
    }
    if (line[0] != '[' || strncmp(line, "[scenario]", 10) == 0)
        return;
    size_t length = strcspn(line + 1, "]\r\n");
    snprintf(text, sizeof text, "%.*s", (int)(length < 64 ? length : 64), line + 1);
    struct lb_nearest nearest;
    lb_nearest_init(&nearest, text);
    lb_nearest_offer(&nearest, "scenario");
    lb_nearest_text(&nearest, nearest_text, sizeof nearest_text);
    char what[500];
    snprintf(what, sizeof what, "unknown section [%s]%s", text, nearest_text);
    refuse(reading, what);
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

static int take_pair(void *user, const char *section, const char *name, const char *value)
{
    struct reading *reading = user;
    struct lb_error err;
    (void)section; /* inspect_line has looked at it */
    const struct lb_key *key = lb_scenario_key(name);
    if (lb_scenario_set(reading->scenario, name, value, &err) != 0) {
        refuse(reading, err.message);
        return 0;
    }
    uint64_t bit = UINT64_C(1) << (key - lb_scenario_keys);
    if (reading->seen & bit) {
        char what[100];
        snprintf(what, sizeof what, "%s is set a second time", name);
        refuse(reading, what);
        return 0;
    }
    reading->seen |= bit;
    return 1;
}

static bool starts_with(const char *text, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - text) >= n && memcmp(text, word, n) == 0;
}

/* The first paragraph of the comment at the top, as one line; without a leading "Question:". */
static void take_question(const char *text, size_t length, char *question, size_t size)
{
    size_t used = 0;
    const char *end = text + length;
    for (const char *line = text; line < end && *line == '#';) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline : end;
        const char *word = line; /* the text has no NUL at its end */
        while (word < stop && (*word == '#' || *word == ' '))
            word++;
        if (word >= stop || starts_with(word, stop, "Expected"))
            break;
        if (starts_with(word, stop, "Question:"))
            word += strlen("Question:");
        if (word < stop && *word == ' ')
            word++;
        int n = snprintf(question + used, size - used, "%s%.*s", used > 0 ? " " : "",
                         (int)(stop - word), word);
        if (n < 0 || (size_t)n >= size - used)
            break;
        used += (size_t)n;
        line = newline != NULL ? newline + 1 : end;
    }
}

int lb_scenario_parse(const char *origin, const char *text, size_t length,
                      struct lb_scenario *ret_scenario, struct lb_error *err)
{
    struct lb_scenario scenario;
    lb_scenario_init(&scenario);
    struct reading reading = {
        .origin = origin, .at = text, .end = text + length, .scenario = &scenario, .err = err};
    int line = ini_parse_stream(read_line, &reading, take_pair, &reading);
    if (reading.rc != 0)
        return reading.rc;
    if (line > 0)
        return lb_fail(err, LB_E_FILE, "%s:%d: neither a comment nor `key = value`", origin, line);
    if (line < 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    struct lb_error why;
    if (lb_scenario_validate(&scenario, &why) != 0)
        return lb_fail(err, LB_E_FILE, "%s: %s", origin, why.message);
    take_question(text, length, scenario.question, sizeof scenario.question);
    const char *base = strrchr(origin, '/');
    base = base != NULL ? base + 1 : origin;
    size_t n = strlen(base);
    if (n > 4 && strcmp(base + n - 4, ".ini") == 0)
        n -= 4;
    snprintf(scenario.name, sizeof scenario.name, "%.*s", (int)n, base);
    lb_clean_text(scenario.name);
    *ret_scenario = scenario;
    return 0;
}

static int read_file(const char *path, struct lb_scenario *ret_scenario, struct lb_error *err)
{
    enum { LARGEST = 1 << 16 };
    int rc = 0;
    char *text = NULL;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno));
    text = malloc(LARGEST);
    if (text == NULL) {
        rc = lb_fail(err, LB_E_MEMORY, "out of memory");
        goto out;
    }
    size_t length = fread(text, 1, LARGEST, file);
    if (ferror(file))
        rc = lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno));
    else if (length == LARGEST)
        rc = lb_fail(err, LB_E_FILE, "%s: larger than a scenario can be (64 KiB)", path);
    else
        rc = lb_scenario_parse(path, text, length, ret_scenario, err);
out:
    free(text);
    fclose(file);
    return rc;
}

int lb_scenario_load(const char *name, struct lb_scenario *ret_scenario, struct lb_error *err)
{
    size_t n = strlen(name);
    if (strchr(name, '/') != NULL || (n > 4 && strcmp(name + n - 4, ".ini") == 0))
        return read_file(name, ret_scenario, err);
    struct lb_nearest nearest;
    lb_nearest_init(&nearest, name);
    for (const struct lb_embedded_scenario *e = lb_embedded_scenarios; e->name != NULL; e++) {
        lb_nearest_offer(&nearest, e->name);
        if (strcmp(e->name, name) != 0)
            continue;
        char origin[100];
        snprintf(origin, sizeof origin, "scenarios/%s.ini", name);
        return lb_scenario_parse(origin, (const char *)e->text, *e->length, ret_scenario, err);
    }
    char text[128];
    return lb_fail(err, LB_E_USAGE, "unknown scenario '%s'%s", name,
                   lb_nearest_text(&nearest, text, sizeof text));
}
