/* Times at which one worker was not run, though others were.
 *
 * A worker that has a lock, or should recover an item, keeps all others waiting while its thread is
 * not run, or its process is stopped. No protocol can prevent that, so the judge must know it.
 * Three ways to tell:
 *
 * - sleep: a wait of its own, with a deadline, ended much later;
 * - look: the kernel counts how long a thread was ready to run and had no processor. That shows
 *   time lost within an operation as well (Linux only);
 * - stop: its process was stopped, and not by a fault of the run (processes.c).
 *
 * The worker only leaves the moment from which on it was not run; the watchdog notes it in the
 * history at its next tick. The extra tick favours the strategy.
 */
#include "starved.h"

#include "worker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* So much later is noted. */
#define LATE_NS UINT64_C(50000000)

/* A fault pauses whole processes: its effect on the others in one is part of the fault. */
static bool is_paused_with_others(const struct lb_team *team)
{
    const struct lb_scenario *scenario = team->scenario;
    return scenario->fault == LB_FAULT_PAUSE && scenario->processes > 0 &&
           scenario->processes < scenario->workers;
}

void lb_worker_starved(struct lb_worker *worker, uint64_t from_ns)
{
    if (is_paused_with_others(worker->team))
        return;
    uint64_t since_ns =
        atomic_load(&worker->starved_since_ns); /* not noted yet: the earlier counts */
    while ((since_ns == 0 || from_ns < since_ns) &&
           !atomic_compare_exchange_weak(&worker->starved_since_ns, &since_ns, from_ns))
        continue;
}

void lb_worker_late(struct lb_worker *worker, uint64_t due_ns)
{
    if (lb_now_ns() >= due_ns + LATE_NS)
        lb_worker_starved(worker, due_ns);
}

bool lb_worker_sleep(struct lb_worker *worker, uint64_t deadline_ns, enum lb_phase limit)
{
    uint64_t due_ns = lb_now_ns();
    due_ns = due_ns > deadline_ns ? due_ns : deadline_ns;
    bool slept = lb_team_wait(worker->team, deadline_ns, limit);
    if (slept)
        lb_worker_late(worker, due_ns);
    return slept;
}

/* How long this thread has been ready without a processor; 0: not known. */
static uint64_t delay_ns(void)
{
    char text[96];
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    char *rest;
    strtoull(text, &rest, 10); /* the time that it was run */
    return strtoull(rest, NULL, 10);
}

/* Of this thread, which may carry many workers: when it was last looked at, and its delay then. */
static _Thread_local struct {
    uint64_t looked_ns, delayed_ns;
} looks;

void lb_worker_look_at(struct lb_worker *worker, uint64_t now_ns)
{
    uint64_t since_ns = looks.looked_ns;
    worker->looked_ns = since_ns;
    if (now_ns < since_ns + LB_LOOK_NS)
        return;
    uint64_t delayed_ns = delay_ns(), lost_ns = delayed_ns - looks.delayed_ns;
    bool is_first = since_ns == 0 || delayed_ns < looks.delayed_ns;
    worker->looked_ns = looks.looked_ns = now_ns;
    looks.delayed_ns = delayed_ns;
    if (!is_first && lost_ns >= LATE_NS)
        lb_worker_starved(worker,
                          now_ns - (lost_ns < now_ns - since_ns ? lost_ns : now_ns - since_ns));
}
