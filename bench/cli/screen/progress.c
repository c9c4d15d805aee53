/* Progress on stderr: see progress.h. */
#include "progress.h"

#include "append.h"
#include "clock.h"
#include "terminal.h"
#include "units.h"

#include <string.h>
#include <unistd.h>

void lb_progress_init(struct lb_progress_view *view, bool quiet, uint64_t every_ns, size_t n_total)
{
    *view = (struct lb_progress_view){.quiet = quiet,
                                      .every_ns = every_ns,
                                      .start_ns = lb_now_ns(),
                                      .terminal = lb_terminal_is(STDERR_FILENO),
                                      .n_total = n_total,
                                      .width = lb_terminal_width(STDERR_FILENO)};
}

/* The figures in short, the purpose of the line. Violations first. */
static void figures(const struct lb_progress_view *view, const struct lb_progress *progress,
                    char *buf, size_t size)
{
    char rate[32], p50[32], p99[32];
    bool runs = strcmp(progress->phase, "running") == 0;
    if (runs && progress->fraction >= 0)
        snprintf(buf, size, "%.0f %%", (progress->fraction > 1 ? 1 : progress->fraction) * 100);
    else
        snprintf(buf, size, "%s", progress->phase);
    if (progress->n_overlaps > 0)
        lb_append(buf, size, " %llu OVERLAPS", (unsigned long long)progress->n_overlaps);
    if (runs || strcmp(progress->phase, "warm-up") == 0)
        lb_append(buf, size, " %s/s",
                  lb_format_count(progress->successes_per_s, rate, sizeof rate));
    if (view->p50_ns > 0)
        lb_append(buf, size, " p50 %s p99 %s busy %.0f %%",
                  lb_format_ns(view->p50_ns, p50, sizeof p50),
                  view->p99_ns > 0 ? lb_format_ns(view->p99_ns, p99, sizeof p99) : "n/a",
                  view->busy_share * 100);
}

char *lb_format_span(uint64_t ns, char *buf, size_t size)
{
    unsigned long long s = ns / 1000000000 + (ns % 1000000000 >= 500000000);
    if (s < 60)
        snprintf(buf, size, "%llu s", s);
    else
        snprintf(buf, size, "%llu min %llu s", s / 60, s % 60);
    return buf;
}

/* 0: not known yet. Without a forecast: as the runs so far went. */
static uint64_t left_of_runs(const struct lb_progress_view *view)
{
    size_t n = view->n_done - view->n_resumed;
    if (view->start_ns == 0 || view->n_done >= view->n_total)
        return 0;
    if (view->forecast.report != NULL)
        return lb_forecast_left(&view->forecast, lb_now_ns());
    if (n == 0)
        return 0;
    double each_ns = (double)(lb_now_ns() - view->start_ns) / ((double)n + 0.5);
    return (uint64_t)(each_ns * ((double)(view->n_total - view->n_done) - 0.5));
}

/* "[3/40]", "[3/40, 2 min 41 s left]", or "[3, 2 min 41 s left]". */
static const char *place(const struct lb_progress_view *view, size_t run, char *buf, size_t size)
{
    char left[32];
    if (view->has_left)
        snprintf(buf, size, "[%zu, %s left]", run,
                 lb_format_span(view->left_ns, left, sizeof left));
    else if (run > view->n_done && left_of_runs(view) > UINT64_C(1000000000))
        snprintf(buf, size, "[%zu/%zu, %s left]", run, view->n_total,
                 lb_format_span(left_of_runs(view), left, sizeof left));
    else
        snprintf(buf, size, "[%zu/%zu]", run, view->n_total);
    return buf;
}

char *lb_progress_line(const struct lb_progress_view *view, const struct lb_progress *progress,
                       char *buf, size_t size)
{
    char names[400], text[200];
    /* One column less than there are: some terminals wrap when the last one is written. */
    int room = (int)view->width - 1;
    figures(view, progress, text, sizeof text);
    char where[64];
    int n = snprintf(names, sizeof names, "%s %s %s %s",
                     place(view, view->n_done + 1, where, sizeof where), view->cell->name,
                     view->cell->engine, view->cell->scenario.name);
    int left = room - (int)strlen(text) - 2; /* ": " */
    if (n <= left)
        snprintf(buf, size, "%s: %s", names, text);
    else if (left > 2)
        snprintf(buf, size, "%.*s..: %s", left - 2, names, text);
    else
        snprintf(buf, size, "%.*s", room, text);
    return buf;
}

/* --progress: as pgbench's, a line that stays. Its rate is of the time since the last line. */
static void show_line(struct lb_progress_view *view, const struct lb_progress *progress)
{
    char rate[32], p50[32], p99[32], where[64];
    uint64_t now_ns = lb_now_ns();
    if (view->last_ns == 0 || progress->n_successes < view->last_successes) { /* another run */
        view->last_ns = now_ns;
        view->last_successes = progress->n_successes;
    }
    if (now_ns - view->last_ns < view->every_ns)
        return;
    double seconds = (double)(now_ns - view->last_ns) / 1e9;
    lb_format_count((double)(progress->n_successes - view->last_successes) / seconds, rate,
                    sizeof rate);
    lb_progress_clear(view);
    fprintf(stderr, "progress: %s %s %s %s, %s: %.1f s, %s/s",
            place(view, view->n_done + 1, where, sizeof where), view->cell->name,
            view->cell->engine, view->cell->scenario.name, progress->phase, seconds, rate);
    if (view->p50_ns > 0)
        fprintf(stderr, ", p50 %s, p99 %s", lb_format_ns(view->p50_ns, p50, sizeof p50),
                view->p99_ns > 0 ? lb_format_ns(view->p99_ns, p99, sizeof p99) : "n/a");
    if (progress->n_overlaps > 0)
        fprintf(stderr, ", %llu OVERLAPS", (unsigned long long)progress->n_overlaps);
    fputc('\n', stderr);
    view->last_ns = now_ns;
    view->last_successes = progress->n_successes;
}

void lb_progress_show(void *arg, const struct lb_progress *progress)
{
    struct lb_progress_view *view = arg;
    char line[700];
    if (view->quiet || (!view->terminal && view->every_ns == 0))
        return;
    const struct lb_interval *interval = progress->interval;
    if (interval != NULL) {
        uint64_t attempts = interval->n_successes + interval->n_refusals;
        view->p50_ns = interval->p50_ns;
        view->p99_ns = interval->p99_ns;
        view->busy_share = attempts > 0 ? (double)interval->n_refusals / (double)attempts : 0;
    }
    if (view->every_ns > 0)
        show_line(view, progress);
    if (!view->terminal)
        return;
    if (view->top != NULL) {
        char where[64];
        lb_top_draw(view->top, place(view, view->n_done + 1, where, sizeof where), view->cell,
                    progress);
        return;
    }
    fprintf(stderr, "\r\033[K%s", lb_progress_line(view, progress, line, sizeof line));
    fflush(stderr);
}

void lb_progress_clear(const struct lb_progress_view *view)
{
    lb_top_leave(view->top);
    if (view->terminal && !view->quiet)
        fputs("\r\033[K", stderr);
}

void lb_progress_done(struct lb_progress_view *view, const struct lb_cell *cell)
{
    view->n_done++;
    if (view->forecast.report != NULL)
        lb_forecast_learn(&view->forecast, cell, lb_now_ns());
    view->p50_ns = view->p99_ns = 0;
    if (view->quiet)
        return;
    if (view->terminal) {
        lb_progress_clear(view);
        return;
    }
    char verdict[300], rate[32] = "", where[64];
    fprintf(stderr, "%s %s %s %s: %s", place(view, view->n_done, where, sizeof where), cell->name,
            cell->engine, cell->scenario.name, lb_cell_verdict(cell, verdict, sizeof verdict));
    if (cell->n_runs > 0 && !cell->is_explored)
        fprintf(stderr, ", %s/s",
                lb_format_count(cell->runs[cell->n_runs - 1]->successes_per_s, rate, sizeof rate));
    fputc('\n', stderr);
}

/* ", some 2 min left"; "at least" while the estimates differ too much; "" while nothing can be
 * told: too little is done, or it would take days. */
static void describe_left(struct lb_explore_view *view, const struct lb_search_result *so_far,
                          uint64_t took_ns, char *buf, size_t size)
{
    static const double least_share = 0.01, longest_ns = 86400e9;
    double left;
    bool is_least = false;
    char span[24];
    buf[0] = '\0';
    if (so_far->whole > 0) {
        lb_steadiness_note(&view->steady, took_ns, so_far->whole);
        left = lb_steadiness_whole(&view->steady, &is_least) / (double)so_far->n_moves - 1;
    } else {
        left = so_far->share > 0 ? 1 / so_far->share - 1 : longest_ns;
    }
    double left_ns = (double)took_ns * left;
    if (so_far->share >= least_share && took_ns >= UINT64_C(1000000000) && left_ns > 0 &&
        left_ns < longest_ns)
        snprintf(buf, size, ", %s %s left", is_least ? "at least" : "some",
                 lb_format_span((uint64_t)left_ns, span, sizeof span));
}

char *lb_explore_line(struct lb_explore_view *view, const struct lb_search_result *so_far,
                      uint64_t took_ns, char *buf, size_t size)
{
    char schedules[32], took[32], left[60], share[32];
    bool is_known = so_far->share > 0; /* of the likely ones nothing is a share */
    describe_left(view, so_far, took_ns, left, sizeof left);
    lb_extent_words(so_far->share, share, sizeof share);
    snprintf(buf, size, "%s %s: %s schedule%s, %s%s%s%s%s", view->strategy, view->engine,
             lb_format_count((double)so_far->n_schedules, schedules, sizeof schedules),
             so_far->n_schedules == 1 ? "" : "s", is_known ? share : "", is_known ? ", " : "",
             lb_format_ns(took_ns, took, sizeof took), left,
             so_far->violated != 0 ? ", VIOLATED" : "");
    return buf;
}

void lb_explore_progress(void *arg, const struct lb_search_result *so_far)
{
    enum { EVERY_NS = 200000000 };
    struct lb_explore_view *view = arg;
    uint64_t now_ns = lb_now_ns();
    if (!view->shown || now_ns - view->last_ns < EVERY_NS)
        return;
    view->last_ns = now_ns;
    char line[300];
    lb_explore_line(view, so_far, now_ns - view->start_ns, line, sizeof line);
    fprintf(stderr, "\r\033[K%.*s", (int)view->width - 1, line);
    fflush(stderr);
}

void lb_explore_progress_clear(const struct lb_explore_view *view)
{
    if (view->shown)
        fputs("\r\033[K", stderr);
}
