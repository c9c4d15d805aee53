/* Making JSON: see json_object.h. */
#include "json_object.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct lb_object lb_object_new(void)
{
    json_t *json = json_object();
    return (struct lb_object){json, json == NULL};
}

struct lb_object lb_list_new(void)
{
    json_t *json = json_array();
    return (struct lb_object){json, json == NULL};
}

json_t *lb_object_end(struct lb_object *object)
{
    if (object->failed) {
        json_decref(object->json);
        return NULL;
    }
    return object->json;
}

void lb_put(struct lb_object *object, const char *key, json_t *value)
{
    if (object->json == NULL || json_object_set_new(object->json, key, value) != 0)
        object->failed = true;
}

void lb_add(struct lb_object *list, json_t *value)
{
    if (list->json == NULL || json_array_append_new(list->json, value) != 0)
        list->failed = true;
}

json_t *lb_json_text(const char *text)
{
    json_t *value = json_string(text);
    return value != NULL ? value : json_string("(not UTF-8)");
}

json_t *lb_json_count(uint64_t value)
{
    return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

json_t *lb_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void lb_put_text(struct lb_object *object, const char *key, const char *text)
{
    lb_put(object, key, lb_json_text(text));
}

void lb_put_text_or_null(struct lb_object *object, const char *key, const char *text)
{
    lb_put(object, key, text != NULL && text[0] != '\0' ? lb_json_text(text) : json_null());
}

void lb_put_count(struct lb_object *object, const char *key, uint64_t value)
{
    lb_put(object, key, lb_json_count(value));
}

void lb_put_real(struct lb_object *object, const char *key, double value)
{
    lb_put(object, key, lb_json_real(value));
}

void lb_put_flag(struct lb_object *object, const char *key, bool value)
{
    lb_put(object, key, json_boolean(value));
}

json_t *lb_estimate_json(const struct lb_estimate *estimate)
{
    struct lb_object object = lb_object_new();
    lb_put_real(&object, "value", estimate->value);
    lb_put_real(&object, "low", estimate->interval.low);
    lb_put_real(&object, "high", estimate->interval.high);
    lb_put_real(&object, "coverage", estimate->interval.coverage);
    return lb_object_end(&object);
}

int lb_json_print(json_t *json, size_t flags, const char *what, FILE *out, struct lb_error *err)
{
    if (json == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    bool written =
        json_dumpf(json, out, flags | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', out) != EOF;
    int rc =
        written ? 0 : lb_fail(err, LB_E_ENV, "cannot write %s as JSON: %s", what, strerror(errno));
    json_decref(json);
    return rc;
}
