/* The reader of .hlog files against anything. A histogram in one is compressed and in base64, which
 * no fuzzer gets right: with an even first byte the rest is the histogram, and is packed here.
 */
#include "hdr.h"
#include "memfile.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *arg, const char *tag, const struct lb_histogram *histogram,
                struct lb_error *err)
{
    (void)arg;
    (void)tag;
    (void)err;
    if (lb_histogram_quantile(histogram, 0.5) > lb_histogram_quantile(histogram, 1.0))
        abort();
    return 0;
}

static size_t encode(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *at = out;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            *at++ = i + (size_t)k > n ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    return (size_t)(at - out);
}

/* "Tag=a,0,1,1,PAYLOAD" with the bytes as a histogram of version 2. */
static size_t pack(const uint8_t *data, size_t size, char *out)
{
    static const uint8_t header[] = {0x1c, 0x84, 0x93, 0x14};
    uint8_t packed[1 << 14];
    uLongf n = sizeof packed - 8;
    if (compress(packed + 8, &n, data, size) != Z_OK)
        abort();
    memcpy(packed, header, 4);
    for (int i = 0; i < 4; i++)
        packed[4 + i] = (uint8_t)(n >> (24 - 8 * i));
    size_t used = (size_t)sprintf(out, "Tag=a,0,1,1,");
    return used + encode(packed, n + 8, out + used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_memfile file;
    static char line[1 << 15];
    struct lb_error err = {0};
    if (size > 0 && size <= 8192 && data[0] % 2 == 0) {
        size = pack(data + 1, size - 1, line);
        data = (const uint8_t *)line;
    }
    const char *path = fuzz_memfile_fill(&file, data, size);
    if (lb_hdr_log_read(path, take, NULL, &err) != 0 &&
        (err.code != LB_E_FILE || strncmp(err.message, path, strlen(path)) != 0))
        abort();
    return 0;
}
