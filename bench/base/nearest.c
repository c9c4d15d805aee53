/* The known names nearest to an unknown one, by edit distance: see nearest.h. */
#include "nearest.h"

#include "units.h"

#include <stdbool.h>
#include <stdio.h>
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
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < nearest->n && used < size; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 == nearest->n ? " or " : ", ";
        int n = snprintf(buf + used, size - used, "%s%s%s", before, nearest->names[i],
                         i + 1 == nearest->n ? "?" : "");
        if (n < 0)
            break;
        used += (size_t)n;
    }
    return buf;
}

char *lb_nearest_or_all(const struct lb_nearest *nearest, const char *const *names, size_t n,
                        char *buf, size_t size)
{
    size_t used = strlen(lb_nearest_text(nearest, buf, size));
    for (size_t i = 0; i < n && nearest->n == 0 && used < size; i++) {
        const char *before = i == 0 ? "; there are " : ", ";
        int length = snprintf(buf + used, size - used, "%s%s", before, names[i]);
        if (length < 0)
            break;
        used += (size_t)length;
    }
    return buf;
}
