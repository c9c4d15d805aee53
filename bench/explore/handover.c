/* Handing over between threads, or between contexts of one thread: see handover.h. */
#include "handover.h"

#include "clock.h"

#include <stdlib.h>

enum { STACK_BYTES = 512 * 1024 };

void lb_control_init(struct lb_control *control)
{
    sem_init(&control->arrivals, 0, 0);
}

void lb_control_release(struct lb_control *control)
{
    sem_destroy(&control->arrivals);
}

static void stand(struct lb_handover *handover)
{
    if (handover->is_context) {
        atomic_store_explicit(&handover->stopped, true, memory_order_relaxed);
        swapcontext(&handover->context, &handover->control->context);
        return;
    }
    /* Release: with the acquire in lb_handover_has_stopped, what the player wrote is handed over.
     */
    atomic_store_explicit(&handover->stopped, true, memory_order_release);
    sem_post(&handover->control->arrivals);
}

static void *thread_main(void *arg)
{
    struct lb_handover *handover = arg;
    for (;;) {
        while (sem_wait(&handover->go) != 0)
            ;
        if (handover->leaves)
            return NULL;
        handover->play(handover->arg);
        stand(handover);
    }
}

/* makecontext passes ints: the pointer comes in halves. */
static void context_main(unsigned high, unsigned low)
{
    struct lb_handover *handover =
        (struct lb_handover *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);
    for (;;) {
        handover->play(handover->arg);
        stand(handover);
    }
}

static int open_context(struct lb_handover *handover, struct lb_error *err)
{
    handover->stack = malloc(STACK_BYTES);
    if (handover->stack == NULL || getcontext(&handover->context) != 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory for a player's stack");
    handover->context.uc_stack.ss_sp = handover->stack;
    handover->context.uc_stack.ss_size = STACK_BYTES;
    handover->context.uc_link = NULL; /* context_main does not return */
    uintptr_t self = (uintptr_t)handover;
    makecontext(&handover->context, (void (*)(void))context_main, 2, (unsigned)(self >> 16 >> 16),
                (unsigned)self);
    return 0;
}

int lb_handover_open(struct lb_handover *handover, struct lb_control *control, bool can_block,
                     void (*play)(void *arg), void *arg, struct lb_error *err)
{
    int r = 0;
    *handover = (struct lb_handover){.control = control,
                                     .is_context = LB_HANDOVER_CONTEXTS && !can_block,
                                     .play = play,
                                     .arg = arg};
    sem_init(&handover->go, 0, 0);
    if (handover->is_context)
        r = open_context(handover, err);
    else if (pthread_create(&handover->thread, NULL, thread_main, handover) != 0)
        r = lb_fail(err, LB_E_ENV, "cannot start a thread: see ulimit -u");
    handover->is_open = r == 0;
    if (r != 0) {
        free(handover->stack);
        sem_destroy(&handover->go);
    }
    return r;
}

void lb_handover_close(struct lb_handover *handover)
{
    if (!handover->is_open)
        return;
    if (!handover->is_context) {
        handover->leaves = true;
        sem_post(&handover->go);
        pthread_join(handover->thread, NULL);
    }
    free(handover->stack);
    sem_destroy(&handover->go);
    handover->is_open = false;
}

void lb_handover_go(struct lb_handover *handover)
{
    atomic_store_explicit(&handover->stopped, false, memory_order_relaxed);
    if (handover->is_context)
        swapcontext(&handover->control->context, &handover->context);
    else
        sem_post(&handover->go);
}

void lb_handover_stop(struct lb_handover *handover)
{
    stand(handover);
    if (!handover->is_context)
        while (sem_wait(&handover->go) != 0)
            ;
}

void lb_control_wait(struct lb_control *control, uint64_t ns)
{
    uint64_t until = lb_now_ns() + ns;
    struct timespec deadline = {.tv_sec = (time_t)(until / 1000000000u),
                                .tv_nsec = (long)(until % 1000000000u)};
    if (ns == 0)
        sem_wait(&control->arrivals);
    else
        sem_clockwait(&control->arrivals, CLOCK_MONOTONIC, &deadline);
    while (sem_trywait(&control->arrivals) == 0)
        ;
}
