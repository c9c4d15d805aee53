/* Advice on items that come back, and should not, or do not come back: a part of advice.c. */
#ifndef LB_ADVICE_BACK_H
#define LB_ADVICE_BACK_H

#include "advice.h"

/* Advice for a queue; text NULL: the cell shows no such fault. */
struct lb_advice lb_advise_back(const struct lb_outlook *outlook, enum lb_guarantee guarantee,
                                const struct lb_cell *cell);
/* For a clear-all-errors, reset-all or clear-error that takes too many items. */
struct lb_advice lb_advise_operator(const struct lb_outlook *outlook);

#endif
