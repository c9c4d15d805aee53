/* See history_sum.h. */
#include "history_file.h"

#include <string.h>

uint64_t lb_bytes_sum(const void *bytes, size_t n)
{
    uint64_t sum = n + 1;
    for (size_t i = 0; i < n; i += 32) {
        uint64_t words[4] = {0};
        memcpy(words, (const char *)bytes + i, n - i < sizeof words ? n - i : sizeof words);
        sum = lb_sum_mix(sum, words[0], words[1], words[2], words[3]);
    }
    return sum;
}

uint64_t lb_seal_begin(const void *base)
{
    return lb_bytes_sum(base, offsetof(struct lb_file_header, seal));
}

uint64_t lb_seal_chunk(uint64_t sum, const void *base, size_t size, size_t at)
{
    size_t n = size - at < LB_CHUNK_HEADER_BYTES ? size - at : LB_CHUNK_HEADER_BYTES;
    return lb_sum_mix(sum, at, lb_bytes_sum((const char *)base + at, n), 0, 0);
}

uint64_t lb_history_seal(const void *base, size_t size)
{
    uint64_t sum = lb_seal_begin(base);
    for (size_t at = LB_HISTORY_HEADER_BYTES; at < size; at += LB_CHUNK_BYTES)
        sum = lb_seal_chunk(sum, base, size, at);
    return lb_seal_end(sum);
}
