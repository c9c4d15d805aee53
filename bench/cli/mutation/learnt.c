/* Which questions distinguish mutants: measured, and used for their order. A smaller case counts
 * with the question that it stands for.
 *
 * To measure anew, on all built-in protocols and the databases of LB_TEST_URIS:
 *     scripts/soak-mutants --learn bench/cli/mutation/learnt.c
 */
#include "mutation_ask.h"

#include <string.h>

/* The question; mutants without a verdict that it was asked about; those that it distinguished; the
 * median time of an original's exploration in ms. */
static const struct lb_learnt learnt[] = {
    {"explore", 0, 0, 0},
};

const struct lb_learnt *lb_mutation_learnt(const char *question)
{
    size_t n = strcspn(question, ",");
    for (size_t i = 0; i < sizeof learnt / sizeof learnt[0]; i++)
        if (strlen(learnt[i].question) == n && memcmp(learnt[i].question, question, n) == 0)
            return &learnt[i];
    return NULL;
}
