/* Names of items and resources: see names.h. */
#include "names.h"

#include "history.h"
#include "interchange.h"
#include "memory.h"
#include "text_clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lb_names *lb_names_new(void)
{
    return lb_calloc(1, sizeof(struct lb_names));
}

void lb_names_free(struct lb_names *names)
{
    if (names == NULL)
        return;
    lb_intern_release(&names->objects);
    lb_intern_release(&names->items);
    lb_intern_release(&names->keys);
    free(names);
}

/* --- escapes --- */

static uint32_t read_hex(const char *digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value * 16 +
                (uint32_t)(digits[i] <= '9' ? digits[i] - '0' : (digits[i] | 32) - 'a' + 10);
    return value;
}

static char *write_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code >= 0x10000)
        *out++ = (char)(0xf0 | code >> 18);
    if (code >= 0x800)
        *out++ = (char)(code >= 0x10000 ? 0x80 | (code >> 12 & 0x3f) : 0xe0 | code >> 12);
    *out++ = (char)(code >= 0x800 ? 0x80 | (code >> 6 & 0x3f) : 0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
    return out;
}

/* The character of a \u and its four digits; two of them may be one character. */
static const char *read_unicode(const char *p, const char *end, char **out)
{
    uint32_t code = read_hex(p + 1), low;
    p += 5;
    if (code >= 0xd800 && code < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        low = read_hex(p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
    }
    *out = write_utf8(*out, code);
    return p;
}

size_t lb_names_unescape(const char *text, size_t length, char *buf)
{
    static const char letters[] = "bfnrt", codes[] = "\b\f\n\r\t";
    const char *end = text + length;
    char *out = buf;
    for (const char *p = text; p < end;) {
        if (*p != '\\' || p + 1 == end) {
            *out++ = *p++;
            continue;
        }
        p++;
        if (*p == 'u' && end - p >= 5) {
            p = read_unicode(p, end, &out);
            continue;
        }
        const char *letter = memchr(letters, *p, sizeof letters - 1);
        *out++ = letter != NULL ? codes[letter - letters] : *p;
        p++;
    }
    return (size_t)(out - buf);
}

uint32_t lb_names_number(struct lb_intern *table, const struct lb_raw *value)
{
    bool is_text = value->kind == LB_RAW_NAME || value->kind == LB_RAW_STRING;
    if (value->kind == LB_RAW_INTEGER)
        return lb_intern_number(table, (uint64_t)value->integer);
    const char *text = value->text - is_text;
    size_t length = value->length + is_text;
    if (text[0] != '"' || memchr(text, '\\', length) == NULL)
        return lb_intern_text(table, text, length);
    char *plain = lb_malloc(length);
    uint32_t number = lb_intern_text(table, plain, lb_names_unescape(text, length, plain));
    free(plain);
    return number;
}

/* --- for people --- */

/* number: in the table; a number that is in none is its own name. */
static const char *name_of(const struct lb_intern *table, uint64_t number, uint64_t id, char *buf,
                           size_t size)
{
    const struct lb_intern_slot *slot =
        table != NULL && number < table->n ? lb_intern_slot_of(table, (uint32_t)number) : NULL;
    if (slot == NULL)
        snprintf(buf, size, "%lld", (long long)id);
    else if (slot->text == NULL)
        snprintf(buf, size, "%lld", (long long)slot->length);
    else if (slot->text[0] == '"')
        snprintf(buf, size, "%.*s\"", (int)(slot->length < size - 2 ? slot->length : size - 2),
                 slot->text);
    else
        snprintf(buf, size, "%.*s", (int)(slot->length < size ? slot->length : size), slot->text);
    return lb_clean_text(buf);
}

const char *lb_item_name(const struct lb_names *names, uint64_t id, char *buf, size_t size)
{
    return name_of(names != NULL ? &names->items : NULL, id - (UINT64_C(1) << 63), id, buf, size);
}

const char *lb_key_name(const struct lb_names *names, uint32_t key, char *buf, size_t size)
{
    const uint32_t first = UINT32_C(1) << 31;
    return name_of(names != NULL && key >= first ? &names->keys : NULL, key - first, key, buf,
                   size);
}
