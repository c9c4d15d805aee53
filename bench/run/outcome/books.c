/* How many items a run has put and completed so far: see books.h. */
#include "books.h"

/* True if a worker may lose an item that it has, and so find nothing to complete. */
static bool may_be_taken(const struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const struct lb_strategy *strategy = run->request->strategy;
    return strategy->is_lease || strategy->is_heard_of || strategy->is_pushed ||
           scenario->recover_ns > 0 || scenario->fault != LB_FAULT_NONE;
}

uint64_t lb_run_completions(const struct lb_active_run *run)
{
    const bool is_all = !may_be_taken(run);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < run->n_started; i++) {
        const struct lb_worker *worker = &run->workers[i];
        sum += atomic_load_explicit(&worker->n_completed, memory_order_relaxed);
        if (is_all)
            sum += atomic_load_explicit(&worker->n_not_completed, memory_order_relaxed);
    }
    return sum;
}

/* Each number that a producer drew stands for one put of put_batch items. */
uint64_t lb_run_items_put(const struct lb_active_run *run)
{
    const struct lb_scenario *s = run->request->scenario;
    const uint64_t drawn = (uint64_t)lb_common_next_id(&run->team->common) - 1;
    const uint64_t before = s->dead_rows + s->backlog;
    return drawn <= before ? drawn : before + (drawn - before) * s->put_batch;
}
