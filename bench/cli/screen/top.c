/* --top: see top.h. */
#include "top.h"

#include "append.h"
#include "clock.h"
#include "memory.h"
#include "terminal.h"
#include "text_clean.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EVERY_NS  UINT64_C(200000000)
#define SECOND_NS UINT64_C(1000000000)

int lb_top_open(struct lb_top *top, const struct lb_args *args, const struct lb_stop *stop,
                struct lb_error *err)
{
    if (!args->top)
        return 0;
    if (args->quiet || args->progress != NULL)
        return lb_fail(err, LB_E_USAGE, "option --top: not together with %s",
                       args->quiet ? "--quiet" : "--progress");
    if (!lb_terminal_is(STDERR_FILENO))
        return lb_fail(err, LB_E_USAGE,
                       "option --top: standard error is no terminal to draw on; -P 1 prints a line "
                       "each second anywhere");
    *top = (struct lb_top){.stop = stop, .is_utf8 = lb_terminal_utf8()};
    return 0;
}

static void note(struct lb_top *top, uint64_t now_ns, const char *what, uint64_t n)
{
    snprintf(top->events[top->n_events++ % LB_TOP_EVENTS], sizeof top->events[0],
             "%7.1f s  %s (%llu so far)", (double)(now_ns - top->start_ns) / 1e9, what,
             (unsigned long long)n);
}

static void watch(struct lb_top *top, const struct lb_progress *progress, uint64_t now_ns)
{
    uint64_t n_died = 0;
    for (uint32_t i = 0; i < progress->n_views; i++)
        n_died += progress->workers[i].has_died;
    if (progress->n_faults > top->n_faults)
        note(top, now_ns, "a fault was carried out", progress->n_faults);
    if (n_died > top->n_died)
        note(top, now_ns, "a worker died", n_died);
    if (progress->n_overlaps > top->n_overlaps)
        note(top, now_ns, "OVERLAP: two held at once", progress->n_overlaps);
    top->n_faults = progress->n_faults;
    top->n_died = n_died;
    top->n_overlaps = progress->n_overlaps;
    if (progress->interval != NULL) {
        top->p50_ns = progress->interval->p50_ns;
        top->p99_ns = progress->interval->p99_ns;
    }
    if (now_ns - top->second_ns < SECOND_NS)
        return;
    top->rates[top->n_rates++ % LB_TOP_RATES] = (double)(progress->n_successes - top->n_successes) /
                                                ((double)(now_ns - top->second_ns) / 1e9);
    top->n_successes = progress->n_successes;
    top->second_ns = now_ns;
}

/* A picture is put together first, and written at once: nothing flickers. */
struct picture {
    FILE *out;
    unsigned columns, lines, used; /* lines that are used */
};

/* One line of it, cut to the terminal's width; of ASCII but for the bars, which are cut by the
 * caller. */
static void line(struct picture *p, const char *text)
{
    if (p->used + 1 >= p->lines)
        return;
    fprintf(p->out, "%s\033[K\r\n", text);
    p->used++;
}

static void plain(struct picture *p, const char *text)
{
    char cut[400];
    snprintf(cut, sizeof cut, "%.*s", (int)p->columns - 1, text);
    line(p, cut);
}

/* The rates of the last seconds as bars, the newest at the right. */
static void print_rates(struct picture *p, const struct lb_top *top)
{
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    char text[LB_TOP_RATES * 4 + 64] = "";
    double most = 0;
    size_t kept = top->n_rates < LB_TOP_RATES ? top->n_rates : LB_TOP_RATES, room = p->columns - 14;
    size_t n = kept < room ? kept : room;
    for (size_t i = top->n_rates - n; i < top->n_rates; i++)
        if (top->rates[i % LB_TOP_RATES] > most)
            most = top->rates[i % LB_TOP_RATES];
    for (size_t i = top->n_rates - n; i < top->n_rates; i++) {
        int level = most > 0 ? (int)(8 * top->rates[i % LB_TOP_RATES] / most + 0.5) : 0;
        lb_append(text, sizeof text, "%s", top->is_utf8 ? eighths[level] : ascii[level]);
    }
    char rate[24];
    if (n > 0)
        lb_append(text, sizeof text, " to %s/s", lb_format_count(most, rate, sizeof rate));
    line(p, text);
}

static void print_workers(struct picture *p, const struct lb_progress *progress)
{
    enum { BAR = 30 };
    uint64_t most = 1;
    char text[200], wait[32];
    for (uint32_t i = 0; i < progress->n_views; i++)
        if (progress->workers[i].n_successes > most)
            most = progress->workers[i].n_successes;
    plain(p, "");
    plain(p, "worker   successes  now");
    for (uint32_t i = 0; i < progress->n_views; i++) {
        const struct lb_worker_view *w = &progress->workers[i];
        char bar[BAR + 1], now[48];
        size_t length = (size_t)(w->n_successes * BAR / most);
        memset(bar, '#', length);
        bar[length] = '\0';
        if (w->has_died)
            snprintf(now, sizeof now, "dead");
        else if (w->has_ended)
            snprintf(now, sizeof now, "ended");
        else if (w->waits_ns > 0)
            snprintf(now, sizeof now, "waits %s", lb_format_ns(w->waits_ns, wait, sizeof wait));
        else
            snprintf(now, sizeof now, "works");
        snprintf(text, sizeof text, "%6u  %10llu  %-14s %s", w->number,
                 (unsigned long long)w->n_successes, now, bar);
        plain(p, text);
    }
}

static void print_picture(struct picture *p, const struct lb_top *top, const char *where,
                          const struct lb_cell *cell, const struct lb_progress *progress)
{
    char text[400], rate[32], p50[32] = "n/a", p99[32] = "n/a", share[24] = "";
    if (progress->fraction >= 0)
        snprintf(share, sizeof share, " %.0f %%",
                 100 * (progress->fraction > 1 ? 1 : progress->fraction));
    snprintf(text, sizeof text, "lockbench %s %s on %s, %s: %s%s", where, cell->name, cell->engine,
             cell->scenario.name, progress->phase, share);
    lb_clean_text(text);
    plain(p, text);
    if (top->p50_ns > 0)
        lb_format_ns(top->p50_ns, p50, sizeof p50);
    if (top->p99_ns > 0)
        lb_format_ns(top->p99_ns, p99, sizeof p99);
    snprintf(text, sizeof text, "%s/s  p50 %s  p99 %s  %llu successes, %llu refusals",
             lb_format_count(progress->successes_per_s, rate, sizeof rate), p50, p99,
             (unsigned long long)progress->n_successes, (unsigned long long)progress->n_refusals);
    plain(p, text);
    snprintf(text, sizeof text, "%u workers, %llu faults, %llu overlaps", progress->n_workers,
             (unsigned long long)progress->n_faults, (unsigned long long)progress->n_overlaps);
    plain(p, text);
    print_rates(p, top);
    size_t n = top->n_events < LB_TOP_EVENTS ? top->n_events : LB_TOP_EVENTS;
    for (size_t i = top->n_events - n; i < top->n_events; i++)
        plain(p, top->events[i % LB_TOP_EVENTS]);
    print_workers(p, progress);
}

/* Of what the user asked to end twice nothing is drawn: the third time ends the process as it is.
 */
static bool is_wanted(const struct lb_top *top)
{
    return atomic_load(&top->stop->requested) < 2;
}

void lb_top_draw(struct lb_top *top, const char *where, const struct lb_cell *cell,
                 const struct lb_progress *progress)
{
    uint64_t now_ns = lb_now_ns();
    if (!is_wanted(top)) {
        lb_top_leave(top);
        return;
    }
    if (!top->is_open) {
        *top = (struct lb_top){.stop = top->stop, .is_utf8 = top->is_utf8, .is_open = true};
        top->start_ns = top->second_ns = now_ns;
    }
    watch(top, progress, now_ns);
    if (now_ns - top->last_ns < EVERY_NS)
        return;
    top->last_ns = now_ns;
    struct winsize size = {0};
    struct picture picture = {.columns = 80, .lines = 24};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 && size.ws_row > 4) {
        picture.columns = size.ws_col;
        picture.lines = size.ws_row;
    }
    char *text;
    size_t length;
    picture.out = lb_open_memory(&text, &length);
    fputs(top->has_screen ? "\033[H" : "\033[?1049h\033[?25l\033[H", picture.out);
    print_picture(&picture, top, where, cell, progress);
    fputs("\033[J", picture.out);
    lb_close_memory(picture.out);
    fputs(text, stderr);
    fflush(stderr);
    free(text);
    top->has_screen = true;
}

void lb_top_leave(struct lb_top *top)
{
    if (top == NULL)
        return;
    if (top->has_screen) {
        fputs("\033[?25h\033[?1049l", stderr);
        fflush(stderr);
    }
    top->has_screen = top->is_open = false;
}
