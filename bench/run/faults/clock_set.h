/* Was a clock set while the run was under way? See clock_set.c. Private to bench/run. */
#ifndef LB_CLOCK_SET_H
#define LB_CLOCK_SET_H

#include "history.h"
#include "session.h"

/* A clock less the monotonic one, in us, at some time: between low and high. */
struct lb_clock_reading {
    bool is_known;
    uint64_t at_ns;
    int64_t low_us, high_us;
};

/* This machine's clock. Zeroed to begin with. */
struct lb_clock_watch {
    struct lb_clock_reading first, last;
};

/* From time to time, by one thread: a clock that was set since the last look is noted in the log.
 */
void lb_clock_watch_look(struct lb_clock_watch *watch, struct lb_log *log);

/* The clock of the server, which is asked before the run and after it. */
struct lb_server_clock {
    char node[120]; /* of a target with several */
    struct lb_clock_reading first;
};

void lb_server_clock_begin(struct lb_server_clock *clock, struct lb_session *control);
/* Notes in the log that it was set, if it was, and this machine's was not set by as much. */
void lb_server_clock_end(const struct lb_server_clock *clock, const struct lb_clock_watch *machine,
                         struct lb_session *control, struct lb_log *log);

#endif
