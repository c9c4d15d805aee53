/* A worker's side of the pool: its operator calls this for each operation. See pool.h. */
#include "pool.h"
#include "worker.h"

/* A worker that wants a session may go without it once the run stops; a worker with a lock or item
 * gives it back. */
static enum lb_phase patience(enum lb_op which)
{
    bool asks = which == LB_OP_ENQUEUE || which == LB_OP_ACQUIRE || which == LB_OP_CLAIM ||
                which == LB_OP_PUT;
    return asks ? LB_PHASE_STOP : LB_PHASE_ABORT;
}

static struct lb_pooled *wait_for_session(struct lb_worker *worker, enum lb_op which)
{
    struct lb_team *team = worker->team;
    lb_worker_begin(worker, LB_M_POOL);
    uint64_t start_ns = lb_now_ns();
    struct lb_pooled *pooled = lb_pool_take(team->pool, team, patience(which));
    lb_worker_end(worker, LB_M_POOL, start_ns, lb_now_ns(), pooled != NULL);
    if (worker->op.measured) {
        worker->counts[LB_M_POOL].attempts++;
        worker->counts[LB_M_POOL].answers[pooled != NULL ? LB_OK : LB_TIMEOUT]++;
    }
    return pooled;
}

static bool take(void *arg, enum lb_op which)
{
    struct lb_worker *worker = arg;
    if (worker->pooled != NULL) /* kept for the hold */
        return true;
    worker->pooled = wait_for_session(worker, which);
    if (worker->pooled == NULL)
        return false;
    if (worker->pooled->session.conn == NULL && !lb_worker_connect(worker)) {
        lb_worker_let_go(worker);
        return false;
    }
    worker->actor.session = &worker->pooled->session;
    worker->actor.runner.program = worker->pooled->runner.program;
    worker->actor.runner.session = worker->pooled->runner.session;
    worker->actor.runner.statements = worker->pooled->runner.statements;
    return true;
}

static void give(void *arg, enum lb_op which, int answer)
{
    struct lb_worker *worker = arg;
    if (worker->pooled == NULL || worker->keeps_pooled)
        return;
    const struct lb_section *sections = worker->team->plan->program->sections;
    bool keeps = (which == LB_OP_ACQUIRE && sections[LB_S_ACQUIRE].keeps_session) ||
                 (which == LB_OP_CLAIM && sections[LB_S_CLAIM].keeps_session) ||
                 worker->pooled->session.in_tx;
    if (answer == LB_OK && keeps)
        worker->keeps_pooled = true;
    else
        lb_worker_let_go(worker);
}

const struct lb_lender lb_pool_lender = {.take = take, .give = give};
