/* The state of the campaign's cases, and its text form: see metrics.h.
 *
 * Names come from files of the user's: a label's value is escaped as the format wants it. The sum
 * of the waits is made from a histogram whose buckets are an eighth of a power of two wide, each at
 * its middle: within 7 % of the truth, which HELP says.
 */
#include "metrics.h"

#include "array.h"
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct series {
    char *strategy, *engine, *scenario; /* NULL: this case has reported nothing yet */
    struct lb_metrics_run now, before;  /* the present run; the sums of those before */
    uint64_t n_runs;                    /* that are over */
    unsigned judged;
    uint64_t violations[LB_GUARANTEE_ROOM];
};

struct lb_metrics {
    pthread_mutex_t mutex; /* all below */
    struct series *all;
    size_t n, present; /* present: the series with a run under way; n: none */
};

struct lb_metrics *lb_metrics_new(void)
{
    struct lb_metrics *metrics = lb_calloc(1, sizeof *metrics);
    pthread_mutex_init(&metrics->mutex, NULL);
    return metrics;
}

void lb_metrics_free(struct lb_metrics *metrics)
{
    if (metrics == NULL)
        return;
    for (size_t i = 0; i < metrics->n; i++) {
        free(metrics->all[i].strategy);
        free(metrics->all[i].engine);
        free(metrics->all[i].scenario);
    }
    free(metrics->all);
    pthread_mutex_destroy(&metrics->mutex);
    free(metrics);
}

/* With the mutex. */
static void make_series(struct lb_metrics *metrics, size_t number,
                        const struct lb_metrics_case *name)
{
    lb_array_extend(&metrics->all, &metrics->n, sizeof *metrics->all, number + 1);
    struct series *series = &metrics->all[number];
    if (series->strategy != NULL)
        return;
    series->engine = lb_strdup(name->engine);
    series->scenario = lb_strdup(name->scenario);
    series->strategy = lb_strdup(name->strategy);
}

void lb_metrics_tell(struct lb_metrics *metrics, size_t number, const struct lb_metrics_case *name,
                     const struct lb_metrics_run *run)
{
    pthread_mutex_lock(&metrics->mutex);
    make_series(metrics, number, name);
    metrics->all[number].now = *run;
    metrics->present = number;
    pthread_mutex_unlock(&metrics->mutex);
}

void lb_metrics_over(struct lb_metrics *metrics, size_t number, unsigned judged,
                     const uint64_t violations[LB_GUARANTEE_ROOM])
{
    pthread_mutex_lock(&metrics->mutex);
    if (number < metrics->n && metrics->all[number].strategy != NULL) {
        struct series *series = &metrics->all[number];
        struct lb_metrics_run *sum = &series->before, *now = &series->now;
        sum->n_successes += now->n_successes;
        sum->n_refusals += now->n_refusals;
        sum->n_faults += now->n_faults;
        sum->n_overlaps += now->n_overlaps;
        for (size_t i = 0; i < LB_COARSE_BUCKETS; i++)
            sum->waits[i] += now->waits[i];
        *now = (struct lb_metrics_run){0};
        series->n_runs++;
        series->judged |= judged;
        for (int g = 0; g < LB_GUARANTEES; g++)
            if (judged & LB_G_BIT(g))
                series->violations[g] += violations[g];
    }
    metrics->present = metrics->n;
    pthread_mutex_unlock(&metrics->mutex);
}

/* --- the text --- */

static void write_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\n')
            fputs("\\n", out);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* "name{strategy="...",engine="...",scenario="..."", without the closing brace. */
static void write_name(FILE *out, const char *name, const struct series *series)
{
    fprintf(out, "%s{", name);
    write_label(out, "strategy", series->strategy);
    fputc(',', out);
    write_label(out, "engine", series->engine);
    fputc(',', out);
    write_label(out, "scenario", series->scenario);
}

enum metric_type { COUNTER, GAUGE, HISTOGRAM };

static void write_head(FILE *out, const char *name, enum metric_type type, const char *help)
{
    static const char *const types[] = {" counter", " gauge", " histogram"};
    fprintf(out, "# HELP %s %s\n# TYPE %s%s\n", name, help, name, types[type]);
}

static const struct {
    const char *name, *help;
    size_t offset; /* of a uint64_t in struct lb_metrics_run */
} counters[] = {
    {"lockbench_successes_total", "Locks granted, or items claimed.",
     offsetof(struct lb_metrics_run, n_successes)},
    {"lockbench_refusals_total", "Tries that failed: the lock was held, or no item was free.",
     offsetof(struct lb_metrics_run, n_refusals)},
    {"lockbench_faults_total", "Faults that were carried out.",
     offsetof(struct lb_metrics_run, n_faults)},
    {"lockbench_overlaps_total",
     "Holds that met another's, seen while they ran and not yet judged.",
     offsetof(struct lb_metrics_run, n_overlaps)},
};

static uint64_t counter(const struct lb_metrics_run *run, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)run + offset, sizeof value);
    return value;
}

static void write_counters(FILE *out, const struct lb_metrics *metrics)
{
    for (size_t c = 0; c < sizeof counters / sizeof counters[0]; c++) {
        write_head(out, counters[c].name, COUNTER, counters[c].help);
        for (size_t i = 0; i < metrics->n; i++) {
            const struct series *series = &metrics->all[i];
            if (series->strategy == NULL)
                continue;
            uint64_t sum = counter(&series->before, counters[c].offset) +
                           counter(&series->now, counters[c].offset);
            write_name(out, counters[c].name, series);
            fprintf(out, "} %llu\n", (unsigned long long)sum);
        }
    }
}

/* The middle of a bucket of coarse.h. */
static double middle_ns(size_t bucket)
{
    const size_t first = (size_t)1 << LB_COARSE_BITS;
    if (bucket < first)
        return (double)bucket;
    size_t shift = (bucket >> LB_COARSE_BITS) - 1, digits = bucket - (shift << LB_COARSE_BITS);
    return ((double)digits + 0.5) * (double)((uint64_t)1 << shift);
}

/* Bounds are powers of two of a nanosecond, where buckets end: 1 us to 69 s. */
static void write_waits(FILE *out, const struct series *series)
{
    enum { FIRST = 10, LAST = 36 };
    uint64_t n = 0;
    double sum = 0;
    size_t bucket = 0;
    for (unsigned power = FIRST; power <= LAST + 1; power++) {
        size_t end = power > LAST ? LB_COARSE_BUCKETS
                                  : (size_t)(power - LB_COARSE_BITS + 1) << LB_COARSE_BITS;
        for (; bucket < end; bucket++) {
            uint64_t here = series->before.waits[bucket] + series->now.waits[bucket];
            n += here;
            sum += (double)here * middle_ns(bucket) / 1e9;
        }
        write_name(out, "lockbench_wait_seconds_bucket", series);
        if (power > LAST)
            fprintf(out, ",le=\"+Inf\"} %llu\n", (unsigned long long)n);
        else
            fprintf(out, ",le=\"%.9g\"} %llu\n", (double)((uint64_t)1 << power) / 1e9,
                    (unsigned long long)n);
    }
    write_name(out, "lockbench_wait_seconds_sum", series);
    fprintf(out, "} %.9g\n", sum);
    write_name(out, "lockbench_wait_seconds_count", series);
    fprintf(out, "} %llu\n", (unsigned long long)n);
}

static void write_violations(FILE *out, const struct lb_metrics *metrics)
{
    static const char name[] = "lockbench_violations_total";
    write_head(out, name, COUNTER, "Violations found in the histories of the runs that are over.");
    for (size_t i = 0; i < metrics->n; i++)
        for (int g = 0; g < LB_GUARANTEES; g++) {
            const struct series *series = &metrics->all[i];
            if (series->strategy == NULL || (series->judged & LB_G_BIT(g)) == 0)
                continue;
            write_name(out, name, series);
            fputc(',', out);
            write_label(out, "guarantee", lb_guarantee_name((enum lb_guarantee)g));
            fprintf(out, "} %llu\n", (unsigned long long)series->violations[g]);
        }
}

/* Of the run that is under way. */
static void write_present(FILE *out, const struct series *series)
{
    write_head(out, "lockbench_running", GAUGE, "1: a run of this is under way.");
    write_name(out, "lockbench_running", series);
    fputc(',', out);
    write_label(out, "phase", series->now.phase);
    fputs("} 1\n", out);
    write_head(out, "lockbench_workers", GAUGE, "Workers that are alive.");
    write_name(out, "lockbench_workers", series);
    fprintf(out, "} %u\n", series->now.n_workers);
    write_head(out, "lockbench_successes_per_second", GAUGE, "In the last tenth of a second.");
    write_name(out, "lockbench_successes_per_second", series);
    fprintf(out, "} %.9g\n", series->now.successes_per_s);
}

static void write_all(FILE *out, const struct lb_metrics *metrics)
{
    write_head(out, "lockbench_build_info", GAUGE, "The version of lockbench.");
    fputs("lockbench_build_info{version=\"" LB_VERSION "\"} 1\n", out);
    if (metrics->present < metrics->n)
        write_present(out, &metrics->all[metrics->present]);
    write_counters(out, metrics);
    write_head(out, "lockbench_wait_seconds", HISTOGRAM,
               "From first wanting the lock, or an item, to having it, in the measured part. The "
               "sum is within 7 %.");
    for (size_t i = 0; i < metrics->n; i++)
        if (metrics->all[i].strategy != NULL)
            write_waits(out, &metrics->all[i]);
    write_violations(out, metrics);
    write_head(out, "lockbench_runs_total", COUNTER, "Runs that are over.");
    for (size_t i = 0; i < metrics->n; i++)
        if (metrics->all[i].strategy != NULL) {
            write_name(out, "lockbench_runs_total", &metrics->all[i]);
            fprintf(out, "} %llu\n", (unsigned long long)metrics->all[i].n_runs);
        }
}

char *lb_metrics_text(struct lb_metrics *metrics)
{
    char *text = NULL;
    size_t size;
    FILE *out = lb_open_memory(&text, &size);
    pthread_mutex_lock(&metrics->mutex);
    write_all(out, metrics);
    pthread_mutex_unlock(&metrics->mutex);
    lb_close_memory(out);
    return text;
}
