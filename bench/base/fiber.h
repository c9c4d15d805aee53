/* Fibers: functions with a stack of their own that can stand still in the middle and be continued
 * later, all in one thread. A switch costs some ten nanoseconds and no system call.
 *
 *     struct lb_fiber *fiber;
 *     lb_fiber_new(work, arg, &fiber, err);
 *     while (!lb_fiber_has_ended(fiber)) {
 *         lb_fiber_resume(fiber);          // runs until it yields or returns
 *         ... what it waits for ...
 *     }
 *     lb_fiber_free(fiber);
 *
 * Whoever resumes a fiber is continued when it yields: the thread, or another fiber. When a fiber
 * may be continued is not this module's business: it knows no sockets, no clocks and no locks.
 *
 * A fiber belongs to the thread that resumed it first, so that thread-local variables stay what
 * they are for its code; what they hold is shared by all fibers of the thread. errno is kept over a
 * yield. A blocking call blocks the thread and with it all its fibers; a mutex that is held over a
 * yield can be waited for only by other threads.
 */
#ifndef LB_FIBER_H
#define LB_FIBER_H

#include "error.h"

#include <stdbool.h>

struct lb_fiber;

/* The fiber begins in main at its first resume. LB_E_MEMORY. Free with lb_fiber_free. */
int lb_fiber_new(void (*main)(void *arg), void *arg, struct lb_fiber **ret_fiber,
                 struct lb_error *err);
/* Of a fiber that is not running. One that has not ended never will: what it held, it loses.
 * Accepts NULL. */
void lb_fiber_free(struct lb_fiber *fiber);

/* Runs it until it yields or ends. It is neither running nor ended. */
void lb_fiber_resume(struct lb_fiber *fiber);
/* Its main has returned. */
bool lb_fiber_has_ended(const struct lb_fiber *fiber);

/* By a fiber: stands still until it is resumed. */
void lb_fiber_yield(void);
/* The fiber that runs in this thread; NULL: none. */
struct lb_fiber *lb_fiber_self(void);

#endif
