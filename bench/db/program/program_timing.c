/* By which lengths of time a protocol goes: its lease, and the limit of its recovery.
 *
 * `-- lease: NAME` and `-- limit: NAME` say it. Where a file does not, it is inferred from where a
 * parameter is compared with, or added to, a time: what only `recover` has is its limit, what
 * acquiring, claiming or renewing has is the lease. A number that is no length of time
 * (`:max_attempts`) is neither.
 */
#include "program_raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WINDOW = LB_WINDOW };

static bool contains(const char *text, size_t length, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= length; i++)
        if (strncasecmp(text + i, part, n) == 0)
            return true;
    return false;
}

/* --- units --- */

uint32_t lb_unit_of_name(const char *name)
{
    static const struct {
        const char *ending;
        uint32_t ms;
    } endings[] = {{"_ms", 1},           {"_millis", 1},
                   {"_milliseconds", 1}, {"_s", 1000},
                   {"_sec", 1000},       {"_secs", 1000},
                   {"_seconds", 1000},   {"_min", 60000},
                   {"_mins", 60000},     {"_minutes", 60000},
                   {"_hours", 3600000},  {"_h", 3600000},
                   {"_days", 86400000u}, {NULL, 0}};
    size_t n = strlen(name);
    for (size_t i = 0; endings[i].ending != NULL; i++) {
        size_t e = strlen(endings[i].ending);
        if (n > e && strcmp(name + n - e, endings[i].ending) == 0)
            return endings[i].ms;
    }
    return 0;
}

/* The unit that the words behind a parameter name: interval '1 second', INTERVAL :x SECOND, /
 * 86400.0. */
static uint32_t unit_behind(const struct lb_window *window)
{
    for (int i = WINDOW + 1; i <= 2 * WINDOW; i++) {
        const struct lb_token *token = &window->token[i];
        if (token->kind == LB_T_PARAM || token->kind == LB_T_END)
            break;
        if (token->kind != LB_T_WORD && token->kind != LB_T_QUOTED && token->kind != LB_T_OTHER)
            continue;
        if (contains(token->text, token->length, "millisec") ||
            contains(token->text, token->length, "microsec"))
            return 1;
        if (contains(token->text, token->length, "second"))
            return 1000;
        if (contains(token->text, token->length, "minute"))
            return 60000;
        if (contains(token->text, token->length, "hour"))
            return 3600000;
    }
    return 0;
}

/* --- is this parameter, here, a length of time? --- */

/* Behind the parameter and its cast. */
static const struct lb_token *behind(const struct lb_window *window)
{
    const struct lb_token *token = &window->token[WINDOW + 1];
    while (token < &window->token[2 * WINDOW - 1] && lb_token_begins(token, ':'))
        token += token[1].kind == LB_T_WORD ? 2 : 1;
    return token;
}

/* Is a time, or an interval, within reach, and on this side something subtracted? */
static bool is_beside_time(const struct lb_window *window)
{
    for (int i = 0; i <= 2 * WINDOW; i++)
        if (lb_asks_for_time(&window->token[i]) || lb_token_is(&window->token[i], "interval"))
            return true;
    return false;
}

static bool has_difference(const struct lb_window *window, int from, int to)
{
    static const char *const words[] = {"age", "extract", "timestampdiff", "datediff", NULL};
    for (int i = from; i <= to; i++)
        if (lb_token_begins(&window->token[i], '-') || lb_token_is_any(&window->token[i], words))
            return true;
    return false;
}

/* Added to something, multiplied with an interval, or compared with a difference, beside a time. */
static bool is_added(const struct lb_window *window)
{
    const struct lb_token *before = &window->token[WINDOW - 1], *after = behind(window);
    static const char *const makers[] = {"interval", "secs", "mins", "hours", NULL};
    if (!is_beside_time(window))
        return false;
    if (lb_token_adds(before) || lb_token_is_any(before, makers) || lb_token_begins(after, '/'))
        return true;
    if (lb_token_begins(before, '>') || lb_token_begins(before, '<') ||
        lb_token_begins(before, '='))
        return has_difference(window, 0, WINDOW - 1);
    if (lb_token_begins(after, '>') || lb_token_begins(after, '<'))
        return has_difference(window, WINDOW + 1, 2 * WINDOW);
    return lb_token_begins(after, '*') &&
           (unit_behind(window) != 0 || after[1].kind == LB_T_OTHER ||
            lb_token_is(&after[1], "interval"));
}

static bool is_named_as_length(const char *name)
{
    static const char *const words[] = {"ttl", "lease", "timeout", "visib", "expir", "stale"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (contains(name, strlen(name), words[i]))
            return true;
    return lb_unit_of_name(name) != 0;
}

/* Lengths of time of another kind: how often to look, when to try again. */
static bool is_named_otherwise(const char *name)
{
    static const char *const words[] = {"poll",  "delay",  "retry",     "backoff", "wait",
                                        "pause", "period", "heartbeat", "interval"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (contains(name, strlen(name), words[i]))
            return true;
    return false;
}

/* --- where a parameter is used --- */

/* The uses that count: of a name declared as a length, of one that may look like one, and only if
 * it is added to a time. */
enum counted { ALL_USES, LIKELY_USES, ADDED_USES };

struct use {
    unsigned sections; /* bit per enum lb_section_name */
    uint32_t unit_ms;  /* as the words beside it say; 0: they do not */
    int line;          /* of the first use that counts */
};

static void note_uses(const struct lb_raw_section *section,
                      const struct lb_raw_statement *statement, const char *name,
                      enum counted counted, struct use *use)
{
    struct lb_window window;
    lb_window_start(&window, statement->text, statement->length, statement->line);
    for (lb_window_slide(&window); window.token[WINDOW].kind != LB_T_END;
         lb_window_slide(&window)) {
        const struct lb_token *token = &window.token[WINDOW];
        if (token->kind == LB_T_BAD)
            return;
        if (token->kind != LB_T_PARAM || !lb_slice_is(token->text + 1, token->length - 1, name))
            continue;
        if (counted != ALL_USES && !(counted == LIKELY_USES && is_named_as_length(name)) &&
            !is_added(&window))
            continue;
        if (use->line == 0)
            use->line = token->line;
        use->sections |= 1u << section->name;
        if (use->unit_ms == 0)
            use->unit_ms = unit_behind(&window);
    }
}

static struct use uses_of(const struct lb_file *file, const char *name, enum counted counted)
{
    struct use use = {0};
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct lb_raw_section *section = &file->sections[i];
        for (size_t k = 0; k < section->n_statements; k++)
            note_uses(section, &file->statements[section->first + k], name, counted, &use);
    }
    return use;
}

static const struct lb_option *option_of(const struct lb_file *file, const char *name)
{
    for (size_t i = 0; i < file->n_options; i++)
        if (strcmp(file->options[i].name, name) == 0)
            return &file->options[i];
    return NULL;
}

static void take(struct lb_timing *timing, const struct lb_file *file, const char *name,
                 const struct use *use)
{
    const struct lb_option *option = option_of(file, name);
    timing->name = name;
    if (timing->unit_ms == 0)
        timing->unit_ms = lb_unit_of_name(name);
    if (timing->unit_ms == 0)
        timing->unit_ms = use->unit_ms;
    if (timing->unit_ms == 0)
        timing->unit_ms = 1;
    if (timing->line == 0)
        timing->line = use->line;
    timing->default_ms =
        option != NULL ? strtoll(option->default_value, NULL, 10) * (int64_t)timing->unit_ms : 0;
}

static const unsigned begins =
    1u << LB_S_ENQUEUE | 1u << LB_S_ACQUIRE | 1u << LB_S_CLAIM | 1u << LB_S_RENEW;

/* Sections that use the age of a heartbeat, or of a claim. */
static const unsigned lives =
    1u << LB_S_RECOVER | 1u << LB_S_SWEEP | 1u << LB_S_REGISTER | 1u << LB_S_HEARTBEAT;

/* Infers the meaning of a name without a declaration. */
static void infer(struct lb_file *file, const char *name, enum counted counted)
{
    struct use use = uses_of(file, name, counted);
    if ((use.sections & begins) != 0) {
        if (file->lease.name == NULL && !file->lease.is_said)
            take(&file->lease, file, name, &use);
    } else if ((use.sections & lives) != 0) {
        if (file->limit.name == NULL && !file->limit.is_said)
            take(&file->limit, file, name, &use);
    }
}

static bool is_spoken_for(const struct lb_file *file, const char *name)
{
    return (file->lease.name != NULL && strcmp(file->lease.name, name) == 0) ||
           (file->limit.name != NULL && strcmp(file->limit.name, name) == 0) ||
           (file->rate_time.text != NULL &&
            (strcmp(file->rate_time.text, name) == 0 || strcmp(file->rate.text, name) == 0));
}

static int settle_said(struct lb_file *file, struct lb_timing *timing, const char *key,
                       struct lb_error *err)
{
    if (timing->name == NULL)
        return 0;
    const struct lb_option *option = option_of(file, timing->name);
    if (option == NULL && strcmp(timing->name, "ttl_ms") != 0)
        return lb_file_fail(file, timing->line, err,
                            "%s: \"%s\" is neither an option of this file nor ttl_ms", key,
                            timing->name);
    char *end = NULL;
    long long value = option != NULL ? strtoll(option->default_value, &end, 10) : 1;
    if (option != NULL && (option->choices != NULL || *end != '\0' || value <= 0))
        return lb_file_fail(file, timing->line, err,
                            "%s: option %s is no length of time: its default is \"%s\"", key,
                            option->name, option->default_value);
    struct use use = uses_of(file, timing->name, ALL_USES);
    take(timing, file, timing->name, &use);
    return 0;
}

/* A lock that an operator's job releases is a lease, too: a worker that holds it for longer than
 * the limit cannot rely on it. */
static void settle_recovered(struct lb_file *file)
{
    if (file->shape != LB_LOCK || file->lease.name != NULL || file->limit.name == NULL)
        return;
    file->lease = file->limit;
    file->lease.by_recover = true;
    file->limit = (struct lb_timing){0};
}

/* Finds options that only delay an item that was given back, or failed; and options that may delay
 * the first time of an item. */
static void find_delays(struct lb_file *file)
{
    const unsigned returns = 1u << LB_S_FREE | 1u << LB_S_RETRY | 1u << LB_S_ERROR;
    for (size_t i = 0; i < file->n_options; i++) {
        const struct lb_option *option = &file->options[i];
        if (option->choices != NULL || is_spoken_for(file, option->name))
            continue;
        struct use use = uses_of(file, option->name, LIKELY_USES);
        if (use.sections != 0 && (use.sections & ~returns) == 0)
            file->delays |= 1u << i;
        if ((uses_of(file, option->name, ADDED_USES).sections >> LB_S_PUT & 1) != 0)
            file->put_delays |= 1u << i;
    }
}

int lb_timing_settle(struct lb_file *file, struct lb_error *err)
{
    static const char ttl[] = "ttl_ms";
    int r = settle_said(file, &file->lease, "lease", err);
    if (r == 0)
        r = settle_said(file, &file->limit, "limit", err);
    if (r != 0)
        return r;
    if (!is_spoken_for(file, ttl))
        infer(file, ttl, ALL_USES);
    for (size_t i = 0; i < file->n_options; i++) {
        const struct lb_option *option = &file->options[i];
        char *end;
        long long value = strtoll(option->default_value, &end, 10);
        if (option->choices == NULL && *end == '\0' && value > 0 &&
            strcmp(option->name, ttl) != 0 && !is_spoken_for(file, option->name) &&
            !is_named_otherwise(option->name))
            infer(file, option->name, LIKELY_USES);
    }
    /* An option of that name is a lease though no statement has it: the protocol that forgets its
     * lease is judged by it. */
    if (file->lease.name == NULL && !file->lease.is_said && !is_spoken_for(file, ttl) &&
        option_of(file, ttl) != NULL) {
        take(&file->lease, file, ttl, &(struct use){0});
        for (size_t i = 0; i < file->n_options; i++)
            if (strcmp(file->options[i].name, ttl) == 0)
                file->lease.line = file->option_line[i];
    }
    settle_recovered(file);
    find_delays(file);
    return 0;
}

int lb_timing_line(struct lb_file *file, const struct lb_directive *directive, struct lb_error *err)
{
    bool is_lease = lb_directive_is(directive, "lease");
    struct lb_timing *timing = is_lease ? &file->lease : &file->limit;
    const char *key = is_lease ? "lease" : "limit";
    char name[48] = "", in[8] = "", unit[12] = "", more[2] = "", line[80];
    if (timing->is_said)
        return lb_file_fail(file, directive->line, err, "%s: given twice (line %d)", key,
                            timing->line);
    snprintf(line, sizeof line, "%.*s", (int)directive->value_length, directive->value);
    int n = sscanf(line, "%47s %7s %11s %1s", name, in, unit, more);
    *timing = (struct lb_timing){.is_said = true, .line = directive->line};
    timing->is_fixed = n == 1 && strcmp(name, "fixed") == 0;
    if (n == 3 && strcmp(in, "in") == 0) {
        char ending[16];
        snprintf(ending, sizeof ending, "x_%s", unit);
        timing->unit_ms = lb_unit_of_name(ending);
    }
    if (n != 1 && timing->unit_ms == 0)
        return lb_file_fail(file, directive->line, err,
                            "%s: write \"NAME\", \"NAME in ms\" (or s, min), or \"none\", or "
                            "\"fixed\"",
                            key);
    if (strcmp(name, "none") != 0 && !timing->is_fixed)
        timing->name = lb_file_string(file, name, strlen(name));
    return 0;
}

/* --- for those who run it --- */

const struct lb_timing *lb_file_lease(const struct lb_file *file)
{
    return file->lease.name != NULL ? &file->lease : NULL;
}

const struct lb_timing *lb_file_limit(const struct lb_file *file)
{
    return file->limit.name != NULL ? &file->limit : NULL;
}

bool lb_file_is_lease_fixed(const struct lb_file *file)
{
    return file->lease.is_fixed;
}

static const char *given(const struct lb_setting *settings, size_t n, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].name, name) == 0)
            value = settings[i].value;
    return value;
}

/* The length in ms that is used, in whole units, at least one. */
static uint32_t length_used(const struct lb_file *file, const struct lb_timing *timing,
                            uint64_t wanted_ms, bool is_said, const struct lb_setting *settings,
                            size_t n_settings)
{
    bool is_option = option_of(file, timing->name) != NULL;
    const char *value = is_option ? given(settings, n_settings, timing->name) : NULL;
    uint64_t unit = timing->unit_ms, units = (wanted_ms + unit - 1) / unit;
    if (value != NULL)
        units = strtoull(value, NULL, 10);
    else if (is_option && !is_said)
        units = (uint64_t)timing->default_ms / unit;
    uint64_t ms = (units > 0 ? units : 1) * unit;
    return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static void add_setting(const struct lb_file *file, const struct lb_timing *timing, uint32_t ms,
                        struct lb_scaled *ret)
{
    if (option_of(file, timing->name) == NULL)
        return;
    char *text = ret->text[timing == lb_file_limit(file)];
    snprintf(text, sizeof ret->text[0], "%u", ms / timing->unit_ms);
    ret->settings[ret->n_settings++] = (struct lb_setting){timing->name, text};
}

void lb_file_scale(const struct lb_file *file, uint64_t ttl_ms, bool is_said,
                   const struct lb_setting *settings, size_t n_settings, struct lb_scaled *ret)
{
    const struct lb_timing *lease = lb_file_lease(file), *limit = lb_file_limit(file);
    *ret = (struct lb_scaled){.lease_ms = (uint32_t)ttl_ms, .limit_ms = (uint32_t)ttl_ms};
    /* Due again at once: there is no wait, and losses are seen. */
    for (size_t i = 0; i < file->n_options; i++)
        if ((file->delays >> i & 1) != 0 &&
            given(settings, n_settings, file->options[i].name) == NULL)
            ret->settings[ret->n_settings++] = (struct lb_setting){file->options[i].name, "0"};
    if (lease != NULL) {
        ret->lease_ms = length_used(file, lease, ttl_ms, is_said, settings, n_settings);
        ret->limit_ms = ret->lease_ms;
        add_setting(file, lease, ret->lease_ms, ret);
    }
    if (limit == NULL)
        return;
    uint64_t wanted_ms = ttl_ms;
    if (lease != NULL && limit->default_ms > 0 && lease->default_ms > 0) {
        /* In proportion, within reason. */
        double ratio = (double)limit->default_ms / (double)lease->default_ms;
        ratio = ratio < 0.5 ? 0.5 : ratio > 3 ? 3 : ratio;
        wanted_ms = (uint64_t)((double)ret->lease_ms * ratio);
    }
    ret->limit_ms = length_used(file, limit, wanted_ms, is_said, settings, n_settings);
    add_setting(file, limit, ret->limit_ms, ret);
}
