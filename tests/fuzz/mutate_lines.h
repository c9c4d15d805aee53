/* Mutations of a text of lines, "key = value" or "-- key: value" among them: whole lines and whole
 * values are removed, repeated, moved and exchanged, beside what a fuzzer does with bytes. Include
 * it in one target; the fuzzer finds the function by name.
 */
#ifndef LB_FUZZ_MUTATE_LINES_H
#define LB_FUZZ_MUTATE_LINES_H

#include "random.h"

#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { FUZZ_LINES = 512, FUZZ_TEXT = 1 << 16 };

/* A part of the text. */
struct fuzz_part {
    size_t at, n;
};

struct fuzz_lines {
    struct fuzz_part line[FUZZ_LINES]; /* each with its newline */
    size_t n;
};

static void fuzz_split(struct fuzz_lines *lines, const uint8_t *data, size_t size)
{
    size_t at = 0;
    for (lines->n = 0; at < size && lines->n < FUZZ_LINES; lines->n++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t n = end != NULL ? (size_t)(end - data) + 1 - at : size - at;
        lines->line[lines->n] = (struct fuzz_part){at, n};
        at += n;
    }
}

/* The text after the first '=' or ':' of a line, without the newline. */
static struct fuzz_part fuzz_value_of(const uint8_t *data, struct fuzz_part line)
{
    size_t end = line.at + line.n, at = line.at;
    end -= end > at && data[end - 1] == '\n';
    while (at < end && data[at] != '=' && data[at] != ':')
        at++;
    at += at < end;
    return (struct fuzz_part){at, end - at};
}

/* Puts n bytes in the place of a part. Returns the new size; the old one if there is no room. */
static size_t fuzz_replace(uint8_t *data, size_t size, size_t max_size, struct fuzz_part part,
                           const void *bytes, size_t n)
{
    if (size - part.n + n > max_size)
        return size;
    memmove(data + part.at + n, data + part.at + part.n, size - part.at - part.n);
    memcpy(data + part.at, bytes, n);
    return size - part.n + n;
}

static size_t fuzz_mutate_line(uint8_t *data, size_t size, size_t max_size,
                               struct lb_random *random)
{
    static const char *const odd[] = {
        " 0",         " -1",  " 1",         "",        " 18446744073709551616",
        " 1e309",     " nan", " 99999999h", " 1s",     " none",
        " ,",         " 1,2", " \"",        " \x1b[m", " %s",
        " lock",      " =",   " a..b",      "\t",      " 1k",
        " 0.0000001", " 1:2", " :",         " queue"};
    static struct fuzz_lines lines;
    static uint8_t copy[FUZZ_TEXT];
    fuzz_split(&lines, data, size);
    if (lines.n == 0 || size > sizeof copy)
        return LLVMFuzzerMutate(data, size, max_size);
    struct fuzz_part line = lines.line[lb_random_below(random, lines.n)];
    struct fuzz_part other = lines.line[lb_random_below(random, lines.n)];
    struct fuzz_part value = fuzz_value_of(data, line), source = fuzz_value_of(data, other);
    memcpy(copy, data, size);
    const char *text = odd[lb_random_below(random, sizeof odd / sizeof odd[0])];
    switch (lb_random_below(random, 8)) {
    case 0: /* remove */
        return fuzz_replace(data, size, max_size, line, "", 0);
    case 1: /* a line once more, somewhere else */
        return fuzz_replace(data, size, max_size, (struct fuzz_part){other.at, 0}, copy + line.at,
                            line.n);
    case 2: /* another in its place */
        return fuzz_replace(data, size, max_size, line, copy + other.at, other.n);
    case 3: /* another's value */
        return fuzz_replace(data, size, max_size, value, copy + source.at, source.n);
    case 4:
    case 5:
        return fuzz_replace(data, size, max_size, value, text, strlen(text));
    case 6: { /* the value's own bytes */
        uint8_t bytes[256];
        size_t n = value.n < sizeof bytes ? value.n : sizeof bytes;
        memcpy(bytes, data + value.at, n);
        value.n = n;
        n = LLVMFuzzerMutate(bytes, n, sizeof bytes);
        return fuzz_replace(data, size, max_size, value, bytes, n);
    }
    default:
        return LLVMFuzzerMutate(data, size, max_size);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    for (size_t n = 1 + lb_random_below(&random, 3); n > 0; n--)
        size = fuzz_mutate_line(data, size, max_size, &random);
    return size > 0 ? size : 1;
}

#endif
