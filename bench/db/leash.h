/* A bound for every statement and every wait on a server, once the program has been told to end.
 *
 * A statement may never return: it loops, it waits for a lock without end, or its server stands
 * still (its process is stopped, its machine is lost, the members of a cluster wait for each
 * other). The caller then cannot look whether it was interrupted. So each wait is written down, and
 * a thread looks at the waits after lb_leash_pull() or lb_leash_due(): it cancels a statement that
 * lasts too long, and shuts the socket down if that does not help. The client library then reports
 * a cancelled statement or a lost connection, and the caller continues as it does then. Nothing
 * happens to a wait before. SQLite has no sockets; it asks lb_leash_is_over() while it works.
 *
 * In the first LB_LEASH_FIRST_S after the first pull everything may still end in an orderly way.
 * Afterwards, and at once after the second pull, no statement lasts longer than LB_LEASH_EACH_MS
 * (LB_LEASH_HARD_MS after the second pull). A wait that has no way to be cancelled, such as a DROP
 * at the end, has LB_LEASH_LAST_MS (LB_LEASH_HARD_LAST_MS). Once a socket had to be shut down, the
 * server does not answer: such a wait then has no longer than a statement, and a new connection one
 * second. LB_LEASH_LATE_S after the first pull, and after the second, such a server gets no new
 * connection, and no request to cancel. So the program ends within 10 s of the first pull, and
 * within about 1 s of the second.
 */
#ifndef LB_LEASH_H
#define LB_LEASH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LB_LEASH_FIRST_S = 4,
    LB_LEASH_LATE_S = 8,
    LB_LEASH_EACH_MS = 1000,
    LB_LEASH_HARD_MS = 200,
    LB_LEASH_LAST_MS = 4000,
    LB_LEASH_HARD_LAST_MS = 1000
};

struct lb_leash_list;

/* Cancels what the wait is for. Called by the leash's thread, while the wait lasts. */
typedef void lb_leash_cancel_fn(void *arg);

/* A wait; on the stack of the caller that waits. */
struct lb_leash_wait {
    struct lb_leash_wait *next, *before;
    struct lb_leash_list *list; /* of the thread in which it began */
    uint64_t seen_ns;           /* when the thread first saw it after the pull; 0: not yet */
    uint64_t cancelled_ns;      /* 0: not yet */
    int fd;
    lb_leash_cancel_fn *cancel;
    void *arg;
};

/* Around each call that waits for the server on this socket. cancel: NULL, or how to cancel the
 * statement. A fiber may be left in between; it continues in the same thread. */
void lb_leash_begin(struct lb_leash_wait *wait, int fd, lb_leash_cancel_fn *cancel, void *arg);
void lb_leash_end(struct lb_leash_wait *wait);

/* Starts the thread, once in a process. Without it nothing is ever cut. */
void lb_leash_hold(void);
/* For a statement without a socket: true if it has to end now. *since_ns: when this was first asked
 * about the statement while statements are bounded; 0 before. */
bool lb_leash_is_over(uint64_t *since_ns);
/* The program is to end; called again: at once. Asynchronous-signal-safe. */
void lb_leash_pull(void);
/* As LB_LEASH_FIRST_S after a pull: for waits that have had their time. */
void lb_leash_pull_late(void);
/* Statements are bounded from that time on, as by a pull (CLOCK_MONOTONIC); 0: they are not. */
void lb_leash_due(uint64_t at_ns);
/* True if they are bounded now, and by lb_leash_due() alone. */
bool lb_leash_is_due(void);
bool lb_leash_is_pulled(void);
/* How many seconds a new connection may take; 0: none is to be made any more. */
unsigned lb_leash_connect_s(void);
/* Has a socket been shut down since then? There is no use in trying again. */
bool lb_leash_has_cut(void);
/* It does not end after all. */
void lb_leash_loose(void);

#endif
