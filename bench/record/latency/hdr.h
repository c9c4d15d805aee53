/* Histograms in the formats of the public HdrHistogram tools.
 *
 * .hlog: a log of histograms, one line each, tagged by operation (log format 1.2, payload V2:
 * ZigZag LEB128 counts, zlib, base64). .hgrm: the percentile distribution of one histogram as text,
 * for plotting.
 *
 * Precision: written with 3 significant digits, whose 1024 buckets per power of two divide each
 * of our 256 into four. A bucket's count goes to where its middle is, so a value read back is
 * within 0.3 % of the recorded one (0.2 % ours, 0.1 % theirs); minimum and maximum keep their own
 * places. Values in the overflow are written as the maximum, all of them, and nothing above 2^53 -
 * 1 ns (104 days), up to which JavaScript's numbers are whole.
 */
#ifndef LB_HDR_H
#define LB_HDR_H

#include "error.h"
#include "histogram.h"

#include <stdio.h>

/* The head of a log: a comment (may be NULL), version, start time and legend. */
void lb_hdr_log_begin(FILE *out, const char *comment, uint64_t start_unix_ns);
/* One line: a histogram of the interval start_ns .. start_ns + length_ns after the log's start. tag
 * has neither commas nor white space; NULL: none. Nothing is written for an empty histogram.
 * Returns 0, or LB_E_ENV when out is in error. */
int lb_hdr_log_write(FILE *out, const char *tag, uint64_t start_ns, uint64_t length_ns,
                     const struct lb_histogram *histogram, struct lb_error *err);
/* The percentile distribution, in microseconds. Returns 0 or LB_E_ENV. */
int lb_hgrm_write(FILE *out, const struct lb_histogram *histogram, struct lb_error *err);

#endif
