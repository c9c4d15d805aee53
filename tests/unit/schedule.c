/* Schedules of arrivals: exact phases, Poisson by a test of fit, one schedule for many threads. */
#include "schedule.h"

#include "stats.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kolmogorov.h"
#include "property.h"

#define SECOND UINT64_C(1000000000)

static struct lb_schedule of(const char *text, uint64_t seed)
{
    struct lb_schedule schedule;
    struct lb_error err = {0};
    int rc = lb_schedule_init(&schedule, text, seed, &err);
    if (rc != 0)
        print_error("%s\n", err.message);
    assert_int_equal(rc, 0);
    return schedule;
}

/* Arrivals in [from, to) seconds of a fresh copy. */
static uint64_t count_between(const struct lb_schedule *schedule, double from, double to)
{
    struct lb_schedule copy;
    memcpy(&copy, schedule, sizeof copy);
    uint64_t count = 0, at, last = 0;
    while ((at = lb_schedule_next(&copy, NULL)) != LB_SCHEDULE_END && (double)at < to * 1e9) {
        assert_true(at >= last);
        last = at;
        count += (double)at >= from * 1e9;
    }
    return count;
}

static void constant_rate_does_not_drift(void **state)
{
    (void)state;
    struct lb_schedule s = of("3/s", 1);
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(lb_schedule_next(&s, NULL), (i * SECOND * 2 + 3) / 6);
    s = of("1.5k/s", 1);
    assert_int_equal(count_between(&s, 0, 10), 15000);
    s = of("120/min", 1);
    assert_int_equal(count_between(&s, 0, 10), 20);
    s = of("2/ms", 1);
    assert_int_equal(count_between(&s, 0, 1), 2000);
    assert_near(lb_schedule_expected(&s, SECOND / 2), 1000, 1e-9);
}

static void phases_are_exact(void **state)
{
    (void)state;
    struct lb_schedule s = of("phases:100/s@2s,ramp:100-1000/s@5s,pause@1s,burst:50,10/s@3s", 1);
    assert_int_equal(count_between(&s, 0, 2), 200);
    assert_int_equal(count_between(&s, 2, 7), 2750);
    assert_int_equal(count_between(&s, 7, 8), 0);
    assert_int_equal(count_between(&s, 8, 8.05), 51); /* the burst, and the next phase's first */
    assert_int_equal(count_between(&s, 8, 11), 80);
    assert_int_equal(count_between(&s, 11, 1e9), 0);
    /* After t seconds of the ramp: 100 t + 90 t^2. */
    for (double t = 0.5; t < 5; t += 0.5)
        assert_near((double)count_between(&s, 2, 2 + t), 100 * t + 90 * t * t, 1);
    assert_near(lb_schedule_expected(&s, 2 * SECOND), 200, 1e-6);
    assert_near(lb_schedule_expected(&s, 4 * SECOND), 200 + 200 + 360, 1e-6);
    assert_near(lb_schedule_expected(&s, 8 * SECOND + SECOND / 10), 3001, 1e-6);
    assert_near(lb_schedule_expected(&s, 900 * SECOND), 3030, 1e-6);
}

static void a_ramp_may_start_or_end_at_zero(void **state)
{
    (void)state;
    struct lb_schedule up = of("phases:ramp:0-200/s@10s", 1),
                       down = of("phases:ramp:200-0/s@10s", 1);
    assert_int_equal(count_between(&up, 0, 10.1), 1000);
    assert_near((double)count_between(&up, 0, 5), 250, 1);
    assert_int_equal(count_between(&down, 0, 10.1), 1000);
    assert_near((double)count_between(&down, 0, 5), 750, 1);
}

static void cycles_repeat(void **state)
{
    (void)state;
    struct lb_schedule s = of("repeat:10/s@2s,burst:5,pause@1s", 1);
    for (int cycle = 0; cycle < 40; cycle++) {
        assert_int_equal(count_between(&s, 3 * cycle, 3 * cycle + 2), 20);
        assert_int_equal(count_between(&s, 3 * cycle + 2, 3 * cycle + 3), 5);
    }
    assert_near(lb_schedule_expected(&s, 3000 * SECOND), 25000, 1e-6);
}

static void the_last_phase_may_go_on(void **state)
{
    (void)state;
    struct lb_schedule s = of("phases:1000/s@1s,10/s", 1);
    assert_int_equal(count_between(&s, 0, 1), 1000);
    assert_int_equal(count_between(&s, 1, 1001), 10000);
}

/* Gaps of n arrivals, sorted, in seconds; *ret_last is the last one's time. */
static double *gaps_of(struct lb_schedule *s, size_t n, double *ret_lag)
{
    double *gaps = calloc(n, sizeof *gaps);
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = lb_schedule_next(s, NULL);
        assert_true(at != LB_SCHEDULE_END && at >= last);
        gaps[i] = (double)(at - last) / 1e9;
        last = at;
    }
    double mean = lb_stats_mean(gaps, n), products = 0, squares = 0;
    for (size_t i = 1; i < n; i++) {
        products += (gaps[i] - mean) * (gaps[i - 1] - mean);
        squares += (gaps[i] - mean) * (gaps[i] - mean);
    }
    *ret_lag = products / squares;
    lb_stats_sort(gaps, n);
    return gaps;
}

/* Over many seeds: gaps fit the exponential distribution, their mean is right within 3 sigma as
 * often as it should be, neighbours are unrelated. */
static void poisson_gaps_are_exponential(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    enum { SEEDS = 60, N = 20000 };
    double p[SEEDS], worst_mean = 0, lags = 0;
    int beyond_3_sigma = 0;
    for (int k = 0; k < SEEDS; k++) {
        struct lb_schedule s = of("poisson:800/s", lb_random_next(&random));
        double lag;
        double *gaps = gaps_of(&s, N, &lag);
        struct lb_test_ks ks = {0};
        struct lb_error err;
        assert_int_equal(lb_test_ks_exponential(gaps, N, 1.0 / 800, &ks, &err), 0);
        p[k] = ks.p;
        double sigmas = (lb_stats_mean(gaps, N) * 800 - 1) * sqrt(N);
        worst_mean = fmax(worst_mean, fabs(sigmas));
        beyond_3_sigma += fabs(sigmas) > 3;
        lags += lag;
        free(gaps);
    }
    /* 60 values within 3 sigma but for 0.2 of them; uniform p-values by the same test. */
    assert_true(beyond_3_sigma <= 3 && worst_mean < 5);
    assert_near(lags / SEEDS, 0, 4.5 / sqrt((double)SEEDS * N));
    lb_stats_sort(p, SEEDS);
    struct lb_test_ks ks;
    struct lb_error err;
    assert_int_equal(lb_test_ks_uniform(p, SEEDS, &ks, &err), 0);
    assert_true(ks.p > 1e-5);
}

/* A Poisson process with phases: counts of each phase have the mean and the variance of a Poisson
 * variable, and bursts are exact. */
static void poisson_follows_its_phases(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    enum { SEEDS = 400 };
    static const double expected[] = {200, 550, 20};
    static const double bounds[] = {0, 2, 3, 4, 6};
    double sum[3] = {0}, squares[3] = {0};
    for (int k = 0; k < SEEDS; k++) {
        struct lb_schedule s =
            of("poisson:phases:100/s@2s,ramp:100-1000/s@1s,pause@1s,burst:30,10/s@2s",
               lb_random_next(&random));
        double count[4];
        for (int i = 0; i < 4; i++)
            count[i] = (double)count_between(&s, bounds[i], bounds[i + 1]);
        assert_near(count[2], 0, 0);
        count[2] = count[3] - 30;
        assert_true(count[2] >= 0);
        for (int i = 0; i < 3; i++) {
            sum[i] += count[i];
            squares[i] += (count[i] - expected[i]) * (count[i] - expected[i]);
        }
        assert_int_equal(count_between(&s, 6, 1e9), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_near(sum[i] / SEEDS, expected[i], 4.5 * sqrt(expected[i] / SEEDS));
        assert_near(squares[i] / SEEDS / expected[i], 1, 4.5 * sqrt(2.0 / SEEDS) + 0.05);
    }
}

/* Arrivals at offset_s of each of 50 cycles of 3 s. */
static void assert_bursts(const char *text, uint64_t offset_s, uint64_t size)
{
    struct lb_schedule s = of(text, 9);
    uint64_t at, bursts[50] = {0};
    while ((at = lb_schedule_next(&s, NULL)) < 150 * SECOND)
        if (at % (3 * SECOND) == offset_s * SECOND)
            bursts[at / (3 * SECOND)]++;
    for (int cycle = 0; cycle < 50; cycle++)
        assert_int_equal(bursts[cycle], size);
}

static void poisson_bursts_repeat_exactly(void **state)
{
    (void)state;
    assert_bursts("poisson:repeat:burst:7,1/s@2s,burst:5,pause@1s", 0, 7);
    assert_bursts("poisson:repeat:burst:7,1/s@2s,burst:5,pause@1s", 2, 5);
    /* Run into from the cycle before. */
    assert_bursts("poisson:repeat:burst:7,1/s@3s", 0, 7);
}

static void seeds_decide(void **state)
{
    (void)state;
    struct lb_schedule a = of("poisson:100/s", 1), b = of("poisson:100/s", 1);
    struct lb_schedule c = of("poisson:100/s", 2);
    int equal = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t at = lb_schedule_next(&a, NULL);
        assert_int_equal(at, lb_schedule_next(&b, NULL));
        equal += at == lb_schedule_next(&c, NULL);
    }
    assert_true(equal < 5);
}

enum { THREADS = 6, CLAIMS = 20000 };

struct claimer {
    struct lb_schedule *schedule;
    uint64_t *times;
};

static void *claim(void *arg)
{
    struct claimer *claimer = arg;
    for (size_t i = 0; i < CLAIMS; i++)
        claimer->times[i] = lb_schedule_next(claimer->schedule, NULL);
    return NULL;
}

static int by_time(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Threads that claim together get the arrivals that one thread alone would get: none is lost, none
 * given out twice, and each thread's own never go back. */
static void many_threads_share_one_schedule(void **state)
{
    (void)state;
    static const char *const texts[] = {"100k/s", "poisson:100k/s",
                                        "poisson:repeat:1k/s@1s,burst:100"};
    for (size_t k = 0; k < 3; k++) {
        struct lb_schedule shared = of(texts[k], 5), alone = of(texts[k], 5);
        uint64_t *times = calloc((size_t)THREADS * CLAIMS, sizeof *times);
        struct claimer claimers[THREADS];
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            claimers[i] = (struct claimer){&shared, times + (size_t)i * CLAIMS};
            assert_int_equal(pthread_create(&threads[i], NULL, claim, &claimers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (int i = 0; i < THREADS; i++)
            for (size_t j = 1; j < CLAIMS; j++)
                assert_true(claimers[i].times[j] >= claimers[i].times[j - 1]);
        qsort(times, (size_t)THREADS * CLAIMS, sizeof *times, by_time);
        for (size_t i = 0; i < (size_t)THREADS * CLAIMS; i++)
            assert_int_equal(times[i], lb_schedule_next(&alone, NULL));
        free(times);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The file need not be in order. The first is at 0; equal times stay apart; then there are none. */
static void a_trace_is_followed(void **state)
{
    char path[] = "/tmp/lb-trace-XXXXXX", text[64];
    struct lb_schedule s, part;
    struct lb_error err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, "created\n1764316802.5\n1764316800.000001\n1764316800.250001\n1764316802.5\n");
    snprintf(text, sizeof text, "trace:%s,speed=2", path);
    assert_int_equal(lb_schedule_open(&s, text, 1, &err), 0);
    lb_schedule_again(&s, &part);
    part.own = (struct lb_arrivals){.first = 1, .n = 1, .of = 2};
    const uint64_t last = 1249999500;
    double place = 0;
    assert_int_equal(lb_schedule_next(&s, NULL), 0);
    assert_int_equal(lb_schedule_next(&s, NULL), 125000000);
    assert_int_equal(lb_schedule_next(&s, NULL), last);
    assert_int_equal(lb_schedule_next(&s, &place), last);
    assert_near(place, 3, 1e-9);
    assert_int_equal(lb_schedule_next(&s, NULL), LB_SCHEDULE_END);
    assert_near(lb_schedule_expected(&s, 0), 0, 1e-9);
    assert_near(lb_schedule_expected(&s, 1), 1, 1e-9);
    assert_near(lb_schedule_expected(&s, last), 2, 1e-9);
    assert_near(lb_schedule_expected(&s, 9 * last), 4, 1e-9);
    assert_int_equal(lb_schedule_next(&part, NULL), 125000000);
    assert_int_equal(lb_schedule_next(&part, NULL), last);
    assert_int_equal(lb_schedule_next(&part, NULL), LB_SCHEDULE_END);
    lb_schedule_close(&s);
    remove(path);
}

/* The message has the file, the line, and a way out. */
static void bad_traces_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1\n2026-11-28 08:00:00\n",
         ":2: '2026-11-28 08:00:00' is not a number of seconds: in SQL"},
        {"1764316800123\n", ":1: '1764316800123' is not a number of seconds: it is too large"},
        {"time\n1\n\n2\n", ":3: '' is empty: leave rows without a value out"},
        {"1,2\n", ":1: '1,2' has several columns: select one"},
        {"1\nx\n", ":2: 'x' is not a number"},
        {"time\n", " has no values"},
        {"", " has no values"},
    };
    char path[] = "/tmp/lb-trace-XXXXXX", text[80];
    struct lb_schedule s;
    struct lb_error err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(path, cases[i].text);
        snprintf(text, sizeof text, "trace:%s", path);
        assert_int_equal(lb_schedule_open(&s, text, 1, &err), LB_E_USAGE);
        if (strstr(err.message, cases[i].message) == NULL || strstr(err.message, path) == NULL)
            fail_msg("%s", err.message);
    }
    write_file(path, "1\n");
    snprintf(text, sizeof text, "trace:%s,speed=0", path);
    assert_int_equal(lb_schedule_open(&s, text, 1, &err), LB_E_USAGE);
    assert_non_null(strstr(err.message, "a speed is a factor"));
    snprintf(text, sizeof text, "trace:%s", path);
    assert_int_equal(lb_schedule_init(&s, text, 1, &err), LB_E_USAGE); /* of a plan's demand */
    remove(path);
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "800",
        "0/s",
        "-1/s",
        "800/d",
        "800/s ",
        "1e3/s",
        "nan/s",
        "2G/s",
        "poisson:",
        "poison:8/s",
        "phases:",
        "phases:100/s@",
        "phases:100/s@2",
        "phases:100/s@0",
        "phases:100/s,200/s@2s",
        "phases:ramp:100/s@2s",
        "phases:ramp:100-200/s",
        "phases:ramp:0-0/s@2s",
        "phases:pause",
        "phases:pause@2s",
        "phases:burst:0",
        "phases:burst:x",
        "phases:100/s@2s,",
        "repeat:100/s",
        "repeat:burst:5",
        "constantly",
        "phases:900M/s@1000h",
    };
    struct lb_schedule s;
    struct lb_error err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (lb_schedule_init(&s, bad[i], 1, &err) != LB_E_USAGE)
            fail_msg("'%s' was accepted", bad[i]);
        assert_non_null(strstr(err.message, "accepted: 800/s"));
    }
    char many[600] = "phases:1/s@1s";
    size_t length = strlen(many);
    for (int i = 0; i < LB_SCHEDULE_PHASES - 1; i++)
        length += (size_t)snprintf(many + length, sizeof many - length, ",1/s@1s");
    s = of(many, 1);
    assert_int_equal(s.n_phases, LB_SCHEDULE_PHASES);
    snprintf(many + length, sizeof many - length, ",1/s@1s");
    assert_int_equal(lb_schedule_init(&s, many, 1, &err), LB_E_USAGE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_rate_does_not_drift),
        cmocka_unit_test(phases_are_exact),
        cmocka_unit_test(a_ramp_may_start_or_end_at_zero),
        cmocka_unit_test(cycles_repeat),
        cmocka_unit_test(the_last_phase_may_go_on),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(poisson_follows_its_phases),
        cmocka_unit_test(poisson_bursts_repeat_exactly),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(many_threads_share_one_schedule),
        cmocka_unit_test(a_trace_is_followed),
        cmocka_unit_test(bad_traces_are_refused),
        cmocka_unit_test(bad_texts_are_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
