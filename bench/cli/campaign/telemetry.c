/* --metrics: see telemetry.h. */
#include "telemetry.h"

#include <string.h>

int lb_telemetry_open(struct lb_telemetry *telemetry, const struct lb_args *args,
                      struct lb_error *err)
{
    if (args->metrics_at == NULL)
        return 0;
    telemetry->metrics = lb_metrics_new();
    int rc = lb_endpoint_open(args->metrics_at, telemetry->metrics, &telemetry->endpoint, err);
    if (rc == 0)
        fprintf(stderr, "lockbench: metrics at %s\n", lb_endpoint_url(telemetry->endpoint));
    return rc;
}

void lb_telemetry_tell(struct lb_telemetry *telemetry, const struct lb_report *report,
                       const struct lb_cell *cell, const struct lb_progress *progress)
{
    if (telemetry->endpoint == NULL)
        return;
    const struct lb_metrics_case name = {cell->name, cell->engine, cell->scenario.name};
    struct lb_metrics_run run = {.phase = progress->phase,
                                 .successes_per_s = progress->successes_per_s,
                                 .n_workers = progress->n_workers,
                                 .n_successes = progress->n_successes,
                                 .n_refusals = progress->n_refusals,
                                 .n_faults = progress->n_faults,
                                 .n_overlaps = progress->n_overlaps};
    if (progress->waits != NULL)
        memcpy(run.waits, progress->waits, sizeof run.waits);
    lb_metrics_tell(telemetry->metrics, (size_t)(cell - report->cells), &name, &run);
}

void lb_telemetry_over(struct lb_telemetry *telemetry, const struct lb_report *report,
                       const struct lb_cell *cell, const struct lb_outcome *outcome)
{
    uint64_t violations[LB_GUARANTEE_ROOM] = {0};
    unsigned judged = 0;
    if (telemetry->endpoint == NULL)
        return;
    for (int g = 0; outcome != NULL && g < LB_GUARANTEES; g++) {
        const struct lb_finding *finding = &outcome->judgement.findings[g];
        if (finding->verdict != LB_V_HELD && finding->verdict != LB_V_VIOLATED)
            continue;
        judged |= LB_G_BIT(g);
        violations[g] = finding->n_violations;
    }
    lb_metrics_over(telemetry->metrics, (size_t)(cell - report->cells), judged, violations);
}

void lb_telemetry_close(struct lb_telemetry *telemetry)
{
    lb_endpoint_close(telemetry->endpoint);
    lb_metrics_free(telemetry->metrics);
    *telemetry = (struct lb_telemetry){0};
}
