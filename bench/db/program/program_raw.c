/* What every reader of a statement file needs: its errors, its directives, its sections, and the
 * parameters that lockbench fills.
 *
 * A comment line is a directive when its first word is one of the keys below, with a colon. A key
 * that is nearly one is an error and not a comment, because a misspelt `-- on_error:` would
 * otherwise change what a protocol does without a word. Text in parentheses at the end of a line
 * is a remark; behind an option it is the option's help.
 */
#include "program_raw.h"

#include "units.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const keys[] = {
    "strategy",  "shape",     "claims",  "isolation", "option",   "needs", "origin",
    "summary",   "name",      "require", "answer",    "on-error", "lease", "limit",
    "if",        "else",      "on",      "pipeline",  "attempts", "rows",  "due",
    "precision", "key-limit", "unique",  "priority",  "rate",     "share",
};

int lb_file_fail(const struct lb_file *file, int line, struct lb_error *err, const char *format,
                 ...)
{
    char text[sizeof err->message - 200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return lb_fail(err, LB_E_FILE, "%.150s:%d: %s", file->origin, line, text);
}

const char *lb_file_string(struct lb_file *file, const char *text, size_t length)
{
    char *copy = file->strings + file->strings_used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    file->strings_used += length + 1;
    return copy;
}

bool lb_directive_is(const struct lb_directive *directive, const char *key)
{
    return lb_slice_is(directive->key, directive->key_length, key);
}

/* Takes a remark in parentheses off the end of the value. */
static void cut_remark(struct lb_directive *directive)
{
    const char *value = directive->value;
    size_t n = directive->value_length;
    if (n == 0 || value[n - 1] != ')')
        return;
    for (size_t i = 0; i < n; i++) {
        if (value[i] == '(' && (i == 0 || isspace((unsigned char)value[i - 1]))) {
            directive->remark = value + i + 1;
            directive->remark_length = n - i - 2;
            directive->value_length = i;
            lb_slice_trim(&directive->value, &directive->value_length);
            return;
        }
    }
}

/* 0 for an ordinary comment, -1 for a key that was probably meant to be one of ours. */
static int judge_unknown(const struct lb_file *file, const struct lb_directive *directive,
                         struct lb_error *err)
{
    char word[24];
    if (directive->key_length >= sizeof word)
        return 0;
    memcpy(word, directive->key, directive->key_length);
    word[directive->key_length] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i]) < 4) /* as many words are */
            continue;
        unsigned distance = lb_edit_distance(word, keys[i]);
        if (distance <= (strlen(keys[i]) > 5 ? 2 : 1)) {
            lb_file_fail(file, directive->line, err,
                         "unknown directive \"%s:\"; did you mean \"%s:\"?", word, keys[i]);
            return -1;
        }
    }
    return 0;
}

int lb_directive_read(const struct lb_file *file, const struct lb_token *comment,
                      struct lb_directive *ret, struct lb_error *err)
{
    const char *text = comment->text + 2;
    size_t length = comment->length - 2;
    lb_slice_trim(&text, &length);
    size_t n = 0;
    while (n < length && (isalpha((unsigned char)text[n]) || text[n] == '-' || text[n] == '_'))
        n++;
    bool is_else = n == length && lb_slice_is(text, n, "else"); /* no key and value */
    if (!comment->first_on_line || n == 0 || (!is_else && (n == length || text[n] != ':')))
        return 0;
    *ret = (struct lb_directive){.key = text,
                                 .key_length = n,
                                 .value = text + n + !is_else,
                                 .value_length = length - n - !is_else,
                                 .line = comment->line};
    lb_slice_trim(&ret->value, &ret->value_length);
    bool is_known = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        is_known = is_known || lb_directive_is(ret, keys[i]);
    if (!is_known)
        return judge_unknown(file, ret, err);
    /* Prose may end in parentheses of its own. */
    if (!lb_directive_is(ret, "summary") && !lb_directive_is(ret, "origin"))
        cut_remark(ret);
    return 1;
}

static size_t blanks(const char *text, size_t length, size_t at)
{
    while (at < length && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at;
}

/* "10.11" as 10011; -1: no number. */
static int read_version(const char *text, size_t length, size_t *at)
{
    int part[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        size_t from = *at;
        while (*at < length && isdigit((unsigned char)text[*at]) && *at - from < 3)
            part[i] = part[i] * 10 + (text[(*at)++] - '0');
        if (*at == from)
            return -1;
        if (*at == length || text[*at] != '.')
            break;
        (*at)++;
    }
    return part[0] * 1000 + part[1];
}

bool lb_raw_engine(const char *item, size_t length, int version, size_t *ret_name,
                   bool *ret_applies)
{
    size_t at = 0;
    while (at < length && isalnum((unsigned char)item[at]))
        at++;
    *ret_name = at;
    *ret_applies = true;
    while ((at = blanks(item, length, at)) < length) {
        bool is_least = length - at > 1 && item[at] == '>' && item[at + 1] == '=';
        if (!is_least && item[at] != '<')
            return false;
        at = blanks(item, length, at + (is_least ? 2 : 1));
        int bound = read_version(item, length, &at);
        if (bound < 0)
            return false;
        if ((version == 0 || version >= bound) != is_least)
            *ret_applies = false;
    }
    return true;
}

char *lb_raw_version(const struct lb_db *db, char *buf, size_t size)
{
    buf[0] = '\0';
    if (db->version > 0)
        snprintf(buf, size, " %d.%d", db->version / 1000, db->version % 1000);
    return buf;
}

bool lb_file_names_versions(const struct lb_file *file)
{
    bool names = false;
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct lb_raw_section *section = &file->sections[i];
        names |= section->engines != NULL &&
                 (memchr(section->engines, '<', section->engines_length) != NULL ||
                  memchr(section->engines, '>', section->engines_length) != NULL);
    }
    return names;
}

bool lb_raw_section_for(const struct lb_raw_section *section, const struct lb_db *db)
{
    if (section->engines == NULL)
        return true;
    const char *text = section->engines, *item;
    size_t left = section->engines_length, length, n;
    bool applies;
    while (lb_slice_next(&text, &left, ',', &item, &length))
        if (lb_raw_engine(item, length, db->version, &n, &applies) && applies &&
            lb_slice_is(item, n, db->name))
            return true;
    return false;
}

const struct lb_raw_section *lb_raw_of(const struct lb_file *file, const struct lb_section *section)
{
    for (size_t i = 0; i < file->n_sections && section->present; i++)
        if (file->sections[i].line == section->line)
            return &file->sections[i];
    return NULL;
}

bool lb_file_has(const struct lb_file *file, enum lb_section_name name)
{
    for (size_t i = 0; i < file->n_sections; i++)
        if (file->sections[i].name == name)
            return true;
    return false;
}

static const enum lb_section_name required_lock[] = {LB_S_SETUP, LB_S_ACQUIRE, LB_S_RELEASE};
static const enum lb_section_name required_queue[] = {LB_S_SETUP, LB_S_PUT, LB_S_CLAIM,
                                                      LB_S_COMPLETE};

const enum lb_section_name *lb_required_sections(enum lb_shape shape, size_t *ret_n)
{
    if (shape == LB_LOCK) {
        *ret_n = sizeof required_lock / sizeof required_lock[0];
        return required_lock;
    }
    *ret_n = sizeof required_queue / sizeof required_queue[0];
    return required_queue;
}

const struct lb_fixed_slot lb_fixed_slots[LB_SLOT_FIXED] = {
    [LB_SLOT_WORKER] = {"worker", LB_TEXT},
    [LB_SLOT_RESOURCE] = {"resource", LB_TEXT},
    [LB_SLOT_RESOURCE_NO] = {"resource_no", LB_INT},
    [LB_SLOT_MODE] = {"mode", LB_TEXT},
    [LB_SLOT_CAPACITY] = {"capacity", LB_INT},
    [LB_SLOT_TTL_MS] = {"ttl_ms", LB_INT},
    [LB_SLOT_NOW] = {"now", LB_INT},
    [LB_SLOT_N] = {"n", LB_INT},
    [LB_SLOT_PAYLOAD] = {"payload", LB_TEXT},
    [LB_SLOT_ID] = {"id", LB_INT},
    [LB_SLOT_TOKEN] = {"token", LB_INT},
    [LB_SLOT_PERIOD_MS] = {"period_ms", LB_INT},
    [LB_SLOT_SPACE_NO] = {"space_no", LB_INT},
    [LB_SLOT_CLASS] = {"class", LB_TEXT},
    [LB_SLOT_TICKET] = {"ticket", LB_INT},
    [LB_SLOT_IDS] = {"ids", LB_TEXT},
    [LB_SLOT_TOKENS] = {"tokens", LB_TEXT},
    [LB_SLOT_ITEMS] = {"items", LB_TEXT},
    [LB_SLOT_GROUP] = {"group", LB_TEXT},
    [LB_SLOT_PROCESS] = {"process", LB_TEXT},
    [LB_SLOT_HOST] = {"host", LB_TEXT},
    [LB_SLOT_DELAY_MS] = {"delay_ms", LB_INT},
    [LB_SLOT_KEY] = {"key", LB_TEXT},
    [LB_SLOT_TENANT] = {"tenant", LB_TEXT},
    [LB_SLOT_PRIORITY] = {"priority", LB_INT},
    [LB_SLOT_DUE] = {"due", LB_INT},
    [LB_SLOT_UNIQUE_KEY] = {"unique_key", LB_TEXT},
};

int lb_fixed_slot(const char *name, size_t length)
{
    for (int i = 0; i < LB_SLOT_FIXED; i++)
        if (lb_slice_is(name, length, lb_fixed_slots[i].name))
            return i;
    return -1;
}

bool lb_statement_has_param(const struct lb_statement *statement, int slot)
{
    for (size_t i = 0; i < statement->n_params; i++)
        if (statement->param_slot[i] == slot)
            return true;
    return false;
}

int lb_program_slot(const struct lb_program *program, const char *name)
{
    for (size_t i = 0; i < program->n_slots; i++)
        if (strcasecmp(program->slot_name[i], name) == 0)
            return (int)i;
    return -1;
}
