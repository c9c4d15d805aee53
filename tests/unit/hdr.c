/* Histograms in the public formats, decoded here by the published rules. With --write DIR it writes
 * DIR/latency.hlog, DIR/acquire.hgrm and their source values, for tests/cli/hdr.t, which reads them
 * with the public tools. */
#include "hdr.h"
#include "property.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

enum { HALF = 1024, SLOTS = 64 * HALF, VALUES = 20000 };

/* --- decoding --- */

static size_t from_base64(const char *text, unsigned char *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    uint32_t group = 0;
    for (int i = 0; *text != '\0' && *text != '\n' && *text != '='; text++, i++) {
        const char *digit = strchr(digits, *text);
        assert_non_null(digit);
        group = group << 6 | (uint32_t)(digit - digits);
        if (i % 4 > 0)
            bytes[n++] = (unsigned char)(group >> (6 - 2 * (i % 4)));
    }
    return n;
}

static uint64_t big_endian(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

static int64_t zigzag(const unsigned char **at)
{
    uint64_t bits = 0;
    for (int i = 0; i < 9; i++) {
        unsigned char byte = *(*at)++;
        bits |= (uint64_t)(i < 8 ? byte & 0x7f : byte) << (7 * i);
        if (i < 8 && !(byte & 0x80))
            break;
    }
    return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

/* counts[i] of the public buckets with 3 digits; returns their sum. */
static uint64_t decode(const char *line, uint64_t *counts)
{
    static unsigned char packed[1 << 18], plain[1 << 20];
    const char *text = strrchr(line, ',');
    assert_non_null(text);
    size_t n = from_base64(text + 1, packed);
    assert_int_equal(big_endian(packed, 4), 0x1c849314);
    assert_int_equal(big_endian(packed + 4, 4), n - 8);
    uLongf size = sizeof plain;
    assert_int_equal(uncompress(plain, &size, packed + 8, n - 8), Z_OK);
    assert_int_equal(big_endian(plain, 4), 0x1c849313);
    assert_int_equal(big_endian(plain + 4, 4), size - 40);
    assert_int_equal(big_endian(plain + 8, 4), 0);
    assert_int_equal(big_endian(plain + 12, 4), 3);
    assert_int_equal(big_endian(plain + 16, 8), 1);
    uint64_t one = big_endian(plain + 32, 8);
    double ratio;
    memcpy(&ratio, &one, sizeof ratio);
    assert_true(ratio == 1.0);
    memset(counts, 0, SLOTS * sizeof *counts);
    const unsigned char *at = plain + 40;
    uint64_t sum = 0;
    for (size_t i = 0; at < plain + size;) {
        int64_t count = zigzag(&at);
        assert_true(i < SLOTS);
        if (count < 0) {
            i += (size_t)-count;
        } else {
            counts[i++] = (uint64_t)count;
            sum += (uint64_t)count;
        }
    }
    assert_ptr_equal(at, plain + size);
    return sum;
}

/* The lowest value of a public bucket, and how wide it is. */
static uint64_t slot_low(size_t i, uint64_t *ret_width)
{
    size_t bucket = i / HALF, sub = i % HALF + HALF;
    if (bucket == 0) {
        *ret_width = 1;
        return i;
    }
    *ret_width = UINT64_C(1) << (bucket - 1);
    return (uint64_t)sub << (bucket - 1);
}

static uint64_t decoded_quantile(const uint64_t *counts, uint64_t rank)
{
    uint64_t seen = 0, width;
    for (size_t i = 0; i < SLOTS; i++) {
        seen += counts[i];
        if (seen >= rank && seen > 0) {
            uint64_t low = slot_low(i, &width);
            return low + width / 2;
        }
    }
    fail();
    return 0;
}

static bool is_near(uint64_t a, uint64_t b, double bound)
{
    return fabs((double)a - (double)b) <= bound * (double)b;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static char *log_of(const char *tag, const struct lb_histogram *histogram)
{
    char *text = NULL;
    size_t size;
    struct lb_error err;
    FILE *out = open_memstream(&text, &size);
    lb_hdr_log_begin(out, "Logged by a test", 1700000000123000000);
    assert_int_equal(lb_hdr_log_write(out, tag, 500000000, 2250000000, histogram, &err), 0);
    fclose(out);
    return text;
}

static void a_log_has_its_head(void **state)
{
    (void)state;
    struct lb_histogram *histogram = lb_histogram_new();
    char *text = log_of("acquire", histogram); /* empty: no line */
    const char head[] = "#[Logged by a test]\n"
                        "#[Histogram log format version 1.2]\n"
                        "#[StartTime: 1700000000.123 (seconds since epoch), "
                        "Tue Nov 14 22:13:20 UTC 2023]\n"
                        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                        "\"Interval_Compressed_Histogram\"\n";
    assert_string_equal(text, head);
    free(text);
    lb_histogram_record(histogram, 1500000);
    text = log_of("acquire", histogram);
    const char line[] = "Tag=acquire,0.500,2.250,1.500,HISTFAAAA";
    assert_memory_equal(text + sizeof head - 1, line, sizeof line - 1);
    free(text);
    text = log_of(NULL, histogram);
    assert_memory_equal(text + sizeof head - 1, line + 12, sizeof line - 13);
    free(text);
    lb_histogram_free(histogram);
}

static void what_is_encoded_is_decoded(void **state)
{
    struct lb_random *random = *state;
    static uint64_t values[VALUES], counts[SLOTS];
    for (int round = 0; round < 60; round++) {
        struct lb_histogram *histogram = lb_histogram_new();
        size_t n = 1 + (size_t)lb_random_below(random, round % 2 ? 5 : VALUES);
        uint64_t shift = lb_random_below(random, 60);
        for (size_t i = 0; i < n; i++) {
            /* Up to 2^48: some are in the overflow, which is written as the maximum. */
            values[i] = lb_random_next(random) >> (16 + lb_random_below(random, 48 - shift % 48));
            lb_histogram_record(histogram, values[i]);
        }
        qsort(values, n, sizeof values[0], compare);
        char *text = log_of("x", histogram);
        assert_int_equal(decode(text, counts), n);
        if (values[0] <= LB_HISTOGRAM_MAX_NS)
            assert_true(is_near(decoded_quantile(counts, 1), values[0], 0.001));
        assert_true(is_near(decoded_quantile(counts, n), values[n - 1], 0.001));
        for (size_t rank = 1; rank <= n; rank += 1 + n / 200) {
            uint64_t exact = values[rank - 1];
            if (exact > LB_HISTOGRAM_MAX_NS)
                exact = values[n - 1];
            assert_true(is_near(decoded_quantile(counts, rank), exact, 0.003));
        }
        free(text);
        lb_histogram_free(histogram);
    }
}

static void extremes_are_encoded(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, LB_HISTOGRAM_MAX_NS, LB_HISTOGRAM_MAX_NS + 1, UINT64_C(1) << 53, UINT64_MAX};
    static uint64_t counts[SLOTS];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct lb_histogram *histogram = lb_histogram_new();
        lb_histogram_record(histogram, values[i]);
        if (i == 0) /* a count of 64 bits needs nine bytes */
            histogram->buckets[0] = histogram->count = (uint64_t)INT64_MAX;
        char *text = log_of("x", histogram);
        uint64_t limit = (UINT64_C(1) << 53) - 1;
        uint64_t expected = values[i] < limit ? values[i] : limit;
        assert_int_equal(decode(text, counts), i == 0 ? (uint64_t)INT64_MAX : 1);
        assert_true(is_near(decoded_quantile(counts, 1), expected, 0.001));
        free(text);
        lb_histogram_free(histogram);
    }
}

static void a_distribution_is_text(void **state)
{
    (void)state;
    struct lb_histogram *histogram = lb_histogram_new();
    for (uint64_t i = 1; i <= 4; i++)
        lb_histogram_record(histogram, i * 10);
    char *text = NULL;
    size_t size;
    struct lb_error err;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(lb_hgrm_write(out, histogram, &err), 0);
    fclose(out);
    assert_string_equal(text, "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
                              "       0.010 0.000000000000          1           1.00\n"
                              "       0.010 0.100000000000          1           1.11\n"
                              "       0.010 0.200000000000          1           1.25\n"
                              "       0.020 0.300000000000          2           1.43\n"
                              "       0.020 0.400000000000          2           1.67\n"
                              "       0.020 0.500000000000          2           2.00\n"
                              "       0.030 0.550000000000          3           2.22\n"
                              "       0.030 0.600000000000          3           2.50\n"
                              "       0.030 0.650000000000          3           2.86\n"
                              "       0.030 0.700000000000          3           3.33\n"
                              "       0.030 0.750000000000          3           4.00\n"
                              "       0.040 0.775000000000          4           4.44\n"
                              "       0.040 1.000000000000          4\n"
                              "#[Mean    =        0.025, StdDeviation   =        0.011]\n"
                              "#[Max     =        0.040, Total count    =            4]\n"
                              "#[Buckets =           35, SubBuckets     =          256]\n");
    free(text);
    lb_histogram_free(histogram);
}

/* --- for other programs --- */

static FILE *open_in(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(3);
    }
    return file;
}

/* Three operations of different magnitudes; "expected" has, for each: tag, count, minimum, maximum,
 * and the exact values at 50, 90, 99 and 99.9 %. */
static int write_files(const char *dir, struct lb_random *random)
{
    static const char *const tags[] = {"acquire", "hold", "release"};
    static const double means[] = {50, 2e6, 3e10};
    static uint64_t values[VALUES];
    struct lb_error err;
    FILE *hlog = open_in(dir, "latency.hlog"), *expected = open_in(dir, "expected");
    lb_hdr_log_begin(hlog, "Logged by a test", 1700000000123000000);
    int code = 0;
    for (int i = 0; i < 3 && code == 0; i++) {
        struct lb_histogram *histogram = lb_histogram_new();
        for (int k = 0; k < VALUES; k++) {
            values[k] = (uint64_t)lb_test_exponential(random, means[i]);
            lb_histogram_record(histogram, values[k]);
        }
        qsort(values, VALUES, sizeof values[0], compare);
        fprintf(expected, "%s %d", tags[i], VALUES);
        static const int ranks[] = {
            1, VALUES, VALUES / 2, VALUES / 10 * 9, VALUES / 100 * 99, VALUES / 1000 * 999};
        for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++)
            fprintf(expected, " %llu", (unsigned long long)values[ranks[k] - 1]);
        putc('\n', expected);
        code = lb_hdr_log_write(hlog, tags[i], 0, 10000000000, histogram, &err);
        if (i == 0 && code == 0) {
            FILE *hgrm = open_in(dir, "acquire.hgrm");
            code = lb_hgrm_write(hgrm, histogram, &err);
            fclose(hgrm);
        }
        lb_histogram_free(histogram);
    }
    if (fclose(hlog) != 0 || fclose(expected) != 0 || code != 0)
        return 3;
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t seed = lb_test_seed();
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_files(argv[2], &random);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_has_its_head),
        cmocka_unit_test_prestate(what_is_encoded_is_decoded, &random),
        cmocka_unit_test(extremes_are_encoded),
        cmocka_unit_test(a_distribution_is_text),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
