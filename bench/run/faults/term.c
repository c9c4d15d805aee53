/* The fault term: a holder is asked to stop, as in a deploy, and another takes its place. In turns
 * a worker finishes what it has; gives it back, by section free or, without one, by section stop;
 * and works on for longer than the grace, so that it is killed. Where section stop gives back, a
 * fourth one runs that at once, works on, and ends its item when a successor has it: the end must
 * be refused. A program gets SIGTERM and, after the grace, SIGKILL.
 */
#include "victim.h"
#include "zombie.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum way { FINISHES, GIVES_BACK, TAKES_TOO_LONG, ENDS_LATE, WAYS };

/* Until the program has ended, or the grace is over. */
static void stop_program(struct lb_worker *worker)
{
    enum { LOOK_NS = 2000000 };
    const uint64_t until_ns = lb_now_ns() + worker->team->scenario->grace_ns;
    const int program = atomic_load(&worker->actor.program);
    siginfo_t info = {0};
    lb_victim_signal(worker, SIGTERM);
    while (program > 0 && lb_now_ns() < until_ns &&
           waitid(P_PID, (id_t)program, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0)
        lb_team_wait(worker->team, lb_now_ns() + LOOK_NS, LB_PHASE_ABORT);
}

static bool stops(const struct lb_strategy_plan *plan)
{
    return lb_strategy_has(plan, LB_S_STOP) && !lb_strategy_holds_in_tx(plan);
}

static enum way way_of(const struct lb_worker *worker, uint32_t n)
{
    const struct lb_strategy_plan *plan = worker->actor.plan;
    enum way n_ways = stops(plan) ? WAYS : ENDS_LATE;
    enum way way = (enum way)(atomic_load(&worker->team->n_faults) % n_ways);
    if (way == GIVES_BACK && (n == 0 || (!lb_strategy_has(plan, LB_S_FREE) && !stops(plan))))
        return FINISHES;
    return way == ENDS_LATE && (n != 1 || lb_ends_together(plan)) ? FINISHES : way;
}

/* Its main thread has given back the item, while another thread is at work on it. */
static void end_late(struct lb_worker *worker, const struct lb_item *item)
{
    lb_victim_mourn(worker, NULL, item, 1);
    lb_worker_stop(worker);
    worker->leaves = !lb_zombie_wait(worker, item->id);
}

static void ask_to_stop(struct lb_worker *worker, const struct lb_request *request,
                        const struct lb_item *items, uint32_t n)
{
    struct lb_team *team = worker->team;
    if (team->plan->strategy->guest != NULL) {
        lb_victim_mourn(worker, request, items, n);
        stop_program(worker);
        lb_victim_end(worker);
    }
    enum way way = way_of(worker, n);
    if (way == TAKES_TOO_LONG) {
        lb_team_wait(team, lb_now_ns() + team->scenario->grace_ns, LB_PHASE_ABORT);
        lb_victim_mourn(worker, request, items, n);
        lb_victim_end(worker);
    }
    worker->gives_back = way == GIVES_BACK;
    atomic_store(&worker->is_stopping, true);
    if (way == ENDS_LATE)
        end_late(worker, items);
    if (!worker->gives_back || lb_strategy_has(worker->actor.plan, LB_S_FREE))
        return;
    worker->leaves = true; /* section stop gives back what it has */
    lb_victim_mourn(worker, request, items, n);
}

const struct lb_fault_kind lb_fault_term = {
    .inject = ask_to_stop,
    .is_last = true,
    .lock_keys = "fault-interval=250ms fault-count=20 duration=7s stale=300ms grace=50ms",
    .queue_keys = "fault-interval=100ms fault-count=12 duration=4s grace=150ms hold=5ms ttl=300ms "
                  "recover=100ms recovery-bound=2s"};
