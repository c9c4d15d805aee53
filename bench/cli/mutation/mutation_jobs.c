/* Mutants in several processes: see mutation_ask.h. */
#include "mutation_ask.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool lb_mutation_is_mine(const struct lb_mutation *m, size_t i)
{
    return i % m->n_parts == m->part;
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

/* Waits for a child, which stops when its parent is to stop. */
static int join(const struct lb_mutation *m, pid_t pid, unsigned part, struct lb_error *err)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return lb_fail(err, LB_E_ENV, "cannot wait for a process: %s", strerror(errno));
        if (lb_mutation_is_stopped(m))
            kill(pid, SIGTERM);
    }
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
    if (m->n_jobs <= 1)
        return work(m, err);
    int r = 0;
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
    for (unsigned part = 0; part < n; part++) {
        struct lb_error own = {0};
        if (r != 0)
            kill(pids[part], SIGTERM);
        int one = join(m, pids[part], part, &own);
        if (r == 0 && one < 0)
            *err = own;
        r = r == 0 && one < 0 ? one : r;
    }
    return r;
}
