/* The ordinary case of a lock, in short: cycles of a plain acquire and its release, which nothing
 * else happens beside in their log. */
#include "judges.h"
#include "scan_logs.h"

size_t lb_scan_cycles(struct lb_scan *scan, const struct lb_event *events, size_t n)
{
    struct lb_case *c = scan->c;
    struct lb_measures *measures = &c->out->measures;
    struct lb_finding *progress = lb_finding_of(c, LB_G_PROGRESS);
    uint64_t bound = c->model->progress_bound_ns > 0 ? c->model->progress_bound_ns : LB_NEVER;
    if (scan->grants.n > 0 || scan->invoke != NULL || scan->is_waiting || scan->has_ticket ||
        c->model->lease || c->has_tokens || scan->slack > 0)
        return 0;
    size_t i = 0;
    uint64_t last_ns = scan->last_ns, longest = measures->longest_wait_ns;
    for (; i + 4 <= n && lb_is_cycle(events + i, last_ns); i += 4) {
        const struct lb_event *e = events + i;
        uint64_t wait_ns = e[1].time_ns - e[0].time_ns;
        if ((scan->has_retired && e[0].process == scan->retired) || wait_ns > bound ||
            e[0].object >= c->n_resources || e[3].time_ns > LB_TIME_MAX || c->holds.n >= LB_NONE)
            break;
        struct lb_hold *hold = lb_array_push(&c->holds, sizeof *hold);
        *hold = (struct lb_hold){.start = e[1].time_ns,
                                 .end = e[2].time_ns,
                                 .cut = e[2].time_ns,
                                 .resource = e[0].object,
                                 .log = scan->log,
                                 .event = scan->index + (uint32_t)i + 1,
                                 .permits = 1};
        c->n_releases += (e[3].flags & LB_EVF_EFFECTIVE) != 0;
        longest = wait_ns > longest ? wait_ns : longest;
        last_ns = e[3].time_ns;
    }
    measures->longest_wait_ns = longest;
    scan->last_ns = last_ns;
    if (i > 0)
        scan->answered_low = events[i - 2].time_ns; /* the last release */
    progress->n_tested += i / 4;
    c->logs[scan->log].n_attempts += i / 4;
    return i;
}
