/* The ordinary case of a lock, in short: cycles of a plain acquire and its release, which nothing
 * else happens beside in their log. */
#include "judges.h"
#include "scan_logs.h"

/* acquire invoke, ok, release invoke, ok: of one process and resource, one permit, exclusive, no
 * token, times that do not go back. */
static bool is_cycle(const struct lb_event *e, uint64_t last_ns)
{
    uint32_t types = (uint32_t)e[0].type << 24 | (uint32_t)e[1].type << 16 |
                     (uint32_t)e[2].type << 8 | e[3].type;
    uint32_t ops =
        (uint32_t)e[0].op << 24 | (uint32_t)e[1].op << 16 | (uint32_t)e[2].op << 8 | e[3].op;
    unsigned flags =
        e[0].flags | e[1].flags | e[2].flags | (e[3].flags & ~(unsigned)LB_EVF_EFFECTIVE);
    uint32_t differ = (e[0].object ^ e[1].object) | (e[0].object ^ e[2].object) |
                      (e[0].object ^ e[3].object) | (e[0].process ^ e[1].process) |
                      (e[0].process ^ e[2].process) | (e[0].process ^ e[3].process);
    return types ==
               ((uint32_t)LB_EV_INVOKE << 24 | LB_EV_OK << 16 | LB_EV_INVOKE << 8 | LB_EV_OK) &&
           ops == ((uint32_t)LB_OP_ACQUIRE << 24 | LB_OP_ACQUIRE << 16 | LB_OP_RELEASE << 8 |
                   LB_OP_RELEASE) &&
           (flags | differ) == 0 && e[0].arg <= 1 && e[0].time_ns >= last_ns &&
           e[1].time_ns >= e[0].time_ns && e[2].time_ns >= e[1].time_ns &&
           e[3].time_ns >= e[2].time_ns;
}

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
    for (; i + 4 <= n && is_cycle(events + i, last_ns); i += 4) {
        const struct lb_event *e = events + i;
        uint64_t wait_ns = e[1].time_ns - e[0].time_ns;
        if ((scan->has_retired && e[0].process == scan->retired) || wait_ns > bound ||
            e[0].object >= c->n_resources || e[3].time_ns > LB_TIME_MAX || c->holds.n >= LB_NONE)
            break;
        struct lb_hold *hold = lb_array_push(&c->holds, sizeof *hold);
        if (hold == NULL)
            break; /* the long way says so */
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
