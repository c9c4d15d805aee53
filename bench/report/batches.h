/* Claims of several sizes: the rate, and its price. */
#ifndef LB_BATCHES_H
#define LB_BATCHES_H

#include "report.h"

/* Under the table, in every format that people read. */
#define LB_BATCHES_READING                                                                         \
    "in hand: from a claim until the last of its items is ended, on average: so long a worker's "  \
    "death finds them with it. at a death: what becomes of these items."

struct lb_batch_row {
    const struct lb_cell *cell;
    double successes_per_s; /* the median over the runs, as in every table */
    double in_hand_ns;      /* the mean over all claims; 0: nothing was ended */
};

struct lb_batches {
    size_t n; /* 0: all claims were of one size */
    struct lb_batch_row *rows;
};

/* The queues that were run, those of one strategy on one engine together, if their claims were of
 * more than one size. The caller releases it. */
void lb_batches_make(const struct lb_report *report, struct lb_batches *ret);
void lb_batches_release(struct lb_batches *batches);

/* "up to 10 lost": the fate of a dead worker's items. Returns buf. */
char *lb_batch_fate(const struct lb_batch_row *row, char *buf, size_t size);

#endif
