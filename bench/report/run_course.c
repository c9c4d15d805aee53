/* The course of a run: see run_course.h. */
#include "run_course.h"

#include "memory.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool lb_run_course(const struct lb_outcome *run, struct lb_course *ret, double *ret_dead_rows)
{
    const bool is_open = run->config.rate[0] != '\0';
    size_t n = 0;
    *ret_dead_rows = (double)NAN;
    if (run->config.drain || run->config.period_ns > 0 || run->n_intervals < LB_COURSE_FEWEST)
        return false;
    double *x = lb_malloc(2 * run->n_intervals * sizeof *x), *y = x + run->n_intervals;
    size_t *of = lb_malloc(run->n_intervals * sizeof *of);
    bool is_said = false;
    for (size_t i = 0; i < run->n_intervals; i++) {
        const struct lb_interval *interval = &run->intervals[i];
        double per = is_open ? (double)interval->n_due : (double)interval->length_ns / 1e9;
        if (per <= 0)
            continue;
        x[n] = (double)interval->start_ns / 1e9;
        y[n] = (double)interval->n_successes / per;
        of[n++] = i;
    }
    struct lb_error ignored;
    if (n >= LB_COURSE_FEWEST)
        is_said = lb_course_of(x, y, n, run->seed, ret, &ignored) == 0;
    if (is_said && ret->verdict == LB_COURSE_COLLAPSED)
        *ret_dead_rows = run->intervals[of[ret->at]].gauges[LB_G_DEAD_ROWS];
    free(x);
    free(of);
    return is_said;
}

/* "121 s (95 %: 118 s to 130 s)" */
static char *time_text(const struct lb_estimate *time, double less, char *buf, size_t size)
{
    snprintf(buf, size, "%.0f s (95 %%: %.0f to %.0f s)", time->value - less,
             fmax(0, time->interval.low - less), time->interval.high - less);
    return buf;
}

static char *level_text(const struct lb_outcome *run, double level, char *buf, size_t size)
{
    char number[32];
    if (run->config.rate[0] != '\0')
        snprintf(buf, size, "%.0f %% of the arrivals", 100 * level);
    else
        snprintf(buf, size, "%s/s", lb_format_count(level, number, sizeof number));
    return buf;
}

char *lb_run_course_text(const struct lb_outcome *run, const struct lb_course *course,
                         double dead_rows, char *buf, size_t size)
{
    char when[80], before[40], during[40], rows[60] = "", number[32], after[120];
    const struct lb_estimate *drift = &course->per_hour;
    if (course->verdict == LB_COURSE_COLLAPSED) {
        if (!isnan(dead_rows))
            snprintf(rows, sizeof rows, ", at %s dead rows",
                     lb_format_count(dead_rows, number, sizeof number));
        snprintf(after, sizeof after, "did not recover");
        if (course->has_recovered) {
            char time[80];
            snprintf(after, sizeof after, "recovered %s later",
                     time_text(&course->recovered, course->collapsed.value, time, sizeof time));
        }
        snprintf(buf, size, "collapsed after %s%s, from %s to %s; %s",
                 time_text(&course->collapsed, 0, when, sizeof when), rows,
                 level_text(run, course->before, before, sizeof before),
                 level_text(run, course->during, during, sizeof during), after);
    } else {
        snprintf(buf, size, "%s: %+.3g %% an hour (95 %%: %+.3g to %+.3g %%)",
                 course->verdict == LB_COURSE_UNCLEAR ? "too noisy to say"
                                                      : lb_course_name(course->verdict),
                 100 * drift->value, 100 * drift->interval.low, 100 * drift->interval.high);
    }
    return buf;
}
