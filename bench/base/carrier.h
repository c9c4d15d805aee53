/* Carriers: threads that run many fibers each. A fiber that waits, for a socket, a time or a
 * signal, stands still while the others of its carrier go on; the carrier itself sleeps, in one
 * system call for all of them, when every one waits.
 *
 * The functions below the line are for the code that runs in a fiber. Code that may run in a fiber
 * or in a thread of its own asks lb_carrier_is_here() and blocks by itself where it is not. In a
 * fiber nothing may wait otherwise: a blocked carrier blocks all its fibers, among them maybe the
 * one that is waited for.
 */
#ifndef LB_CARRIER_H
#define LB_CARRIER_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct lb_carrier;

/* True if the kernel has epoll_pwait2 (Linux 5.11), which carriers need. */
bool lb_carrier_is_possible(void);
/* Creates a carrier for up to room fibers. 0 or LB_E_ENV. Free with lb_carrier_free. */
int lb_carrier_new(uint32_t room, struct lb_carrier **ret_carrier, struct lb_error *err);
/* Before the start. */
int lb_carrier_add(struct lb_carrier *carrier, void (*main)(void *arg), void *arg,
                   struct lb_error *err);
/* The thread begins, and ends when all fibers have ended. */
int lb_carrier_start(struct lb_carrier *carrier, struct lb_error *err);
/* Waits for the end of the thread, if it was started. */
void lb_carrier_join(struct lb_carrier *carrier);
/* Not of one that runs. Accepts NULL. */
void lb_carrier_free(struct lb_carrier *carrier);

/* From any thread: all fibers in lb_carrier_wait_signal go on. */
void lb_carrier_signal(struct lb_carrier *carrier);

/* In a fiber or in a thread of one's own: sleeps until deadline_ns (CLOCK_MONOTONIC). */
void lb_carrier_sleep(uint64_t deadline_ns);
/* Does a fiber of a carrier run here? */
bool lb_carrier_is_here(void);

/* --- driven by hand: instead of start and join, all in the thread that calls --- */

/* Lets the fibers that are ready run until each of them waits or has ended; when none is, sleeps
 * until one is, or until deadline_ns. Has any run? */
bool lb_carrier_turn(struct lb_carrier *carrier, uint64_t deadline_ns);
/* The fiber that was added as number n (from 0) stands in lb_carrier_stand: in the next turn it
 * goes on. */
void lb_carrier_let_go(struct lb_carrier *carrier, uint32_t n);

/* --- in a fiber --- */

/* Stands still until it is let go. */
void lb_carrier_stand(void);

/* A socket that is read by one fiber. Zero-initialised when the socket is opened; lives until it is
 * closed. Arriving data is reported once: read all of it before waiting again. The end of the
 * stream is reported by every wait. */
struct lb_watch {
    struct lb_task *waiter;
    bool is_added, is_ready;
    bool is_closed; /* by the other side: remaining data can still be read, then the end */
};

/* Waits until a signal arrives (it may be spurious) or deadline_ns passes. Check the condition
 * before the call: no signal is lost between the check and the wait. */
void lb_carrier_wait_signal(uint64_t deadline_ns);
/* Until there may be more to read from the socket; false: deadline_ns passed (UINT64_MAX: none), or
 * the socket cannot be watched. */
bool lb_carrier_wait_readable(struct lb_watch *watch, int fd, uint64_t deadline_ns);
/* Until the socket, which need not be watched again, is ready for reading or else for writing. */
bool lb_carrier_wait_once(int fd, bool writing, uint64_t deadline_ns);

#endif
