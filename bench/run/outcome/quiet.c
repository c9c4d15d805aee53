/* Once all workers have ended: see quiet.h. */
#include "quiet.h"

#include "clock.h"
#include "control.h"
#include "strategy.h"

#include <time.h>

/* Waits until the leases of slow or dead workers are over, by any clock. */
static void outlast_leases(const struct lb_active_run *run)
{
    enum { MOST_MS = 1000, MARGIN_MS = 20 };
    const struct lb_strategy *strategy = run->request->strategy;
    uint64_t from_ns = lb_now_ns();
    if (!strategy->is_lease || run->plan.ttl_ms > MOST_MS)
        return;
    while (!lb_control_interrupted(run) &&
           lb_now_ns() < from_ns + (run->plan.ttl_ms + MARGIN_MS) * UINT64_C(1000000))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

int lb_quiet_ask(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_runner runner = {0};
    if ((run->request->strategy->claims & LB_G_BIT(LB_G_PERMITS)) == 0 || run->history == NULL ||
        run->program == NULL || !run->program->sections[LB_S_PERMITS].present ||
        run->outcome->state != LB_RUN_COMPLETE)
        return 0;
    outlast_leases(run);
    int rc = lb_runner_init(&runner, run->program, &run->control, err);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < run->plan.n_resources && rc == 0; i++) {
        int64_t n_free = 0;
        uint64_t from_ns = lb_now_ns();
        rc = lb_permits_ask(&run->plan, &runner, i, &n_free, err);
        uint64_t to_ns = lb_now_ns();
        if (rc == LB_OK)
            lb_log_append(&run->control_log,
                          &(struct lb_event){.time_ns = to_ns,
                                             .value = (uint64_t)n_free,
                                             .process = run->share.first_log,
                                             .object = i,
                                             .arg = (uint32_t)((to_ns - from_ns) / 1000 + 1),
                                             .op = LB_OP_PERMITS,
                                             .type = LB_EV_NOTE});
    }
    lb_runner_release(&runner);
    return rc < 0 ? rc : 0;
}
