/* How long a scenario may itself keep a worker waiting: see demand.h.
 *
 * A protocol must not be accused of the scenario's own demands. A worker waits while others hold
 * the lock, and a correct lock need not be fair: a worker that polls loses against one that has
 * just released and asks again after its think time. If each of n workers is equally likely to be
 * next, a wait of LUCK times n holds happens once in some million waits. So the time is
 *
 *     LUCK x (turns x hold + poll) + ahead x SERVICE
 *
 * where ahead is the number of workers that may be in front (of one permit), and turns is at least
 * ahead, and at least poll / think for those that poll. Faults add to it: each takes its cost from
 * the time, once per period, at most once per hold and at most fault-count times.
 *
 * Times are doubles: products of a user's numbers do not overflow.
 */
#include "demand.h"

#include <math.h>
#include <stdlib.h>

/* See above: exp(-16) is one in nine million. */
#define LUCK 16.0
/* The statements between two holds, where the machine is busy. */
#define SERVICE_NS 10e6
/* Between a release and the same worker's next acquire, without a think time. */
#define LEAST_THINK_NS 100e3
/* To notice a death and to start another process or session. */
#define RESTART_NS 1e9
/* To start a server again, or to switch to another. */
#define SWITCH_NS 60e9
/* Statements in one hold, each of which the fault slow delays. */
#define STATEMENTS 10.0

static uint64_t least_capacity(const struct lb_scenario *s)
{
    uint64_t least = UINT64_MAX;
    for (const char *text = s->capacity; s->shape == LB_LOCK && *text != '\0';) {
        char *end;
        uint64_t capacity = strtoull(text, &end, 10);
        if (end != text && capacity > 0 && capacity < least)
            least = capacity;
        text = end != text ? end : text + 1;
    }
    return least == UINT64_MAX ? 1 : least;
}

/* How many workers may be in front of another at one resource, for each permit. */
static double workers_ahead(const struct lb_scenario *s)
{
    double others = s->workers > 0 ? (double)s->workers - 1 : 0;
    if (s->shape == LB_LOCK && s->resources > 1 && s->zipf <= 0) /* chosen at random */
        others = fmin(others, 8 + 4 * (double)s->workers / (double)s->resources);
    return ceil(others / (double)least_capacity(s));
}

struct stops {
    double cost_ns;   /* that one fault takes from those who wait */
    double period_ns; /* between two faults */
};

static struct stops stops_of(const struct lb_scenario *s, bool is_lease)
{
    const double interval_ns = (double)s->fault_interval_ns, length_ns = (double)s->fault_length_ns;
    const double lease_ns = is_lease || s->recover_ns > 0 ? (double)s->ttl_ns : 0;
    if (lb_fault_is(s->fault, LB_FAULT_IS_COMMANDED))
        return (struct stops){SWITCH_NS + lease_ns, interval_ns + SWITCH_NS};
    switch (s->fault) {
    case LB_FAULT_KILL:
    case LB_FAULT_TERM: /* the grace is part of RESTART_NS, or it is said in --progress-bound */
    case LB_FAULT_DISCONNECT:
    case LB_FAULT_CUT:
        return (struct stops){lease_ns + (double)s->recover_ns + (double)s->stale_ns + RESTART_NS,
                              interval_ns};
    case LB_FAULT_PAUSE: /* the holder, and the worker that holds when it wakes up */
        return (struct stops){2 * length_ns + fmin(lease_ns, length_ns), interval_ns};
    case LB_FAULT_BLOCKER:
    case LB_FAULT_FULL:
        return (struct stops){length_ns, interval_ns + length_ns};
    default:
        return (struct stops){0, 1};
    }
}

uint64_t lb_scenario_demand_ns(const struct lb_scenario *s, bool is_lease)
{
    const double ahead = workers_ahead(s), think_ns = fmax((double)s->think_ns, LEAST_THINK_NS);
    const double poll_ns = (double)(s->backoff == LB_BACKOFF_FIXED ? s->poll_ns : s->poll_max_ns);
    const double rivals = s->shape == LB_LOCK ? fmax(ahead, poll_ns / think_ns) : ahead;
    const double turns = s->workers > 1 ? rivals : 0;
    /* Of a distribution: as long as the mean for each, and the longest once. */
    const double longest_ns = (double)(lb_scenario_hold_most_ns(s) - s->hold_ns);
    double hold_ns = (double)s->hold_ns + (double)s->tx_pause_ns;
    if (s->overrun > 0)
        hold_ns += (is_lease ? 1 : 4) * (double)s->ttl_ns;
    if (s->fault == LB_FAULT_SLOW)
        hold_ns += STATEMENTS * (double)s->fault_length_ns;
    const double calm_ns = LUCK * (turns * hold_ns + longest_ns + poll_ns) + ahead * SERVICE_NS;
    const struct stops stops = stops_of(s, is_lease);
    double ns = calm_ns + LUCK * fmax(turns, 1) * stops.cost_ns;
    if (stops.cost_ns < stops.period_ns)
        ns = fmin(ns,
                  (calm_ns + stops.cost_ns) * stops.period_ns / (stops.period_ns - stops.cost_ns));
    if (s->fault_count > 0)
        ns = fmin(ns, calm_ns + (double)s->fault_count * stops.cost_ns);
    return ns < 1e18 ? (uint64_t)ns : UINT64_MAX;
}

uint64_t lb_scenario_bound_ns(const struct lb_scenario *s, uint64_t demand_ns)
{
    const uint64_t bound_ns = s->progress_bound_ns;
    return bound_ns == 0 || s->progress_bound_is_said || bound_ns > demand_ns ? bound_ns
                                                                              : demand_ns;
}
