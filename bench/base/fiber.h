/* Fibers: functions with a stack of their own that can stand still in the middle and be continued
 * later, all in one thread. A switch costs some ten nanoseconds and no system call.
 *
 *     struct lb_fiber *fiber;
 *     lb_fiber_new(work, arg, &fiber, err);
 *     while (!lb_fiber_has_ended(fiber)) {
 *         lb_fiber_resume(fiber);          // runs until it yields or returns
 *         ... wait for its event ...
 *     }
 *     lb_fiber_free(fiber);
 *
 * A yield continues the thread or fiber that resumed this one. The caller decides when to continue
 * a fiber: this module knows no sockets, no clocks and no locks.
 *
 * A fiber belongs to the thread that resumed it first, so that its code always sees the same
 * thread-local variables; all fibers of the thread share them. errno is kept over a yield. A
 * blocking call blocks the thread and with it all its fibers; a mutex that is held over a yield can
 * be waited for only by other threads.
 */
#ifndef LB_FIBER_H
#define LB_FIBER_H

#include "error.h"

#include <stdbool.h>

struct lb_fiber;

/* The fiber begins in main at its first resume. 0 or LB_E_ENV. Free with lb_fiber_free. */
int lb_fiber_new(void (*main)(void *arg), void *arg, struct lb_fiber **ret_fiber,
                 struct lb_error *err);
/* The fiber must not be running. If it has not ended, it never will, and the resources it held
 * leak. Accepts NULL. */
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
