/* Mutants in several processes: see mutation_ask.h. */
#include "mutation_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool lb_mutation_is_mine(const struct lb_mutation *m, size_t i)
{
    return m->judged[i].turn % m->n_parts == m->part;
}

/* The whole life of a child. A signal stops it as it stops its parent, and then it leaves no space
 * behind. */
static _Noreturn void child_main(struct lb_mutation *m, unsigned part, pid_t parent,
                                 int (*work)(struct lb_mutation *m, struct lb_error *err))
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    m->part = part;
    m->n_parts = m->n_jobs;
    m->is_shown = m->is_shown && part == 0;
    m->shared->results[part] = work(m, &m->shared->errors[part]);
    _exit(0);
}

/* Waits until all children have ended. They stop when their parent is to stop. ended: the end of a
 * pipe that they keep open. */
static void await(const struct lb_mutation *m, int ended, const pid_t *pids, unsigned n)
{
    enum { LOOK_MS = 100 }; /* another thread may have taken the signal */
    struct pollfd end = {.fd = ended, .events = POLLIN};
    bool is_told = false;
    while (poll(&end, 1, LOOK_MS) <= 0) {
        for (unsigned i = 0; i < n && !is_told && lb_mutation_is_stopped(m); i++)
            kill(pids[i], SIGTERM);
        is_told = lb_mutation_is_stopped(m);
    }
}

static int join(const struct lb_mutation *m, pid_t pid, unsigned part, struct lb_error *err)
{
    int status;
    if (waitpid(pid, &status, 0) < 0)
        return lb_fail(err, LB_E_ENV, "cannot wait for a process: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return lb_fail(err, LB_E_INTERNAL, "a process that asked mutants ended by signal %d",
                       WTERMSIG(status));
    *err = m->shared->errors[part];
    return m->shared->results[part];
}

int lb_mutation_in_parts(struct lb_mutation *m,
                         int (*work)(struct lb_mutation *m, struct lb_error *err),
                         struct lb_error *err)
{
    pid_t pids[LB_MOST_JOBS], parent = getpid();
    unsigned n = 0;
    int ended[2], r = 0;
    if (m->n_jobs <= 1)
        return work(m, err);
    if (pipe2(ended, O_CLOEXEC) != 0)
        return lb_fail(err, LB_E_ENV, "cannot make a pipe for --jobs: %s", strerror(errno));
    fflush(NULL); /* buffered output must not be written twice */
    for (; n < m->n_jobs && r == 0; n++) {
        pids[n] = fork();
        if (pids[n] == 0)
            child_main(m, n, parent, work);
        if (pids[n] < 0) {
            r = lb_fail(err, LB_E_ENV, "cannot fork process %u of --jobs: %s: see ulimit -u", n + 1,
                        strerror(errno));
            break;
        }
    }
    close(ended[1]);
    for (unsigned part = 0; part < n && r != 0; part++)
        kill(pids[part], SIGTERM);
    await(m, ended[0], pids, n);
    close(ended[0]);
    for (unsigned part = 0; part < n; part++) {
        struct lb_error own = {0};
        int one = join(m, pids[part], part, &own);
        if (r == 0 && one < 0)
            *err = own;
        r = r == 0 && one < 0 ? one : r;
    }
    return r;
}
