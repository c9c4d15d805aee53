/* Fitting the Universal Scalability Law: see usl.h.
 *
 * Least squares on X itself, unweighted, as is usual for this law (R's nls on the same data gives
 * the same numbers), by Levenberg and Marquardt (MINPACK's lmder with the analytic Jacobian) from
 * the start that the law's linear form N/X = (1 + sigma (N-1) + kappa N (N-1)) / lambda gives. Runs
 * with one N enter as their mean with their number as weight: the same minimum, fewer residuals.
 *
 * Bounds: sigma and kappa lie in [0,1]. If the free minimum does not, the best of the minima on the
 * faces (one or both held at a bound) is taken. That is exact, where a transformation of the
 * parameters would have a flat gradient at the bound and stop short of it.
 *
 * Intervals: percentile bootstrap over repetitions. The deviations of the r runs with one N from
 * their mean are drawn again, widened by sqrt(r/(r-1)), since deviations from a sample's own mean
 * are too small (Davison and Hinkley, Bootstrap Methods, 3.2.1). A few runs estimate their noise
 * badly, and a prediction at some N rests on about two levels near it: the percentiles are widened
 * by Student's t with 2(r-1) degrees of freedom (see interval_of). With two runs there is no spread
 * to draw from; deviations relative to the mean are then drawn from all N (too wide where noise
 * does not grow with throughput). With one run at some N, the fit's residuals are drawn. Simulated
 * coverage of 95 % intervals: 91 to 96 % from 3 repetitions on. Limit: none of this covers data
 * that do not follow the law; look at worst_residual.
 */
#include "usl.h"

#include "distribution.h"
#include "memory.h"
#include "random.h"

#include <assert.h>
#include <cminpack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_PARAMETERS = 3, MAX_EVALUATIONS = 1000, POOL_BELOW = 3 };

/* All runs with one N. */
struct level {
    double n, mean;
    size_t first, runs; /* in the sorted points */
};

/* One least-squares problem, and memory for lmder. x is scaled to be about 1. */
struct problem {
    const struct level *levels;
    double *x; /* of each level */
    int m;
    bool is_free[N_PARAMETERS]; /* lambda, sigma, kappa */
    double value[N_PARAMETERS]; /* of those that are held */
    double *residuals, *jacobian, *work;
    int *pivots;
};

double lb_usl_at(const struct lb_usl *usl, double n)
{
    return usl->lambda * n / (1 + usl->sigma * (n - 1) + usl->kappa * n * (n - 1));
}

double lb_usl_peak(const struct lb_usl *usl)
{
    if (usl->kappa <= 0)
        return usl->sigma < 1 ? (double)INFINITY : 1;
    return fmax(1, sqrt((1 - usl->sigma) / usl->kappa));
}

/* X^2/N is highest where its derivative is 0: 3 kappa N^2 + (sigma - kappa) N - (1 - sigma) = 0. */
double lb_usl_knee(const struct lb_usl *usl)
{
    double a = 3 * usl->kappa, b = usl->sigma - usl->kappa, c = 1 - usl->sigma;
    double below = b + sqrt(b * b + 4 * a * c);
    if (c <= 0)
        return 1;
    return below > 0 ? fmax(1, 2 * c / below) : (double)INFINITY;
}

/* The highest throughput: at the peak, or the limit lambda/sigma when there is none. */
static double highest(const struct lb_usl *usl)
{
    double n = lb_usl_peak(usl);
    if (isfinite(n))
        return lb_usl_at(usl, n);
    return usl->sigma > 0 ? usl->lambda / usl->sigma : (double)INFINITY;
}

static void unpack(const struct problem *p, const double *theta, double *all)
{
    for (int i = 0, k = 0; i < N_PARAMETERS; i++)
        all[i] = p->is_free[i] ? theta[k++] : p->value[i];
}

/* Residuals (iflag 1) or their Jacobian (iflag 2), each level weighted by the root of its runs. */
static int evaluate(void *arg, int m, int n, const double *theta, double *fvec, double *fjac,
                    int ldfjac, int iflag)
{
    const struct problem *p = arg;
    double all[N_PARAMETERS];
    (void)n;
    unpack(p, theta, all);
    for (int i = 0; i < m; i++) {
        double workers = p->levels[i].n, root = sqrt((double)p->levels[i].runs);
        double pairs = workers * (workers - 1);
        double below = 1 + all[1] * (workers - 1) + all[2] * pairs;
        if (iflag == 1) {
            /* A step past the pole is no minimum: make it a bad one. */
            fvec[i] = below > 0 ? root * (all[0] * workers / below - p->x[i]) : 1e6 * root;
            continue;
        }
        double gradient[N_PARAMETERS] = {workers / below,
                                         -all[0] * workers * (workers - 1) / (below * below),
                                         -all[0] * workers * pairs / (below * below)};
        for (int j = 0, k = 0; j < N_PARAMETERS; j++)
            if (p->is_free[j])
                fjac[i + ldfjac * k++] = root * gradient[j];
    }
    return 0;
}

/* Minimum with the parameters that are free, from start (all three, replaced by the result).
 * Returns the sum of squares, negative if it did not converge. */
static double minimise(struct problem *p, double *start)
{
    double theta[N_PARAMETERS], scale[N_PARAMETERS], qtf[N_PARAMETERS];
    int n = 0, evaluations, jacobians;
    for (int i = 0; i < N_PARAMETERS; i++)
        if (p->is_free[i])
            theta[n++] = start[i];
    double *w = p->work;
    int info = lmder(evaluate, p, p->m, n, theta, p->residuals, p->jacobian, p->m, 1e-14, 1e-12, 0,
                     MAX_EVALUATIONS, scale, 1, 100, 0, &evaluations, &jacobians, p->pivots, qtf, w,
                     w + N_PARAMETERS, w + 2 * N_PARAMETERS, w + 3 * N_PARAMETERS);
    /* 1-4: converged; 6-8: double precision cannot find a better minimum. */
    if (info <= 0 || info == 5)
        return -1;
    unpack(p, theta, start);
    double norm = enorm(p->m, p->residuals);
    return norm * norm;
}

/* Solves the 3x3 normal equations of the linear form; *ret is clamped into the bounds. */
static void starting_point(const struct problem *p, double *ret)
{
    double a[3][4] = {{0}};
    for (int i = 0; i < p->m; i++) {
        double n = p->levels[i].n, weight = (double)p->levels[i].runs * p->x[i] * p->x[i] / n / n;
        double row[4] = {1, n - 1, n * (n - 1), n / p->x[i]};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                a[r][c] += weight * row[r] * row[c];
    }
    for (int r = 0; r < 3; r++) /* positive definite with 3 different n: no pivoting needed */
        for (int below = r + 1; below < 3; below++)
            for (int c = 3; c >= r; c--)
                a[below][c] -= a[r][c] * a[below][r] / a[r][r];
    double s[3];
    for (int r = 2; r >= 0; r--) {
        s[r] = a[r][3];
        for (int c = r + 1; c < 3; c++)
            s[r] -= a[r][c] * s[c];
        s[r] /= a[r][r];
    }
    bool sane = isfinite(s[0]) && s[0] > 0;
    ret[0] = sane ? 1 / s[0] : p->x[0] / p->levels[0].n;
    ret[1] = sane ? fmin(1, fmax(0, s[1] / s[0])) : 0.1;
    ret[2] = sane ? fmin(1, fmax(0, s[2] / s[0])) : 0.001;
}

static bool in_bounds(const double *v)
{
    return v[0] > 0 && v[1] >= 0 && v[1] <= 1 && v[2] >= 0 && v[2] <= 1;
}

/* The least sum of squares with sigma and kappa in [0,1]. Returns it, or a negative number. */
static double fit_bounded(struct problem *p, double *ret)
{
    double start[N_PARAMETERS];
    starting_point(p, start);
    memcpy(ret, start, sizeof start);
    for (int i = 0; i < N_PARAMETERS; i++)
        p->is_free[i] = true;
    double best = minimise(p, ret);
    if (best >= 0 && in_bounds(ret))
        return best;
    best = -1;
    for (int face = 1; face < 9; face++) { /* sigma and kappa each: 0 free, 1 at 0, 2 at 1 */
        int held[2] = {face % 3, face / 3};
        double v[N_PARAMETERS];
        memcpy(v, start, sizeof start);
        for (int i = 0; i < 2; i++) {
            p->is_free[i + 1] = held[i] == 0;
            p->value[i + 1] = held[i] == 2 ? 1 : 0;
        }
        double squares = minimise(p, v);
        if (squares >= 0 && in_bounds(v) && (best < 0 || squares < best)) {
            best = squares;
            memcpy(ret, v, sizeof v);
        }
    }
    return best;
}

static int by_n_then_x(const void *a, const void *b)
{
    const struct lb_usl_point *x = a, *y = b;
    int order = (x->n > y->n) - (x->n < y->n);
    return order != 0 ? order : (x->x > y->x) - (x->x < y->x);
}

static size_t group(const struct lb_usl_point *sorted, size_t n, struct level *levels)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || sorted[i].n > sorted[i - 1].n)
            levels[count++] = (struct level){.n = sorted[i].n, .first = i};
        struct level *level = &levels[count - 1];
        level->runs++;
        level->mean += (sorted[i].x - level->mean) / (double)level->runs;
    }
    return count;
}

/* What the bootstrap draws from; each x* is its level's centre plus a drawn deviation. */
struct noise {
    enum { OWN, POOLED, RESIDUALS } kind;
    double *deviations; /* one per run: absolute, or relative to the mean when pooled */
    double *centres;    /* one per level */
};

static void measure_noise(const struct lb_usl_point *sorted, size_t n, const struct level *levels,
                          size_t n_levels, const struct lb_usl *best, struct noise *noise)
{
    size_t fewest = n;
    for (size_t i = 0; i < n_levels; i++)
        if (levels[i].runs < fewest)
            fewest = levels[i].runs;
    noise->kind = fewest < 2 ? RESIDUALS : fewest < POOL_BELOW ? POOLED : OWN;
    for (size_t i = 0; i < n_levels; i++) {
        const struct level *level = &levels[i];
        double runs = (double)level->runs, total = (double)n;
        double widen = noise->kind == RESIDUALS ? sqrt(total / fmax(1, total - N_PARAMETERS))
                                                : sqrt(runs / (runs - 1));
        double centre = noise->kind == RESIDUALS ? lb_usl_at(best, level->n) : level->mean;
        noise->centres[i] = centre;
        for (size_t k = level->first; k < level->first + level->runs; k++)
            noise->deviations[k] =
                widen * (sorted[k].x - centre) / (noise->kind == POOLED ? centre : 1);
    }
}

/* A new mean for each level, into p->x, in units of scale. */
static void draw(const struct noise *noise, const struct level *levels, size_t n_levels, size_t n,
                 double scale, struct lb_random *random, double *x)
{
    for (size_t i = 0; i < n_levels; i++) {
        const struct level *level = &levels[i];
        double sum = 0;
        for (size_t k = 0; k < level->runs; k++)
            sum += noise->kind == OWN
                       ? noise->deviations[level->first + lb_random_below(random, level->runs)]
                       : noise->deviations[lb_random_below(random, n)];
        double deviation = sum / (double)level->runs;
        if (noise->kind == POOLED)
            deviation *= noise->centres[i];
        /* A deviation larger than the throughput itself would make a negative one. */
        x[i] = fmax(noise->centres[i] + deviation, noise->centres[i] * 1e-3) / scale;
    }
}

static struct lb_usl from_array(const double *v, double scale)
{
    return (struct lb_usl){.lambda = v[0] * scale, .sigma = v[1], .kappa = v[2]};
}

/* The interval of one quantity over the bootstrap's fits: percentiles somewhat further out than
 * level asks for, as a normal distribution is to Student's t with the freedom that the noise was
 * measured with (Hesterberg, "What teachers should know about the bootstrap", 2015, 4.3). */
static struct lb_confidence interval_of(const struct lb_usl_fit *fit, double *values)
{
    size_t n = fit->n_samples;
    double tail = lb_normal_cdf(-lb_t_quantile((1 + fit->level) / 2, fit->freedom));
    lb_stats_sort(values, n);
    return (struct lb_confidence){lb_stats_quantile(values, n, tail),
                                  lb_stats_quantile(values, n, 1 - tail), fit->level};
}

static int bootstrap(struct problem *p, const struct noise *noise, size_t n, double scale,
                     size_t n_samples, uint64_t seed, struct lb_usl_fit *fit, struct lb_error *err)
{
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    for (size_t i = 0; i < n_samples; i++) {
        double v[N_PARAMETERS];
        draw(noise, p->levels, (size_t)p->m, n, scale, &random, p->x);
        if (fit_bounded(p, v) >= 0)
            fit->samples[fit->n_samples++] = from_array(v, scale);
    }
    /* A few lost ones do not move a percentile; many would hide the worst cases. */
    if (fit->n_samples < 2 || fit->n_samples < n_samples - n_samples / 50)
        return lb_fail(err, LB_E_INTERNAL, "the scalability fit converged for %zu of %zu resamples",
                       fit->n_samples, n_samples);
    double *values = lb_malloc(fit->n_samples * sizeof *values);
    struct lb_confidence *into[] = {&fit->lambda, &fit->sigma, &fit->kappa};
    for (int k = 0; k < N_PARAMETERS; k++) {
        for (size_t i = 0; i < fit->n_samples; i++) {
            const struct lb_usl *s = &fit->samples[i];
            values[i] = k == 0 ? s->lambda : k == 1 ? s->sigma : s->kappa;
        }
        *into[k] = interval_of(fit, values);
    }
    free(values);
    return 0;
}

static void describe(const struct level *levels, const struct lb_usl_point *points, size_t n,
                     struct lb_usl_fit *fit)
{
    double mean = 0, total = 0, left = 0;
    for (size_t i = 0; i < n; i++)
        mean += points[i].x / (double)n;
    for (size_t i = 0; i < n; i++) {
        double r = points[i].x - lb_usl_at(&fit->best, points[i].n);
        total += (points[i].x - mean) * (points[i].x - mean);
        left += r * r;
    }
    fit->r_squared = total > 0 ? 1 - left / total : 1;
    for (size_t i = 0; i < fit->n_levels; i++)
        fit->worst_residual = fmax(fit->worst_residual,
                                   fabs(levels[i].mean / lb_usl_at(&fit->best, levels[i].n) - 1));
}

static int check_points(const struct lb_usl_point *points, size_t n, struct lb_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(points[i].n >= 1) || !(points[i].x > 0) || !isfinite(points[i].n + points[i].x))
            return lb_fail(err, LB_E_USAGE,
                           "cannot fit a throughput of %g/s at %g workers: both must be positive",
                           points[i].x, points[i].n);
    return 0;
}

/* The fit proper, over sorted points; memory holds levels and everything lmder needs. */
static int fit_sorted(const struct lb_usl_point *sorted, size_t n, struct level *levels,
                      double *memory, int *pivots, size_t n_samples, uint64_t seed,
                      struct lb_usl_fit *fit, struct lb_error *err)
{
    fit->n_levels = group(sorted, n, levels);
    if (fit->n_levels < LB_USL_MIN_LEVELS)
        return lb_fail(err, LB_E_USAGE,
                       "a scalability fit needs at least %d different numbers of workers, not %zu",
                       LB_USL_MIN_LEVELS, fit->n_levels);
    fit->largest_n = levels[fit->n_levels - 1].n;
    struct problem p = {.levels = levels,
                        .m = (int)fit->n_levels,
                        .x = memory,
                        .residuals = memory + n,
                        .jacobian = memory + 2 * n,
                        .work = memory + 5 * n,
                        .pivots = pivots};
    double scale = 0, v[N_PARAMETERS];
    for (size_t i = 0; i < fit->n_levels; i++)
        scale = fmax(scale, levels[i].mean);
    for (size_t i = 0; i < fit->n_levels; i++)
        p.x[i] = levels[i].mean / scale;
    if (fit_bounded(&p, v) < 0)
        return lb_fail(err, LB_E_INTERNAL, "the scalability fit did not converge over %zu points",
                       n);
    fit->best = from_array(v, scale);
    describe(levels, sorted, n, fit);
    if (n_samples == 0)
        return 0;
    struct noise noise = {.deviations = memory + 6 * n + 3 * N_PARAMETERS,
                          .centres = memory + 7 * n + 3 * N_PARAMETERS};
    measure_noise(sorted, n, levels, fit->n_levels, &fit->best, &noise);
    double runs = (double)n, count = (double)fit->n_levels;
    fit->freedom = noise.kind == OWN      ? 2 * (runs - count) / count
                   : noise.kind == POOLED ? runs - count
                                          : runs - N_PARAMETERS;
    return bootstrap(&p, &noise, n, scale, n_samples, seed, fit, err);
}

int lb_usl_fit(const struct lb_usl_point *points, size_t n, double level, size_t n_samples,
               uint64_t seed, struct lb_usl_fit *ret, struct lb_error *err)
{
    int rc = check_points(points, n, err);
    if (rc != 0)
        return rc;
    struct lb_usl_fit fit = {.n_points = n, .level = level};
    struct lb_usl_point *sorted = lb_copy(points, n, sizeof *sorted);
    struct level *levels = lb_calloc(n + 1, sizeof *levels);
    /* x, residuals, jacobian (3), lmder's work (n + 3 * 3), deviations, centres */
    double *memory = lb_calloc(8 * n + 3 * N_PARAMETERS + 1, sizeof *memory);
    int pivots[N_PARAMETERS];
    fit.samples = lb_malloc((n_samples + 1) * sizeof *fit.samples);
    qsort(sorted, n, sizeof *sorted, by_n_then_x);
    rc = fit_sorted(sorted, n, levels, memory, pivots, n_samples, seed, &fit, err);
    free(sorted);
    free(levels);
    free(memory);
    if (rc == 0)
        *ret = fit;
    else
        free(fit.samples);
    return rc;
}

void lb_usl_release(struct lb_usl_fit *fit)
{
    if (fit == NULL)
        return;
    free(fit->samples);
    fit->samples = NULL;
    fit->n_samples = 0;
}

/* Applies a quantity to every fit of the bootstrap. An interval of nothing but the value itself, of
 * coverage 0, if there was no bootstrap. */
typedef double quantity(const struct lb_usl *usl, double argument);

static struct lb_estimate estimate(const struct lb_usl_fit *fit, quantity *of, double argument)
{
    double value = of(&fit->best, argument);
    if (fit->n_samples == 0)
        return (struct lb_estimate){value, {value, value, 0}};
    double *values = lb_malloc(fit->n_samples * sizeof *values);
    for (size_t i = 0; i < fit->n_samples; i++)
        values[i] = of(&fit->samples[i], argument);
    struct lb_confidence interval = interval_of(fit, values);
    free(values);
    return (struct lb_estimate){value, interval};
}

static double peak_n(const struct lb_usl *usl, double unused)
{
    (void)unused;
    return lb_usl_peak(usl);
}

static double peak_x(const struct lb_usl *usl, double unused)
{
    (void)unused;
    return highest(usl);
}

static double knee_n(const struct lb_usl *usl, double unused)
{
    (void)unused;
    return lb_usl_knee(usl);
}

static double knee_x(const struct lb_usl *usl, double unused)
{
    (void)unused;
    double n = lb_usl_knee(usl);
    return isfinite(n) ? lb_usl_at(usl, n) : (double)INFINITY;
}

/* The smaller root of lambda N = rate (1 + sigma (N-1) + kappa N (N-1)); INFINITY if there is none.
 * Rounded up to whole workers, at least 1. */
static double workers_for(const struct lb_usl *usl, double rate)
{
    double a = usl->kappa, b = usl->sigma - usl->kappa - usl->lambda / rate, c = 1 - usl->sigma;
    if (rate > highest(usl))
        return (double)INFINITY;
    if (rate <= usl->lambda)
        return 1;
    double inside = b * b - 4 * a * c;
    if (b >= 0)
        return (double)INFINITY;
    /* In this form it also holds for kappa = 0, and loses no digits. */
    double root = 2 * c / (-b + sqrt(fmax(0, inside)));
    /* The tolerance keeps an exactly met demand from asking for one worker more. */
    return fmax(1, ceil(root * (1 - 1e-9)));
}

int lb_usl_predict(const struct lb_usl_fit *fit, double n, struct lb_estimate *ret,
                   struct lb_error *err)
{
    if (!(n >= 1))
        return lb_fail(err, LB_E_USAGE, "cannot predict for %g workers", n);
    if (n > LB_USL_MAX_REACH * fit->largest_n)
        return lb_fail(err, LB_E_USAGE,
                       "%g workers are beyond twice the %g that were measured: measure more", n,
                       fit->largest_n);
    *ret = estimate(fit, lb_usl_at, n);
    return 0;
}

/* A place on the curve and its height. what: "peak". */
static int predict_place(const struct lb_usl_fit *fit, const char *what, quantity *place,
                         quantity *height, struct lb_estimate *ret_n, struct lb_estimate *ret_x,
                         struct lb_error *err)
{
    if (place(&fit->best, 0) > LB_USL_MAX_REACH * fit->largest_n)
        return lb_fail(err, LB_E_USAGE,
                       "the %s is beyond twice the %g workers that were measured: measure more",
                       what, fit->largest_n);
    *ret_n = estimate(fit, place, 0);
    *ret_x = estimate(fit, height, 0);
    return 0;
}

int lb_usl_predict_peak(const struct lb_usl_fit *fit, struct lb_estimate *ret_n,
                        struct lb_estimate *ret_x, struct lb_error *err)
{
    return predict_place(fit, "peak", peak_n, peak_x, ret_n, ret_x, err);
}

int lb_usl_predict_knee(const struct lb_usl_fit *fit, struct lb_estimate *ret_n,
                        struct lb_estimate *ret_x, struct lb_error *err)
{
    return predict_place(fit, "knee", knee_n, knee_x, ret_n, ret_x, err);
}

int lb_usl_workers_for(const struct lb_usl_fit *fit, double rate, struct lb_estimate *ret,
                       struct lb_error *err)
{
    if (!(rate > 0))
        return lb_fail(err, LB_E_USAGE, "a demand of %g/s needs no workers", rate);
    double n = workers_for(&fit->best, rate), reach = LB_USL_MAX_REACH * fit->largest_n;
    if (!isfinite(n) && lb_usl_peak(&fit->best) <= reach)
        return lb_fail(err, LB_E_USAGE,
                       "%.4g/s cannot be reached: the peak is %.4g/s with %.0f workers", rate,
                       highest(&fit->best), lb_usl_peak(&fit->best));
    if (n > reach)
        return lb_fail(err, LB_E_USAGE,
                       "%.4g/s would need more than twice the %g workers that were measured: "
                       "measure more",
                       rate, fit->largest_n);
    *ret = estimate(fit, workers_for, rate);
    return 0;
}
