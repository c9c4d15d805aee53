/* Attributes of items: see attributes.h.
 *
 * A distribution is a list of VALUE:SHARE. Of tenants, NAME:SHARE is one tenant, and NAME:N, with a
 * whole number, is N tenants that have equal parts of the rest; tenants are numbered in the order
 * of the list. An item's unique key is its own number, or that of an item not far before it.
 */
#include "attributes.h"

#include "memory.h"
#include "units.h"
#include "zipf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 16, MOST_TENANTS = 100000, USUAL_KEYS = 8, NEAR = 16 };
#define USUAL_UNIQUE 0.5

struct part {
    uint32_t first, n; /* values: n > 1, of tenants alone */
    double up_to;      /* the sum of the shares, with this part's */
};

struct parts {
    struct part part[MOST_PARTS];
    size_t n;
};

struct attributes {
    struct lb_attribute_source source;
    uint64_t seed;
    struct parts parts[LB_ATTRIBUTES];
    double unique;
    uint32_t n_keys;
    double keys[]; /* the distribution function of their ranks */
};

static enum lb_attribute attribute_of(const char *key)
{
    return strcmp(key, "tenants") == 0    ? LB_A_TENANT
           : strcmp(key, "priority") == 0 ? LB_A_PRIORITY
                                          : LB_A_DUE;
}

static bool read_value(enum lb_attribute attribute, const char *text, uint32_t first,
                       uint32_t *ret_value)
{
    uint64_t ns = 0;
    char *end;
    if (attribute == LB_A_TENANT) {
        *ret_value = first;
        return *text != '\0';
    }
    if (attribute == LB_A_DUE) {
        bool is_time = strcmp(text, "now") == 0 || lb_parse_ns(text, &ns) == 0;
        *ret_value = (uint32_t)(ns / 1000000);
        return is_time && ns / 1000000 <= INT32_MAX;
    }
    long value = strtol(text, &end, 10);
    *ret_value = (uint32_t)(int32_t)value;
    return *text != '\0' && *end == '\0' && value >= -1000000 && value <= 1000000;
}

/* One VALUE:SHARE, which is cut at its colon. */
static bool read_part(enum lb_attribute attribute, char *text, struct parts *parts, double *ret_sum,
                      bool *ret_has_rest)
{
    uint64_t count = 0;
    double share = 0;
    char *colon = strchr(text, ':');
    const struct part *last = parts->n > 0 ? &parts->part[parts->n - 1] : NULL;
    struct part part = {.n = 1};
    if (colon == NULL || parts->n == MOST_PARTS)
        return false;
    *colon = '\0';
    bool is_count = attribute == LB_A_TENANT && lb_parse_count(colon + 1, &count) == 0 && count > 0;
    if (!read_value(attribute, text, last != NULL ? last->first + last->n : 0, &part.first) ||
        (is_count && (*ret_has_rest || count > MOST_TENANTS)) ||
        (!is_count && (lb_parse_double(colon + 1, &share) != 0 || share <= 0 || share > 1)))
        return false;
    if (is_count) {
        *ret_has_rest = true;
        part.n = (uint32_t)count;
    }
    *ret_sum += share;
    part.up_to = is_count ? -1 : share;
    parts->part[parts->n++] = part;
    return true;
}

static bool read_parts(enum lb_attribute attribute, const char *text, struct parts *ret_parts)
{
    static const char *const usual[LB_ATTRIBUTES] = {
        [LB_A_TENANT] = "hot:0.8,small:49", [LB_A_PRIORITY] = "0:0.9,9:0.1", [LB_A_DUE] = "now:1"};
    char copy[sizeof((struct lb_scenario *)0)->tenants], *rest = copy, *one;
    double sum = 0, up_to = 0;
    bool has_rest = false;
    text = text[0] != '\0' ? text : usual[attribute];
    *ret_parts = (struct parts){.n = 0};
    if (strlen(text) >= sizeof copy)
        return false;
    memcpy(copy, text, strlen(text) + 1);
    while ((one = strsep(&rest, ",")) != NULL)
        if (!read_part(attribute, one + strspn(one, " "), ret_parts, &sum, &has_rest))
            return false;
    if (has_rest ? sum >= 1 : fabs(sum - 1) > 1e-6)
        return false;
    for (size_t i = 0; i < ret_parts->n; i++) {
        struct part *part = &ret_parts->part[i];
        up_to += part->up_to < 0 ? 1 - sum : part->up_to;
        part->up_to = up_to;
    }
    return true;
}

int lb_attributes_check(const char *key, const char *text, struct lb_error *err)
{
    struct parts parts;
    if (read_parts(attribute_of(key), text, &parts))
        return 0;
    return lb_fail(err, LB_E_USAGE, "%s: '%s' is not a list of shares that sum up to 1, such as %s",
                   key, text,
                   attribute_of(key) == LB_A_TENANT ? "hot:0.8,small:49 (49 tenants share the rest)"
                   : attribute_of(key) == LB_A_DUE  ? "now:0.7,10s:0.3"
                                                    : "0:0.9,9:0.1");
}

/* A stream for each attribute of each item. */
static void start(const struct attributes *a, enum lb_attribute attribute, int64_t id,
                  struct lb_random *ret_random)
{
    lb_random_init(ret_random, a->seed, (uint64_t)id * LB_ATTRIBUTES + (uint64_t)attribute);
}

static uint32_t unique_of(const struct attributes *a, int64_t id)
{
    struct lb_random random;
    for (;;) {
        start(a, LB_A_UNIQUE, id, &random);
        if (id <= 1 || lb_random_unit(&random) >= a->unique)
            return (uint32_t)id;
        int64_t back = 1 + (int64_t)lb_random_below(&random, NEAR);
        id = back < id ? id - back : 1;
    }
}

static uint32_t value_of(const struct lb_attribute_source *source, enum lb_attribute attribute,
                         int64_t id)
{
    const struct attributes *a = (const struct attributes *)source;
    const struct parts *parts = &a->parts[attribute];
    struct lb_random random;
    size_t i = 0;
    if (attribute == LB_A_UNIQUE)
        return unique_of(a, id);
    start(a, attribute, id, &random);
    double unit = lb_random_unit(&random);
    if (attribute == LB_A_KEY)
        return lb_zipf_rank(a->keys, a->n_keys, unit);
    while (i + 1 < parts->n && unit >= parts->part[i].up_to)
        i++;
    return parts->part[i].first +
           (parts->part[i].n > 1 ? (uint32_t)lb_random_below(&random, parts->part[i].n) : 0);
}

static uint32_t n_keys_of(const struct lb_scenario *scenario)
{
    return scenario->keys > 0 ? (uint32_t)scenario->keys : USUAL_KEYS;
}

double lb_attributes_hottest(const struct lb_scenario *scenario)
{
    double *keys = lb_zipf_new(n_keys_of(scenario), scenario->key_zipf);
    double share = keys[0];
    free(keys);
    return share;
}

struct lb_attribute_source *lb_attributes_new(const struct lb_scenario *scenario, uint64_t seed)
{
    uint32_t n_keys = n_keys_of(scenario);
    struct attributes *a = lb_malloc(sizeof *a + n_keys * sizeof *a->keys);
    double *keys = lb_zipf_new(n_keys, scenario->key_zipf);
    *a = (struct attributes){.source.value_of = value_of,
                             .seed = seed,
                             .unique = scenario->unique > 0 ? scenario->unique : USUAL_UNIQUE,
                             .n_keys = n_keys};
    memcpy(a->keys, keys, n_keys * sizeof *keys);
    free(keys);
    read_parts(LB_A_TENANT, scenario->tenants, &a->parts[LB_A_TENANT]);
    read_parts(LB_A_PRIORITY, scenario->priority, &a->parts[LB_A_PRIORITY]);
    read_parts(LB_A_DUE, scenario->due, &a->parts[LB_A_DUE]);
    return &a->source;
}

bool lb_attributes_delay(const struct lb_scenario *scenario)
{
    struct parts parts;
    bool delays = false;
    read_parts(LB_A_DUE, scenario->due, &parts);
    for (size_t i = 0; i < parts.n; i++)
        delays = delays || parts.part[i].first > 0;
    return delays;
}
