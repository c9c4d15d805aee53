/* "Did you mean": the known names nearest to one that is not known. */
#ifndef LB_NEAREST_H
#define LB_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { LB_NEAREST_NAMES = 3, LB_NEAREST_TEXT = 600 };

struct lb_nearest {
    const char *wanted;
    size_t n;
    const char *names[LB_NEAREST_NAMES]; /* nearest first */
    unsigned distances[LB_NEAREST_NAMES];
};

/* wanted is borrowed. */
void lb_nearest_init(struct lb_nearest *nearest, const char *wanted);

/* Offers a known name, borrowed: it is kept if it is near enough (it differs by a third of wanted's
 * letters at most, or contains it) and nearer than others. */
void lb_nearest_offer(struct lb_nearest *nearest, const char *name);

/* "; did you mean a, b or c?", or "" when nothing is near. Returns buf. */
char *lb_nearest_text(const struct lb_nearest *nearest, char *buf, size_t size);
/* The same, or all the names if none is near: "; there are a, b, c". Returns buf. */
char *lb_nearest_or_all(const struct lb_nearest *nearest, const char *const *names, size_t n,
                        char *buf, size_t size);

/* True if one of the names is the text; NULL ends them. */
bool lb_is_one_of(const char *text, const char *const *names);
/* The same of a list with commas. */
bool lb_is_listed(const char *text, const char *list);

#endif
