/* A bound for waits on a server: see leash.h.
 *
 * Each thread has a list of its own, so that no thread waits for another's lock in a measured
 * statement. Lists are used again by later threads and never freed: a process that forks may do so
 * at any moment, and finds nothing half done. A socket is shut down under the lock of its wait's
 * list: it cannot have been closed, and its number given to another, before the wait has ended.
 */
#include "leash.h"

#include "clock.h"
#include "memory.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct lb_leash_list {
    struct lb_leash_list *next;
    atomic_bool is_used;
    pthread_mutex_t lock; /* the waits */
    struct lb_leash_wait *waits;
};

static struct lb_leash_list *_Atomic lists;
static _Atomic uint64_t pulled_ns; /* 0: not pulled */
static atomic_bool is_hard;        /* pulled again */
static _Atomic uint64_t due_ns;    /* 0: never */
static atomic_bool has_cut;        /* since it was pulled */
static sem_t pull;
static atomic_bool is_held; /* the semaphore and the thread are there */

/* --- who waits ------------------------------------------------------------------------------ */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void give_back(void *list)
{
    atomic_store(&((struct lb_leash_list *)list)->is_used, false);
}

static void make_key(void)
{
    if (pthread_key_create(&key, give_back) != 0)
        abort(); /* the program has two of them */
}

static struct lb_leash_list *take_list(void)
{
    struct lb_leash_list *list = atomic_load(&lists);
    bool is_used = false;
    while (list != NULL && !atomic_compare_exchange_strong(&list->is_used, &is_used, true)) {
        is_used = false;
        list = list->next;
    }
    if (list != NULL)
        return list;
    list = lb_calloc(1, sizeof *list);
    pthread_mutex_init(&list->lock, NULL);
    atomic_store(&list->is_used, true);
    list->next = atomic_load(&lists);
    while (!atomic_compare_exchange_weak(&lists, &list->next, list))
        ;
    return list;
}

static struct lb_leash_list *own_list(void)
{
    pthread_once(&once, make_key);
    struct lb_leash_list *list = pthread_getspecific(key);
    if (list != NULL)
        return list;
    list = take_list();
    if (pthread_setspecific(key, list) != 0)
        lb_memory_exhausted(sizeof list); /* there is no other cause */
    return list;
}

void lb_leash_begin(struct lb_leash_wait *wait, int fd, lb_leash_cancel_fn *cancel, void *arg)
{
    *wait = (struct lb_leash_wait){.list = own_list(), .fd = fd, .cancel = cancel, .arg = arg};
    pthread_mutex_lock(&wait->list->lock);
    wait->next = wait->list->waits;
    if (wait->next != NULL)
        wait->next->before = wait;
    wait->list->waits = wait;
    pthread_mutex_unlock(&wait->list->lock);
}

void lb_leash_end(struct lb_leash_wait *wait)
{
    pthread_mutex_lock(&wait->list->lock);
    if (wait->next != NULL)
        wait->next->before = wait->before;
    if (wait->before != NULL)
        wait->before->next = wait->next;
    else
        wait->list->waits = wait->next;
    pthread_mutex_unlock(&wait->list->lock);
}

/* --- the thread ----------------------------------------------------------------------------- */

#define MS_NS      UINT64_C(1000000)
#define LOOK_NS    (50 * MS_NS)
#define TO_TAKE_NS (2000 * MS_NS) /* what a cancelled statement has until its socket is shut */
#define TO_TAKE_MOST_NS                                                                            \
    (300 * MS_NS) /* ... after the second pull; and for a server to be asked                       \
                   */

/* The time from which on waits are bounded; UINT64_MAX: they are not. */
static uint64_t bound_from_ns(void)
{
    uint64_t from_ns = atomic_load(&pulled_ns), due = atomic_load(&due_ns);
    if (from_ns != 0 && !atomic_load(&is_hard))
        from_ns += LB_LEASH_FIRST_S * UINT64_C(1000000000);
    if (from_ns == 0 || (due != 0 && due < from_ns))
        from_ns = due;
    return from_ns != 0 ? from_ns : UINT64_MAX;
}

/* The server does not answer, and its time is over. */
static bool is_last(void)
{
    uint64_t from_ns = atomic_load(&pulled_ns);
    return atomic_load(&has_cut) && from_ns != 0 &&
           (atomic_load(&is_hard) ||
            lb_now_ns() >= from_ns + LB_LEASH_LATE_S * UINT64_C(1000000000));
}

/* How long a wait may last. */
static uint64_t patience_ns(bool can_cancel)
{
    bool hard = atomic_load(&is_hard) || is_last();
    if (can_cancel || atomic_load(&has_cut))
        return (hard ? LB_LEASH_HARD_MS : LB_LEASH_EACH_MS) * MS_NS;
    return (hard ? LB_LEASH_HARD_LAST_MS : LB_LEASH_LAST_MS) * MS_NS;
}

/* *can_ask: false from the first server on that does not take the request in time: its sockets are
 * shut without it. */
static void end_wait(struct lb_leash_wait *wait, uint64_t now_ns, bool *can_ask)
{
    bool asks_no_more = is_last();
    if (wait->cancel != NULL && wait->cancelled_ns == 0 && *can_ask && !asks_no_more) {
        wait->cancel(wait->arg);
        wait->cancelled_ns = lb_now_ns();
        *can_ask = wait->cancelled_ns - now_ns < TO_TAKE_MOST_NS;
        return;
    }
    uint64_t to_take_ns = atomic_load(&is_hard) ? TO_TAKE_MOST_NS : TO_TAKE_NS;
    if (!asks_no_more && wait->cancelled_ns != 0 && now_ns < wait->cancelled_ns + to_take_ns)
        return;
    if (shutdown(wait->fd, SHUT_RDWR) == 0)
        atomic_store(&has_cut, true);
}

static void look_at_waits(struct lb_leash_list *list, bool is_bounded, bool *can_ask)
{
    pthread_mutex_lock(&list->lock);
    for (struct lb_leash_wait *wait = list->waits; wait != NULL; wait = wait->next) {
        uint64_t now_ns = lb_now_ns();
        if (wait->seen_ns == 0)
            wait->seen_ns = now_ns;
        else if (is_bounded && now_ns - wait->seen_ns >= patience_ns(wait->cancel != NULL))
            end_wait(wait, now_ns, can_ask);
    }
    pthread_mutex_unlock(&list->lock);
}

/* Waits for that time, or for another pull. */
static void sleep_until(uint64_t at_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(at_ns / 1000000000),
                                .tv_nsec = (long)(at_ns % 1000000000)};
    sem_clockwait(&pull, CLOCK_MONOTONIC, &at);
}

static void *watch(void *arg)
{
    const uint64_t look_ahead_ns = LB_LEASH_EACH_MS * MS_NS;
    bool can_ask = true;
    (void)arg;
    for (;;) {
        uint64_t from_ns = bound_from_ns(), now_ns = lb_now_ns();
        if (from_ns == UINT64_MAX) {
            can_ask = true;
            sem_wait(&pull);
        } else if (now_ns + look_ahead_ns < from_ns) {
            sleep_until(from_ns - look_ahead_ns);
        } else {
            for (struct lb_leash_list *list = atomic_load(&lists); list != NULL; list = list->next)
                look_at_waits(list, now_ns >= from_ns, &can_ask);
            sleep_until(lb_now_ns() + LOOK_NS);
        }
    }
    return NULL;
}

void lb_leash_hold(void)
{
    pthread_t thread;
    sigset_t all, before;
    if (atomic_load(&is_held))
        return;
    sem_init(&pull, 0, 0);
    /* Signals are for the thread that waits for the user. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r != 0)
        return;
    pthread_detach(thread);
    atomic_store(&is_held, true);
}

/* --- bounds --------------------------------------------------------------------------------- */

static void pull_at(uint64_t since_ns)
{
    if (!atomic_load(&is_held))
        return;
    atomic_store(&pulled_ns, since_ns);
    sem_post(&pull);
}

void lb_leash_pull(void)
{
    if (atomic_load(&pulled_ns) == 0)
        pull_at(lb_now_ns());
    else if (!atomic_exchange(&is_hard, true))
        sem_post(&pull);
}

void lb_leash_pull_late(void)
{
    uint64_t now_ns = lb_now_ns();
    const uint64_t first_ns = LB_LEASH_FIRST_S * UINT64_C(1000000000);
    pull_at(now_ns > first_ns ? now_ns - first_ns : 1);
}

void lb_leash_due(uint64_t at_ns)
{
    if (!atomic_load(&is_held))
        return;
    atomic_store(&due_ns, at_ns);
    if (at_ns != 0)
        sem_post(&pull);
}

bool lb_leash_is_due(void)
{
    uint64_t due = atomic_load(&due_ns);
    return due != 0 && lb_now_ns() >= due && !lb_leash_is_pulled();
}

bool lb_leash_is_pulled(void)
{
    return atomic_load(&pulled_ns) != 0;
}

bool lb_leash_is_over(uint64_t *since_ns)
{
    uint64_t from_ns = bound_from_ns();
    if (from_ns == UINT64_MAX)
        return false;
    uint64_t now_ns = lb_now_ns();
    if (*since_ns == 0)
        *since_ns = now_ns;
    return now_ns >= from_ns && now_ns - *since_ns >= patience_ns(true);
}

unsigned lb_leash_connect_s(void)
{
    enum { USUAL_S = 10, PULLED_S = 3, LAST_S = 1 };
    if (!lb_leash_is_pulled())
        return USUAL_S;
    bool hard = atomic_load(&is_hard), cut = atomic_load(&has_cut);
    return is_last() ? 0 : hard || cut ? LAST_S : PULLED_S;
}

bool lb_leash_has_cut(void)
{
    return atomic_load(&has_cut);
}

void lb_leash_loose(void)
{
    atomic_store(&pulled_ns, 0);
    atomic_store(&is_hard, false);
    atomic_store(&has_cut, false);
}
