/* Text formats: the input, and one operation as read from it, before translation to an event.
 * Private to bench/record.
 */
#ifndef LB_TEXT_SCAN_H
#define LB_TEXT_SCAN_H

#include "array.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LB_SCAN_DEPTH = 64 }; /* nesting that is followed; deeper is refused, not a stack overflow */

/* The bytes of a file. *end is a NUL that does not belong to them, so that a scanner may look one
 * byte ahead without asking, and stops at it as at any other byte that it does not expect. */
struct lb_scan {
    const char *start, *end, *at;
    const char *name; /* for messages */
    struct lb_error *err;
    void *memory; /* of the mapping; NULL: not ours */
    size_t mapped;
    bool is_copy; /* of data from a pipe */
};

/* Maps a file, or reads standard input ("-") or a pipe to its end. Returns 0 or LB_E_FILE, or
 * LB_E_MEMORY. */
int lb_scan_open(struct lb_scan *scan, const char *path, struct lb_error *err);
/* Over size bytes in memory; bytes[size] must be 0. */
void lb_scan_memory(struct lb_scan *scan, const char *bytes, size_t size, const char *name,
                    struct lb_error *err);
void lb_scan_close(struct lb_scan *scan);

/* The number of the line that at lies in, from 1. Counts from the start: for messages only. */
size_t lb_scan_line(const struct lb_scan *scan, const char *at);
/* LB_E_FILE with "name:line: message". */
int lb_scan_fail(const struct lb_scan *scan, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum lb_raw_kind {
    LB_RAW_ABSENT,
    LB_RAW_NIL,
    LB_RAW_TRUE,
    LB_RAW_FALSE,
    LB_RAW_INTEGER,
    LB_RAW_NAME,   /* a keyword, without its colon; in JSON any string */
    LB_RAW_STRING, /* an EDN string */
    LB_RAW_VECTOR,
    LB_RAW_OTHER /* a map, a set, a fraction, ... */
};

/* A value as it stands in the text. text is what lies between quotes, escapes untouched. */
struct lb_raw {
    enum lb_raw_kind kind;
    int64_t integer;
    const char *text;
    size_t length;
};

static inline bool lb_raw_is_nothing(const struct lb_raw *raw)
{
    return raw->kind == LB_RAW_ABSENT || raw->kind == LB_RAW_NIL;
}

enum lb_raw_key {
    LB_KEY_TYPE,
    LB_KEY_F,
    LB_KEY_PROCESS,
    LB_KEY_TIME,
    LB_KEY_INDEX,
    LB_KEY_VALUE,
    LB_KEY_ERROR,
    /* lockbench's own */
    LB_KEY_TOKEN,
    LB_KEY_OBJECT,
    LB_KEY_ARG,
    LB_KEY_SHARED,
    LB_KEY_EFFECTIVE,
    LB_KEY_OVER,
    LB_KEY_FINAL,
    LB_KEY_COMMITTED,
    LB_KEY_LOG,
    LB_KEY_BY,
    LB_KEY_UNIX,
    LB_KEY_EVENTS,
    LB_KEY_KEY, /* attributes, in the order of enum lb_attribute */
    LB_KEY_TENANT,
    LB_KEY_PRIORITY,
    LB_KEY_DUE,
    LB_KEY_UNIQUE,
    LB_RAW_KEYS
};

/* One operation. */
struct lb_raw_op {
    const char *at; /* where it begins */
    struct lb_raw keys[LB_RAW_KEYS];
    struct lb_raw fence;   /* "fence" in a map that is, or is in, the value */
    struct lb_array items; /* struct lb_raw: the elements of a vector, outermost level */
};

extern const char *const lb_raw_key_names[LB_RAW_KEYS];
/* The key of that name, or LB_RAW_KEYS. */
enum lb_raw_key lb_raw_key_find(const char *text, size_t length);
/* Puts value under key of the operation; LB_E_FILE if the operation has the key already. */
int lb_raw_set(const struct lb_scan *scan, struct lb_raw_op *op, enum lb_raw_key key,
               const struct lb_raw *value, const char *at);
bool lb_raw_is(const struct lb_raw *raw, const char *name);

/* Reads digits at scan->at. False: the number is too large, or with the sign no int64_t. */
bool lb_scan_digits(struct lb_scan *scan, bool negative, int64_t *ret);

/* The next operation. 1: read; 0: the end; or LB_E_FILE. */
struct lb_edn {
    bool in_vector, ended, began;
};
int lb_edn_next(struct lb_scan *scan, struct lb_edn *edn, struct lb_raw_op *op);
int lb_jsonl_next(struct lb_scan *scan, struct lb_raw_op *op);

#endif
