/* Was a clock set while the run was under way?
 *
 * The end of a lease is a time by the server's clock, or by a worker's. If that clock is set ahead,
 * a lease ends early, and the right protocol gives the lock to another worker. So the distance of
 * these clocks to the monotonic clock is watched, and a change is a note in the history
 * (LB_OP_CLOCK) with its earliest time: the judge accuses no protocol of later violations.
 *
 * The watchdog looks at this machine's clock at each of its ticks. The server is asked before the
 * run and after it: its clock is known only up to the length of the question, and the time of the
 * change is unknown. A clock that is slewed runs at another speed, by less than a thousandth (NTP:
 * a 2,000th); the judge allows for that, and for a millisecond.
 *
 * Limits. The clock of a server on another machine: a change by less than a 2,000th of the run is
 * not found out, nor one that was taken back. Of a target with several nodes only the one of the
 * control session is asked.
 */
#include "clock_set.h"

#include "clock.h"
#include "restarted.h"

enum { LEAST_US = 500, SLEW = 2000 };

static struct lb_clock_reading reading(int64_t us, uint64_t before_ns, uint64_t after_ns)
{
    return (struct lb_clock_reading){true, before_ns, us - (int64_t)(after_ns / 1000) - 1,
                                     us - (int64_t)(before_ns / 1000) + 1};
}

static struct lb_clock_reading read_machine(void)
{
    struct timespec t;
    uint64_t before_ns = lb_now_ns();
    clock_gettime(CLOCK_REALTIME, &t);
    return reading((int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000, before_ns, lb_now_ns());
}

static struct lb_clock_reading read_server(struct lb_session *control, const char *node)
{
    int64_t since_us;
    uint64_t up_us, before_ns = lb_now_ns();
    if (!lb_uptime_ask(control, node, &since_us, &up_us))
        return (struct lb_clock_reading){0};
    return reading(since_us + (int64_t)up_us, before_ns, lb_now_ns());
}

/* By how much the clock was set for certain: ahead, or back (negative); 0: it may be slewed. */
static int64_t set_between(const struct lb_clock_reading *first,
                           const struct lb_clock_reading *last)
{
    int64_t slewed_us = LEAST_US + (int64_t)((last->at_ns - first->at_ns) / 1000 / SLEW);
    int64_t ahead_us = last->low_us - first->high_us, back_us = first->low_us - last->high_us;
    if (!first->is_known || !last->is_known)
        return 0;
    return ahead_us > slewed_us ? ahead_us : back_us > slewed_us ? -back_us : 0;
}

static void note(struct lb_log *log, uint64_t since_ns, int64_t set_us, unsigned whose)
{
    uint64_t ms = ((uint64_t)(set_us < 0 ? -set_us : set_us) + 999) / 1000, now_ns = lb_now_ns();
    lb_log_append(log, &(struct lb_event){.time_ns = now_ns,
                                          .value = now_ns - since_ns,
                                          .process = log->number,
                                          .object = whose | (set_us < 0 ? LB_CLOCK_BACK : 0),
                                          .arg = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX,
                                          .op = LB_OP_CLOCK,
                                          .type = LB_EV_NOTE});
}

void lb_clock_watch_look(struct lb_clock_watch *watch, struct lb_log *log)
{
    const struct lb_clock_reading now = read_machine();
    int64_t set_us = set_between(&watch->last, &now);
    if (set_us != 0)
        note(log, watch->last.at_ns, set_us, LB_CLOCK_MACHINE);
    watch->last = now;
    if (!watch->first.is_known)
        watch->first = now;
}

void lb_server_clock_begin(struct lb_server_clock *clock, struct lb_session *control)
{
    *clock = (struct lb_server_clock){0};
    if (control == NULL || control->conn == NULL)
        return;
    if (control->db->node != NULL)
        control->db->node(control->conn, clock->node, sizeof clock->node);
    clock->first = read_server(control, clock->node);
}

void lb_server_clock_end(const struct lb_server_clock *clock, const struct lb_clock_watch *machine,
                         struct lb_session *control, struct lb_log *log)
{
    if (!clock->first.is_known)
        return;
    const struct lb_clock_reading last = read_server(control, clock->node);
    int64_t set_us = set_between(&clock->first, &last);
    /* Where both clocks are one, it is known since when. The server's is taken back by as much as
     * the machine's changed. */
    int64_t by_us = machine->last.is_known ? machine->last.low_us - machine->first.low_us : 0;
    const struct lb_clock_reading less = {last.is_known, last.at_ns, last.low_us - by_us,
                                          last.high_us - by_us};
    if (set_us != 0 && set_between(&clock->first, &less) != 0)
        note(log, clock->first.at_ns, set_us, LB_CLOCK_SERVER);
}
