/* Memory that forked children share with their parent: zeroed, page-aligned; untouched pages cost
 * nothing. */
#ifndef LB_SHARED_H
#define LB_SHARED_H

#include <stddef.h>

/* NULL: out of memory. Free with lb_shared_free and the same size. */
void *lb_shared_new(size_t size);
/* Touches all pages, so that the memory of a long run does not grow while they come into use. */
void lb_shared_touch(void *memory, size_t size);
void lb_shared_free(void *memory, size_t size); /* accepts NULL */

#endif
