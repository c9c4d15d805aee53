/* Memory, options and sections of a program that is built: see program_building.h. */
#include "program_building.h"

#include "append.h"
#include "memory.h"
#include "nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 16384 };

void *lb_arena_alloc(struct lb_arena *arena, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (arena->chunks == NULL || arena->chunks->size - arena->chunks->used < size) {
        size_t room = size > ARENA_BYTES ? size : ARENA_BYTES;
        struct lb_chunk *chunk = lb_malloc(sizeof *chunk + room);
        *chunk = (struct lb_chunk){.next = arena->chunks, .size = room};
        arena->chunks = chunk;
    }
    void *p = arena->chunks->bytes + arena->chunks->used;
    arena->chunks->used += size;
    return p;
}

char *lb_arena_copy(struct lb_arena *arena, const char *text, size_t length)
{
    char *copy = lb_arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void lb_arena_free(struct lb_chunk *chunk)
{
    while (chunk != NULL) {
        struct lb_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void lb_growing_add(struct lb_growing *text, const char *bytes, size_t n)
{
    if (text->length + n > text->size) {
        text->size = (text->length + n) * 2 + 256;
        text->bytes = lb_realloc(text->bytes, text->size, 1);
    }
    memcpy(text->bytes + text->length, bytes, n);
    text->length += n;
}

/* --- options --- */

/* "share row exclusive" is also share-row-exclusive and Share_Row_Exclusive. */
static bool choice_is(const char *choice, const char *text, size_t length)
{
    if (strlen(choice) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char a = (char)tolower((unsigned char)choice[i]);
        char c = (char)tolower((unsigned char)text[i]);
        if (a != c && !((a == ' ' || a == '-' || a == '_') && (c == ' ' || c == '-' || c == '_')))
            return false;
    }
    return true;
}

bool lb_building_is_integer(const char *text, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || isspace((unsigned char)*text))
        return false;
    *ret = value;
    return true;
}

int lb_building_option(const struct lb_building *b, const char *name, size_t length)
{
    for (size_t i = 0; i < b->n_options; i++)
        if (lb_slice_is(name, length, b->options[i]->name))
            return (int)i;
    return -1;
}

int lb_building_add_options(struct lb_building *b, const struct lb_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (lb_building_option(b, options->name, strlen(options->name)) >= 0)
            return lb_fail(b->err, LB_E_FILE, "%s: option %s is declared twice", b->file->origin,
                           options->name);
        if (b->n_options == sizeof b->options / sizeof b->options[0])
            return lb_fail(b->err, LB_E_FILE, "%s: too many options", b->file->origin);
        b->options[b->n_options] = options;
        b->resolved[b->n_options].name = options->name;
        b->resolved[b->n_options++].value = options->default_value;
    }
    return 0;
}

static int refuse_value(struct lb_building *b, const struct lb_option *option, const char *value)
{
    char list[400] = "";
    for (size_t i = 0; option->choices[i] != NULL; i++)
        lb_append(list, sizeof list, "%s%s", i > 0 ? ", " : "", option->choices[i]);
    return lb_fail(b->err, LB_E_USAGE, "option %s: \"%.100s\" is none of: %s", option->name, value,
                   list);
}

int lb_building_set_option(struct lb_building *b, const struct lb_setting *setting)
{
    int64_t number;
    int i = lb_building_option(b, setting->name, strlen(setting->name));
    if (i < 0) {
        char near[200];
        struct lb_nearest nearest;
        lb_nearest_init(&nearest, setting->name);
        for (size_t k = 0; k < b->n_options; k++)
            lb_nearest_offer(&nearest, b->options[k]->name);
        return lb_fail(b->err, LB_E_USAGE, "the strategy has no option \"%.60s\"%s", setting->name,
                       lb_nearest_text(&nearest, near, sizeof near));
    }
    const struct lb_option *option = b->options[i];
    b->resolved[i].value = setting->value;
    if (option->choices == NULL) {
        if (lb_building_is_integer(option->default_value, &number) &&
            !lb_building_is_integer(setting->value, &number))
            return lb_fail(b->err, LB_E_USAGE, "option %s: \"%.100s\" is not a whole number",
                           option->name, setting->value);
        return 0;
    }
    for (size_t k = 0; option->choices[k] != NULL; k++)
        if (choice_is(option->choices[k], setting->value, strlen(setting->value))) {
            b->resolved[i].value = option->choices[k];
            return 0;
        }
    return refuse_value(b, option, setting->value);
}

void lb_building_keep_settings(struct lb_building *b)
{
    struct lb_setting *kept = lb_arena_alloc(&b->arena, (b->n_options + 1) * sizeof *kept);
    for (size_t i = 0; i < b->n_options; i++) {
        const struct lb_setting *s = &b->resolved[i];
        kept[i].name = lb_arena_copy(&b->arena, s->name, strlen(s->name));
        kept[i].value = lb_arena_copy(&b->arena, s->value, strlen(s->value));
        b->resolved[i] = kept[i];
    }
    b->program->settings = kept;
    b->program->n_settings = b->n_options;
}

/* --- choosing sections --- */

/* 1: holds, 0: does not, negative: a mistake in the file. */
static int condition_holds(struct lb_building *b, const struct lb_raw_section *section,
                           const struct lb_condition *condition)
{
    int i = lb_building_option(b, condition->name, condition->name_length);
    if (i < 0)
        return lb_file_fail(
            b->file, section->line, b->err, "section %s: when %.*s: there is no such option",
            lb_section_text(section->name), (int)condition->name_length, condition->name);
    const struct lb_option *option = b->options[i];
    const char *values = condition->values, *item;
    size_t left = condition->values_length, length;
    bool found = false;
    while (lb_slice_next(&values, &left, '|', &item, &length)) {
        bool is_choice = option->choices == NULL;
        for (size_t k = 0; !is_choice && option->choices[k] != NULL; k++)
            is_choice = choice_is(option->choices[k], item, length);
        if (!is_choice)
            return lb_file_fail(b->file, section->line, b->err,
                                "section %s: when %s=%.*s: the option has no such value",
                                lb_section_text(section->name), option->name, (int)length, item);
        found = found || choice_is(b->resolved[i].value, item, length);
    }
    return found != condition->negated;
}

static int section_applies(struct lb_building *b, const struct lb_raw_section *section)
{
    bool applies = lb_raw_section_for(section, b->db);
    for (size_t i = 0; i < section->n_conditions; i++) {
        int r = condition_holds(b, section, &section->conditions[i]);
        if (r < 0)
            return r;
        applies = applies && r;
    }
    return applies;
}

/* Of the section's variants for this engine the one that fails in the fewest conditions; NULL:
 * there is none. A number is changed rather than a choice, which is another form of the protocol.
 */
static const struct lb_raw_section *nearest_variant(struct lb_building *b,
                                                    enum lb_section_name name)
{
    const struct lb_raw_section *nearest = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < b->file->n_sections; i++) {
        const struct lb_raw_section *section = &b->file->sections[i];
        size_t n = 0;
        if (section->name != name || !lb_raw_section_for(section, b->db))
            continue;
        for (size_t k = 0; k < section->n_conditions; k++) {
            const struct lb_condition *condition = &section->conditions[k];
            int option = lb_building_option(b, condition->name, condition->name_length);
            if (condition_holds(b, section, condition) != 1)
                n += b->options[option]->choices != NULL ? 2 : 1;
        }
        if (n < fewest) {
            fewest = n;
            nearest = section;
        }
    }
    return nearest;
}

/* Finds the options that exclude a required section, and the values that would include it.
 */
static int no_variant(struct lb_building *b, enum lb_section_name name)
{
    const struct lb_raw_section *nearest = nearest_variant(b, name);
    char has[200] = "", wants[200] = "";
    char version[32];
    if (nearest == NULL)
        return lb_fail(b->err, LB_E_UNSUPPORTED, "%s: there is no section %s for %s%s",
                       b->file->origin, lb_section_text(name), b->db->name,
                       lb_raw_version(b->db, version, sizeof version));
    for (size_t i = 0; i < nearest->n_conditions; i++) {
        const struct lb_condition *condition = &nearest->conditions[i];
        if (condition_holds(b, nearest, condition) == 1)
            continue;
        int option = lb_building_option(b, condition->name, condition->name_length);
        const char *bar = memchr(condition->values, '|', condition->values_length);
        size_t length = bar != NULL ? (size_t)(bar - condition->values) : condition->values_length;
        lb_append(has, sizeof has, "%s%s=%s", has[0] != '\0' ? " " : "", b->options[option]->name,
                  b->resolved[option].value);
        lb_append(wants, sizeof wants,
                  condition->negated ? " another %s than %.*s" : " --opt %s=%.*s",
                  b->options[option]->name, (int)length, condition->values);
    }
    return lb_fail(b->err, LB_E_UNSUPPORTED,
                   "%s: no section %s applies to %s with %s; the nearest, in line %d, wants%s",
                   b->file->origin, lb_section_text(name), b->db->name, has, nearest->line, wants);
}

int lb_building_choose(struct lb_building *b)
{
    const struct lb_file *file = b->file;
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct lb_raw_section *section = &file->sections[i];
        int r = section_applies(b, section);
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        const struct lb_raw_section **chosen = &b->chosen[section->name];
        if (*chosen != NULL)
            return lb_file_fail(file, section->line, b->err,
                                "section %s applies to %s as well as the one in line %d does",
                                lb_section_text(section->name), b->db->name, (*chosen)->line);
        *chosen = section;
    }
    size_t n;
    const enum lb_section_name *required = lb_required_sections(file->shape, &n);
    for (size_t i = 0; i < n; i++)
        if (b->chosen[required[i]] == NULL)
            return no_variant(b, required[i]);
    return 0;
}
