/* Had a run reached a steady state? */
#ifndef LB_STEADY_H
#define LB_STEADY_H

#include "run.h"
#include "stats.h"

enum lb_steadiness_verdict {
    LB_RUN_STEADY,   /* the rate changed by less than the tolerance, as far as the interval tells */
    LB_RUN_DRIFTING, /* it changed by more, and that is no chance */
    LB_RUN_UNCLEAR,  /* too noisy to say */
    LB_RUN_NOT_JUDGED /* reason */
};

struct lb_steadiness {
    enum lb_steadiness_verdict verdict;
    struct lb_estimate change; /* of the rate over the measured part: -0.2 is a fifth less */
    const char *reason;        /* why it was not judged, else "" */
};

#define LB_STEADY_TOLERANCE 0.10
#define LB_STEADY_LEVEL     0.95

/* A straight line through the rates of the measured part's pieces; see lb_stats_trend. */
void lb_run_steadiness(const struct lb_outcome *run, struct lb_steadiness *ret);
/* "steady", "drifting", "unclear", "not judged". */
const char *lb_steadiness_name(enum lb_steadiness_verdict verdict);

#endif
