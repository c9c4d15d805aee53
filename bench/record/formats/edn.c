/* EDN (extensible data notation), as Jepsen prints histories: maps, one after another, or in one
 * vector. A streaming scanner over mapped text: nothing is copied, nothing is built, and unknown
 * keys are skipped, but must be well formed. Reading a map of 90 bytes takes some 100 ns; a general
 * reader, which builds values, takes ten times that.
 *
 * Source: github.com/edn-format/edn. This reader is laxer where it does not matter here: symbols
 * and characters are not checked beyond their end. Namespaced maps (#:a{...}) and tagged values
 * (#jepsen.history.Op{...}) are read as the value they carry.
 */
#include "text_scan.h"

#include <string.h>

/* 1: white space; 2: ends a token. */
static const unsigned char class_of[256] = {
    [' '] = 3, ['\t'] = 3, ['\n'] = 3, ['\r'] = 3, ['\f'] = 3, [','] = 3, [';'] = 2, ['"'] = 2,
    ['('] = 2, [')'] = 2,  ['['] = 2,  [']'] = 2,  ['{'] = 2,  ['}'] = 2, [0] = 2,
};

static inline bool is_space(char c)
{
    return class_of[(unsigned char)c] & 1;
}

static inline bool is_end(char c)
{
    return class_of[(unsigned char)c] & 2;
}

static int read_value(struct lb_scan *scan, struct lb_raw *raw, struct lb_raw_op *op, int depth);

static int unexpected(const struct lb_scan *scan)
{
    if (scan->at >= scan->end)
        return lb_scan_fail(scan, scan->end, "the file ends in the middle of an operation");
    if ((unsigned char)*scan->at < 32)
        return lb_scan_fail(scan, scan->at, "unexpected byte %d", *scan->at);
    return lb_scan_fail(scan, scan->at, "unexpected '%c'", *scan->at);
}

/* Over white space, comments and discarded values (#_ value). */
static int skip_space(struct lb_scan *scan, int depth)
{
    for (;;) {
        while (is_space(*scan->at))
            scan->at++;
        if (*scan->at == ';') {
            scan->at += strcspn(scan->at, "\n");
            if (*scan->at == '\0' && scan->at < scan->end)
                return unexpected(scan);
        } else if (scan->at[0] == '#' && scan->at[1] == '_') {
            struct lb_raw ignored;
            scan->at += 2;
            int code = read_value(scan, &ignored, NULL, depth + 1);
            if (code != 0)
                return code;
        } else {
            return 0;
        }
    }
}

static int read_string(struct lb_scan *scan, struct lb_raw *raw)
{
    const char *start = scan->at++;
    while (*scan->at != '"') {
        if (scan->at >= scan->end || (*scan->at == '\\' && ++scan->at >= scan->end))
            return lb_scan_fail(scan, start, "a string does not end");
        if (*scan->at == '\0') /* a hole in the file: there may be terabytes */
            return unexpected(scan);
        scan->at++;
    }
    *raw = (struct lb_raw){.kind = LB_RAW_STRING, .text = start + 1};
    raw->length = (size_t)(scan->at - raw->text);
    scan->at++;
    return 0;
}

/* An integer, or another number, which is skipped. */
static int read_number(struct lb_scan *scan, struct lb_raw *raw)
{
    const char *start = scan->at;
    bool negative = *scan->at == '-';
    if (*scan->at == '-' || *scan->at == '+')
        scan->at++;
    bool fits = lb_scan_digits(scan, negative, &raw->integer);
    if (*scan->at == 'N')
        scan->at++;
    raw->text = start;
    if (is_end(*scan->at)) {
        if (!fits)
            return lb_scan_fail(scan, start, "a number is too large");
        raw->kind = LB_RAW_INTEGER;
    } else {
        raw->kind = LB_RAW_OTHER;
        for (; !is_end(*scan->at); scan->at++)
            if (strchr("0123456789.eE+-M/", *scan->at) == NULL)
                return lb_scan_fail(scan, start, "not a number");
    }
    raw->length = (size_t)(scan->at - start);
    return 0;
}

/* A keyword, or a symbol: nil, true, false, or one without meaning here. */
static int read_name(struct lb_scan *scan, struct lb_raw *raw)
{
    const char *start = scan->at;
    while (!is_end(*scan->at)) {
        if ((unsigned char)*scan->at < 32)
            return unexpected(scan);
        scan->at++;
    }
    size_t length = (size_t)(scan->at - start);
    *raw = (struct lb_raw){.kind = LB_RAW_OTHER, .text = start, .length = length};
    if (*start == ':') {
        if (length == 1)
            return lb_scan_fail(scan, start, "a keyword without a name");
        *raw = (struct lb_raw){.kind = LB_RAW_NAME, .text = start + 1, .length = length - 1};
    } else if (length == 3 && memcmp(start, "nil", 3) == 0) {
        raw->kind = LB_RAW_NIL;
    } else if (length == 4 && memcmp(start, "true", 4) == 0) {
        raw->kind = LB_RAW_TRUE;
    } else if (length == 5 && memcmp(start, "false", 5) == 0) {
        raw->kind = LB_RAW_FALSE;
    }
    return 0;
}

/* Behind an opening bracket, to the closing one. op: the items are noted as the value's. */
static int read_sequence(struct lb_scan *scan, char closing, struct lb_raw_op *op, bool is_value,
                         int depth)
{
    for (;;) {
        struct lb_raw item;
        int code = skip_space(scan, depth);
        if (code != 0)
            return code;
        if (*scan->at == closing) {
            scan->at++;
            return 0;
        }
        code = read_value(scan, &item, op, depth + 1);
        if (code != 0)
            return code;
        if (is_value)
            *(struct lb_raw *)lb_array_push(&op->items, sizeof item) = item;
    }
}

/* A map that is not an operation. Its "fence" is what a fenced lock answered. */
static int read_map(struct lb_scan *scan, struct lb_raw_op *op, int depth)
{
    for (;;) {
        struct lb_raw key, value;
        int code = skip_space(scan, depth);
        if (code != 0)
            return code;
        if (*scan->at == '}') {
            scan->at++;
            return 0;
        }
        if ((code = read_value(scan, &key, NULL, depth + 1)) != 0 ||
            (code = skip_space(scan, depth)) != 0)
            return code;
        if (*scan->at == '}')
            return lb_scan_fail(scan, scan->at, "a key without a value");
        code = read_value(scan, &value, op, depth + 1);
        if (code != 0)
            return code;
        if (op != NULL && lb_raw_is(&key, "fence"))
            op->fence = value;
    }
}

/* At '#': a set, a symbolic value such as ##Inf, or a value behind its tags, which is read as if
 * it stood alone. Tags are a loop, since depth must not grow with them. */
static int read_dispatch(struct lb_scan *scan, struct lb_raw *raw, struct lb_raw_op *op, int depth)
{
    do {
        scan->at++;
        if (*scan->at == '{') {
            scan->at++;
            return read_sequence(scan, '}', NULL, false, depth);
        }
        bool symbolic = *scan->at == '#';
        if (symbolic)
            scan->at++;
        if (is_end(*scan->at))
            return unexpected(scan);
        struct lb_raw tag;
        int code = read_name(scan, &tag);
        if (code != 0 || symbolic)
            return code;
        code = skip_space(scan, depth);
        if (code != 0)
            return code;
    } while (*scan->at == '#');
    return read_value(scan, raw, op, depth);
}

/* Any value. op: this is the operation's value, or within it; NULL: it is not. */
static int read_value(struct lb_scan *scan, struct lb_raw *raw, struct lb_raw_op *op, int depth)
{
    if (depth > LB_SCAN_DEPTH)
        return lb_scan_fail(scan, scan->at, "nested too deeply");
    int code = skip_space(scan, depth);
    if (code != 0)
        return code;
    const char *start = scan->at;
    *raw = (struct lb_raw){.kind = LB_RAW_OTHER, .text = start};
    switch (*start) {
    case '"':
        return read_string(scan, raw);
    case '[':
    case '(':
        scan->at++;
        raw->kind = LB_RAW_VECTOR;
        code = read_sequence(scan, *start == '[' ? ']' : ')', op, op != NULL && depth == 1, depth);
        break;
    case '{':
        scan->at++;
        code = read_map(scan, op, depth);
        break;
    case '#':
        code = read_dispatch(scan, raw, op, depth);
        break;
    case '\\':
        /* A character may be one that would end a token. */
        if (++scan->at >= scan->end)
            return unexpected(scan);
        scan->at++;
        while (!is_end(*scan->at))
            scan->at++;
        break;
    case '+':
    case '-':
        if (start[1] < '0' || start[1] > '9')
            return read_name(scan, raw);
        return read_number(scan, raw);
    default:
        if (*start >= '0' && *start <= '9')
            return read_number(scan, raw);
        if (is_end(*start) || (unsigned char)*start < 32)
            return unexpected(scan);
        return read_name(scan, raw);
    }
    if (raw->text == start)
        raw->length = (size_t)(scan->at - start);
    return code;
}

/* Behind the '{' of an operation. */
static int read_operation(struct lb_scan *scan, struct lb_raw_op *op)
{
    for (;;) {
        struct lb_raw key, value;
        int code = skip_space(scan, 0);
        if (code != 0)
            return code;
        if (*scan->at == '}') {
            scan->at++;
            return 1;
        }
        const char *at = scan->at;
        if ((code = read_value(scan, &key, NULL, 1)) != 0 || (code = skip_space(scan, 0)) != 0)
            return code;
        if (*scan->at == '}')
            return lb_scan_fail(scan, scan->at, "a key without a value");
        enum lb_raw_key which =
            key.kind == LB_RAW_NAME ? lb_raw_key_find(key.text, key.length) : LB_RAW_KEYS;
        code = read_value(scan, &value, which == LB_KEY_VALUE ? op : NULL, 1);
        if (code == 0 && which != LB_RAW_KEYS)
            code = lb_raw_set(scan, op, which, &value, at);
        if (code != 0)
            return code;
    }
}

int lb_edn_next(struct lb_scan *scan, struct lb_edn *edn, struct lb_raw_op *op)
{
    for (;;) {
        int code = skip_space(scan, 0);
        if (code != 0)
            return code;
        if (scan->at >= scan->end) {
            if (edn->in_vector && !edn->ended)
                return lb_scan_fail(scan, scan->end, "the vector of operations does not end");
            return 0;
        }
        if (edn->ended)
            return lb_scan_fail(scan, scan->at, "something follows the vector of operations");
        if (*scan->at == '[' && !edn->began) {
            edn->in_vector = edn->began = true;
            scan->at++;
        } else if (*scan->at == ']' && edn->in_vector) {
            edn->ended = true;
            scan->at++;
        } else {
            break;
        }
    }
    edn->began = true;
    op->at = scan->at;
    if (*scan->at == '#') { /* a tag: #jepsen.history.Op{...} */
        while (*scan->at != '{' && !is_end(*scan->at))
            scan->at++;
    }
    if (*scan->at != '{')
        return lb_scan_fail(scan, scan->at, "an operation must be a map, {:type ...}");
    scan->at++;
    return read_operation(scan, op);
}
