/* Parts of a stored result. Private to bench/report. */
#ifndef LB_STORE_SERIES_H
#define LB_STORE_SERIES_H

#include "report.h"

#include <stdio.h>

/* The content of latency.hlog and of intervals.jsonl. 0 or an error. */
int lb_store_histograms(const struct lb_report *report, FILE *file, struct lb_error *err);
int lb_store_intervals(const struct lb_report *report, FILE *file, struct lb_error *err);

#endif
