/* Text that others wrote: see text_clean.h. */
#include "text_clean.h"

#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the character at c, or 0 if it is no UTF-8. */
static size_t decode(const unsigned char *c, uint32_t *ret)
{
    size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (n > 1 && (c[0] < 0xc2 || c[0] > 0xf4))
        return 0;
    *ret = n == 1 ? c[0] : c[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *ret = *ret << 6 | (c[i] & 0x3f);
    }
    return n;
}

static int is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           (code >= 0xd800 && code < 0xe000);
}

char *lb_clean_text(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != '\0';) {
        uint32_t code = 0;
        size_t n = decode(c, &code);
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
        else if (n == 0 || is_control(code))
            for (size_t i = 0; i < (n > 0 ? n : 1); i++)
                c[i] = '?';
        c += n > 0 ? n : 1;
    }
    return text;
}

char *lb_shown(const char *text, char *buf, size_t size)
{
    snprintf(buf, size, "%s", text);
    return lb_clean_text(buf);
}

char *lb_clean_copy(const char *text, size_t n)
{
    return lb_clean_text(lb_strndup(text, n));
}

void lb_print_clean(FILE *out, const char *text, const char *special, const char *const *instead)
{
    char *clean = lb_clean_copy(text, SIZE_MAX);
    for (const char *c = clean; *c != '\0'; c++) {
        const char *found = strchr(special, *c);
        if (found != NULL)
            fputs(instead[found - special], out);
        else
            fputc(*c, out);
    }
    free(clean);
}

void lb_print_yaml(FILE *out, const char *key, const char *text)
{
    fprintf(out, "  %s: \"", key);
    lb_print_clean(out, text, "\"\\", (const char *const[]){"\\\"", "\\\\"});
    fputs("\"\n", out);
}
