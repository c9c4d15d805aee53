/* The watchdog: measures for how long no worker could go on, through no fault of the strategy. See
 * watchdog.c. Private to bench/run.
 */
#ifndef LB_WATCHDOG_H
#define LB_WATCHDOG_H

#include "clock_set.h"
#include "team.h"

struct lb_watchdog {
    const struct lb_team *team;
    struct lb_worker *workers;
    uint32_t n_slots;
    struct lb_log log;
    struct lb_waitable ask; /* signalled once it is to end */
    atomic_bool is_asked, has_ended;
    bool has_thread, probes;
    bool is_bounded; /* waits have a bound: times of standing still are noted */
    struct lb_clock_watch clock;
    pthread_t thread;

    pthread_mutex_t conn_lock; /* protects conn, the pointer, against a cancel */
    struct lb_conn *conn;      /* of the probe, on a server */
    struct lb_probe *probe;    /* of the probe, on an engine inside of this process */

    uint64_t quiet_ns;   /* time without a success after which the probe is sent */
    uint64_t n_granted;  /* at the last look */
    uint64_t success_ns; /* when that was seen to have grown */
    uint64_t sound_ns;   /* when the engine last answered the probe in time */
};

/* Prepares the probe, before any worker's process is forked. control NULL: no database. */
int lb_watchdog_setup(struct lb_watchdog *watchdog, const struct lb_team *team,
                      struct lb_session *control, struct lb_error *err);
/* Starts its thread, which writes the log of that number. */
int lb_watchdog_start(struct lb_watchdog *watchdog, struct lb_worker *workers, uint32_t n_slots,
                      uint32_t log, struct lb_error *err);
/* After the workers have ended; accepts one that was never started. */
void lb_watchdog_end(struct lb_watchdog *watchdog);
/* After all sessions have ended: see lb_db.probe_close. */
void lb_watchdog_release(struct lb_watchdog *watchdog);

#endif
