/* Wait events of the sessions: sampled from the control session while the run is measured.
 *
 * A sample asks the server once what each session of the run is doing at this moment. Over some
 * hundred samples the shares say where the workers' time goes on the server: a lock of a row, the
 * disk, or the client's turn. The price is one query per sample on a session of its own.
 */
#include "waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_wait(void *arg, const char *name, const char *value)
{
    struct lb_outcome *outcome = arg;
    uint64_t n = strtoull(value, NULL, 10);
    for (size_t i = 0; i < outcome->n_waits; i++)
        if (strcmp(outcome->waits[i].name, name) == 0) {
            outcome->waits[i].n += n;
            return;
        }
    struct lb_wait *grown = realloc(outcome->waits, (outcome->n_waits + 1) * sizeof *grown);
    if (grown == NULL)
        return;
    outcome->waits = grown;
    struct lb_wait *wait = &grown[outcome->n_waits++];
    *wait = (struct lb_wait){.n = n};
    snprintf(wait->name, sizeof wait->name, "%s", name);
}

bool lb_waits_wanted(const struct lb_active_run *run)
{
    const struct lb_db *db = run->team->db;
    return run->request->sample_waits && db != NULL && db->waits != NULL;
}

void lb_waits_sample(struct lb_active_run *run)
{
    struct lb_error ignored;
    if (!lb_waits_wanted(run) || lb_team_phase(run->team) != LB_PHASE_MEASURE ||
        run->control.conn == NULL || lb_conn_head(run->control.conn)->lost)
        return;
    uint64_t now_ns = lb_now_ns();
    if (now_ns < run->next_sample_ns)
        return;
    if (run->team->db->waits(run->control.conn, add_wait, run->outcome, &ignored) == 0)
        run->outcome->n_wait_samples++;
    /* From the end: a slow answer does not make the next sample follow at once. */
    run->next_sample_ns = lb_now_ns() + LB_SAMPLE_NS;
}
