/* Sorting by 64-bit keys in linear time: least significant digit first, 11 bits a digit, stable.
 * Digits that all keys share cost nothing, so ids below 2^22 take two passes and the times of a run
 * of an hour four.
 */
#include "judges.h"

#include <stdlib.h>

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, DIGITS = 6, FEW = 64 };

static void sort_few(struct lb_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct lb_key key = keys[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1].key > key.key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static size_t digit_of(uint64_t key, unsigned digit)
{
    return (size_t)(key >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1);
}

static void scatter(const struct lb_key *from, struct lb_key *to, size_t n, unsigned digit,
                    uint32_t *counts)
{
    uint32_t sum = 0;
    for (size_t v = 0; v < DIGIT_VALUES; v++) {
        uint32_t count = counts[v];
        counts[v] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[counts[digit_of(from[i].key, digit)]++] = from[i];
}

void lb_sort(struct lb_key *keys, size_t n)
{
    if (n <= FEW) {
        sort_few(keys, n);
        return;
    }
    if (n >= UINT32_MAX) /* more than an index can name */
        lb_memory_exhausted(n * sizeof *keys);
    uint32_t(*counts)[DIGIT_VALUES] = lb_calloc(DIGITS, sizeof *counts);
    struct lb_key *spare = lb_malloc(n * sizeof *spare);
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        for (unsigned d = 0; d < DIGITS; d++)
            counts[d][digit_of(keys[i].key, d)]++;
        sorted = sorted && (i == 0 || keys[i - 1].key <= keys[i].key);
    }
    struct lb_key *from = keys, *to = spare;
    for (unsigned d = 0; d < DIGITS && !sorted; d++) {
        if (counts[d][digit_of(keys[0].key, d)] == n)
            continue; /* the same digit everywhere */
        scatter(from, to, n, d, counts[d]);
        struct lb_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
    free(spare);
    free(counts);
}
