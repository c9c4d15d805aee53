/* Charts of characters: see chart.h. */
#include "chart.h"

#include "append.h"
#include "memory.h"
#include "table.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, MARGIN = 8, MOST_COLUMNS = 100, LEAST_WIDTH = 40 };

char *lb_chart_bar(double share, unsigned columns, bool utf8, char *buf, size_t size)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double whole = fmin(1, fmax(0, share)) * columns;
    unsigned steps = utf8 ? (unsigned)(whole * 8 + .5) : 8 * (unsigned)(whole + .5);
    buf[0] = '\0';
    for (unsigned i = 0; i < steps / 8; i++)
        lb_append(buf, size, "%s", utf8 ? "█" : "#");
    lb_append(buf, size, "%s", eighths[steps % 8]);
    return buf;
}

unsigned lb_chart_bar_columns(unsigned width)
{
    return width < 80 ? 0 : width < 140 ? 12 : 24;
}

/* The mark at one place of the grid; a larger value covers a smaller one. */
enum mark { MARK_NONE, MARK_BAND, MARK_CURVE, MARK_POINT };

struct grid {
    unsigned columns;
    double x_least, x_most, y_most;
    unsigned char marks[ROWS][MOST_COLUMNS];
};

/* Row of a value, 0 at the top. Values are within 0..y_most. */
static unsigned row_of(const struct grid *grid, double y)
{
    double share = fmin(1, fmax(0, y / grid->y_most));
    return (unsigned)lround((1 - share) * (ROWS - 1));
}

static unsigned column_of(const struct grid *grid, double x)
{
    double share = (x - grid->x_least) / (grid->x_most - grid->x_least);
    return (unsigned)lround(fmin(1, fmax(0, share)) * (grid->columns - 1));
}

static void set(struct grid *grid, unsigned row, unsigned column, enum mark mark)
{
    if (grid->marks[row][column] < mark)
        grid->marks[row][column] = (unsigned char)mark;
}

static double between(double a, double b, double share)
{
    return a + (b - a) * share;
}

static void draw_curve(struct grid *grid, const struct lb_chart_place *curve, size_t n)
{
    size_t i = 0;
    for (unsigned column = 0; column < grid->columns; column++) {
        double x =
            between(grid->x_least, grid->x_most, (double)column / (double)(grid->columns - 1));
        while (i + 2 < n && curve[i + 1].x < x)
            i++;
        if (x < curve[0].x || x > curve[n - 1].x)
            continue;
        const struct lb_chart_place *a = &curve[i], *b = &curve[i + 1];
        double share = (x - a->x) / (b->x - a->x);
        unsigned top = row_of(grid, between(a->high, b->high, share));
        unsigned bottom = row_of(grid, between(a->low, b->low, share));
        for (unsigned row = top; row <= bottom; row++)
            set(grid, row, column, MARK_BAND);
        set(grid, row_of(grid, between(a->y, b->y, share)), column, MARK_CURVE);
    }
}

static void print_mark(const struct lb_sink_state *state, enum mark mark)
{
    static const struct {
        const char *ascii, *utf8;
        enum lb_ink ink;
    } marks[] = {[MARK_NONE] = {" ", " ", LB_INK_PLAIN},
                 [MARK_BAND] = {":", "░", LB_INK_DIM},
                 [MARK_CURVE] = {"-", "─", LB_INK_GOOD},
                 [MARK_POINT] = {"o", "●", LB_INK_PLAIN}};
    lb_print_ink(state->out, state->utf8 ? marks[mark].utf8 : marks[mark].ascii, marks[mark].ink,
                 state->color);
}

static void print_grid(const struct lb_sink_state *state, const struct grid *grid,
                       const char *x_name, const char *y_name)
{
    FILE *out = state->out;
    char text[32], last[64];
    const char *axis = state->utf8 ? "│" : "|";
    fprintf(out, "%*s %s\n", MARGIN, y_name, axis);
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned used = grid->columns;
        while (used > 0 && grid->marks[row][used - 1] == MARK_NONE)
            used--;
        if (row == 0 || row == ROWS / 2)
            lb_format_count(grid->y_most * (double)(ROWS - 1 - row) / (ROWS - 1), text,
                            sizeof text);
        else
            snprintf(text, sizeof text, "%s", row == ROWS - 1 ? "0" : "");
        fprintf(out, "%*s %s", MARGIN, text, axis);
        for (unsigned column = 0; column < used; column++)
            print_mark(state, (enum mark)grid->marks[row][column]);
        fputc('\n', out);
    }
    fprintf(out, "%*s %s", MARGIN, "", state->utf8 ? "└" : "+");
    for (unsigned column = 0; column < grid->columns; column++)
        fputs(state->utf8 ? "─" : "-", out);
    snprintf(text, sizeof text, "%g", grid->x_least);
    snprintf(last, sizeof last, "%.10s %g", x_name, grid->x_most);
    fprintf(out, "\n%*s  %s%*s\n", MARGIN, "", text, (int)(grid->columns - strlen(text)), last);
}

void lb_chart_curve(const struct lb_sink_state *state, const char *x_name, const char *y_name,
                    const struct lb_chart_place *points, size_t n_points,
                    const struct lb_chart_place *curve, size_t n_curve)
{
    if (state->width < LEAST_WIDTH || n_points + n_curve < 2)
        return;
    struct grid *grid = lb_calloc(1, sizeof *grid);
    grid->columns = state->width - MARGIN - 3;
    if (grid->columns > MOST_COLUMNS)
        grid->columns = MOST_COLUMNS;
    grid->x_least = (double)INFINITY;
    for (size_t i = 0; i < n_points + n_curve; i++) {
        const struct lb_chart_place *place = i < n_points ? &points[i] : &curve[i - n_points];
        grid->x_least = fmin(grid->x_least, place->x);
        grid->x_most = fmax(grid->x_most, place->x);
        grid->y_most = fmax(grid->y_most, place->y);
    }
    if (grid->x_most > grid->x_least && grid->y_most > 0) {
        grid->y_most *= 1.1;
        if (n_curve > 1)
            draw_curve(grid, curve, n_curve);
        for (size_t i = 0; i < n_points; i++)
            set(grid, row_of(grid, points[i].y), column_of(grid, points[i].x), MARK_POINT);
        print_grid(state, grid, x_name, y_name);
    }
    free(grid);
}
