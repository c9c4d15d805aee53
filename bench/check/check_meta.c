/* Models as text in a history's file: see check_meta.h. */
#include "check_meta.h"

#include "memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESOURCES = 1 << 28, MOST_TICK_MS = 3600000 };

/* Appends like snprintf; *used grows past size when buf is full. */
__attribute__((format(printf, 4, 5))) static void append(char *buf, size_t size, size_t *used,
                                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(*used < size ? buf + *used : NULL, *used < size ? size - *used : 0, format, args);
    va_end(args);
    *used += n > 0 ? (size_t)n : 0;
}

static void append_capacities(const struct lb_model *model, char *buf, size_t size, size_t *used)
{
    const char *comma = "";
    append(buf, size, used, "capacity=");
    for (uint32_t i = 0; i < model->n_resources;) {
        uint32_t first = i;
        while (i < model->n_resources && model->capacity[i] == model->capacity[first])
            i++;
        append(buf, size, used, "%s%u*%u", comma, model->capacity[first], i - first);
        comma = ",";
    }
    append(buf, size, used, "\n");
}

static const char *const doubt_keys[LB_DOUBTS] = {
    [LB_DOUBT_LEASE] = "doubt_lease", [LB_DOUBT_ATTEMPTS] = "doubt_attempts",
    [LB_DOUBT_ROWS] = "doubt_rows",   [LB_DOUBT_DUE] = "doubt_due",
    [LB_DOUBT_CLOCK] = "doubt_clock", [LB_DOUBT_LIMIT] = "doubt_limit",
};

size_t lb_model_format(const struct lb_model *model, char *buf, size_t size)
{
    size_t used = 0;
    const char *comma = "";
    append(buf, size, &used, "shape=%s\nresources=%u\n", model->queue ? "queue" : "lock",
           model->n_resources);
    if (model->capacity != NULL && model->n_resources > 0)
        append_capacities(model, buf, size, &used);
    append(buf, size, &used, "reentrant=%d\nlease=%d\nclaims=", model->reentrant, model->lease);
    for (int i = 0; i < LB_GUARANTEES; i++) {
        if ((model->claims & LB_G_BIT(i)) == 0)
            continue;
        append(buf, size, &used, "%s%s", comma, lb_guarantee_name((enum lb_guarantee)i));
        comma = ",";
    }
    append(buf, size, &used,
           "\nrelease=%s\ndrained=%d\ncomplete=%d\nend_ns=%llu\nprogress_bound_ns=%llu\n"
           "recovery_bound_ns=%llu\nperiod_ns=%llu\n",
           model->release == LB_RELEASE_STATE ? "state" : "belief", model->drained, model->complete,
           (unsigned long long)model->end_ns, (unsigned long long)model->progress_bound_ns,
           (unsigned long long)model->recovery_bound_ns, (unsigned long long)model->period_ns);
    if (model->own_rows)
        append(buf, size, &used, "own_rows=1\n");
    if (model->returned)
        append(buf, size, &used, "returned=1\n");
    if (model->progress_demand_ns > 0)
        append(buf, size, &used, "progress_demand_ns=%llu\n",
               (unsigned long long)model->progress_demand_ns);
    if (model->item_waits)
        append(buf, size, &used, "item_waits=1\n");
    if (model->attempts > 0)
        append(buf, size, &used, "attempts=%u\n", model->attempts);
    if (model->tick_ms > 0)
        append(buf, size, &used, "tick_ms=%u\n", model->tick_ms);
    if (model->priority != LB_PRIORITY_NONE)
        append(buf, size, &used, "priority=%d\n", (int)model->priority);
    if (model->unique != LB_UNIQUE_NOT)
        append(buf, size, &used, "unique=%d\n", (int)model->unique);
    if (model->rate > 0)
        append(buf, size, &used, "rate=%u\nrate_ms=%u\n", model->rate, model->rate_ms);
    if (model->share_milli > 0)
        append(buf, size, &used, "share_milli=%u\n", model->share_milli);
    if (model->key_limit > 0)
        append(buf, size, &used, "key_limit=%u\n", model->key_limit);
    if (model->groups > 0)
        append(buf, size, &used, "groups=%u\n", model->groups);
    for (int d = 0; d < LB_DOUBTS; d++) {
        const struct lb_doubt *doubt = &model->doubts[d];
        if (doubt->reason[0] != '\0')
            append(buf, size, &used, "%s=%u %s %s\n", doubt_keys[d], doubt->value,
                   doubt->is_said ? "said" : "asked", doubt->reason);
    }
    return used;
}

char *lb_meta_get(const char *meta, const char *key, char *buf, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = meta; line != NULL && *line != '\0';) {
        const char *end = strchrnul(line, '\n');
        if (strncmp(line, key, length) == 0 && line[length] == '=') {
            const char *value = line + length + 1;
            size_t n = (size_t)(end - value);
            if (n >= size)
                n = size - 1;
            memcpy(buf, value, n);
            buf[n] = '\0';
            return buf;
        }
        line = *end == '\n' ? end + 1 : end;
    }
    return NULL;
}

static int bad(struct lb_error *err, const char *key, const char *value)
{
    return lb_fail(err, LB_E_FILE, "the history's meta text has %s=%.80s", key, value);
}

/* A decimal number that ends at one of ends. */
static int parse_number(const char *text, const char *ends, uint64_t *ret, const char **ret_end)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || (*end != '\0' && strchr(ends, *end) == NULL))
        return -1;
    *ret = value;
    *ret_end = end;
    return 0;
}

static int read_number(const char *meta, const char *key, uint64_t *ret, struct lb_error *err)
{
    char text[64];
    const char *end;
    if (lb_meta_get(meta, key, text, sizeof text) == NULL)
        return 0;
    return parse_number(text, "", ret, &end) == 0 ? 0 : bad(err, key, text);
}

static int read_flag(const char *meta, const char *key, bool *ret, struct lb_error *err)
{
    char text[64];
    if (lb_meta_get(meta, key, text, sizeof text) == NULL)
        return 0;
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return bad(err, key, text);
    *ret = text[0] == '1';
    return 0;
}

/* One of two words. */
static int read_word(const char *meta, const char *key, const char *no, const char *yes, bool *ret,
                     struct lb_error *err)
{
    char text[64];
    if (lb_meta_get(meta, key, text, sizeof text) == NULL)
        return 0;
    if (strcmp(text, no) != 0 && strcmp(text, yes) != 0)
        return bad(err, key, text);
    *ret = strcmp(text, yes) == 0;
    return 0;
}

static int read_claims(const char *meta, unsigned *ret_claims, struct lb_error *err)
{
    char text[512], *rest = text;
    if (lb_meta_get(meta, "claims", text, sizeof text) == NULL)
        return 0;
    unsigned claims = 0;
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        int guarantee = lb_guarantee_parse(name);
        if (*name == '\0')
            continue;
        if (guarantee < 0)
            return bad(err, "claims", name);
        claims |= LB_G_BIT(guarantee);
    }
    *ret_claims = claims;
    return 0;
}

/* "1*999,3" into n numbers. */
static int parse_capacities(const char *text, uint32_t *capacity, uint32_t n)
{
    uint32_t done = 0;
    for (;;) {
        uint64_t value, times = 1;
        if (parse_number(text, "*,", &value, &text) != 0 ||
            (*text == '*' && parse_number(text + 1, ",", &times, &text) != 0))
            return -1;
        if (value == 0 || value > UINT32_MAX || times > n - done)
            return -1;
        for (uint64_t i = 0; i < times; i++)
            capacity[done++] = (uint32_t)value;
        if (*text == '\0')
            return done == n ? 0 : -1;
        text++;
    }
}

static int read_capacities(const char *meta, uint32_t n, uint32_t **ret_capacity,
                           struct lb_error *err)
{
    size_t size = strlen(meta) + 1;
    char *text = lb_malloc(size);
    int rc = 0;
    if (lb_meta_get(meta, "capacity", text, size) != NULL) {
        uint32_t *capacity = lb_malloc(((size_t)n + 1) * sizeof *capacity);
        if (parse_capacities(text, capacity, n) == 0) {
            *ret_capacity = capacity;
        } else {
            free(capacity);
            rc = bad(err, "capacity", text);
        }
    }
    free(text);
    return rc;
}

/* "3 asked REASON" */
static bool read_doubt(const char *text, struct lb_doubt *ret_doubt)
{
    char *end;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    const bool is_said = strncmp(end, " said ", 6) == 0;
    const size_t word = is_said ? 6 : 7;
    if (text[0] < '0' || text[0] > '9' || errno != 0 || value > UINT32_MAX ||
        (!is_said && strncmp(end, " asked ", 7) != 0) || end[word] == '\0')
        return false;
    *ret_doubt = (struct lb_doubt){.value = (uint32_t)value, .is_said = is_said};
    snprintf(ret_doubt->reason, sizeof ret_doubt->reason, "%.*s", (int)sizeof ret_doubt->reason - 1,
             end + word);
    return true;
}

static int read_doubts(const char *meta, struct lb_doubt doubts[LB_DOUBTS], struct lb_error *err)
{
    for (int d = 0; d < LB_DOUBTS; d++) {
        char text[240];
        if (lb_meta_get(meta, doubt_keys[d], text, sizeof text) == NULL)
            continue;
        if (!read_doubt(text, &doubts[d]))
            return bad(err, doubt_keys[d], text);
    }
    return 0;
}

/* A larger number is the largest. */
static int read_small(const char *meta, const char *key, uint32_t *ret, struct lb_error *err)
{
    uint64_t number = *ret;
    int rc = read_number(meta, key, &number, err);
    *ret = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    return rc;
}

int lb_model_parse(const char *meta, struct lb_model *ret_model, uint32_t **ret_capacity,
                   struct lb_error *err)
{
    struct lb_model model = *ret_model;
    uint64_t resources = model.n_resources, groups = model.groups;
    uint64_t unique = model.unique, priority = model.priority, tick_ms = model.tick_ms;
    bool state = model.release == LB_RELEASE_STATE;
    uint32_t *capacity = NULL;
    int rc = read_word(meta, "shape", "lock", "queue", &model.queue, err);
    rc = rc != 0 ? rc : read_number(meta, "resources", &resources, err);
    rc = rc != 0 ? rc : read_flag(meta, "reentrant", &model.reentrant, err);
    rc = rc != 0 ? rc : read_flag(meta, "lease", &model.lease, err);
    rc = rc != 0 ? rc : read_claims(meta, &model.claims, err);
    rc = rc != 0 ? rc : read_word(meta, "release", "belief", "state", &state, err);
    rc = rc != 0 ? rc : read_flag(meta, "own_rows", &model.own_rows, err);
    rc = rc != 0 ? rc : read_flag(meta, "drained", &model.drained, err);
    rc = rc != 0 ? rc : read_flag(meta, "returned", &model.returned, err);
    rc = rc != 0 ? rc : read_flag(meta, "complete", &model.complete, err);
    rc = rc != 0 ? rc : read_number(meta, "end_ns", &model.end_ns, err);
    rc = rc != 0 ? rc : read_number(meta, "progress_bound_ns", &model.progress_bound_ns, err);
    rc = rc != 0 ? rc : read_number(meta, "progress_demand_ns", &model.progress_demand_ns, err);
    rc = rc != 0 ? rc : read_flag(meta, "item_waits", &model.item_waits, err);
    rc = rc != 0 ? rc : read_number(meta, "recovery_bound_ns", &model.recovery_bound_ns, err);
    rc = rc != 0 ? rc : read_number(meta, "period_ns", &model.period_ns, err);
    rc = rc != 0 ? rc : read_number(meta, "groups", &groups, err);
    rc = rc != 0 ? rc : read_small(meta, "key_limit", &model.key_limit, err);
    rc = rc != 0 ? rc : read_small(meta, "rate", &model.rate, err);
    rc = rc != 0 ? rc : read_small(meta, "rate_ms", &model.rate_ms, err);
    rc = rc != 0 ? rc : read_small(meta, "share_milli", &model.share_milli, err);
    rc = rc != 0 ? rc : read_number(meta, "unique", &unique, err);
    rc = rc != 0 ? rc : read_number(meta, "priority", &priority, err);
    if (rc == 0 && (unique > LB_UNIQUE_UNTIL_GONE || priority > LB_PRIORITY_LOWEST))
        rc = lb_fail(err, LB_E_FILE,
                     "the history's meta text has unique above 4, or priority above 2");
    rc = rc != 0 ? rc : read_small(meta, "attempts", &model.attempts, err);
    rc = rc != 0 ? rc : read_number(meta, "tick_ms", &tick_ms, err);
    if (rc == 0 && tick_ms > MOST_TICK_MS)
        rc = lb_fail(err, LB_E_FILE, "the history's meta text has tick_ms above %d", MOST_TICK_MS);
    rc = rc != 0 ? rc : read_doubts(meta, model.doubts, err);
    if (rc == 0 && groups > MOST_RESOURCES)
        rc = lb_fail(err, LB_E_FILE, "the history's meta text has more than %d groups",
                     MOST_RESOURCES);
    if (rc == 0 && resources > MOST_RESOURCES)
        rc = lb_fail(err, LB_E_FILE, "the history's meta text has more than %d resources",
                     MOST_RESOURCES);
    rc = rc != 0 ? rc : read_capacities(meta, (uint32_t)resources, &capacity, err);
    if (rc != 0)
        return rc;
    model.n_resources = (uint32_t)resources;
    model.groups = (uint32_t)groups;
    model.unique = (enum lb_unique)unique;
    model.priority = (enum lb_priority)priority;
    model.tick_ms = (uint32_t)tick_ms;
    model.release = state ? LB_RELEASE_STATE : LB_RELEASE_BELIEF;
    model.capacity = capacity;
    *ret_model = model;
    *ret_capacity = capacity;
    return 0;
}
