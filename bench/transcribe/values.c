/* Finds the meaning of literals: see values.h.
 *
 * A value is recognised if it equals a value given to each of the samples: the worker's name, the
 * resource's, the item's number. If it is the same for one resource in all workers, and differs
 * between resources, it is derived from the resource's name, and the name may replace it. If the
 * value differs in every sample of an acquire or claim, it belongs to the worker.
 */
#include "values.h"

#include "append.h"
#include "bytes.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- literals --- */

void lb_value_plain(const char *literal, size_t n, char *plain, size_t size)
{
    size_t used = 0, i = 0;
    bool has_escapes = n > 1 && (literal[0] == 'E' || literal[0] == 'e') && literal[1] == '\'';
    i += has_escapes;
    bool is_quoted = i < n && literal[i] == '\'';
    size_t end = is_quoted ? n - 1 : n;
    for (i += is_quoted; i < end && used + 1 < size; i++) {
        bool is_escape = (is_quoted && literal[i] == '\'') || (has_escapes && literal[i] == '\\');
        i += is_escape && i + 1 < end;
        plain[used++] = literal[i];
    }
    plain[used] = '\0';
}

/* The end of a literal that rows or parameters have. */
static size_t literal_length(const char *at)
{
    size_t n = 0;
    if (at[0] != '\'')
        return strcspn(at, " ;\n");
    for (n = 1; at[n] != '\0'; n++) {
        if (at[n] == '\'' && at[n + 1] == '\'')
            n++;
        else if (at[n] == '\'')
            return n + 1;
    }
    return n;
}

bool lb_value_column(const char *rows, size_t nth, char *name, size_t name_size, char *literal,
                     size_t literal_size)
{
    const char *at = rows;
    for (size_t i = 0;; i++) {
        size_t n_name = strcspn(at, "=");
        if (at[n_name] != '=')
            return false;
        const char *value = at + n_name + 1;
        size_t n = literal_length(value);
        if (i == nth) {
            snprintf(name, name_size, "%.*s", (int)n_name, at);
            snprintf(literal, literal_size, "%.*s", (int)n, value);
            return true;
        }
        if (value[n] != ' ') /* the row ends here */
            return false;
        at = value + n + 1;
    }
}

/* --- what is known --- */

static struct lb_value_of *add(struct lb_values *values, const char *text)
{
    if (values->n == LB_VALUES)
        return NULL;
    struct lb_value_of *added = &values->known[values->n++];
    *added = (struct lb_value_of){.is_weak = false};
    snprintf(added->text, sizeof added->text, "%s", text);
    return added;
}

static void add_own(struct lb_values *values, const char *text)
{
    if (add(values, text) != NULL)
        values->n_own++;
}

static void add_constant(struct lb_values *values, const char *text, const char *value)
{
    struct lb_value_of *added = add(values, text);
    if (added == NULL)
        return;
    values->n_own++;
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++)
        snprintf(added->had[i], LB_VALUE_TEXT, "%s", value);
}

void lb_values_begin(struct lb_values *values,
                     const struct lb_recorded *const samples[LB_VALUE_SAMPLES], bool is_lock)
{
    enum { WORKER, RESOURCE, ID, TOKEN, RESOURCE_NO, KINDS };
    static const char *const texts[KINDS] = {":worker", ":resource", ":id", ":token",
                                             ":resource_no"};
    char text[LB_VALUE_TEXT];
    values->n -= values->n_own;
    values->n_own = 0;
    values->is_claim = samples[0] != NULL && strcmp(samples[0]->operation, "claim") == 0;
    if (samples[0] != NULL)
        values->now_ms = samples[0]->now_ms;
    for (int kind = 0; kind < KINDS; kind++) {
        if ((is_lock && kind == ID) || (!is_lock && (kind == RESOURCE || kind == RESOURCE_NO)))
            continue;
        size_t at = values->n;
        add_own(values, texts[kind]);
        if (values->n == at)
            return;
        struct lb_value_of *added = &values->known[at];
        added->is_weak = kind == TOKEN || kind == RESOURCE_NO;
        added->is_param = kind == TOKEN;
        for (size_t i = 0; i < LB_VALUE_SAMPLES; i++) {
            const struct lb_recorded *sample = samples[i];
            char *had = added->had[i];
            if (sample == NULL)
                continue;
            if (kind == WORKER)
                snprintf(had, LB_VALUE_TEXT, "%s", sample->worker);
            else if (kind == RESOURCE)
                snprintf(had, LB_VALUE_TEXT, "r%u", sample->resource);
            else if (kind == RESOURCE_NO)
                snprintf(had, LB_VALUE_TEXT, "%u", sample->resource);
            else if (kind == ID && sample->has_id)
                snprintf(had, LB_VALUE_TEXT, "%" PRId64, sample->id);
            else if (kind == TOKEN && sample->has_token)
                snprintf(had, LB_VALUE_TEXT, "%" PRId64, sample->token);
        }
    }
    snprintf(text, sizeof text, "%d", LB_RECORDED_TTL_MS);
    add_constant(values, ":ttl_ms", text);
    snprintf(text, sizeof text, "%d", LB_RECORDED_TTL_MS / 1000);
    add_constant(values, "(:ttl_ms / 1000)", text);
    bool is_work = samples[0] == NULL || (strcmp(samples[0]->operation, "setup") != 0 &&
                                          strcmp(samples[0]->operation, "teardown") != 0);
    if (!is_lock && is_work) {
        add_constant(values, ":payload", LB_RECORDED_PAYLOAD);
        add_constant(values, ":class", "default");
    }
}

void lb_values_learn(struct lb_values *values, const char *const had[LB_VALUE_SAMPLES],
                     const char *text)
{
    if (values->n == LB_VALUES)
        return;
    /* Before those of the operation, which go. */
    size_t at = values->n - values->n_own;
    memmove(&values->known[at + 1], &values->known[at], values->n_own * sizeof values->known[0]);
    values->n++;
    values->known[at] = (struct lb_value_of){.is_weak = true};
    snprintf(values->known[at].text, sizeof values->known[at].text, "%s", text);
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++)
        if (had[i] != NULL)
            snprintf(values->known[at].had[i], LB_VALUE_TEXT, "%s", had[i]);
}

/* --- recognising --- */

/* How many different ones there are. */
static size_t n_different(const char *const plain[LB_VALUE_SAMPLES])
{
    size_t n = 0;
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++) {
        bool is_new = plain[i] != NULL;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = plain[k] == NULL || strcmp(plain[k], plain[i]) != 0;
        n += is_new;
    }
    return n;
}

static bool is_same(const struct lb_value_of *value, const char *const plain[LB_VALUE_SAMPLES])
{
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++)
        if (plain[i] != NULL && (value->had[i][0] == '\0' || strcmp(value->had[i], plain[i]) != 0))
            return false;
    return true;
}

/* Is it the value with the same text around it in all of them? */
static bool is_around(const struct lb_value_of *value, const char *const plain[LB_VALUE_SAMPLES],
                      size_t *ret_before, size_t *ret_behind)
{
    bool has_one = false;
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++) {
        const char *at;
        if (plain[i] == NULL)
            continue;
        if (value->had[i][0] == '\0' || (at = strstr(plain[i], value->had[i])) == NULL)
            return false;
        size_t before = (size_t)(at - plain[i]), behind = strlen(at) - strlen(value->had[i]);
        if (has_one && (before != *ret_before || behind != *ret_behind))
            return false;
        *ret_before = before;
        *ret_behind = behind;
        has_one = true;
    }
    return has_one;
}

static void write_quoted(char *out, size_t size, const char *text, size_t n)
{
    size_t used = strlen(out);
    if (used + 3 >= size)
        return;
    out[used++] = '\'';
    for (size_t i = 0; i < n && used + 3 < size; i++) {
        if (text[i] == '\'')
            out[used++] = '\'';
        out[used++] = text[i];
    }
    out[used++] = '\'';
    out[used] = '\0';
}

static bool is_json(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    bool is = json != NULL;
    json_decref(json);
    return is;
}

/* 'lock:r1' is 'lock:' || :resource. */
static bool resolve_around(const struct lb_values *values,
                           const char *const plain[LB_VALUE_SAMPLES], char *out, size_t size)
{
    enum { LONG_ENOUGH = 12 }; /* to be in a text for no other reason */
    size_t before = 0, behind = 0;
    const char *one = plain[0] != NULL ? plain[0] : plain[1] != NULL ? plain[1] : plain[2];
    for (size_t i = 0; i < values->n; i++) {
        const struct lb_value_of *value = &values->known[i];
        bool is_short = value->is_weak && strlen(value->had[0]) < LONG_ENOUGH;
        if (is_short || strcmp(value->text, ":class") == 0 || strncmp(value->text, "(:", 2) == 0 ||
            !is_around(value, plain, &before, &behind))
            continue;
        if (strlen(one) + 1 >= LB_VALUE_TEXT) /* it is not whole */
            continue;
        snprintf(out, size, "(");
        if (before > 0) {
            write_quoted(out, size, one, before);
            lb_append(out, size, " || ");
        }
        lb_append(out, size, "%s", value->text);
        bool is_number = strcmp(value->text, ":id") == 0 || strcmp(value->text, ":ttl_ms") == 0;
        lb_append(out, size, is_number ? "::bigint" : "::text");
        if (behind > 0) {
            lb_append(out, size, " || ");
            write_quoted(out, size, one + strlen(one) - behind, behind);
        }
        lb_append(out, size,
                  is_json(one) ? ")::jsonb" : ")"); /* text is not cast to jsonb implicitly */
        return true;
    }
    return false;
}

/* The known value that lies off_s seconds from now; NULL: none. */
static const char *near_now(struct lb_values *values, int64_t off_s)
{
    enum { NEAR_S = 600, TTL_S = LB_RECORDED_TTL_MS / 1000 };
    const char *text = llabs(off_s) < NEAR_S           ? ":now"
                       : llabs(off_s - TTL_S) < NEAR_S ? "(:now + :ttl_ms)"
                       : llabs(off_s + TTL_S) < NEAR_S ? "(:now - :ttl_ms)"
                                                       : NULL;
    values->has_ttl = values->has_ttl || (text != NULL && text[0] == '(');
    return text;
}

/* A number that is the time of day, or of a lease's end, in seconds or milliseconds. */
static bool resolve_time(struct lb_values *values, const char *plain, char *out, size_t size)
{
    enum { OF_SECONDS = 10, OF_MS = 13 };
    size_t n = strlen(plain);
    if ((n != OF_SECONDS && n != OF_MS) || plain[strspn(plain, "0123456789")] != '\0')
        return false;
    int64_t given = strtoll(plain, NULL, 10);
    int64_t off_s = (n == OF_MS ? given / 1000 : given) - (int64_t)(values->now_ms / 1000);
    const char *text = near_now(values, off_s);
    if (text == NULL)
        return false;
    snprintf(out, size, n == OF_MS ? "%s" : "(%s / 1000)", text);
    return true;
}

/* The same as a date, as in '2026-11-22 18:50:12.6+00:00'. */
static bool resolve_date(struct lb_values *values, const char *plain, char *out, size_t size)
{
    struct tm tm = {.tm_isdst = 0};
    const char *zone = strptime(plain, "%Y-%m-%d %H:%M:%S", &tm);
    if (zone == NULL)
        zone = strptime(plain, "%Y-%m-%dT%H:%M:%S", &tm);
    if (zone == NULL)
        return false;
    bool is_whole = *zone != '.';
    zone += *zone == '.' ? 1 + strspn(zone + 1, "0123456789") : 0;
    bool has_zone = strcmp(zone, "Z") == 0 || strcmp(zone, "+00") == 0 ||
                    strcmp(zone, "+00:00") == 0 || strcmp(zone, "+0000") == 0;
    if (!has_zone && *zone != '\0')
        return false;
    int64_t off_s = (int64_t)timegm(&tm) - (int64_t)(values->now_ms / 1000);
    const char *text = near_now(values, off_s);
    if (text == NULL)
        return false;
    /* The program cut its time to whole seconds. A timestamp(0) would round them up, and what was
     * due at once would be due a second later. */
    snprintf(out, size, "(to_timestamp(%s / %s)%s)", text, is_whole ? "1000" : "1000.0",
             has_zone ? "" : " AT TIME ZONE 'UTC'");
    return true;
}

/* A number that was sent as a text. */
static bool is_of_digits(const char *const plain[LB_VALUE_SAMPLES])
{
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++)
        if (plain[i] != NULL &&
            (plain[i][0] == '\0' || plain[i][strspn(plain[i], "-0123456789")] != '\0'))
            return false;
    return true;
}

/* Resolves a value that was not given to the program, and differs by resource or by claimant. */
static bool derive(struct lb_values *values, const char *const literals[LB_VALUE_SAMPLES],
                   const char *const plain[LB_VALUE_SAMPLES], bool is_lock, char *out, size_t size,
                   char *note, size_t note_size)
{
    bool is_text = literals[0][0] == '\'';
    if (plain[1] == NULL || plain[2] == NULL || strlen(plain[0]) >= LB_VALUE_TEXT - 1 ||
        !(is_lock || values->is_claim))
        return false;
    bool is_of_resource =
        is_lock && strcmp(plain[0], plain[2]) == 0 && strcmp(plain[0], plain[1]) != 0;
    bool is_of_claimant = is_text && n_different(plain) == LB_VALUE_SAMPLES;
    if (!is_of_resource && !is_of_claimant)
        return false;
    bool is_number = !is_text || (values->wants_number && is_of_digits(plain));
    if (is_of_claimant && is_number)
        return false;
    const char *text = is_of_claimant ? ":worker" : is_number ? ":resource_no" : ":resource";
    snprintf(out, size, "%s", text);
    snprintf(note, note_size, "%s stands for what the program makes of %s, as %.60s", text,
             is_of_claimant ? "each claim" : "the resource's name", literals[0]);
    lb_values_learn(values, plain, text);
    return true;
}

bool lb_values_resolve(struct lb_values *values, const char *const literals[LB_VALUE_SAMPLES],
                       bool is_param, bool is_lock, char *out, size_t size, char *note,
                       size_t note_size)
{
    char texts[LB_VALUE_SAMPLES][LB_VALUE_TEXT];
    const char *plain[LB_VALUE_SAMPLES] = {NULL}, *one = NULL;
    note[0] = '\0';
    for (size_t i = 0; i < LB_VALUE_SAMPLES; i++)
        if (literals[i] != NULL) {
            lb_value_plain(literals[i], strlen(literals[i]), texts[i], sizeof texts[i]);
            plain[i] = texts[i];
            one = one == NULL ? literals[i] : one;
        }
    if (one == NULL || strcmp(one, "NULL") == 0) {
        snprintf(out, size, "NULL");
        return false;
    }
    bool differs = n_different(plain) > 1;
    for (size_t i = values->n; i-- > 0;) {
        const struct lb_value_of *value = &values->known[i];
        bool counts = !value->is_weak || differs || (value->is_param && is_param) ||
                      (plain[0] == NULL && strlen(value->had[2]) > 8);
        if (!counts || !is_same(value, plain))
            continue;
        snprintf(out, size, "%s", value->text);
        values->has_ttl = values->has_ttl || strstr(value->text, "ttl_ms") != NULL;
        return true;
    }
    const char *any = plain[0] != NULL ? plain[0] : plain[1] != NULL ? plain[1] : plain[2];
    if (one[0] != '\'' && resolve_time(values, any, out, size))
        return true;
    if (one[0] == '\'' && resolve_date(values, any, out, size))
        return true;
    if (one[0] == '\'' && resolve_around(values, plain, out, size))
        return true;
    for (size_t i = 0; i < values->n; i++)
        if (strcmp(values->known[i].text, ":id") == 0 &&
            lb_bytes_write(&values->known[i], plain, out, size))
            return true;
    if (differs && literals[0] != NULL &&
        derive(values, literals, plain, is_lock, out, size, note, note_size))
        return true;
    snprintf(out, size, "%s", one);
    if (differs)
        snprintf(note, note_size,
                 "not recognised, and not always the same: %.60s here, %.60s elsewhere", one,
                 literals[1] != NULL ? literals[1] : literals[2]);
    return false;
}
