/* What a worker counts of its operations: see worker.h and measure.h. */
#include "worker.h"

void lb_worker_gave_up(struct lb_worker *worker, bool out_of_tries)
{
    if (out_of_tries && worker->op.measured && lb_team_phase(worker->team) == LB_PHASE_MEASURE)
        worker->counts[LB_M_ACQUIRE].gave_up++;
}

void lb_worker_was_busy(struct lb_worker *worker, uint64_t start_ns, uint64_t end_ns, bool counted)
{
    uint64_t from_ns = atomic_load_explicit(&worker->team->measure_ns, memory_order_relaxed);
    uint64_t stop_ns = atomic_load_explicit(&worker->team->stop_ns, memory_order_relaxed);
    if (from_ns == 0 || end_ns <= from_ns || (stop_ns != 0 && start_ns >= stop_ns))
        return;
    uint64_t ns = (stop_ns != 0 && end_ns > stop_ns ? stop_ns : end_ns) -
                  (start_ns < from_ns ? from_ns : start_ns);
    worker->busy_ns += ns;
    if (!counted)
        worker->edge_ns += ns;
}
