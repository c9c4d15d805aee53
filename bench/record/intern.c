/* Numbers for names: see intern.h. */
#include "intern.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h)
{
    /* The finisher of MurmurHash3: every bit of the key reaches the low bits. */
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static uint64_t hash_of(const char *text, size_t length)
{
    if (text == NULL)
        return mix(length);
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return mix(h);
}

static struct lb_intern_slot *find(const struct lb_intern *intern, const char *text, size_t length)
{
    size_t i = (size_t)hash_of(text, length) & (intern->size - 1);
    for (;; i = (i + 1) & (intern->size - 1)) {
        struct lb_intern_slot *slot = &intern->slots[i];
        if (slot->number_1 == 0)
            return slot;
        if (slot->length == length && (slot->text == NULL) == (text == NULL) &&
            (text == NULL || memcmp(slot->text, text, length) == 0))
            return slot;
    }
}

static void grow(struct lb_intern *intern)
{
    struct lb_intern bigger = {.size = intern->size > 0 ? intern->size * 2 : 64, .n = intern->n};
    bigger.slots = lb_calloc(bigger.size, sizeof *bigger.slots);
    for (size_t i = 0; i < intern->size; i++)
        if (intern->slots[i].number_1 != 0)
            *find(&bigger, intern->slots[i].text, intern->slots[i].length) = intern->slots[i];
    free(intern->slots);
    *intern = bigger;
}

uint32_t lb_intern_text(struct lb_intern *intern, const char *text, size_t length)
{
    if ((size_t)intern->n * 2 >= intern->size)
        grow(intern);
    struct lb_intern_slot *slot = find(intern, text, length);
    if (slot->number_1 == 0) {
        char *copy = text != NULL ? lb_copy(text, length, 1) : NULL;
        *slot = (struct lb_intern_slot){copy, length, ++intern->n};
    }
    return slot->number_1 - 1;
}

const struct lb_intern_slot *lb_intern_slot_of(const struct lb_intern *intern, uint32_t number)
{
    for (size_t i = 0; i < intern->size; i++)
        if (intern->slots[i].number_1 == number + 1)
            return &intern->slots[i];
    return NULL;
}

uint32_t lb_intern_number(struct lb_intern *intern, uint64_t key)
{
    return lb_intern_text(intern, NULL, (size_t)key);
}

void lb_intern_release(struct lb_intern *intern)
{
    for (size_t i = 0; i < intern->size; i++)
        free(intern->slots[i].text);
    free(intern->slots);
    *intern = (struct lb_intern){0};
}
