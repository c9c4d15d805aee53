/* Several classes of task in one queue, as the article's list has them (driving_task): each class
 * has its own items and its own workers, and all share the table, its indexes and its locks.
 *
 * The class of an item follows from its number, so that a worker that claims one can tell if it is
 * of its own class: the backlog is cut into equal parts, and later items go to one class after the
 * other. A queue keeps its order, and its keys, only within a class; the history knows no class, so
 * that these are not judged. Source: article of 1999 on a list of tasks in Oracle.
 */
#include "classes.h"

#include <stdio.h>

uint64_t lb_class_of(const struct lb_scenario *scenario, int64_t id)
{
    uint64_t i = (uint64_t)id - 1;
    if (i < scenario->backlog)
        return i * scenario->classes / scenario->backlog;
    return i % scenario->classes;
}

const char *lb_class_name(const struct lb_scenario *scenario, uint64_t number, char *buffer)
{
    if (scenario->shape != LB_QUEUE || scenario->classes < 2)
        return NULL;
    snprintf(buffer, LB_CLASS_NAME, "class%llu", (unsigned long long)number);
    return buffer;
}
