/* The known names nearest to an unknown one, by edit distance: see nearest.h. */
#include "nearest.h"

#include "append.h"
#include "units.h"

#include <string.h>

void lb_nearest_init(struct lb_nearest *nearest, const char *wanted)
{
    *nearest = (struct lb_nearest){.wanted = wanted};
}

/* In a short word a letter that is replaced makes another word: "nope" is no slip of "none". A
 * letter that is missing, too much, or swapped with its neighbour is one. */
static bool is_another_word(const char *wanted, const char *name)
{
    enum { SHORT = 4 };
    size_t n = strlen(wanted);
    if (n > SHORT || strlen(name) != n)
        return false;
    size_t n_different = 0;
    for (size_t i = 0; i < n; i++)
        n_different += wanted[i] != name[i];
    return n_different == 1;
}

void lb_nearest_offer(struct lb_nearest *nearest, const char *name)
{
    size_t wanted_length = strlen(nearest->wanted);
    if (wanted_length == 0)
        return;
    unsigned distance = lb_edit_distance(nearest->wanted, name);
    size_t limit = wanted_length / 3;
    bool contains = wanted_length >= 3 && strstr(name, nearest->wanted) != NULL;
    if ((distance > limit && !contains) || is_another_word(nearest->wanted, name))
        return;
    size_t at = nearest->n;
    while (at > 0 && nearest->distances[at - 1] > distance)
        at--;
    if (at == LB_NEAREST_NAMES)
        return;
    if (nearest->n < LB_NEAREST_NAMES)
        nearest->n++;
    for (size_t i = nearest->n - 1; i > at; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[at] = name;
    nearest->distances[at] = distance;
}

char *lb_nearest_text(const struct lb_nearest *nearest, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; i < nearest->n; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 == nearest->n ? " or " : ", ";
        lb_append(buf, size, "%s%s%s", before, nearest->names[i], i + 1 == nearest->n ? "?" : "");
    }
    return buf;
}

char *lb_nearest_or_all(const struct lb_nearest *nearest, const char *const *names, size_t n,
                        char *buf, size_t size)
{
    lb_nearest_text(nearest, buf, size);
    for (size_t i = 0; i < n && nearest->n == 0; i++)
        lb_append(buf, size, "%s%s", i == 0 ? "; there are " : ", ", names[i]);
    return buf;
}

bool lb_is_one_of(const char *text, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

bool lb_is_listed(const char *text, const char *list)
{
    size_t n = strlen(text);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, text, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}
