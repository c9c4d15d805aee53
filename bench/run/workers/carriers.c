/* Workers as fibers of a few threads: see docs/design/sessions.md.
 *
 * A thread per session pays a switch of threads and a poll for each statement. Where the engine's
 * calls can wait through a carrier, many sessions share a thread, and one system call reports all
 * answers that have arrived.
 */
#include "run_parts.h"

#include "carrier.h"
#include "memory.h"
#include "pair.h"

#include <stdlib.h>

/* Up to FEW have a thread each: there is little to share. More workers share as few threads as can
 * keep up, for the more answers a thread finds at a time the less often it sleeps: one for MANY of
 * them, and at most for every second core, as the others have the server to carry. */
enum { FEW_WORKERS = 4, MANY_WORKERS = 16 };

int lb_carriers_wanted(const struct lb_active_run *run, uint32_t *ret_n, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    bool can_here = lb_carrier_is_possible();
    bool can = can_here && run->has_control && run->request->strategy->guest == NULL &&
               run->control.db->is_carried != NULL &&
               run->control.db->is_carried(run->control.conn);
    *ret_n = 0;
    if (scenario->threads > 0 && scenario->threads < run->n_workers) {
        if (!can)
            return lb_fail(err, LB_E_UNSUPPORTED, "threads: %s: 0, or %u",
                           can_here ? "sessions with encryption need a thread each"
                                    : "this system has no epoll_pwait2 (Linux 5.11)",
                           run->n_workers);
        *ret_n = (uint32_t)scenario->threads;
    } else if (can && scenario->threads == 0 && run->n_workers > FEW_WORKERS &&
               scenario->pool == 0 && scenario->fault == LB_FAULT_NONE) {
        uint32_t most = lb_processors() / 2, n = (run->n_workers + MANY_WORKERS - 1) / MANY_WORKERS;
        *ret_n = most == 0 ? 1 : n < most ? n : most;
    }
    return 0;
}

int lb_carriers_start(struct lb_active_run *run, uint32_t n, struct lb_error *err)
{
    struct lb_team *team = run->team;
    uint32_t room = (run->n_workers + n - 1) / n;
    int rc = 0;
    team->carriers = lb_calloc(n, sizeof(struct lb_carrier *));
    for (; team->n_carriers < n && rc == 0; team->n_carriers += rc == 0)
        rc = lb_carrier_new(room, &team->carriers[team->n_carriers], err);
    for (uint32_t i = 0; i < run->n_workers && rc == 0; i++)
        rc = lb_carrier_add(team->carriers[i % n], lb_worker_live, &run->workers[i], err);
    if (rc != 0)
        return rc; /* none has begun */
    uint32_t n_running = 0;
    while (n_running < n && (rc = lb_carrier_start(team->carriers[n_running], err)) == 0)
        n_running++;
    if (n_running == 0)
        return rc;
    run->n_started = run->n_workers;
    for (uint32_t i = 0; i < run->n_workers; i++)
        if (i % n >= n_running)
            lb_worker_give_up(&run->workers[i]);
    return rc;
}

void lb_carriers_end(struct lb_active_run *run)
{
    struct lb_team *team = run->team;
    for (uint32_t i = 0; i < team->n_carriers; i++)
        lb_carrier_join(team->carriers[i]);
}

void lb_carriers_release(struct lb_active_run *run)
{
    struct lb_team *team = run->team;
    for (uint32_t i = 0; i < team->n_carriers; i++)
        lb_carrier_free(team->carriers[i]);
    free(team->carriers);
}
