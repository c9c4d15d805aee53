/* Was a clock set while the run was under way? Private to bench/run. */
#ifndef LB_CLOCK_SET_H
#define LB_CLOCK_SET_H

#include "check.h"
#include "session.h"

/* A clock less the monotonic one, in us: between low and high. */
struct lb_clock_reading {
    bool is_known;
    int64_t low_us, high_us;
};

struct lb_clock_watch {
    uint64_t begin_ns;
    char node[120]; /* the server's, of a target with several */
    struct lb_clock_reading machine, server;
    int64_t set_us;      /* the end has found: ahead by so much, or back; 0: neither */
    uint64_t at_most_us; /* ... by this at most, in either direction */
    bool is_server;      /* ... the server's, else this machine's */
};

/* begin: before the workers start; end: after them. control: NULL, or a session of the server. */
void lb_clock_watch_begin(struct lb_clock_watch *watch, struct lb_session *control);
void lb_clock_watch_end(struct lb_clock_watch *watch, struct lb_session *control);
/* "the server's clock was set 2.0s ahead during the run", into buf; "" if none was set. */
const char *lb_clock_watch_text(const struct lb_clock_watch *watch, char *buf, size_t size);
/* Times in the history may be wrong by that: a doubt for the judge. */
void lb_clock_watch_doubt(const struct lb_clock_watch *watch, struct lb_model *model);

#endif
