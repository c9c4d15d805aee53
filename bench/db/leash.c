/* A bound for waits on a server: see leash.h.
 *
 * Each thread has a list of its own, so that no thread waits for another's lock in a measured
 * statement. Lists are used again by later threads and never freed: a process that forks may do so
 * at any moment, and finds nothing half done. A socket is shut down under the lock of its wait's
 * list: it cannot have been closed, and its number given to another, before the wait has ended.
 */
#include "leash.h"

#include "clock.h"

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
    list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
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
    if (list != NULL && pthread_setspecific(key, list) != 0) {
        give_back(list);
        return NULL;
    }
    return list;
}

void lb_leash_begin(struct lb_leash_wait *wait, int fd)
{
    *wait = (struct lb_leash_wait){.list = own_list(), .fd = fd};
    if (wait->list == NULL)
        return;
    pthread_mutex_lock(&wait->list->lock);
    wait->next = wait->list->waits;
    if (wait->next != NULL)
        wait->next->before = wait;
    wait->list->waits = wait;
    pthread_mutex_unlock(&wait->list->lock);
}

void lb_leash_end(struct lb_leash_wait *wait)
{
    if (wait->list == NULL)
        return;
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

static void cut_waits(struct lb_leash_list *list, uint64_t now_ns, bool may_cut)
{
    pthread_mutex_lock(&list->lock);
    for (struct lb_leash_wait *wait = list->waits; wait != NULL; wait = wait->next) {
        if (wait->seen_ns == 0)
            wait->seen_ns = now_ns;
        else if (may_cut && now_ns - wait->seen_ns >= LB_LEASH_EACH_S * UINT64_C(1000000000) &&
                 shutdown(wait->fd, SHUT_RDWR) == 0)
            atomic_store(&has_cut, true);
    }
    pthread_mutex_unlock(&list->lock);
}

static void *watch(void *arg)
{
    (void)arg;
    for (;;) {
        uint64_t since_ns = atomic_load(&pulled_ns);
        if (since_ns == 0) {
            sem_wait(&pull);
            continue;
        }
        uint64_t now_ns = lb_now_ns();
        bool may_cut = now_ns - since_ns >= LB_LEASH_FIRST_S * UINT64_C(1000000000);
        for (struct lb_leash_list *list = atomic_load(&lists); list != NULL; list = list->next)
            cut_waits(list, now_ns, may_cut);
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
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
}

void lb_leash_pull_hard(void)
{
    uint64_t now_ns = lb_now_ns();
    const uint64_t first_ns = LB_LEASH_FIRST_S * UINT64_C(1000000000);
    pull_at(now_ns > first_ns ? now_ns - first_ns : 1);
}

bool lb_leash_is_pulled(void)
{
    return atomic_load(&pulled_ns) != 0;
}

bool lb_leash_is_over(uint64_t since_ns)
{
    const uint64_t second_ns = UINT64_C(1000000000);
    uint64_t from_ns = atomic_load(&pulled_ns), now_ns = lb_now_ns();
    return from_ns != 0 && now_ns >= from_ns + LB_LEASH_FIRST_S * second_ns &&
           now_ns >= since_ns + LB_LEASH_EACH_S * second_ns;
}

bool lb_leash_has_cut(void)
{
    return atomic_load(&has_cut);
}

void lb_leash_loose(void)
{
    atomic_store(&pulled_ns, 0);
    atomic_store(&has_cut, false);
}
