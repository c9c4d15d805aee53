/* Making JSON: objects, arrays and documents, for all who write them.
 *
 * Values are handed over, and NULL is allowed (a text is not UTF-8, or Jansson has no memory): an
 * object or array remembers that a part of it is missing, and its end says so once. So callers need
 * no checks in between, and nothing incomplete is printed.
 */
#ifndef LB_JSON_OBJECT_H
#define LB_JSON_OBJECT_H

#include "error.h"
#include "stats.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* An object, or an array, that is being made. */
struct lb_object {
    json_t *json;
    bool failed;
};

struct lb_object lb_object_new(void);
struct lb_object lb_list_new(void);
/* The finished object, owned by the caller; NULL: a part of it failed. */
json_t *lb_object_end(struct lb_object *object);

void lb_put(struct lb_object *object, const char *key, json_t *value);
/* A server's message may be in any encoding, and JSON is UTF-8: "(not UTF-8)" stands for others. */
void lb_put_text(struct lb_object *object, const char *key, const char *text);
/* null for NULL and "". */
void lb_put_text_or_null(struct lb_object *object, const char *key, const char *text);
/* null above INT64_MAX. */
void lb_put_count(struct lb_object *object, const char *key, uint64_t value);
/* null if it is no number, such as a ratio to a rate of 0. */
void lb_put_real(struct lb_object *object, const char *key, double value);
void lb_put_flag(struct lb_object *object, const char *key, bool value);
/* Adds to an array. */
void lb_add(struct lb_object *list, json_t *value);

/* The values by themselves. */
json_t *lb_json_text(const char *text);
json_t *lb_json_count(uint64_t value);
json_t *lb_json_real(double value);
json_t *lb_estimate_json(const struct lb_estimate *estimate);

/* Prints a document and a line feed, and frees it. flags: Jansson's. json may be NULL: out of
 * memory. what: "the results", for the message. */
int lb_json_print(json_t *json, size_t flags, const char *what, FILE *out, struct lb_error *err);

#endif
