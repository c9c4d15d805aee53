/* The intervals of all runs as a file: --series. */
#ifndef LB_SERIES_H
#define LB_SERIES_H

#include "report.h"

/* 0, or LB_E_ENV where the file cannot be written. */
int lb_series_write(const struct lb_report *report, FILE *file, struct lb_error *err);

#endif
