/* The exit status for the cells of a report. */
#ifndef LB_CAMPAIGN_STATUS_H
#define LB_CAMPAIGN_STATUS_H

#include "campaign.h"
#include "regression.h"

/* The worst of all cells. Violations that the baseline has too are not counted. */
enum lb_exit lb_campaign_status(const struct lb_campaign *campaign, const struct lb_report *report,
                                const struct lb_baseline *baseline);
/* A gate that judged nothing must not be green: true, and stderr has been told why. */
bool lb_campaign_judged_nothing(const struct lb_campaign *campaign, const struct lb_report *report);
/* --strict: true if anything that was asked or claimed was not tested; stderr has been told. */
bool lb_campaign_left_untested(const struct lb_report *report);

#endif
