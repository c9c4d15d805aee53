/* Figures of a campaign that is under way, for Prometheus to fetch over HTTP from this machine.
 *
 * One thread (the one that runs the campaign) tells what it knows; the endpoint's own thread
 * renders it when it is asked. A case is a strategy on an engine under a scenario, by its number.
 * Counters only grow, over all runs of their case.
 */
#ifndef LB_METRICS_H
#define LB_METRICS_H

#include "coarse.h"
#include "error.h"
#include "guarantee.h"

#include <stdbool.h>
#include <stdio.h>

struct lb_metrics;

struct lb_metrics_case {
    const char *strategy, *engine, *scenario; /* copied */
};

/* Of the run that is under way, since its start. */
struct lb_metrics_run {
    const char *phase; /* a literal */
    double successes_per_s;
    uint32_t n_workers;
    uint64_t n_successes, n_refusals, n_faults, n_overlaps;
    uint64_t waits[LB_COARSE_BUCKETS]; /* of acquires and claims, in the measured part */
};

struct lb_metrics *lb_metrics_new(void);
void lb_metrics_free(struct lb_metrics *metrics);

/* This run is under way, of this case. */
void lb_metrics_tell(struct lb_metrics *metrics, size_t number, const struct lb_metrics_case *name,
                     const struct lb_metrics_run *run);
/* Reports the end of this case's latest run. violations: of its guarantees; judged: the tested
 * guarantees, in bits; both 0 without a verdict. */
void lb_metrics_over(struct lb_metrics *metrics, size_t number, unsigned judged,
                     const uint64_t violations[LB_GUARANTEE_ROOM]);

/* Prometheus' text format 0.0.4, to be freed. */
char *lb_metrics_text(struct lb_metrics *metrics);

/* An HTTP server for the text, under /metrics. */
struct lb_endpoint;

/* where: [HOST:]PORT, as "9100", "localhost:9100" or "[::1]:0" (any free one). Only this machine
 * can reach it: LB_E_USAGE for a HOST that is not a loopback address. LB_E_ENV: the port is in use,
 * or there is no library for it in this build. metrics is borrowed. */
int lb_endpoint_open(const char *where, struct lb_metrics *metrics, struct lb_endpoint **ret,
                     struct lb_error *err);
void lb_endpoint_close(struct lb_endpoint *endpoint); /* NULL: nothing */
/* "http://127.0.0.1:9100/metrics". */
const char *lb_endpoint_url(const struct lb_endpoint *endpoint);

#endif
