/* Warnings that differ in their figures only: see alike.h. */
#include "alike.h"

#include <ctype.h>
#include <string.h>

/* The next word of a text; its length. */
static size_t next_word(const char **text)
{
    *text += strspn(*text, " ");
    return strcspn(*text, " ");
}

static bool is_unit(const char *word, size_t n)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "min"};
    bool is = false;
    for (size_t i = 0; i < sizeof units / sizeof units[0] && !is; i++)
        is = strlen(units[i]) <= n && strncmp(word, units[i], strlen(units[i])) == 0 &&
             strspn(word + strlen(units[i]), ",;:.") >= n - strlen(units[i]);
    return is;
}

bool lb_is_alike(const char *a, const char *b)
{
    for (;;) {
        size_t n = next_word(&a), m = next_word(&b);
        bool figures = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        bool units = is_unit(a, n) && is_unit(b, m);
        if (n == 0 || m == 0)
            return n == m;
        if (!figures && !units && (n != m || strncmp(a, b, n) != 0))
            return false;
        a += n;
        b += m;
    }
}
