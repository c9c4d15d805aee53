/* Counters of operations: see measure.h. */
#include "measure.h"

const char *lb_measure_name(enum lb_measure measure)
{
    static const char *const names[LB_MEASURES] = {"enqueue", "acquire", "hold", "release",
                                                   "put",     "cycle",   "pool", "read"};
    return names[measure];
}

void lb_counts_add(struct lb_counts *sum, const struct lb_counts *one)
{
    sum->planned += one->planned;
    sum->skipped += one->skipped;
    sum->started += one->started;
    sum->finished += one->finished;
    sum->censored += one->censored;
    sum->succeeded += one->succeeded;
    sum->given_up += one->given_up;
    sum->gave_up += one->gave_up;
    sum->attempts += one->attempts;
    for (int a = 0; a < LB_ANSWERS; a++)
        sum->answers[a] += one->answers[a];
}
