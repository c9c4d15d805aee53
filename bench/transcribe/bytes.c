/* The item's number in a bytea: see bytes.h. */
#include "bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 8 }; /* of four bytes */

static bool is_bytes(const char *plain)
{
    return plain[0] == '\\' && plain[1] == 'x' &&
           plain[2 + strspn(plain + 2, "0123456789abcdef")] == '\0' && strlen(plain) % 2 == 0;
}

bool lb_bytes_find(const char *plain, const char *number, size_t *ret_at)
{
    char digits[DIGITS + 1], *end;
    long long value = strtoll(number, &end, 10);
    if (!is_bytes(plain) || end == number || *end != '\0' || value < 0 || value > INT32_MAX)
        return false;
    snprintf(digits, sizeof digits, "%08" PRIx32, (uint32_t)value);
    for (const char *at = plain + 2; (at = strstr(at, digits)) != NULL; at++) {
        if ((at - plain) % 2 == 0) {
            *ret_at = (size_t)(at - plain - 2) / 2;
            return true;
        }
    }
    return false;
}

bool lb_bytes_write(const struct lb_value_of *id, const char *const plain[LB_VALUE_SAMPLES],
                    char *out, size_t size)
{
    const char *one = NULL;
    size_t at = 0;
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++) {
        size_t found;
        if (plain[i] == NULL)
            continue;
        if (strlen(plain[i]) + 1 >= LB_VALUE_TEXT || !lb_bytes_find(plain[i], id->had[i], &found))
            return false;
        const size_t behind = 2 + 2 * found + DIGITS;
        if (one != NULL && (found != at || strncmp(one, plain[i], behind - DIGITS) != 0 ||
                            strcmp(one + behind, plain[i] + behind) != 0))
            return false;
        one = plain[i];
        at = found;
    }
    if (one == NULL)
        return false;
    snprintf(out, size, "('%.*s'::bytea || int4send((%s)::int) || '\\x%s'::bytea)",
             (int)(2 + 2 * at), one, id->text, one + 2 + 2 * at + DIGITS);
    return true;
}
