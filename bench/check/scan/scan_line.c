/* The place in line of a log's worker. */
#include "judges.h"
#include "scan_logs.h"

int lb_scan_leave_line(struct lb_scan *scan, uint64_t low, uint64_t high, uint32_t grant)
{
    if (!scan->has_ticket)
        return 0;
    scan->has_ticket = false;
    struct lb_waiter *waiter = lb_array_push(&scan->c->waiters, sizeof *waiter);
    if (waiter == NULL)
        return lb_out_of_memory(scan->c);
    *waiter = scan->ticket;
    waiter->low = low;
    waiter->high = high;
    waiter->grant = grant;
    return 0;
}

int lb_scan_miss_try(struct lb_scan *scan, uint64_t asked_ns, uint64_t until_ns)
{
    uint64_t from = lb_low(scan->alive_ns, scan->slack);
    scan->alive_ns = asked_ns;
    if (!scan->has_ticket || scan->lease_ms == 0 ||
        lb_high(until_ns, scan->slack) < lb_lease_low(scan->c, from, scan->lease_ms))
        return 0;
    return lb_scan_leave_line(scan, from, LB_NEVER, LB_NONE);
}
