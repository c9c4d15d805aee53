/* Carriers: see carrier.h.
 *
 *     ready queue --> resume, one after the other --> each waits again
 *         ^                                               |
 *         +--- epoll: sockets and the signal, <-----------+
 *              timer heap: deadlines
 *
 * Sockets are registered once, edge-triggered: all waits share one system call. An edge that
 * arrives while no fiber waits is remembered in the watch. The end of the stream may arrive in one
 * edge with data before it: from then on every wait returns at once. epoll's reports are noted for
 * all sockets before any fiber runs: a fiber may close its socket and free the watch.
 */
#include "carrier.h"

#include "clock.h"
#include "fiber.h"
#include "memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* One fiber and the event that it waits for. */
struct lb_task {
    struct lb_carrier *carrier;
    struct lb_fiber *fiber;
    struct lb_task *next; /* in the ready queue */
    const char *frame;    /* where its stack stands while it waits; NULL: it has not begun */
    uint64_t deadline_ns; /* UINT64_MAX: not in the heap */
    uint32_t heap_place;
    bool is_waiting; /* not in the ready queue, not running */
    bool awaits_signal;
    bool has_timed_out;
};

struct lb_carrier {
    pthread_t thread;
    bool is_started;
    int epoll_fd, signal_fd;
    struct lb_task *tasks;
    uint32_t n_tasks, n_left;
    struct lb_task *first_ready, *last_ready;
    struct lb_task **heap; /* by deadline, the earliest first */
    uint32_t n_heap;
};

static _Thread_local struct lb_task *running;

/* --- the heap of deadlines ------------------------------------------------------------------ */

static void place(struct lb_carrier *carrier, uint32_t at, struct lb_task *task)
{
    carrier->heap[at] = task;
    task->heap_place = at;
}

static void rise(struct lb_carrier *carrier, uint32_t at, struct lb_task *task)
{
    while (at > 0 && carrier->heap[(at - 1) / 2]->deadline_ns > task->deadline_ns) {
        place(carrier, at, carrier->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(carrier, at, task);
}

static void sink(struct lb_carrier *carrier, uint32_t at, struct lb_task *task)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < carrier->n_heap &&
            carrier->heap[child + 1]->deadline_ns < carrier->heap[child]->deadline_ns)
            child++;
        if (child >= carrier->n_heap || carrier->heap[child]->deadline_ns >= task->deadline_ns)
            break;
        place(carrier, at, carrier->heap[child]);
        at = child;
    }
    place(carrier, at, task);
}

static void heap_add(struct lb_carrier *carrier, struct lb_task *task)
{
    rise(carrier, carrier->n_heap++, task);
}

static void heap_remove(struct lb_carrier *carrier, struct lb_task *task)
{
    uint32_t at = task->heap_place;
    struct lb_task *last = carrier->heap[--carrier->n_heap];
    task->deadline_ns = UINT64_MAX;
    if (last == task)
        return;
    if (at > 0 && carrier->heap[(at - 1) / 2]->deadline_ns > last->deadline_ns)
        rise(carrier, at, last);
    else
        sink(carrier, at, last);
}

/* --- waiting and waking --------------------------------------------------------------------- */

static void make_ready(struct lb_task *task)
{
    struct lb_carrier *carrier = task->carrier;
    task->is_waiting = false;
    task->awaits_signal = false;
    if (task->deadline_ns != UINT64_MAX)
        heap_remove(carrier, task);
    task->next = NULL;
    if (carrier->last_ready != NULL)
        carrier->last_ready->next = task;
    else
        carrier->first_ready = task;
    carrier->last_ready = task;
}

/* The running fiber stands still until it is made ready. false: its deadline passed. */
static bool wait_here(uint64_t deadline_ns)
{
    struct lb_task *task = running;
    task->is_waiting = true;
    task->has_timed_out = false;
    task->deadline_ns = deadline_ns;
    task->frame = __builtin_frame_address(0);
    if (deadline_ns != UINT64_MAX)
        heap_add(task->carrier, task);
    lb_fiber_yield();
    return !task->has_timed_out;
}

static void wake_signalled(struct lb_carrier *carrier)
{
    uint64_t n;
    while (read(carrier->signal_fd, &n, sizeof n) > 0)
        ;
    for (uint32_t i = 0; i < carrier->n_tasks; i++)
        if (carrier->tasks[i].is_waiting && carrier->tasks[i].awaits_signal)
            make_ready(&carrier->tasks[i]);
}

static void wake_timed_out(struct lb_carrier *carrier)
{
    uint64_t now_ns = carrier->n_heap > 0 ? lb_now_ns() : 0;
    while (carrier->n_heap > 0 && carrier->heap[0]->deadline_ns <= now_ns) {
        carrier->heap[0]->has_timed_out = true;
        make_ready(carrier->heap[0]);
    }
}

/* Sleeps until a socket is ready, a signal comes, the first deadline passes or this one does. */
static void wait_for_all(struct lb_carrier *carrier, uint64_t until_ns)
{
    enum { BATCH = 128 };
    struct epoll_event events[BATCH];
    struct timespec left = {0}, *timeout = NULL;
    if (carrier->n_heap > 0 && carrier->heap[0]->deadline_ns < until_ns)
        until_ns = carrier->heap[0]->deadline_ns;
    if (until_ns != UINT64_MAX) {
        uint64_t now_ns = lb_now_ns();
        left = lb_timespec(until_ns > now_ns ? until_ns - now_ns : 0);
        timeout = &left;
    }
    int n = epoll_pwait2(carrier->epoll_fd, events, BATCH, timeout, NULL);
    for (int i = 0; i < n; i++) {
        struct lb_watch *watch = events[i].data.ptr;
        if (watch == NULL) {
            wake_signalled(carrier);
            continue;
        }
        watch->is_ready = true;
        watch->is_closed = (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        if (watch->waiter != NULL && watch->waiter->is_waiting)
            make_ready(watch->waiter);
    }
    wake_timed_out(carrier);
}

/* Asks for the stack of the fiber that is next, while another runs. Between two turns of a fiber
 * many others have had theirs, and the server: the nearer caches have nothing of it any more. */
static void fetch_stack(const struct lb_task *next)
{
    enum { LINE = 64, BELOW = 2 * LINE, ABOVE = 40 * LINE };
    for (int offset = -BELOW; next->frame != NULL && offset < ABOVE; offset += LINE)
        __builtin_prefetch(next->frame + offset);
}

bool lb_carrier_turn(struct lb_carrier *carrier, uint64_t deadline_ns)
{
    bool any = false;
    if (carrier->first_ready == NULL)
        wait_for_all(carrier, deadline_ns);
    for (struct lb_task *task; (task = carrier->first_ready) != NULL; any = true) {
        carrier->first_ready = task->next;
        if (task->next == NULL)
            carrier->last_ready = NULL;
        else
            fetch_stack(task->next);
        running = task;
        lb_fiber_resume(task->fiber);
        running = NULL;
        carrier->n_left -= lb_fiber_has_ended(task->fiber);
    }
    return any;
}

static void *carrier_main(void *arg)
{
    struct lb_carrier *carrier = arg;
    /* Sleeps end when asked, not 50 us later. */
    prctl(PR_SET_TIMERSLACK, 1);
    while (carrier->n_left > 0)
        lb_carrier_turn(carrier, UINT64_MAX);
    return NULL;
}

/* --- life ----------------------------------------------------------------------------------- */

bool lb_carrier_is_possible(void)
{
    struct epoll_event event;
    return epoll_pwait2(-1, &event, 1, NULL, NULL) == 0 || errno == EBADF;
}

int lb_carrier_new(uint32_t room, struct lb_carrier **ret_carrier, struct lb_error *err)
{
    struct lb_carrier *carrier = lb_calloc(1, sizeof *carrier);
    carrier->tasks = lb_calloc(room, sizeof *carrier->tasks);
    carrier->heap = lb_calloc(room, sizeof(struct lb_task *));
    carrier->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    carrier->signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN};
    if (carrier->epoll_fd < 0 || carrier->signal_fd < 0 ||
        epoll_ctl(carrier->epoll_fd, EPOLL_CTL_ADD, carrier->signal_fd, &event) != 0) {
        int rc = lb_fail(err, LB_E_ENV, "cannot watch sockets: %s", strerror(errno));
        lb_carrier_free(carrier);
        return rc;
    }
    *ret_carrier = carrier;
    return 0;
}

int lb_carrier_add(struct lb_carrier *carrier, void (*main)(void *arg), void *arg,
                   struct lb_error *err)
{
    struct lb_task *task = &carrier->tasks[carrier->n_tasks];
    task->carrier = carrier;
    task->deadline_ns = UINT64_MAX;
    int rc = lb_fiber_new(main, arg, &task->fiber, err);
    if (rc != 0)
        return rc;
    carrier->n_tasks++;
    carrier->n_left++;
    make_ready(task);
    return 0;
}

int lb_carrier_start(struct lb_carrier *carrier, struct lb_error *err)
{
    int error = pthread_create(&carrier->thread, NULL, carrier_main, carrier);
    if (error != 0)
        return lb_fail(err, LB_E_ENV, "cannot start a thread: %s: see ulimit -u", strerror(error));
    carrier->is_started = true;
    return 0;
}

void lb_carrier_join(struct lb_carrier *carrier)
{
    if (carrier->is_started)
        pthread_join(carrier->thread, NULL);
    carrier->is_started = false;
}

void lb_carrier_free(struct lb_carrier *carrier)
{
    if (carrier == NULL)
        return;
    for (uint32_t i = 0; i < carrier->n_tasks; i++)
        lb_fiber_free(carrier->tasks[i].fiber);
    if (carrier->epoll_fd >= 0)
        close(carrier->epoll_fd);
    if (carrier->signal_fd >= 0)
        close(carrier->signal_fd);
    free(carrier->tasks);
    free(carrier->heap);
    free(carrier);
}

void lb_carrier_let_go(struct lb_carrier *carrier, uint32_t n)
{
    make_ready(&carrier->tasks[n]);
}

void lb_carrier_signal(struct lb_carrier *carrier)
{
    const uint64_t one = 1;
    /* Cannot fail but for a counter that is full: then a signal is under way already. */
    if (write(carrier->signal_fd, &one, sizeof one) < 0)
        return;
}

/* --- in a fiber ----------------------------------------------------------------------------- */

bool lb_carrier_is_here(void)
{
    return running != NULL;
}

void lb_carrier_sleep(uint64_t deadline_ns)
{
    if (running != NULL) {
        wait_here(deadline_ns);
        return;
    }
    const struct timespec deadline = lb_timespec(deadline_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        ;
}

void lb_carrier_stand(void)
{
    wait_here(UINT64_MAX);
}

void lb_carrier_wait_signal(uint64_t deadline_ns)
{
    running->awaits_signal = true;
    wait_here(deadline_ns);
}

bool lb_carrier_wait_readable(struct lb_watch *watch, int fd, uint64_t deadline_ns)
{
    if (!watch->is_added) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = watch};
        if (epoll_ctl(running->carrier->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
            return false;
        watch->is_added = true;
    }
    watch->waiter = running;
    while (!watch->is_ready)
        if (!wait_here(deadline_ns))
            break;
    watch->waiter = NULL;
    bool is_ready = watch->is_ready;
    watch->is_ready = watch->is_closed;
    return is_ready;
}

bool lb_carrier_wait_once(int fd, bool writing, uint64_t deadline_ns)
{
    struct lb_watch watch = {.waiter = running};
    struct epoll_event event = {.events = (writing ? EPOLLOUT : EPOLLIN) | EPOLLONESHOT,
                                .data.ptr = &watch};
    if (epoll_ctl(running->carrier->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        return false;
    while (!watch.is_ready)
        if (!wait_here(deadline_ns))
            break;
    epoll_ctl(running->carrier->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    return watch.is_ready;
}
