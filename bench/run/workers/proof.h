/* What a scenario proves beside the guarantees of the strategy. */
#ifndef LB_PROOF_H
#define LB_PROOF_H

#include "check.h"

/* What a scenario of its own proves beside the strategy's guarantees: that the work was done as
 * often as it should be. */
struct lb_proof {
    char name[24];           /* "chunks", ...; "": the scenario has nothing to prove */
    enum lb_verdict verdict; /* held, violated or not tested */
    char text[400];          /* one sentence, with the numbers */
};

#endif
