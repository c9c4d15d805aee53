/* Reads .hlog, the log of histograms that hdr.c writes: format 1.2, payload V2.
 *
 * A bucket of the public format lies in one of ours, so that what we wrote comes back with the same
 * count in every bucket; minimum and maximum are those of their buckets' lower ends there.
 *
 * Source: github.com/HdrHistogram/HdrHistogram, HistogramLogReader, AbstractHistogram
 * (decodeFromByteBuffer), ZigZagEncoding.
 */
#include "hdr.h"
#include "lines.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    HALF_BITS = 10,
    COOKIE = 0x1c849303,
    COMPRESSED_COOKIE = 0x1c849304,
    COOKIE_MASK = 0xf0, /* bits that say how counts are written; ours are ZigZag LEB128 */
    HEADER_BYTES = 40,
    COUNT_BYTES = 9,
    INDEXES = (64 - HALF_BITS) << HALF_BITS, /* no value of 63 bits has a larger one */
    PLAIN_BYTES = HEADER_BYTES + INDEXES * COUNT_BYTES
};

__extension__ typedef unsigned __int128 wide;

/* The lowest value of the public format's bucket. */
static uint64_t value_at(uint64_t index)
{
    if (index < (2u << HALF_BITS))
        return index;
    uint64_t within = (index & ((1u << HALF_BITS) - 1)) + (1u << HALF_BITS);
    return within << ((index >> HALF_BITS) - 1);
}

static void add_values(struct lb_histogram *histogram, uint64_t value, uint64_t n)
{
    if (value > LB_HISTOGRAM_MAX_NS)
        histogram->overflow += n;
    else
        histogram->buckets[lb_histogram_index(value)] += n;
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count += n;
    wide sum = (wide)histogram->sum_high << 64 | histogram->sum_low;
    sum += (wide)value * n;
    histogram->sum_low = (uint64_t)sum;
    histogram->sum_high = (uint64_t)(sum >> 64);
}

static uint64_t big_endian(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* One count. Returns what follows it; NULL if it does not end. */
static const unsigned char *take_zigzag(const unsigned char *at, const unsigned char *end,
                                        int64_t *ret)
{
    uint64_t bits = 0;
    for (int i = 0; i < COUNT_BYTES && at < end; i++) {
        uint64_t byte = *at++;
        bool last = i == COUNT_BYTES - 1;
        bits |= (last ? byte : byte & 0x7f) << (7 * i);
        if (last || byte < 0x80) {
            *ret = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return at;
        }
    }
    return NULL;
}

/* 0, or -1: not counts. */
static int take_counts(const unsigned char *at, const unsigned char *end,
                       struct lb_histogram *histogram)
{
    uint64_t index = 0;
    while (at < end && index < INDEXES) {
        int64_t count;
        at = take_zigzag(at, end, &count);
        if (at == NULL || count < -INDEXES)
            return -1;
        if (count > 0)
            add_values(histogram, value_at(index), (uint64_t)count);
        index += count < 0 ? (uint64_t)-count : 1;
    }
    return at == end ? 0 : -1;
}

/* Six bits of a base64 digit, or -1. */
static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes in place. Returns the number of bytes, or 0. */
static size_t from_base64(char *text)
{
    unsigned char *out = (unsigned char *)text;
    uint32_t bits = 0;
    int n_bits = 0, value;
    const char *at = text;
    for (; (value = digit(*at)) >= 0; at++) {
        bits = bits << 6 | (uint32_t)value;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            *out++ = (unsigned char)(bits >> n_bits);
        }
    }
    at += strspn(at, "=");
    return *at == '\0' ? (size_t)(out - (unsigned char *)text) : 0;
}

/* Returns the error text, or NULL. plain has room for PLAIN_BYTES. */
static const char *decode(char *text, unsigned char *plain, struct lb_histogram *histogram)
{
    size_t size = from_base64(text);
    const unsigned char *bytes = (const unsigned char *)text;
    if (size < 8)
        return "the histogram is not base64";
    if ((big_endian(bytes, 4) & ~(uint64_t)COOKIE_MASK) != COMPRESSED_COOKIE)
        return "the histogram is not a compressed one of version 2";
    uLongf length = PLAIN_BYTES;
    if (uncompress(plain, &length, bytes + 8, (uLong)(size - 8)) != Z_OK || length < HEADER_BYTES)
        return "the histogram cannot be unpacked";
    if ((big_endian(plain, 4) & ~(uint64_t)COOKIE_MASK) != COOKIE)
        return "the histogram is not of version 2";
    if (big_endian(plain + 12, 4) != 3 || big_endian(plain + 16, 8) != 1)
        return "the histogram has not 3 digits from 1 ns";
    if (big_endian(plain + 4, 4) != length - HEADER_BYTES ||
        take_counts(plain + HEADER_BYTES, plain + length, histogram) != 0)
        return "the histogram's counts do not end where they should";
    return NULL;
}

/* One line: [Tag=T,]start,length,max,payload. Its tag, and the payload in *ret_payload; NULL if it
 * is none. */
static const char *split(char *line, char **ret_payload)
{
    const char *tag = "";
    char *at = line;
    if (strncmp(line, "Tag=", 4) == 0) {
        tag = line + 4;
        at = strchr(tag, ',');
        if (at == NULL)
            return NULL;
        *at++ = '\0';
    }
    for (int i = 0; i < 3; i++) {
        at = strchr(at, ',');
        if (at == NULL)
            return NULL;
        at++;
    }
    *ret_payload = at;
    return tag;
}

int lb_hdr_log_read(const char *path, lb_hdr_line_fn *take, void *arg, struct lb_error *err)
{
    struct lb_lines lines;
    int rc = lb_lines_open(&lines, path, err);
    if (rc != 0)
        return rc;
    struct lb_histogram *histogram = lb_histogram_new();
    unsigned char *plain = malloc(PLAIN_BYTES);
    if (histogram == NULL || plain == NULL)
        rc = lb_fail(err, LB_E_MEMORY, "out of memory");
    while (rc == 0 && (rc = lb_lines_next(&lines, err)) > 0) {
        char *line = lines.text;
        rc = 0;
        line[strcspn(line, "\r")] = '\0';
        if (line[0] == '#' || line[0] == '"' || line[0] == '\0')
            continue;
        char *payload;
        const char *tag = split(line, &payload);
        lb_histogram_reset(histogram);
        const char *wrong = tag != NULL ? decode(payload, plain, histogram) : "not four fields";
        rc = wrong != NULL ? lb_fail(err, LB_E_FILE, "%s:%zu: %s", path, lines.number, wrong)
                           : take(arg, tag, histogram, err);
    }
    free(plain);
    lb_histogram_free(histogram);
    lb_lines_close(&lines);
    return rc;
}
