/* Making JSON objects: what the writers of results share. Private to bench/report.
 *
 * Jansson's setters take ownership and accept NULL (out of memory), which is remembered in struct
 * object and reported once at the end.
 */
#ifndef LB_JSON_OBJECT_H
#define LB_JSON_OBJECT_H

#include "stats.h"

#include <jansson.h>
#include <math.h>

struct object {
    json_t *json;
    bool failed;
};

static inline struct object object_new(void)
{
    json_t *json = json_object();
    return (struct object){json, json == NULL};
}

static inline void put(struct object *object, const char *key, json_t *value)
{
    if (object->json == NULL || json_object_set_new(object->json, key, value) != 0)
        object->failed = true;
}

/* What was made, or NULL if any part of it failed. */
static inline json_t *object_end(struct object *object)
{
    if (object->failed) {
        json_decref(object->json);
        return NULL;
    }
    return object->json;
}

static inline void put_text(struct object *object, const char *key, const char *text)
{
    /* A server's message may be in any encoding; JSON is UTF-8. */
    json_t *value = json_string(text);
    put(object, key, value != NULL ? value : json_string("(not UTF-8)"));
}

static inline json_t *number(uint64_t value)
{
    return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static inline void put_count(struct object *object, const char *key, uint64_t value)
{
    put(object, key, number(value));
}

/* A ratio to a rate of 0 is infinite: null, as JSON has no such number. */
static inline json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *estimate_json(const struct lb_estimate *estimate)
{
    struct object object = object_new();
    put(&object, "value", real_or_null(estimate->value));
    put(&object, "low", real_or_null(estimate->interval.low));
    put(&object, "high", real_or_null(estimate->interval.high));
    put(&object, "coverage", json_real(estimate->interval.coverage));
    return object_end(&object);
}

#endif
