/* Handing over between the control thread and the players: exactly one of them runs, unless a
 * player is blocked in the engine.
 *
 * Where statements can block, each player is a thread, and semaphores hand over. Where they cannot
 * (SQLite without waiting), each is a context of the control thread with a stack of its own: a
 * hand-over is then a switch of stacks, some twenty times cheaper than waking a thread. The
 * sanitizers cannot follow that: under them, players are always threads.
 */
#ifndef LB_HANDOVER_H
#define LB_HANDOVER_H

#include "error.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LB_HANDOVER_CONTEXTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LB_HANDOVER_CONTEXTS 0
#endif
#endif
#ifndef LB_HANDOVER_CONTEXTS
#define LB_HANDOVER_CONTEXTS 1
#endif

/* What all players of one stage share. */
struct lb_control {
    sem_t arrivals; /* posted by a player that stops */
    ucontext_t context;
};

struct lb_handover {
    struct lb_control *control;
    bool is_context;
    bool is_open;
    bool leaves;
    pthread_t thread;
    sem_t go;
    ucontext_t context;
    void *stack;
    void (*play)(void *arg); /* from its first step to its last; begun anew when let go after it */
    void *arg;
    atomic_bool stopped;
};

void lb_control_init(struct lb_control *control);
void lb_control_release(struct lb_control *control);

/* can_block: do its statements ever wait for another player? play begins at the first go. */
int lb_handover_open(struct lb_handover *handover, struct lb_control *control, bool can_block,
                     void (*play)(void *arg), void *arg, struct lb_error *err);
/* The player must not be within play, unless it is never let go again. */
void lb_handover_close(struct lb_handover *handover);

/* By the control thread: the player runs. A context has stopped again on return. */
void lb_handover_go(struct lb_handover *handover);
/* By the player: it stands until it is let go. */
void lb_handover_stop(struct lb_handover *handover);
/* Has it stopped since it was last let go? What it wrote before is the control thread's then. */
static inline bool lb_handover_has_stopped(const struct lb_handover *handover)
{
    return atomic_load_explicit(&handover->stopped, memory_order_acquire);
}
/* Waits until a player stops, or for ns (0: no limit). There may have been none. */
void lb_control_wait(struct lb_control *control, uint64_t ns);

#endif
