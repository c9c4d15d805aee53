/* The open loop's schedule of arrivals: see schedule.h.
 *
 * Everything happens in operational time: the integral of the rate, in which one unit is one
 * planned arrival and every schedule has rate 1. Evenly spaced arrivals stand at 0, 1, 2, ... and a
 * Poisson process has exponential gaps of mean 1; the inverse of the integral, which has a closed
 * form in each phase, turns a position into a time. So phases, ramps and repetition need no random
 * process of their own (Cinlar, Introduction to Stochastic Processes, 4.7: time change of a Poisson
 * process).
 *
 * The only state is the position, 64 bits with 24 behind the point (a rounding of 6e-8 of a gap; a
 * million million arrivals before it wraps). Evenly spaced: add one. Poisson: the gap after a
 * position is drawn from a hash of the seed and that position, so that a compare-and-swap of the
 * position is all it takes to claim an arrival, and the arrivals are the same whoever claims them.
 * A list of random numbers would need memory in proportion to the run, a shared generator a lock.
 *
 * A burst is a stretch of operational time that takes no time. In a Poisson schedule a gap that
 * reaches into one ends at its start; the rest of the gap may be dropped, for it has no memory.
 */
#include "schedule.h"

#include "order.h"
#include "units.h"
#include "values_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE           (UINT64_C(1) << 24)
#define MOST_ARRIVALS 1e11
#define MOST_PER_S    1e9

/* ---- positions and times ---- */

/* Time within the cycle of a position within it. */
static uint64_t time_within(const struct lb_schedule *schedule, uint64_t position)
{
    const struct lb_rate_phase *phase = schedule->phases;
    while (position >= phase->last) /* the last phase's end is the cycle's */
        phase++;
    if (phase->burst)
        return phase->start_ns;
    double arrivals = (double)(position - phase->first) / (double)ONE, from = phase->from_per_s;
    double seconds;
    if (phase->from_per_s < phase->to_per_s || phase->from_per_s > phase->to_per_s) {
        /* from t + growth t^2 / 2 = arrivals, in the form that loses no digits */
        double growth = (phase->to_per_s - from) * 1e9 / (double)(phase->end_ns - phase->start_ns);
        double root = sqrt(fmax(0, from * from + 2 * growth * arrivals));
        seconds = arrivals > 0 ? 2 * arrivals / (from + root) : 0;
    } else {
        seconds = arrivals / from;
    }
    uint64_t at = phase->start_ns + (uint64_t)llround(seconds * 1e9);
    return at < phase->end_ns ? at : phase->end_ns;
}

static uint64_t time_of(const struct lb_schedule *schedule, uint64_t position)
{
    if (schedule->trace != NULL)
        return position / ONE < schedule->n_trace ? schedule->trace[position / ONE]
                                                  : LB_SCHEDULE_END;
    if (position < schedule->cycle)
        return time_within(schedule, position);
    if (!schedule->repeat)
        return LB_SCHEDULE_END;
    return position / schedule->cycle * schedule->cycle_ns +
           time_within(schedule, position % schedule->cycle);
}

/* Where the burst starts that a gap from position to reach runs into, or reach. A burst that
 * position is in does not count. */
static uint64_t stop_at_burst(const struct lb_schedule *schedule, uint64_t position, uint64_t reach)
{
    uint64_t base = schedule->repeat ? position - position % schedule->cycle : 0;
    for (int cycle = 0; cycle < (schedule->repeat ? 2 : 1); cycle++) {
        for (uint32_t i = 0; i < schedule->n_phases; i++) {
            const struct lb_rate_phase *phase = &schedule->phases[i];
            if (phase->burst && base + phase->first > position && base + phase->first <= reach)
                return base + phase->first;
        }
        base += schedule->cycle;
    }
    return reach;
}

static bool in_burst(const struct lb_schedule *schedule, uint64_t position)
{
    uint64_t within = schedule->repeat ? position % schedule->cycle : position;
    for (uint32_t i = 0; i < schedule->n_phases; i++)
        if (schedule->phases[i].burst && within >= schedule->phases[i].first &&
            within < schedule->phases[i].last)
            return true;
    return false;
}

/* Two rounds of SplitMix64's finaliser: positions are not random, their hashes must look so. */
static uint64_t hash_of(uint64_t seed, uint64_t position)
{
    uint64_t z = position * 0x9e3779b97f4a7c15u + seed;
    for (int round = 0; round < 2; round++) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return z;
}

/* The gap after a position: exponential of mean ONE, at least 1. */
static uint64_t gap_after(uint64_t seed, uint64_t position)
{
    double unit = ((double)(hash_of(seed, position) >> 11) + 0.5) * 0x1p-53; /* in (0, 1) */
    uint64_t gap = (uint64_t)llround(-log(unit) * (double)ONE);
    return gap > 0 ? gap : 1;
}

/* A Poisson process that is cut by chance is Poisson in each part. */
static bool is_own(const struct lb_schedule *schedule, uint64_t position)
{
    const struct lb_arrivals *own = &schedule->own;
    if (own->of == 0)
        return true;
    uint64_t n = schedule->poisson ? hash_of(~schedule->seed, position) : position / ONE;
    return n % own->of - own->first < own->n;
}

/* UINT64_MAX: there are no more. */
static uint64_t next_position(struct lb_schedule *schedule)
{
    /* Relaxed throughout: the position guards nothing but itself. */
    if (!schedule->poisson)
        return atomic_fetch_add_explicit(&schedule->position, ONE, memory_order_relaxed);
    uint64_t position = atomic_load_explicit(&schedule->position, memory_order_relaxed);
    uint64_t arrival, next;
    do {
        if (in_burst(schedule, position)) {
            arrival = position;
            next = position + ONE;
        } else {
            uint64_t reach = position + gap_after(schedule->seed, position);
            arrival = stop_at_burst(schedule, position, reach);
            next = arrival < reach || in_burst(schedule, arrival) ? arrival + ONE : arrival;
        }
        if (!schedule->repeat && arrival >= schedule->cycle)
            return UINT64_MAX;
    } while (!atomic_compare_exchange_weak_explicit(&schedule->position, &position, next,
                                                    memory_order_relaxed, memory_order_relaxed));
    return arrival;
}

uint64_t lb_schedule_next(struct lb_schedule *schedule, double *ret_place)
{
    for (;;) {
        uint64_t position = next_position(schedule);
        uint64_t at_ns = position != UINT64_MAX ? time_of(schedule, position) : LB_SCHEDULE_END;
        if (at_ns != LB_SCHEDULE_END && !is_own(schedule, position))
            continue;
        if (ret_place != NULL && at_ns != LB_SCHEDULE_END)
            *ret_place = (double)position / (double)ONE;
        return at_ns;
    }
}

double lb_schedule_expected(const struct lb_schedule *schedule, uint64_t at_ns)
{
    if (schedule->trace != NULL)
        return (double)lb_order_find(schedule->trace, schedule->n_trace, sizeof *schedule->trace,
                                     at_ns);
    uint64_t cycles = 0; /* whole ones */
    double sum = 0;
    if (schedule->repeat) {
        cycles = at_ns / schedule->cycle_ns;
        at_ns %= schedule->cycle_ns;
    }
    for (uint32_t i = 0; i < schedule->n_phases; i++) {
        const struct lb_rate_phase *phase = &schedule->phases[i];
        if (at_ns <= phase->start_ns)
            break;
        if (at_ns >= phase->end_ns) {
            sum += (double)(phase->last - phase->first) / (double)ONE;
            continue;
        }
        double seconds = (double)(at_ns - phase->start_ns) / 1e9;
        double share =
            (double)(at_ns - phase->start_ns) / (double)(phase->end_ns - phase->start_ns);
        double rate = phase->from_per_s + (phase->to_per_s - phase->from_per_s) * share;
        sum += seconds * (phase->from_per_s + rate) / 2;
    }
    return cycles > 0 ? (double)cycles * (double)schedule->cycle / (double)ONE + sum : sum;
}

/* ---- the text ---- */

static const char *const accepted =
    "accepted: 800/s, poisson:800/s, phases:100/s@2s,ramp:100-1000/s@5s,burst:500,pause@3s, "
    "repeat:PHASES, trace:FILE[,speed=10]";

/* If *text starts with prefix, skips it. */
static bool skip(char **text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    return true;
}

/* A number with k or M, as much of *text as it takes. */
static int take_number(char **text, double *ret)
{
    size_t digits = strspn(*text, "0123456789.");
    char *end;
    double value = strtod(*text, &end);
    if (digits == 0 || end != *text + digits)
        return -1;
    if (*end == 'k' || *end == 'M')
        value *= *end++ == 'k' ? 1e3 : 1e6;
    *text = end;
    *ret = value;
    return 0;
}

/* "/s", "/ms", ...: the whole text. */
static int parse_per(const char *text, double *ret_per_s)
{
    static const struct {
        const char *name;
        double per_s;
    } units[] = {{"/s", 1}, {"/ms", 1000}, {"/min", 1.0 / 60}, {"/h", 1.0 / 3600}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        *ret_per_s = units[i].per_s;
        return 0;
    }
    return -1;
}

/* "100/s", or "100-1000/s" for a ramp: the whole text. Returns what is wrong, or NULL. */
static const char *parse_rate(char *text, bool ramp, struct lb_rate_phase *phase)
{
    const char *wrong =
        ramp ? "a ramp is two rates: ramp:100-1000/s@5s" : "a rate is a number and a unit";
    double from, to, unit;
    if (take_number(&text, &from) != 0)
        return wrong;
    to = from;
    if (ramp && (!skip(&text, "-") || take_number(&text, &to) != 0))
        return wrong;
    if (parse_per(text, &unit) != 0)
        return wrong;
    phase->from_per_s = from * unit;
    phase->to_per_s = to * unit;
    double high = fmax(phase->from_per_s, phase->to_per_s);
    return high > MOST_PER_S ? "a rate is at most 1000000000/s" : high > 0 ? NULL : wrong;
}

/* One phase of the list, without its place. *ret_ns is UINT64_MAX when it has no end. Returns what
 * is wrong, or NULL. */
static const char *parse_phase(char *text, struct lb_rate_phase *phase, uint64_t *ret_ns,
                               double *ret_arrivals)
{
    *phase = (struct lb_rate_phase){0};
    *ret_ns = 0;
    if (skip(&text, "burst:")) {
        uint64_t count;
        if (lb_parse_count(text, &count) != 0 || count == 0 || (double)count > MOST_ARRIVALS)
            return "a burst is a count of arrivals";
        phase->burst = true;
        *ret_arrivals = (double)count;
        return NULL;
    }
    char *at = strchr(text, '@');
    *ret_ns = UINT64_MAX;
    if (at != NULL) {
        *at = '\0';
        int rc = lb_parse_ns(at + 1, ret_ns);
        if (rc == LB_UNITS_LARGE)
            return "after @ stands a time of at most " LB_NS_MOST;
        if (rc != 0 || *ret_ns == 0)
            return "after @ stands a time such as 2s";
    }
    bool ramp = skip(&text, "ramp:"), pause = !ramp && strcmp(text, "pause") == 0;
    if (at == NULL && (ramp || pause))
        return ramp ? "a ramp needs a time: ramp:100-1000/s@5s" : "a pause needs a time: pause@3s";
    const char *wrong = pause ? NULL : parse_rate(text, ramp, phase);
    if (wrong != NULL)
        return wrong;
    *ret_arrivals = *ret_ns == UINT64_MAX
                        ? 0
                        : (phase->from_per_s + phase->to_per_s) / 2 * (double)*ret_ns / 1e9;
    return *ret_arrivals <= MOST_ARRIVALS ? NULL : "too many arrivals";
}

/* Puts a parsed phase at the end of the schedule. */
static const char *append(struct lb_schedule *schedule, struct lb_rate_phase *phase, uint64_t ns,
                          double arrivals)
{
    if (schedule->n_phases == LB_SCHEDULE_PHASES)
        return "too many phases";
    if (schedule->cycle_ns == UINT64_MAX)
        return "only the last phase may be without a time";
    phase->start_ns = schedule->cycle_ns;
    phase->first = schedule->cycle;
    if (ns == UINT64_MAX) {
        phase->end_ns = phase->last = UINT64_MAX;
    } else {
        phase->end_ns = phase->start_ns + ns;
        phase->last = phase->first + (uint64_t)llround(arrivals * (double)ONE);
        if (phase->end_ns >= INT64_MAX || (double)phase->last > MOST_ARRIVALS * (double)ONE)
            return "too long";
    }
    schedule->cycle_ns = phase->end_ns;
    schedule->cycle = phase->last;
    schedule->phases[schedule->n_phases++] = *phase;
    return NULL;
}

static const char *parse_list(struct lb_schedule *schedule, char *text)
{
    for (char *rest = text, *item; (item = strsep(&rest, ",")) != NULL;) {
        struct lb_rate_phase phase;
        uint64_t ns;
        double arrivals;
        const char *wrong = parse_phase(item, &phase, &ns, &arrivals);
        if (wrong == NULL)
            wrong = append(schedule, &phase, ns, arrivals);
        if (wrong != NULL)
            return wrong;
    }
    if (schedule->cycle == 0)
        return "there are no arrivals in it";
    if (schedule->repeat && (schedule->cycle_ns == UINT64_MAX || schedule->cycle_ns == 0))
        return "a repeated part needs a time";
    return NULL;
}

static const char *parse(struct lb_schedule *schedule, char *text)
{
    schedule->poisson = skip(&text, "poisson:");
    schedule->repeat = skip(&text, "repeat:");
    if (schedule->repeat || skip(&text, "phases:"))
        return parse_list(schedule, text);
    struct lb_rate_phase phase = {0};
    const char *wrong = parse_rate(text, false, &phase);
    return wrong != NULL ? wrong : append(schedule, &phase, UINT64_MAX, 0);
}

int lb_schedule_init(struct lb_schedule *schedule, const char *text, uint64_t seed,
                     struct lb_error *err)
{
    char copy[600];
    const char *wrong = "too long";
    memset(schedule, 0, sizeof *schedule);
    schedule->seed = seed;
    atomic_init(&schedule->position, 0);
    if (strlen(text) < sizeof copy) {
        memcpy(copy, text, strlen(text) + 1);
        wrong = parse(schedule, copy);
    }
    if (wrong != NULL)
        return lb_fail(err, LB_E_USAGE, "rate: '%s': %s; %s", text, wrong, accepted);
    return 0;
}

/* ---- a trace ---- */

bool lb_schedule_is_trace(const char *text)
{
    return strncmp(text, "trace:", 6) == 0;
}

int lb_schedule_open(struct lb_schedule *schedule, const char *text, uint64_t seed,
                     struct lb_error *err)
{
    char path[600];
    double speed = 1;
    if (!lb_schedule_is_trace(text))
        return lb_schedule_init(schedule, text, seed, err);
    snprintf(path, sizeof path, "%s", text + 6);
    char *comma = strrchr(path, ',');
    if (comma != NULL && strncmp(comma, ",speed=", 7) == 0) {
        *comma = '\0';
        if (lb_parse_double(comma + 7, &speed) != 0 || speed < 1e-6 || speed > 1e6)
            return lb_fail(err, LB_E_USAGE,
                           "rate: '%s': a speed is a factor from 0.000001 to 1000000, such as "
                           "speed=10 for ten times as fast",
                           text);
    }
    memset(schedule, 0, sizeof *schedule);
    atomic_init(&schedule->position, 0);
    schedule->seed = seed;
    int rc =
        lb_values_read("rate", path, LB_VALUES_TIMES, &schedule->trace, &schedule->n_trace, err);
    for (size_t i = 0; rc == 0 && i < schedule->n_trace; i++)
        schedule->trace[i] = (uint64_t)fmin((double)schedule->trace[i] / speed, 0x1p62);
    return rc;
}

void lb_schedule_close(struct lb_schedule *schedule)
{
    free(schedule->trace);
    schedule->trace = NULL;
}

void lb_schedule_again(const struct lb_schedule *schedule, struct lb_schedule *ret)
{
    memcpy(ret, schedule, sizeof *ret);
    ret->own = (struct lb_arrivals){0};
    atomic_init(&ret->position, 0);
}
