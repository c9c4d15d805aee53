/* Sizes and times as people write them: see units.h. */
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *suffix;
    double factor;
};

/* The number in front of the suffix, times the suffix's factor; NULL table entry ends the list. */
static int parse_scaled(const char *text, const struct unit *units, double *ret_value)
{
    /* strtod would also take "inf", "nan", exponents and hexadecimal: none of them is a size. */
    if (text == NULL)
        return LB_UNITS_NOT;
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double number = strtod(text, &end); /* huge: HUGE_VAL; tiny: 0 or nearly */
    if (digits == 0 || end != text + digits)
        return LB_UNITS_NOT;
    for (const struct unit *unit = units; unit->suffix != NULL; unit++) {
        if (strcmp(end, unit->suffix) != 0)
            continue;
        double value = number * unit->factor;
        if (!(value < 0x1p63))
            return LB_UNITS_LARGE;
        *ret_value = value;
        return 0;
    }
    return LB_UNITS_NOT;
}

int lb_parse_ns(const char *text, uint64_t *ret_ns)
{
    static const struct unit units[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
                                        {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0}};
    static const struct unit bare[] = {{"", 1}, {NULL, 0}};
    double value;
    int rc = parse_scaled(text, units, &value);
    if (rc == LB_UNITS_LARGE)
        return rc;
    if (rc != 0 && (parse_scaled(text, bare, &value) != 0 || value > 0))
        return LB_UNITS_NOT;
    if (value > 0 && value < 1)
        return LB_UNITS_NOT; /* it would be 0, which often means never */
    *ret_ns = (uint64_t)llround(value);
    return 0;
}

int lb_parse_count(const char *text, uint64_t *ret_count)
{
    static const struct unit units[] = {{"", 1},         {"k", 1e3},         {"K", 1e3},
                                        {"M", 1e6},      {"G", 1e9},         {"Ki", 1024},
                                        {"Mi", 1048576}, {"Gi", 1073741824}, {NULL, 0}};
    double value;
    int rc = parse_scaled(text, units, &value);
    if (rc != 0)
        return rc;
    if (value > floor(value))
        return LB_UNITS_NOT;
    *ret_count = (uint64_t)value;
    return 0;
}

int lb_parse_double(const char *text, double *ret_value)
{
    char *end;
    if (text == NULL || *text == '\0')
        return -1;
    errno = 0;
    double value = strtod(text, &end);
    if (errno != 0 || *end != '\0' || !isfinite(value))
        return -1;
    *ret_value = value;
    return 0;
}

/* Three significant digits of a value in [0, 1000). */
static int decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

char *lb_format_ns(uint64_t ns, char *buf, size_t size)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    if (ns < 1000) {
        snprintf(buf, size, "%u ns", (unsigned)ns);
        return buf;
    }
    size_t i = 0;
    while (i < 2 && (double)ns / units[i].factor >= 999.5)
        i++;
    double value = (double)ns / units[i].factor;
    snprintf(buf, size, "%.*f %s", decimals(value), value, units[i].name);
    return buf;
}

char *lb_format_count(double value, char *buf, size_t size)
{
    static const char *const suffixes[] = {"", "k", "M", "G", "T"};
    size_t i = 0;
    while (i < 4 && value >= 999.5) {
        value /= 1000;
        i++;
    }
    int digits = i == 0 && value >= 99.95 ? 0 : decimals(value);
    if (i == 0 && value <= floor(value))
        digits = 0;
    snprintf(buf, size, "%.*f%s", digits, value, suffixes[i]);
    return buf;
}

unsigned lb_edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    unsigned rows[3][LONGEST + 1];
    unsigned *older = rows[0], *above = rows[1], *row = rows[2];
    size_t width = strnlen(b, LONGEST);
    for (size_t j = 0; j <= width; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1] != '\0' && i <= LONGEST; i++) {
        unsigned *oldest = older;
        older = above;
        above = row;
        row = oldest;
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= width; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[width];
}
