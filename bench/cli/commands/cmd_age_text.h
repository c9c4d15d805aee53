/* The measurements of age, for people and for programs. */
#ifndef LB_CMD_AGE_TEXT_H
#define LB_CMD_AGE_TEXT_H

#include "age.h"
#include "aged_table.h"

#include <stdio.h>

struct lb_age_view {
    const char *strategy, *target;
    const struct lb_age *age;
    enum lb_aged_statistics statistics;
    char slo[32];        /* "": not asked */
    uint64_t bound_ns;   /* of the SLO */
    double demand_per_s; /* 0: not given */
};

/* The number of items at which a claim alone takes bound_ns; 0: at none up to a milliard. */
double lb_age_slo_rows(const struct lb_age_view *view, enum lb_aged_state state);

void lb_age_print(FILE *out, const struct lb_age_view *view);
void lb_age_json(FILE *out, const struct lb_age_view *view);

#endif
