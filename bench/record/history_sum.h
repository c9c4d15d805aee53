/* The checksums of a history: against what is changed or zeroed in a file, by a disk, a copy that
 * was not finished or a crash of the machine. They are no protection against a forger.
 *
 * - of a chunk: over its events and its place, kept in its header with each event. It takes two
 *   multiplications, and no system call. A reader that finds n events accepts the sum of n, or of
 *   n-1: the writer was killed before it had summed the last one, nor acted on it;
 * - of the file: over its fixed fields, and over the text, each when it is set;
 * - the seal: over all the sums, when the file is closed, so that a missing chunk or log is
 *   detected. A file without seal was left by a program that was killed; there a chunk without
 *   header makes it a cut history, of which nothing is held.
 *
 * zlib's crc32 takes 7 ns for 32 bytes, and more in such small pieces; this takes 2. A change of
 * any one event, chunk or field goes unseen with a chance of about 2^-64.
 */
#ifndef LB_HISTORY_SUM_H
#define LB_HISTORY_SUM_H

#include <stddef.h>
#include <stdint.h>

/* The product's halves, together. */
static inline uint64_t lb_sum_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The constants are random; no event has the type in the last one's top byte, so that this factor
 * is never 0. */
static inline uint64_t lb_sum_mix(uint64_t sum, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return lb_sum_fold(a ^ UINT64_C(0x9e6c63d0876a9a47), b ^ UINT64_C(0xd1b54a32d192ed03)) ^
           lb_sum_fold(sum ^ c ^ UINT64_C(0x2545f4914f6cdd1d), d ^ UINT64_C(0xe7037ed1a0b428db));
}

/* The sum of a chunk without events. */
static inline uint64_t lb_chunk_sum(uint32_t log, uint32_t sequence)
{
    return lb_sum_mix(1, log, sequence, 0, 0);
}

/* Of n bytes; of the last, incomplete 32 as if zeros followed. */
uint64_t lb_bytes_sum(const void *bytes, size_t n);

/* The seal of the file of size bytes at base. Never 0, which stands for none. */
uint64_t lb_history_seal(const void *base, size_t size);
/* The same, chunk by chunk: in order of their offsets, at. */
uint64_t lb_seal_begin(const void *base);
uint64_t lb_seal_chunk(uint64_t sum, const void *base, size_t size, size_t at);
static inline uint64_t lb_seal_end(uint64_t sum)
{
    return sum != 0 ? sum : 1;
}

#endif
