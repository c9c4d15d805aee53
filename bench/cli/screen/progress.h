/* Progress on stderr: one line that is redrawn on a terminal, else one plain line per run. */
#ifndef LB_PROGRESS_VIEW_H
#define LB_PROGRESS_VIEW_H

#include "extent.h"
#include "forecast.h"
#include "report.h"
#include "search.h"
#include "top.h"

struct lb_progress_view {
    uint64_t p50_ns, p99_ns; /* of the last full second; 0: none yet, or too few */
    double busy_share;
    bool quiet, terminal;
    uint64_t every_ns; /* interval of plain lines; 0: none */
    uint64_t last_ns, last_successes;
    uint64_t start_ns;      /* 0: how long is left is not told */
    size_t n_done, n_total; /* runs */
    size_t n_resumed;       /* finished before the start */
    struct lb_forecast forecast;
    bool has_left; /* how many runs there will be is not known, how long it takes is */
    uint64_t left_ns;
    const struct lb_cell *cell; /* that is running */
    unsigned width;
    struct lb_top *top; /* --top: instead of the line; NULL: not asked for */
};

void lb_progress_init(struct lb_progress_view *view, bool quiet, uint64_t every_ns, size_t n_total);
/* For lb_run: arg is the view. */
void lb_progress_show(void *arg, const struct lb_progress *progress);
/* The line that it draws, less than view->width columns: the figures whole, the names as far as
 * there is room. Returns buf. */
char *lb_progress_line(const struct lb_progress_view *view, const struct lb_progress *progress,
                       char *buf, size_t size);
/* A run has ended: the line is removed (terminal), or the result is printed. */
void lb_progress_done(struct lb_progress_view *view, const struct lb_cell *cell);
/* For lb_explore: arg is a struct lb_explore_view. On a terminal only, at most five times a second.
 */
struct lb_explore_view {
    bool shown; /* stderr is a terminal, and wanted */
    const char *strategy, *engine;
    uint64_t start_ns, last_ns;
    unsigned width;
    struct lb_steadiness steady;
};
/* The line that it draws after this time. Returns buf. */
char *lb_explore_line(struct lb_explore_view *view, const struct lb_search_result *so_far,
                      uint64_t took_ns, char *buf, size_t size);
void lb_explore_progress(void *arg, const struct lb_search_result *so_far);
void lb_explore_progress_clear(const struct lb_explore_view *view);

/* "2 min 41 s". Returns buf. */
char *lb_format_span(uint64_t ns, char *buf, size_t size);

void lb_progress_clear(const struct lb_progress_view *view);

#endif
