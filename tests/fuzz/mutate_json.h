/* Mutations of a JSON document: what a fuzzer of bytes nearly never makes of a valid one is another
 * valid one. Include it in one target of JSON documents; the fuzzer finds the functions by name.
 *
 * A slot is a value in an object or an array. A mutation removes, copies, replaces, wraps or
 * repeats its contents, or moves them to another key. Other input is mutated as bytes.
 */
#ifndef LB_FUZZ_MUTATE_JSON_H
#define LB_FUZZ_MUTATE_JSON_H

#include "random.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t max_size, unsigned seed);

enum { FUZZ_SLOTS = 4096 };

struct fuzz_slot {
    json_t *in;
    const char *key; /* NULL: in is an array */
    size_t index;
    json_t *value;
};

struct fuzz_slots {
    struct fuzz_slot slot[FUZZ_SLOTS];
    size_t n;
};

static void fuzz_collect(struct fuzz_slots *slots, json_t *in)
{
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach(in, key, value)
    {
        if (slots->n < FUZZ_SLOTS)
            slots->slot[slots->n++] = (struct fuzz_slot){in, key, 0, value};
        fuzz_collect(slots, value);
    }
    json_array_foreach(in, i, value)
    {
        if (slots->n < FUZZ_SLOTS)
            slots->slot[slots->n++] = (struct fuzz_slot){in, NULL, i, value};
        fuzz_collect(slots, value);
    }
}

/* Takes value over. */
static void fuzz_put(const struct fuzz_slot *slot, json_t *value)
{
    if (value == NULL)
        return;
    if (slot->key != NULL)
        json_object_set_new(slot->in, slot->key, value);
    else
        json_array_set_new(slot->in, slot->index, value);
}

static json_t *fuzz_odd_value(struct lb_random *random)
{
    static const json_int_t integers[] = {
        0, 1, -1, 2, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, (json_int_t)1 << 53};
    static const double reals[] = {0.0, -0.0, 0.5, 1e-308, 1e308, -1e308, 1.0000000000000002};
    static const char *const texts[] = {
        "",         "/",   "../x",     "\x1b[31m", "=1+1", "<b>", "a\nb",        "%n",   "\u202e|x",
        "not ok 1", "nan", "violated", "queue",    "-",    "`x`", "\\u0000 \"'", "9e99", "held"};
    switch (lb_random_below(random, 8)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(lb_random_below(random, 2) != 0);
    case 2:
        return json_array();
    case 3:
        return json_object();
    case 4:
        return json_real(reals[lb_random_below(random, sizeof reals / sizeof reals[0])]);
    case 5:
        return json_string(texts[lb_random_below(random, sizeof texts / sizeof texts[0])]);
    default:
        return json_integer(
            integers[lb_random_below(random, sizeof integers / sizeof integers[0])]);
    }
}

static json_t *fuzz_near_value(const json_t *value, struct lb_random *random)
{
    if (json_is_integer(value))
        return json_integer(
            (json_int_t)((uint64_t)json_integer_value(value) + lb_random_below(random, 5) - 2));
    if (json_is_real(value))
        return json_real(json_real_value(value) * (lb_random_unit(random) * 4 - 2));
    if (!json_is_string(value))
        return fuzz_odd_value(random);
    uint8_t text[512];
    size_t n = json_string_length(value);
    n = n < sizeof text ? n : sizeof text;
    memcpy(text, json_string_value(value), n);
    return json_stringn((const char *)text, LLVMFuzzerMutate(text, n, sizeof text));
}

static void fuzz_repeat(const struct fuzz_slot *slot, struct lb_random *random)
{
    size_t n = 1 + lb_random_below(random, lb_random_below(random, 8) == 0 ? 200 : 4);
    for (size_t i = 0; i < n && slot->key == NULL; i++)
        json_array_append_new(slot->in, json_deep_copy(slot->value));
}

static void fuzz_mutate_once(json_t *root, struct lb_random *random)
{
    static struct fuzz_slots slots;
    slots.n = 0;
    fuzz_collect(&slots, root);
    if (slots.n == 0)
        return;
    const struct fuzz_slot *slot = &slots.slot[lb_random_below(random, slots.n)];
    const struct fuzz_slot *other = &slots.slot[lb_random_below(random, slots.n)];
    switch (lb_random_below(random, 8)) {
    case 0:
        if (slot->key != NULL)
            json_object_del(slot->in, slot->key);
        else
            json_array_remove(slot->in, slot->index);
        break;
    case 1:
        fuzz_put(slot, json_deep_copy(other->value));
        break;
    case 2:
        fuzz_put(slot, json_pack("[O]", slot->value));
        break;
    case 3:
        if (slot->key != NULL && other->key != NULL)
            json_object_set_new(slot->in, other->key, json_deep_copy(slot->value));
        break;
    case 4:
        fuzz_repeat(slot, random);
        break;
    case 5:
        fuzz_put(slot, fuzz_odd_value(random));
        break;
    default:
        fuzz_put(slot, fuzz_near_value(slot->value, random));
    }
}

/* Frees root. Returns 0 where it does not fit. */
static size_t fuzz_dump(json_t *root, uint8_t *out, size_t max_size)
{
    size_t n = json_dumpb(root, (char *)out, max_size, JSON_COMPACT);
    json_decref(root);
    return n <= max_size ? n : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    json_t *root = lb_random_below(&random, 16) > 0
                       ? json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL)
                       : NULL;
    if (root == NULL)
        return LLVMFuzzerMutate(data, size, max_size);
    for (size_t n = 1 + lb_random_below(&random, 3); n > 0; n--)
        fuzz_mutate_once(root, &random);
    size_t n = fuzz_dump(root, data, max_size);
    return n > 0 ? n : 1;
}

/* The first document with a value of the second in it. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t max_size, unsigned seed)
{
    static struct fuzz_slots to, from;
    struct lb_random random;
    lb_random_init(&random, seed, 1);
    json_t *root = json_loadb((const char *)data1, size1, JSON_REJECT_DUPLICATES, NULL);
    json_t *other = json_loadb((const char *)data2, size2, JSON_REJECT_DUPLICATES, NULL);
    to.n = from.n = 0;
    if (root != NULL && other != NULL) {
        fuzz_collect(&to, root);
        fuzz_collect(&from, other);
    }
    if (to.n > 0 && from.n > 0)
        fuzz_put(&to.slot[lb_random_below(&random, to.n)],
                 json_deep_copy(from.slot[lb_random_below(&random, from.n)].value));
    json_decref(other);
    return root != NULL ? fuzz_dump(root, out, max_size) : 0;
}

#endif
