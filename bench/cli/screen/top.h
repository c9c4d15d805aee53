/* --top: a campaign on the whole terminal, while a run goes on.
 *
 * Drawn with the escape sequences that the line of progress needs, too, on the terminal's alternate
 * screen: the earlier output is there again after each run. Drawn at most five times a second.
 */
#ifndef LB_TOP_H
#define LB_TOP_H

#include "args.h"

enum { LB_TOP_RATES = 256, LB_TOP_EVENTS = 6 };

struct lb_top {
    const struct lb_stop *stop;
    bool is_open, has_screen, is_utf8;
    uint64_t start_ns, last_ns, second_ns;              /* of the run */
    uint64_t p50_ns, p99_ns;                            /* of the last full second */
    uint64_t n_successes, n_faults, n_overlaps, n_died; /* as of the last picture */
    double rates[LB_TOP_RATES];                         /* of the last seconds, a ring */
    size_t n_rates;
    char events[LB_TOP_EVENTS][80]; /* the last ones, a ring */
    size_t n_events;
};

/* LB_E_USAGE: --top where there is no terminal to draw on. Does nothing without --top. */
int lb_top_open(struct lb_top *top, const struct lb_args *args, const struct lb_stop *stop,
                struct lb_error *err);
/* where: which run it is, of how many. */
void lb_top_draw(struct lb_top *top, const char *where, const struct lb_cell *cell,
                 const struct lb_progress *progress);
/* Gives the terminal back; NULL: nothing. The next picture is of another run. */
void lb_top_leave(struct lb_top *top);

#endif
