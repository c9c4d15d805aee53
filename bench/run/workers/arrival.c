/* The open loop: a free worker takes the next arrival of the one schedule and waits for its time.
 *
 * A worker that comes late starts at once, and its latency counts from the intended time. Arrivals
 * that have waited behind more than max-pending others are skipped and counted: a generator that
 * keeps everything would measure its own queue. How late a worker began that was free in time is
 * the generator's own error, and so is the time that a free worker spends on skipping: it makes a
 * run invalid when it is large. (At a rate at which arrivals come faster than they can be skipped
 * a worker never gets to one that it may begin.)
 */
#include "worker.h"

/* place: of the arrival in the schedule. */
static bool is_hopeless(const struct lb_team *team, double place, uint64_t now_ns)
{
    double due = lb_schedule_expected(&team->schedule, now_ns - team->schedule_start_ns);
    return due - place > (double)team->scenario->max_pending;
}

/* A free worker has skipped since then; 0: it has not. Sets it to 0. */
static void note_skipping(struct lb_worker *worker, uint64_t *since_ns)
{
    if (*since_ns != 0)
        lb_histogram_record(worker->pacing, lb_now_ns() - *since_ns);
    *since_ns = 0;
}

bool lb_worker_arrival(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    uint64_t skipping_ns = 0;
    for (;;) {
        double place;
        uint64_t at_ns = lb_schedule_next(&team->schedule, &place);
        if (at_ns == LB_SCHEDULE_END) {
            note_skipping(worker, &skipping_ns);
            lb_team_wait(team, UINT64_MAX, LB_PHASE_DRAIN);
            return false;
        }
        uint64_t intended_ns = team->schedule_start_ns + at_ns;
        uint64_t now_ns = lb_now_ns();
        bool in_time = now_ns < intended_ns;
        if (in_time) {
            note_skipping(worker, &skipping_ns);
            if (!lb_team_wait(team, intended_ns, LB_PHASE_DRAIN))
                return false;
            now_ns = lb_now_ns();
        }
        if (lb_team_phase(team) >= LB_PHASE_DRAIN) {
            note_skipping(worker, &skipping_ns);
            return false;
        }
        worker->op.measured = lb_team_phase(team) == LB_PHASE_MEASURE;
        struct lb_counts *counts =
            &worker->counts[worker->role == LB_ROLE_PRODUCER ? LB_M_PUT : LB_M_ACQUIRE];
        counts->planned += worker->op.measured;
        if (in_time && worker->op.measured)
            lb_histogram_record(worker->pacing, now_ns - intended_ns);
        if (!in_time && is_hopeless(team, place, now_ns)) {
            counts->skipped += worker->op.measured;
            if (skipping_ns == 0 && worker->op.measured)
                skipping_ns = now_ns;
            continue;
        }
        note_skipping(worker, &skipping_ns);
        worker->intended_ns = intended_ns;
        return true;
    }
}
