/* Files of durations and of times: see values_file.h.
 *
 * A first line that begins with a letter, or a quotation mark, is a header. Times are read digit by
 * digit: a double has no room for the microseconds of seconds since 1970.
 */
#include "values_file.h"

#include "array.h"
#include "order.h"
#include "text_clean.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_VALUES = 10000000 };
#define NS_PER_S     INT64_C(1000000000)
#define MOST_SECONDS INT64_C(9000000000)

static const char *read_duration(const char *text, int64_t *ret_ns)
{
    uint64_t ns = 0;
    double seconds;
    if (text[0] == '-')
        return "is negative: give the end minus the start";
    if (lb_parse_double(text, &seconds) == 0) {
        if (!(seconds < (double)MOST_SECONDS))
            return "is too long";
        ns = (uint64_t)(seconds * (double)NS_PER_S + 0.5);
    } else if (lb_parse_ns(text, &ns) != 0) {
        return "is not a duration: give seconds, or a number with its unit such as 5ms";
    }
    *ret_ns = (int64_t)ns;
    return ns <= INT64_MAX ? NULL : "is too long";
}

/* "-1764316800.25" */
static const char *read_time(const char *text, int64_t *ret_ns)
{
    const char *const wrong =
        "is not a number of seconds: in SQL, extract(epoch FROM created_at), or UNIX_TIMESTAMP()";
    bool is_negative = *text == '-';
    int64_t seconds = 0, fraction = 0, unit = NS_PER_S;
    const char *at = text + is_negative;
    if (!isdigit((unsigned char)*at))
        return wrong;
    for (; isdigit((unsigned char)*at); at++) {
        seconds = seconds * 10 + (*at - '0');
        if (seconds > MOST_SECONDS)
            return "is not a number of seconds: it is too large; divide milliseconds by 1000.0";
    }
    if (*at == '.')
        for (at++; isdigit((unsigned char)*at); at++) {
            unit /= 10; /* 0 behind the last digit that counts */
            fraction += (*at - '0') * unit;
        }
    *ret_ns = (is_negative ? -1 : 1) * (seconds * NS_PER_S + fraction);
    return *at == '\0' ? NULL : wrong;
}

struct reading {
    enum lb_values kind;
    struct lb_array values; /* int64_t */
};

/* Returns the error of the line, or NULL. */
static const char *take_line(struct reading *reading, char *line, size_t number)
{
    int64_t value = 0;
    size_t length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    if (number == 1 && (isalpha((unsigned char)line[0]) || line[0] == '"'))
        return NULL;
    if (length == 0)
        return "is empty: leave rows without a value out, by IS NOT NULL";
    const char *wrong =
        reading->kind == LB_VALUES_TIMES ? read_time(line, &value) : read_duration(line, &value);
    if (wrong != NULL)
        return strpbrk(line, ",;\t") != NULL ? "has several columns: select one" : wrong;
    if (reading->values.n == MOST_VALUES)
        return "is one too many: at most 10000000; take a shorter time, or a sample";
    *(int64_t *)lb_array_push(&reading->values, sizeof value) = value;
    return NULL;
}

static int read_lines(const char *key, const char *shown, FILE *file, struct reading *reading,
                      struct lb_error *err)
{
    char *line = NULL, text[60];
    size_t room = 0, number = 0;
    int rc = 0;
    for (ssize_t n; rc == 0 && (n = getline(&line, &room, file)) >= 0;) {
        number++;
        const char *wrong = strlen(line) == (size_t)n ? take_line(reading, line, number)
                                                      : "has a NUL byte: it is no text";
        if (wrong != NULL)
            rc = lb_fail(err, LB_E_USAGE, "%s: %s:%zu: '%s' %s", key, shown, number,
                         lb_shown(line, text, sizeof text), wrong);
    }
    free(line);
    if (rc == 0 && ferror(file))
        rc = lb_fail(err, LB_E_USAGE, "%s: %s: %s", key, shown, strerror(errno));
    if (rc == 0 && reading->values.n == 0)
        rc = lb_fail(err, LB_E_USAGE, "%s: %s: has no values: one on each line", key, shown);
    return rc;
}

int lb_values_read(const char *key, const char *path, enum lb_values kind, uint64_t **ret_values,
                   size_t *ret_n, struct lb_error *err)
{
    struct reading reading = {.kind = kind};
    struct stat status;
    char shown[200];
    lb_shown(path, shown, sizeof shown);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return lb_fail(err, LB_E_USAGE,
                       "%s: cannot open %s: %s; the path counts from the current "
                       "directory",
                       key, shown, strerror(errno));
    int rc = 0;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        rc = lb_fail(err, LB_E_USAGE, "%s: %s is not a file, which is read more than once", key,
                     shown);
    if (rc == 0)
        rc = read_lines(key, shown, file, &reading, err);
    fclose(file);
    if (rc != 0) {
        free(reading.values.items);
        return rc;
    }
    uint64_t *values = reading.values.items; /* modulo 2^64, as they may be negative */
    qsort(values, reading.values.n, sizeof *values, lb_order_i64);
    const uint64_t origin = kind == LB_VALUES_TIMES ? values[0] : 0;
    for (size_t i = 0; i < reading.values.n; i++)
        values[i] -= origin;
    *ret_values = values;
    *ret_n = reading.values.n;
    return 0;
}
