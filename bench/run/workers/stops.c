#include "stops.h"

uint64_t lb_stops_look(struct lb_stops *stops, uint64_t now_ns, enum lb_stop_seen seen,
                       bool in_fault)
{
    uint64_t since_ns = stops->looked_ns, stopped_ns = stops->stopped_ns;
    bool is_ours = in_fault || stops->is_resumed;
    stops->looked_ns = now_ns;
    if (seen == LB_STOP_SAME)
        return 0;
    stops->is_resumed = false;
    if (seen == LB_STOP_STOPPED) {
        if (!in_fault && stopped_ns == 0)
            stops->stopped_ns = since_ns;
        return 0;
    }
    stops->stopped_ns = 0;
    if (seen == LB_STOP_CONTINUED && stopped_ns == 0 && !is_ours)
        return since_ns; /* it was stopped after that look, unseen */
    return stopped_ns;
}
