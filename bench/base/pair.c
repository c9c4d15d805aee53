#include "pair.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct half {
    void (*work)(void *arg);
    void *arg;
};

static void *half_main(void *arg)
{
    const struct half *half = arg;
    half->work(half->arg);
    return NULL;
}

void lb_pair(void (*work)(void *arg), void *a, void *b)
{
    pthread_t thread;
    struct half half = {work, a};
    int error = pthread_create(&thread, NULL, half_main, &half);
    if (error != 0)
        work(a);
    work(b);
    if (error == 0)
        pthread_join(thread, NULL);
}

unsigned lb_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}
