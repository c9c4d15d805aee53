/* Signals: see signals.h. The one variable that is global, because a handler has no arguments. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static struct lb_stop stop;

static void request_stop(int number)
{
    /* Relaxed would do for the count; seq_cst costs nothing here. Lock-free, hence safe here. */
    if (atomic_fetch_add(&stop.requested, 1) >= 1)
        signal(number, SIG_DFL); /* asynchronous-signal-safe; the next one ends the process */
}

const struct lb_stop *lb_signals_install(void)
{
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A file size limit is a full disk: an error of write(), not the end of the process. */
    signal(SIGXFSZ, SIG_IGN);
    return &stop;
}
