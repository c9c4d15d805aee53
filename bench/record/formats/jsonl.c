/* JSON Lines: one object per line. A streaming scanner over mapped text, for the same reason as in
 * edn.c: libjansson builds every value in memory and reads some 30 MB/s, a history is read at more
 * than 100. Unknown keys are skipped, but must be JSON (RFC 8259).
 */
#include "text_scan.h"

#include <string.h>

static int read_value(struct lb_scan *scan, struct lb_raw *raw, struct lb_raw_op *op, int depth);

/* Within a line: its end is not white space. */
static inline void skip_space(struct lb_scan *scan)
{
    while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r')
        scan->at++;
}

static int unexpected(const struct lb_scan *scan)
{
    if (scan->at >= scan->end || *scan->at == '\n')
        return lb_scan_fail(scan, scan->at, "the line ends in the middle of an operation");
    if ((unsigned char)*scan->at < 32)
        return lb_scan_fail(scan, scan->at, "unexpected byte %d", *scan->at);
    return lb_scan_fail(scan, scan->at, "unexpected '%c'", *scan->at);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int read_string(struct lb_scan *scan, struct lb_raw *raw)
{
    const char *start = scan->at++;
    for (; *scan->at != '"'; scan->at++) {
        if ((unsigned char)*scan->at < 32)
            return scan->at < scan->end && *scan->at != '\n'
                       ? unexpected(scan)
                       : lb_scan_fail(scan, start, "a string does not end");
        if (*scan->at != '\\')
            continue;
        scan->at++;
        if (*scan->at == '\0' || strchr("\"\\/bfnrtu", *scan->at) == NULL)
            return lb_scan_fail(scan, scan->at, "not an escape");
        if (*scan->at == 'u')
            for (int i = 0; i < 4; i++)
                if (!is_hex(*++scan->at))
                    return lb_scan_fail(scan, scan->at, "not an escape");
    }
    *raw = (struct lb_raw){.kind = LB_RAW_NAME, .text = start + 1};
    raw->length = (size_t)(scan->at - raw->text);
    scan->at++;
    return 0;
}

static bool skip_digits(struct lb_scan *scan)
{
    const char *start = scan->at;
    while (*scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > start;
}

static int read_number(struct lb_scan *scan, struct lb_raw *raw)
{
    const char *start = scan->at;
    bool negative = *scan->at == '-';
    if (negative)
        scan->at++;
    const char *digits = scan->at;
    bool fits = lb_scan_digits(scan, negative, &raw->integer);
    bool bad = scan->at == digits || (*digits == '0' && scan->at > digits + 1);
    raw->kind = LB_RAW_INTEGER;
    if (*scan->at == '.') {
        raw->kind = LB_RAW_OTHER;
        scan->at++;
        bad |= !skip_digits(scan);
    }
    if (*scan->at == 'e' || *scan->at == 'E') {
        raw->kind = LB_RAW_OTHER;
        scan->at++;
        if (*scan->at == '+' || *scan->at == '-')
            scan->at++;
        bad |= !skip_digits(scan);
    }
    if (bad)
        return lb_scan_fail(scan, start, "not a number");
    if (raw->kind == LB_RAW_INTEGER && !fits)
        return lb_scan_fail(scan, start, "a number is too large");
    raw->text = start;
    raw->length = (size_t)(scan->at - start);
    return 0;
}

static int read_word(struct lb_scan *scan, struct lb_raw *raw)
{
    static const struct {
        const char *word;
        size_t length;
        enum lb_raw_kind kind;
    } words[] = {{"null", 4, LB_RAW_NIL}, {"true", 4, LB_RAW_TRUE}, {"false", 5, LB_RAW_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        /* The NUL at the end differs from every letter: strncmp does not run past it. */
        if (strncmp(scan->at, words[i].word, words[i].length) == 0) {
            *raw =
                (struct lb_raw){.kind = words[i].kind, .text = scan->at, .length = words[i].length};
            scan->at += words[i].length;
            return 0;
        }
    }
    return unexpected(scan);
}

/* Behind '[': items of the value if op is not NULL and is_value. */
static int read_array(struct lb_scan *scan, struct lb_raw_op *op, bool is_value, int depth)
{
    skip_space(scan);
    if (*scan->at == ']') {
        scan->at++;
        return 0;
    }
    for (;;) {
        struct lb_raw item;
        int code = read_value(scan, &item, op, depth + 1);
        if (code != 0)
            return code;
        if (is_value)
            *(struct lb_raw *)lb_array_push(&op->items, sizeof item) = item;
        skip_space(scan);
        if (*scan->at == ']') {
            scan->at++;
            return 0;
        }
        if (*scan->at != ',')
            return unexpected(scan);
        scan->at++;
    }
}

/* Behind '{'. depth 0: the operation itself. */
static int read_object(struct lb_scan *scan, struct lb_raw_op *op, int depth)
{
    skip_space(scan);
    if (*scan->at == '}') {
        scan->at++;
        return 0;
    }
    for (;;) {
        struct lb_raw key = {0}, value = {0};
        skip_space(scan);
        const char *at = scan->at;
        if (*at != '"')
            return unexpected(scan);
        int code = read_string(scan, &key);
        if (code != 0)
            return code;
        skip_space(scan);
        if (*scan->at != ':')
            return unexpected(scan);
        scan->at++;
        enum lb_raw_key which = depth == 0 ? lb_raw_key_find(key.text, key.length) : LB_RAW_KEYS;
        struct lb_raw_op *inner = depth == 0 && which != LB_KEY_VALUE ? NULL : op;
        code = read_value(scan, &value, inner, depth + 1);
        if (code == 0 && which != LB_RAW_KEYS)
            code = lb_raw_set(scan, op, which, &value, at);
        if (code != 0)
            return code;
        if (depth > 0 && op != NULL && lb_raw_is(&key, "fence"))
            op->fence = value;
        skip_space(scan);
        if (*scan->at == '}') {
            scan->at++;
            return 0;
        }
        if (*scan->at != ',')
            return unexpected(scan);
        scan->at++;
    }
}

static int read_value(struct lb_scan *scan, struct lb_raw *raw, struct lb_raw_op *op, int depth)
{
    if (depth > LB_SCAN_DEPTH)
        return lb_scan_fail(scan, scan->at, "nested too deeply");
    skip_space(scan);
    const char *start = scan->at;
    int code;
    switch (*start) {
    case '"':
        return read_string(scan, raw);
    case '[':
        scan->at++;
        code = read_array(scan, op, op != NULL && depth == 1, depth);
        *raw = (struct lb_raw){.kind = LB_RAW_VECTOR, .text = start};
        break;
    case '{':
        scan->at++;
        code = read_object(scan, op, depth);
        *raw = (struct lb_raw){.kind = LB_RAW_OTHER, .text = start};
        break;
    default:
        if (*start == '-' || (*start >= '0' && *start <= '9'))
            return read_number(scan, raw);
        return read_word(scan, raw);
    }
    raw->length = (size_t)(scan->at - start);
    return code;
}

int lb_jsonl_next(struct lb_scan *scan, struct lb_raw_op *op)
{
    for (skip_space(scan); *scan->at == '\n'; skip_space(scan))
        scan->at++;
    if (scan->at >= scan->end)
        return 0;
    op->at = scan->at;
    if (*scan->at != '{')
        return lb_scan_fail(scan, scan->at,
                            "an operation must be an object, {\"type\": ...}, "
                            "on a line of its own");
    scan->at++;
    int code = read_object(scan, op, 0);
    if (code != 0)
        return code;
    skip_space(scan);
    if (*scan->at != '\n' && scan->at < scan->end)
        return lb_scan_fail(scan, scan->at, "something follows the operation on its line");
    return 1;
}
