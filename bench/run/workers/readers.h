/* Sessions that count the items of a queue while the workers run. Private to bench/run. */
#ifndef LB_READERS_H
#define LB_READERS_H

#include "run_state.h"

/* readers.c: sessions that count the queue's items while the workers run. end: after the workers;
 * settle: adds what they counted; release: NULL is allowed. */
struct lb_readers;
int lb_readers_start(struct lb_active_run *run, struct lb_error *err);
void lb_readers_cancel(struct lb_readers *readers);
void lb_readers_end(struct lb_readers *readers);
void lb_readers_settle(const struct lb_readers *readers, struct lb_counts *counts,
                       struct lb_histogram *service);
void lb_readers_release(struct lb_readers *readers);

#endif
