/* Running the cells of a report: what run, compare and verify have in common. */
#ifndef LB_CAMPAIGN_H
#define LB_CAMPAIGN_H

#include "cli.h"
#include "select.h"

struct lb_campaign {
    const struct lb_args *args;
    struct lb_select_defaults defaults;
    const struct lb_sink *const *sinks; /* that --format may name; NULL: lb_sinks */
    const struct lb_sink *sink;         /* without --format */
    bool judge_expectations;            /* exit by what was expected: a caught control is well */
    bool refuse_skips;                  /* a cell that cannot run is an error */
};

/* Selects, connects, runs, reports, stores. Returns the exit status; has complained by then. */
enum lb_exit lb_campaign_run(const struct lb_campaign *campaign);

#endif
