/* The open loop: a free worker takes the next arrival of the one schedule and waits for its time.
 *
 * A worker that comes late starts at once, and its latency counts from the intended time. Arrivals
 * that have waited behind more than max-pending others are skipped and counted: a generator that
 * keeps everything would measure its own queue. How late a worker woke that was there in time is
 * the generator's own error: it makes a run invalid when it is large.
 */
#include "crew.h"

static bool is_hopeless(const struct lb_crew *crew, uint64_t at_ns, uint64_t now_ns)
{
    const struct lb_schedule *schedule = &crew->schedule;
    double waiting = lb_schedule_expected(schedule, now_ns - crew->schedule_start_ns) -
                     lb_schedule_expected(schedule, at_ns);
    return waiting > (double)crew->scenario->max_pending;
}

bool lb_worker_arrival(struct lb_worker *worker)
{
    struct lb_crew *crew = worker->crew;
    for (;;) {
        uint64_t at_ns = lb_schedule_next(&crew->schedule);
        if (at_ns == LB_SCHEDULE_END) {
            lb_crew_wait(crew, UINT64_MAX, LB_PHASE_DRAIN);
            return false;
        }
        uint64_t intended_ns = crew->schedule_start_ns + at_ns;
        uint64_t now_ns = lb_now_ns();
        bool in_time = now_ns < intended_ns;
        if (in_time) {
            if (!lb_crew_wait(crew, intended_ns, LB_PHASE_DRAIN))
                return false;
            now_ns = lb_now_ns();
        }
        if (lb_crew_phase(crew) >= LB_PHASE_DRAIN)
            return false;
        worker->op.measured = lb_crew_phase(crew) == LB_PHASE_MEASURE;
        struct lb_counts *counts =
            &worker->counts[worker->role == LB_ROLE_PRODUCER ? LB_M_PUT : LB_M_ACQUIRE];
        counts->planned += worker->op.measured;
        if (in_time && worker->op.measured)
            lb_histogram_record(worker->pacing, now_ns - intended_ns);
        if (!in_time && is_hopeless(crew, at_ns, now_ns)) {
            counts->skipped += worker->op.measured;
            continue;
        }
        worker->intended_ns = intended_ns;
        return true;
    }
}
