/* What to change in a file, and which of its lines allow what was found: read off the file's
 * features and the run that showed it. A hint and no verdict: the verdict is the history's.
 */
#ifndef LB_ADVICE_H
#define LB_ADVICE_H

#include "outlook.h"

struct lb_advice {
    const struct lb_quote *quotes[4]; /* the outlook's; NULL, or of line 0: none */
    const char *text;                 /* NULL: nothing is known to help */
};

/* A text, and the quotes that it is about. */
#define LB_ADVICE(words, ...) ((struct lb_advice){.text = (words), .quotes = {__VA_ARGS__}})

/* Of a file's outlook; cell: one that shows the guarantee broken. report: the others. */
struct lb_advice lb_advise(const struct lb_outlook *outlook, const struct lb_report *report,
                           enum lb_guarantee guarantee, const struct lb_cell *cell);

/* Parts of it; text NULL: they have none. */
/* On an item that was given back, retried, or has failed, too late or to no state that claim finds.
 */
struct lb_advice lb_advise_end(const struct lb_outlook *outlook, const struct lb_cell *cell,
                               enum lb_guarantee guarantee);
/* For a queue, on items that come back, and should not, or do not come back. */
struct lb_advice lb_advise_back(const struct lb_outlook *outlook, enum lb_guarantee guarantee,
                                const struct lb_cell *cell);
/* The change for an end that does not ask whose claim it is. */
extern const char lb_advice_asking[];
/* True if an operation of the kind is part of what the finding shows. */
bool lb_advice_shows(const struct lb_cell *cell, enum lb_guarantee guarantee, int op);
/* For a clear-all-errors, reset-all or clear-error that takes too many items. */
struct lb_advice lb_advise_operator(const struct lb_outlook *outlook);

#endif
