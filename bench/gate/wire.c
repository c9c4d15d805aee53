/* Finds the end of each message and reads its body: see wire.h. */
#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The whole of the head: the length counts itself. */
static bool begin_body(struct lb_wire_cutter *cutter, size_t n_type)
{
    const uint8_t *p = cutter->head + n_type;
    uint32_t length = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    if (length < 4 || length > (n_type > 0 ? LB_WIRE_LONGEST : LB_WIRE_FIRST))
        return false;
    cutter->type = n_type > 0 ? cutter->head[0] : 0;
    cutter->left = length - 4;
    cutter->n_kept = 0;
    cutter->is_cut = false;
    cutter->is_in = true;
    return true;
}

long lb_wire_cut(struct lb_wire_cutter *cutter, const char *bytes, size_t n, bool *ret_ends)
{
    size_t n_type = cutter->is_first ? 0 : 1, used = 0;
    *ret_ends = false;
    while (!cutter->is_in && used < n) {
        cutter->head[cutter->n_head++] = (uint8_t)bytes[used++];
        if (cutter->n_head == n_type + 4 && !begin_body(cutter, n_type))
            return -1;
    }
    if (!cutter->is_in)
        return (long)used;
    size_t some = n - used < cutter->left ? n - used : cutter->left;
    size_t room = LB_WIRE_KEPT - cutter->n_kept, kept = some < room ? some : room;
    memcpy(cutter->kept + cutter->n_kept, bytes + used, kept);
    cutter->n_kept += kept;
    cutter->kept[cutter->n_kept] = '\0';
    cutter->is_cut = cutter->is_cut || kept < some;
    cutter->left -= (uint32_t)some;
    if (cutter->left == 0) {
        cutter->is_in = cutter->is_first = false;
        cutter->n_head = 0;
        *ret_ends = true;
    }
    return (long)(used + some);
}

enum lb_wire_start lb_wire_start_of(const struct lb_wire_cutter *cutter)
{
    enum { CANCEL = 80877102, TLS = 80877103, GSS = 80877104 };
    struct lb_wire_body body = lb_wire_body_of(cutter);
    uint32_t code = lb_wire_number(&body, 4);
    return code == TLS || code == GSS ? LB_WIRE_ENCRYPTION
           : code == CANCEL           ? LB_WIRE_CANCEL
                                      : LB_WIRE_SESSION;
}

struct lb_wire_body lb_wire_body_of(const struct lb_wire_cutter *message)
{
    return (struct lb_wire_body){.at = message->kept, .end = message->kept + message->n_kept};
}

const char *lb_wire_bytes(struct lb_wire_body *body, size_t n)
{
    if (body->has_failed || n > (size_t)(body->end - body->at)) {
        body->has_failed = true;
        return NULL;
    }
    const char *bytes = body->at;
    body->at += n;
    return bytes;
}

uint32_t lb_wire_number(struct lb_wire_body *body, unsigned n_bytes)
{
    const char *bytes = lb_wire_bytes(body, n_bytes);
    uint32_t value = 0;
    for (unsigned i = 0; i < n_bytes && bytes != NULL; i++)
        value = value << 8 | (uint8_t)bytes[i];
    return value;
}

/* One that is cut ends where the body does: there is a NUL behind what is kept. */
const char *lb_wire_string(struct lb_wire_body *body)
{
    const char *text = body->at;
    if (body->has_failed || text == body->end) {
        body->has_failed = true;
        return "";
    }
    body->at += strnlen(text, (size_t)(body->end - text));
    if (body->at < body->end)
        body->at++;
    else
        body->has_failed = true;
    return text;
}

/* --- values --- */

static int64_t integer_of(const char *bytes, size_t n)
{
    uint64_t value = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < n; i++)
        value = value << 8 | (uint8_t)bytes[i];
    return (int64_t)value;
}

static void write_binary(char *text, size_t size, const char *bytes, size_t n, uint32_t type)
{
    enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, OID = 26 };
    if (type == BOOL && n == 1) {
        snprintf(text, size, "%s", bytes[0] != 0 ? "true" : "false");
        return;
    }
    if (((type == INT2 || type == INT4 || type == INT8) && (n == 2 || n == 4 || n == 8))) {
        snprintf(text, size, "%" PRId64, integer_of(bytes, n));
        return;
    }
    if (type == OID && n == 4) {
        snprintf(text, size, "%" PRIu32, (uint32_t)integer_of(bytes, n));
        return;
    }
    size_t used = (size_t)snprintf(text, size, "'\\x");
    for (size_t i = 0; i < n && used + 4 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%02x", (uint8_t)bytes[i]);
    if (used < size)
        snprintf(text + used, size - used, "'");
}

static bool is_number(const char *bytes, size_t n)
{
    size_t first = n > 0 && bytes[0] == '-' ? 1 : 0;
    if (n == first || n > 18)
        return false;
    for (size_t i = first; i < n; i++)
        if (bytes[i] < '0' || bytes[i] > '9')
            return false;
    return true;
}

void lb_wire_literal(char *text, size_t size, const char *bytes, size_t n, bool is_binary,
                     uint32_t type)
{
    enum { TEXT = 25, VARCHAR = 1043, BPCHAR = 1042, NAME = 19, JSON = 114, UNKNOWN = 705 };
    bool is_text = type == TEXT || type == VARCHAR || type == BPCHAR || type == NAME ||
                   type == JSON || type == UNKNOWN;
    if (is_binary && !is_text) {
        write_binary(text, size, bytes, n, type);
        return;
    }
    if (!is_text && is_number(bytes, n)) {
        snprintf(text, size, "%.*s", (int)n, bytes);
        return;
    }
    size_t used = (size_t)snprintf(text, size, "'");
    for (size_t i = 0; i < n && used + 4 < size; i++) {
        if (bytes[i] == '\'')
            text[used++] = '\'';
        text[used++] = bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\0' ? ' ' : bytes[i];
    }
    if (used < size)
        snprintf(text + used, size - used, "'");
}
