/* The course of a long run: see course.h. */
#include "course.h"

#include "memory.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWS = 199, SHORTEST = 5, LONGEST = 30, WINDOW = 4, MOST_CHANGES = 64 };
#define LEVEL     0.01 /* of each test */
#define COLLAPSED 0.5
#define WELL      0.9
#define FALLING   0.75

const char *lb_course_name(enum lb_course_verdict verdict)
{
    static const char *const names[] = {[LB_COURSE_STEADY] = "steady",
                                        [LB_COURSE_DRIFTING] = "drifting",
                                        [LB_COURSE_COLLAPSED] = "collapsed",
                                        [LB_COURSE_UNCLEAR] = "unclear"};
    return names[verdict];
}

struct walk {
    const double *x, *y;
    size_t least;                 /* points of a piece */
    bool is_weighted;             /* a change near an end counts as much as one in the middle */
    double *rest, *drawn, *noise; /* n each: residuals of a piece, a series that is drawn, and what
                                     the means of short windows leave over */
    size_t n_noise, length;       /* length: of blocks of the noise */
    struct lb_random random;
    size_t changes[MOST_CHANGES + 2]; /* ascending; the first is 0, the last n */
    size_t n_changes;
};

static double mean_of(const double *y, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += y[i];
    return sum / (double)(to - from);
}

/* The largest deviation of a cumulative sum from its line, and where: pieces have at least
 * walk->least points. */
static double largest(const struct walk *walk, const double *y, size_t n, size_t *ret_at)
{
    double mean = mean_of(y, 0, n), sum = 0, most = 0;
    *ret_at = n / 2;
    for (size_t i = 0; i + walk->least < n; i++) {
        sum += y[i] - mean;
        double left = (double)(i + 1), right = (double)(n - i - 1);
        double size = fabs(sum) / (walk->is_weighted ? sqrt(left * right / (double)n) : 1);
        if (i + 1 < walk->least || size <= most)
            continue;
        most = size;
        *ret_at = i + 1;
    }
    return most;
}

/* The length of blocks for residuals that follow on each other like an autoregression. */
static size_t block_length(const double *rest, size_t n)
{
    double products = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += rest[i] * rest[i];
        products += i > 0 ? rest[i] * rest[i - 1] : 0;
    }
    double rho = squares > 0 ? fmin(0.97, fmax(0, products / squares)) : 0;
    double length = 1.1447 * cbrt(pow(2 * rho / (1 - rho * rho), 2) * (double)n);
    return (size_t)fmin(fmax(length, 1), fmax(1, (double)n / 4));
}

/* A series of residuals in the order of blocks that are drawn from a circle. */
static void draw_blocks(struct walk *walk, const double *rest, size_t n_rest, size_t length,
                        size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t from = (size_t)lb_random_below(&walk->random, n_rest);
        for (size_t k = 0; k < length && i < n; k++)
            walk->drawn[i++] = rest[(from + k) % n_rest];
    }
}

/* A change of the level that is not found yet is in a few windows only, and hardly in the noise. */
static void measure_noise(struct walk *walk, size_t from, size_t to, size_t window)
{
    walk->n_noise = 0;
    for (size_t start = from; start < to; start += window) {
        size_t end = start + window < to ? start + window : to;
        double mean = mean_of(walk->y, start, end);
        for (size_t i = start; i < end; i++)
            walk->noise[walk->n_noise++] = walk->y[i] - mean;
    }
    walk->length = block_length(walk->noise, walk->n_noise);
}

/* What the means of two pieces leave over. */
static void leave_rest(struct walk *walk, size_t from, size_t at, size_t to)
{
    double left = mean_of(walk->y, from, at), right = mean_of(walk->y, at, to);
    for (size_t i = from; i < to; i++)
        walk->rest[i - from] = walk->y[i] - (i < at ? left : right);
}

/* Where the level of a piece changes; 0: chance explains the largest deviation. */
static size_t find_change(struct walk *walk, size_t from, size_t to)
{
    size_t n = to - from, at, ignored, reached = 0;
    if (n < 2 * walk->least || walk->n_changes >= MOST_CHANGES)
        return 0;
    double most = largest(walk, walk->y + from, n, &at);
    for (int i = 0; i < DRAWS; i++) {
        draw_blocks(walk, walk->noise, walk->n_noise, walk->length, n);
        reached += largest(walk, walk->drawn, n, &ignored) >= most;
    }
    return most <= 0 || (double)(reached + 1) / (DRAWS + 1) > LEVEL ? 0 : from + at;
}

/* Cuts a piece where its level changes, and then its parts. Changes are put behind each other, in
 * order. */
static void cut(struct walk *walk, size_t from, size_t to)
{
    size_t at = find_change(walk, from, to);
    if (at == 0)
        return;
    cut(walk, from, at);
    if (walk->n_changes < MOST_CHANGES)
        walk->changes[++walk->n_changes] = at;
    cut(walk, at, to);
}

static struct lb_estimate estimate(double value, double *draws)
{
    lb_stats_sort(draws, DRAWS);
    return (struct lb_estimate){value, {draws[DRAWS / 40], draws[DRAWS - 1 - DRAWS / 40], 0.95}};
}

/* When change i happened: its place among series that are drawn around the same two levels. */
static struct lb_estimate time_of(struct walk *walk, size_t i)
{
    size_t from = walk->changes[i - 1], at = walk->changes[i], to = walk->changes[i + 1], place;
    double draws[DRAWS], value = walk->x[at];
    double left = mean_of(walk->y, from, at), right = mean_of(walk->y, at, to);
    leave_rest(walk, from, at, to);
    size_t length = block_length(walk->rest, to - from);
    for (int d = 0; d < DRAWS; d++) {
        draw_blocks(walk, walk->rest, to - from, length, to - from);
        for (size_t k = from; k < to; k++)
            walk->drawn[k - from] += k < at ? left : right;
        largest(walk, walk->drawn, to - from, &place);
        draws[d] = walk->x[from + place];
    }
    struct lb_estimate time = estimate(value, draws);
    time.interval.low = fmin(time.interval.low, value);
    time.interval.high = fmax(time.interval.high, value);
    return time;
}

static double piece_mean(const struct walk *walk, size_t i)
{
    return mean_of(walk->y, walk->changes[i], walk->changes[i + 1]);
}

/* The first piece at half of the level before, and where the fall to it begins; 0: there is none.
 */
static size_t find_collapse(const struct walk *walk, struct lb_course *course, size_t *ret_low)
{
    double sum = 0, n = 0; /* of the pieces at which all was well */
    for (size_t i = 0; i <= walk->n_changes; i++) {
        double level = piece_mean(walk, i),
               size = (double)(walk->changes[i + 1] - walk->changes[i]);
        double before = n > 0 ? sum / n : level;
        if (n > 0 && level <= COLLAPSED * before) {
            size_t first = i;
            while (first > 1 && piece_mean(walk, first - 1) < FALLING * before &&
                   piece_mean(walk, first - 1) < piece_mean(walk, first - 2))
                first--;
            *course = (struct lb_course){.verdict = LB_COURSE_COLLAPSED,
                                         .before = before,
                                         .during = level,
                                         .at = walk->changes[first]};
            *ret_low = i;
            return first;
        }
        if (n == 0 || level >= WELL * before)
            sum += level * size, n += size;
    }
    return 0;
}

/* A fall may have a first step that is too short for a cut of the whole: the level before is
 * searched for it once more, by the noise before the step alone. */
static bool find_first_step(struct walk *walk, size_t first, const struct lb_course *course)
{
    walk->least = SHORTEST;
    walk->is_weighted = true;
    size_t from = walk->changes[first - 1], to = walk->changes[first], at;
    if (to - from < 2 * walk->least)
        return false;
    largest(walk, walk->y + from, to - from, &at);
    measure_noise(walk, from, from + at, at);
    at = find_change(walk, from, to);
    if (at == 0 || mean_of(walk->y, at, to) >= WELL * course->before)
        return false;
    for (size_t i = walk->n_changes + 1; i >= first; i--)
        walk->changes[i + 1] = walk->changes[i];
    walk->changes[first] = at;
    walk->n_changes++;
    return true;
}

/* The slope of a straight line, and with rest: what it leaves over. */
static double slope_of(const double *x, const double *y, size_t n, double *rest)
{
    double mx = mean_of(x, 0, n), my = mean_of(y, 0, n), xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    double slope = xx > 0 ? xy / xx : 0;
    for (size_t i = 0; i < n && rest != NULL; i++)
        rest[i] = y[i] - my - slope * (x[i] - mx);
    return slope;
}

static void find_drift(struct walk *walk, size_t n, struct lb_course *course)
{
    double mean = mean_of(walk->y, 0, n), draws[DRAWS];
    double slope = slope_of(walk->x, walk->y, n, walk->rest);
    double hours = (walk->x[n - 1] - walk->x[0]) / 3600;
    size_t length = block_length(walk->rest, n);
    for (int d = 0; d < DRAWS; d++) {
        draw_blocks(walk, walk->rest, n, length, n);
        draws[d] = 3600 / mean * (slope + slope_of(walk->x, walk->drawn, n, NULL));
    }
    course->per_hour = estimate(3600 / mean * slope, draws);
    double low = course->per_hour.interval.low * hours,
           high = course->per_hour.interval.high * hours;
    course->verdict =
        low >= -LB_COURSE_TOLERANCE && high <= LB_COURSE_TOLERANCE ? LB_COURSE_STEADY
        : (low > 0 || high < 0) && fabs(course->per_hour.value * hours) > LB_COURSE_TOLERANCE
            ? LB_COURSE_DRIFTING
            : LB_COURSE_UNCLEAR;
}

int lb_course_of(const double *x, const double *y, size_t n, uint64_t seed, struct lb_course *ret,
                 struct lb_error *err)
{
    struct walk walk = {.x = x, .y = y};
    *ret = (struct lb_course){.verdict = LB_COURSE_UNCLEAR};
    if (n < LB_COURSE_FEWEST || mean_of(y, 0, n) <= 0 || x[n - 1] <= x[0])
        return lb_fail(err, LB_E_USAGE, "too few points for a verdict on the course");
    walk.least = n / 50 < SHORTEST ? SHORTEST : n / 50 < LONGEST ? n / 50 : LONGEST;
    walk.rest = lb_malloc(3 * n * sizeof *walk.rest);
    walk.drawn = walk.rest + n;
    walk.noise = walk.drawn + n;
    measure_noise(&walk, 0, n, WINDOW * walk.least);
    lb_random_init(&walk.random, seed, 0);
    cut(&walk, 0, n);
    walk.changes[walk.n_changes + 1] = n;
    size_t low, first = find_collapse(&walk, ret, &low);
    if (first > 0) {
        ret->collapsed = time_of(&walk, first);
        for (size_t i = low + 1; i <= walk.n_changes && !ret->has_recovered; i++) {
            ret->has_recovered = piece_mean(&walk, i) >= WELL * ret->before;
            if (ret->has_recovered)
                ret->recovered = time_of(&walk, i);
        }
        if (find_first_step(&walk, first, ret)) {
            ret->at = walk.changes[first];
            ret->collapsed = time_of(&walk, first);
        }
    } else {
        find_drift(&walk, n, ret);
    }
    free(walk.rest);
    return 0;
}
