/* A bound for every wait on a server, once the program has been told to end.
 *
 * A server may stand still: its process is stopped, its machine is lost without a word, or the
 * members of a cluster wait for each other. A client library then waits without end, and what asked
 * for the answer cannot look whether it was interrupted. So each wait is written down, and a thread
 * shuts those sockets down whose waits last too long after lb_leash_pull(): the library finds the
 * connection lost, and the caller goes the way that it goes then. Nothing happens to a wait before.
 *
 * In the first LB_LEASH_FIRST_S after the pull nothing is cut: what can end in an orderly way does.
 * After that no wait lasts longer than LB_LEASH_EACH_S.
 */
#ifndef LB_LEASH_H
#define LB_LEASH_H

#include <stdbool.h>
#include <stdint.h>

enum { LB_LEASH_FIRST_S = 30, LB_LEASH_EACH_S = 10 };

struct lb_leash_list;

/* A wait; on the stack of who waits. */
struct lb_leash_wait {
    struct lb_leash_wait *next, *before;
    struct lb_leash_list *list; /* of the thread in which it began; NULL: no memory, no bound */
    uint64_t seen_ns;           /* when the thread first saw it after the pull; 0: not yet */
    int fd;
};

/* Around each call that waits for the server on this socket. A fiber may be left in between; it
 * goes on in the same thread. */
void lb_leash_begin(struct lb_leash_wait *wait, int fd);
void lb_leash_end(struct lb_leash_wait *wait);

/* Starts the thread, once in a process. Without it, or without room for it, nothing is ever cut. */
void lb_leash_hold(void);
/* For who waits without a socket, since since_ns: has it lasted too long? */
bool lb_leash_is_over(uint64_t since_ns);
/* The program is to end. Asynchronous-signal-safe; a second one changes nothing. */
void lb_leash_pull(void);
/* As LB_LEASH_FIRST_S after a pull: what stands still has had its time. */
void lb_leash_pull_hard(void);
bool lb_leash_is_pulled(void);
/* Has a socket been shut down since then? There is no use in trying again. */
bool lb_leash_has_cut(void);
/* It does not end after all. */
void lb_leash_loose(void);

#endif
