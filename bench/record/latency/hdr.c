/* Histograms in the formats of the public HdrHistogram tools: see hdr.h.
 *
 * Source: github.com/HdrHistogram/HdrHistogram, AbstractHistogram (index and encoding V2),
 * ZigZagEncoding, HistogramLogReader (the log's grammar), PercentileIterator.
 */
#include "hdr.h"

#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum {
    DIGITS = 3,
    HALF_BITS = 10,             /* 3 digits: 2048 exact values, then 1024 per power of two */
    COOKIE = 0x1c849303 | 0x10, /* V2; 0x10: counts in ZigZag LEB128 */
    COMPRESSED_COOKIE = 0x1c849304 | 0x10,
    HEADER_BYTES = 40,
    COUNT_BYTES = 9, /* at most, for one count */
    TICKS_PER_HALF_DISTANCE = 5
};
#define LARGEST ((UINT64_C(1) << 53) - 1)

/* --- the public buckets --- */

static size_t hdr_index(uint64_t value)
{
    unsigned bucket = 53u - (unsigned)__builtin_clzll(value | ((1u << (HALF_BITS + 1)) - 1));
    return ((size_t)(bucket + 1) << HALF_BITS) + (size_t)(value >> bucket) - (1u << HALF_BITS);
}

struct entry {
    size_t index;
    uint64_t count;
};

/* Our counts at their places there, by index; at most one entry for each bucket of ours, and three
 * more. */
static size_t spread(const struct lb_histogram *histogram, struct entry *entries)
{
    uint64_t max = histogram->max < LARGEST ? histogram->max : LARGEST;
    uint64_t min = histogram->min < max ? histogram->min : max;
    /* One value each stands for the minimum and the maximum, if it is in a bucket. */
    size_t min_bucket = min <= LB_HISTOGRAM_MAX_NS ? lb_histogram_index(min) : SIZE_MAX;
    size_t max_bucket = max <= LB_HISTOGRAM_MAX_NS ? lb_histogram_index(max) : SIZE_MAX;
    size_t n = 0;
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = histogram->buckets[i];
        if (count == 0)
            continue;
        if (i == min_bucket) {
            entries[n++] = (struct entry){hdr_index(min), 1};
            count--;
        }
        bool has_max = i == max_bucket && count > 0;
        count -= has_max;
        uint64_t middle = lb_histogram_low(i) + (lb_histogram_high(i) - lb_histogram_low(i)) / 2;
        if (middle < min)
            middle = min;
        if (middle > max)
            middle = max;
        if (count > 0)
            entries[n++] = (struct entry){hdr_index(middle), count};
        if (has_max)
            entries[n++] = (struct entry){hdr_index(max), 1};
    }
    if (histogram->overflow > 0)
        entries[n++] = (struct entry){hdr_index(max), histogram->overflow};
    return n;
}

/* --- encoding --- */

static unsigned char *put_big_endian(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = bytes; i-- > 0;)
        *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

/* Seven bits a byte, low ones first; the ninth byte takes eight. */
static unsigned char *put_zigzag(unsigned char *at, int64_t value)
{
    uint64_t bits = ((uint64_t)value << 1) ^ (uint64_t)(value < 0 ? -1 : 0);
    for (int i = 0; i < COUNT_BYTES - 1 && bits >= 0x80; i++, bits >>= 7)
        *at++ = (unsigned char)(bits | 0x80);
    *at++ = (unsigned char)bits;
    return at;
}

/* A run of n empty buckets is the count -n; one empty bucket is 0. */
static unsigned char *put_counts(unsigned char *at, const struct entry *entries, size_t n)
{
    size_t next = 0;
    for (size_t i = 0; i < n;) {
        size_t index = entries[i].index, zeros = index - next;
        uint64_t count = 0;
        for (; i < n && entries[i].index == index; i++)
            count += entries[i].count;
        if (zeros > 0)
            at = put_zigzag(at, zeros == 1 ? 0 : -(int64_t)zeros);
        at = put_zigzag(at, (int64_t)count);
        next = index + 1;
    }
    return at;
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= i + 2 < n ? bytes[i + 2] : 0;
        char text[4] = {digits[group >> 18], digits[group >> 12 & 63], digits[group >> 6 & 63],
                        digits[group & 63]};
        if (i + 1 >= n)
            text[2] = '=';
        if (i + 2 >= n)
            text[3] = '=';
        fwrite(text, 1, sizeof text, out);
    }
}

/* The payload, compressed, with both headers. Returns its size in *ret_size; caller frees. */
static unsigned char *encode(const struct lb_histogram *histogram, size_t *ret_size)
{
    struct entry *entries = lb_malloc((LB_HISTOGRAM_BUCKETS + 3) * sizeof *entries);
    unsigned char *plain = lb_malloc(HEADER_BYTES + (LB_HISTOGRAM_BUCKETS + 3) * 2 * COUNT_BYTES);
    size_t n = spread(histogram, entries);
    unsigned char *end = put_counts(plain + HEADER_BYTES, entries, n);
    unsigned char *at = put_big_endian(plain, COOKIE, 4);
    at = put_big_endian(at, (uint64_t)(end - plain - HEADER_BYTES), 4);
    at = put_big_endian(at, 0, 4); /* normalizing index offset: none */
    at = put_big_endian(at, DIGITS, 4);
    at = put_big_endian(at, 1, 8); /* lowest discernible value */
    uint64_t highest = histogram->max > LB_HISTOGRAM_MAX_NS ? LARGEST : LB_HISTOGRAM_MAX_NS;
    at = put_big_endian(at, highest, 8);
    put_big_endian(at, UINT64_C(0x3ff0000000000000), 8); /* ratio of values: the double 1.0 */

    uLong size = (uLong)(end - plain);
    uLong bound = compressBound(size);
    unsigned char *result = lb_malloc(8 + bound);
    /* The room is enough and the level exists: zlib fails for lack of memory only. */
    if (compress2(result + 8, &bound, plain, size, Z_BEST_COMPRESSION) != Z_OK)
        lb_memory_exhausted(size);
    put_big_endian(put_big_endian(result, COMPRESSED_COOKIE, 4), bound, 4);
    *ret_size = 8 + bound;
    free(entries);
    free(plain);
    return result;
}

/* --- the log --- */

void lb_hdr_log_begin(FILE *out, const char *comment, uint64_t start_unix_ns)
{
    time_t seconds = (time_t)(start_unix_ns / 1000000000u);
    struct tm utc;
    char date[64];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof date, "%a %b %d %H:%M:%S UTC %Y", &utc);
    if (comment != NULL)
        fprintf(out, "#[%s]\n", comment);
    fputs("#[Histogram log format version 1.2]\n", out);
    fprintf(out, "#[StartTime: %.3f (seconds since epoch), %s]\n", (double)start_unix_ns / 1e9,
            date);
    fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
          "\"Interval_Compressed_Histogram\"\n",
          out);
}

int lb_hdr_log_write(FILE *out, const char *tag, uint64_t start_ns, uint64_t length_ns,
                     const struct lb_histogram *histogram, struct lb_error *err)
{
    if (histogram->count == 0)
        return 0;
    size_t size;
    unsigned char *bytes = encode(histogram, &size);
    if (tag != NULL)
        fprintf(out, "Tag=%s,", tag);
    /* The maximum is in milliseconds by convention. */
    fprintf(out, "%.3f,%.3f,%.3f,", (double)start_ns / 1e9, (double)length_ns / 1e9,
            (double)histogram->max / 1e6);
    put_base64(out, bytes, size);
    putc('\n', out);
    free(bytes);
    return ferror(out) ? lb_fail(err, LB_E_ENV, "cannot write the histogram: %s", strerror(errno))
                       : 0;
}

/* --- the distribution --- */

/* Around the exact mean, from the middles of the buckets; values in the overflow are taken as the
 * maximum. */
static double standard_deviation(const struct lb_histogram *histogram, double mean)
{
    double sum = (double)histogram->overflow * pow((double)histogram->max - mean, 2);
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++)
        if (histogram->buckets[i] > 0) {
            double middle = ((double)lb_histogram_low(i) + (double)lb_histogram_high(i)) / 2;
            sum += (double)histogram->buckets[i] * (middle - mean) * (middle - mean);
        }
    return histogram->count > 0 ? sqrt(sum / (double)histogram->count) : 0;
}

/* Five steps for each halving of the distance to 100 %. */
static double next_level(double level)
{
    double halvings = floor(log2(100 / (100 - level))) + 1;
    return level + 100 / (TICKS_PER_HALF_DISTANCE * exp2(halvings));
}

int lb_hgrm_write(FILE *out, const struct lb_histogram *histogram, struct lb_error *err)
{
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    double level = 0;
    uint64_t seen = 0;
    size_t i = 0;
    while (seen < histogram->count) {
        while (i < LB_HISTOGRAM_BUCKETS && histogram->buckets[i] == 0)
            i++;
        seen = i < LB_HISTOGRAM_BUCKETS ? seen + histogram->buckets[i] : histogram->count;
        uint64_t value = i < LB_HISTOGRAM_BUCKETS ? lb_histogram_high(i) : histogram->max;
        if (value > histogram->max)
            value = histogram->max;
        double reached = 100 * (double)seen / (double)histogram->count;
        /* 100 % has its own line. */
        bool more = level <= reached && level < 100;
        while (more) {
            fprintf(out, "%12.3f %2.12f %10" PRIu64 " %14.2f\n", (double)value / 1e3, level / 100,
                    seen, 1 / (1 - level / 100));
            level = next_level(level);
            more = seen < histogram->count && level <= reached && level < 100;
        }
        i++;
    }
    if (histogram->count > 0)
        fprintf(out, "%12.3f %2.12f %10" PRIu64 "\n", (double)histogram->max / 1e3, 1.0,
                histogram->count);
    double mean = lb_histogram_mean(histogram);
    fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean / 1e3,
            standard_deviation(histogram, mean) / 1e3);
    fprintf(out, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
            (double)histogram->max / 1e3, histogram->count);
    fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n",
            LB_HISTOGRAM_MAX_BITS - LB_HISTOGRAM_BITS + 1, 1 << LB_HISTOGRAM_BITS);
    return ferror(out)
               ? lb_fail(err, LB_E_ENV, "cannot write the distribution: %s", strerror(errno))
               : 0;
}
