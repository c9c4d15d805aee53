/* Small charts of characters: bars, and a curve with its points. UTF-8, or ASCII where the locale
 * has no other. */
#ifndef LB_CHART_H
#define LB_CHART_H

#include "report.h"

/* A bar of share (0..1) of the columns; in UTF-8 to an eighth of a column. Returns buf. */
char *lb_chart_bar(double share, unsigned columns, bool utf8, char *buf, size_t size);
/* Columns for a bar at the end of a table on a terminal of this width; 0: no room. */
unsigned lb_chart_bar_columns(unsigned width);

/* One place of a chart: a measured point, or the curve and its band. */
struct lb_chart_place {
    double x, y;
    double low, high; /* of a curve */
};
/* Draws points over a curve (n_curve 0: none), both with x ascending: y from 0, x from the least to
 * the largest. Nothing with less than two places, or in less than 40 columns. */
void lb_chart_curve(const struct lb_sink_state *state, const char *x_name, const char *y_name,
                    const struct lb_chart_place *points, size_t n_points,
                    const struct lb_chart_place *curve, size_t n_curve);

#endif
