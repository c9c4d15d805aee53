/* Signals: see signals.h. The one variable that is global, because a handler has no arguments. */
#include "signals.h"

#include "leash.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static struct lb_stop stop;

static void request_stop(int number)
{
    lb_leash_pull();
    /* Relaxed would do for the count; seq_cst costs nothing here. Lock-free, hence safe here. */
    if (atomic_fetch_add(&stop.requested, 1) >= 1)
        signal(number, SIG_DFL); /* asynchronous-signal-safe; the next one ends the process */
}

const struct lb_stop *lb_signals_install(void)
{
    lb_leash_hold();
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* The terminal was closed, or ssh lost; under nohup that is nothing. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    /* They say nothing to us, and would end the process with its tables. */
    static const int meaningless[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO};
    for (size_t i = 0; i < sizeof meaningless / sizeof meaningless[0]; i++)
        signal(meaningless[i], SIG_IGN);
    /* A reader that goes away (`lockbench ... | head`) and a server that closes its socket are seen
     * as errors of the write: the tables are to be dropped first. */
    signal(SIGPIPE, SIG_IGN);
    /* A file size limit is a full disk: an error of write(), not the end of the process. */
    signal(SIGXFSZ, SIG_IGN);
    return &stop;
}

bool lb_reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

void lb_end_by_sigpipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}
