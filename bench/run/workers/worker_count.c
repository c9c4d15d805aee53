/* What a worker counts of its operations: see worker.h and measure.h. */
#include "worker.h"

bool lb_worker_end(struct lb_worker *worker, enum lb_measure measure, uint64_t start_ns,
                   uint64_t end_ns, bool succeeded)
{
    if (!worker->op.measured)
        return false;
    struct lb_counts *counts = &worker->counts[measure];
    if (lb_team_phase(worker->team) != LB_PHASE_MEASURE) {
        counts->censored++;
        return false;
    }
    counts->finished++;
    if (!succeeded) {
        counts->given_up++;
        return false;
    }
    counts->succeeded++;
    lb_histogram_record(worker->service[measure], end_ns - start_ns);
    /* A consumer's response is its items': see note_arrival. */
    if (worker->response[measure] != NULL && worker->role != LB_ROLE_CONSUMER) {
        lb_histogram_record(worker->response[measure], end_ns - worker->intended_ns);
        start_ns = worker->intended_ns;
    }
    /* Live figures are responses too, where there are any. */
    if (measure == LB_M_ACQUIRE &&
        (worker->response[measure] == NULL || worker->role != LB_ROLE_CONSUMER))
        lb_coarse_record(&worker->coarse, end_ns - start_ns);
    return true;
}

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
