/* Writing histories in the interchange formats: see interchange.h.
 *
 * The logs are merged by time. At equal times, which count as concurrent, invokes come before ends
 * of other logs: tools that use the order of the lines then see no order that the history does not
 * show.
 */
#include "interchange.h"

#include "memory.h"
#include "translate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where a log is read. */
struct cursor {
    const struct lb_log_view *log;
    size_t span, at;
};

struct writer {
    const struct lb_history_view *view;
    FILE *out;
    bool edn, plain;
    uint64_t zero_ns; /* times are relative to this */
    uint64_t index;
    struct cursor *cursors;
    uint32_t *heap; /* cursors by their next event */
    size_t n_heap;
    uint32_t next_process; /* plain: for the further items of one put or claim */
    uint32_t *extra; /* plain: per log, the first process of its open operation's further items */
    bool first_key;
};

/* --- merging --- */

/* NULL at the end. A cursor never rests behind the last event of a span. */
static const struct lb_event *event_at(const struct cursor *cursor)
{
    return cursor->span < cursor->log->n_spans
               ? &cursor->log->spans[cursor->span].events[cursor->at]
               : NULL;
}

static void advance(struct cursor *cursor)
{
    cursor->at++;
    while (cursor->span < cursor->log->n_spans &&
           cursor->at >= cursor->log->spans[cursor->span].n) {
        cursor->span++;
        cursor->at = 0;
    }
}

static bool comes_before(const struct writer *writer, uint32_t a, uint32_t b)
{
    const struct lb_event *x = event_at(&writer->cursors[a]), *y = event_at(&writer->cursors[b]);
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns;
    bool x_invokes = x->type == LB_EV_INVOKE, y_invokes = y->type == LB_EV_INVOKE;
    return x_invokes != y_invokes ? x_invokes : a < b;
}

static void sift_down(struct writer *writer, size_t i)
{
    uint32_t *heap = writer->heap;
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        for (size_t k = child; k < child + 2 && k < writer->n_heap; k++)
            if (comes_before(writer, heap[k], heap[least]))
                least = k;
        if (least == i)
            return;
        uint32_t moved = heap[i];
        heap[i] = heap[least];
        heap[least] = moved;
        i = least;
    }
}

static void start_merge(struct writer *writer)
{
    size_t n = writer->view->n_logs;
    writer->cursors = lb_calloc(n + 1, sizeof *writer->cursors);
    writer->heap = lb_calloc(n + 1, sizeof *writer->heap);
    writer->extra = lb_calloc(n + 1, sizeof *writer->extra);
    writer->zero_ns = writer->view->start_ns;
    for (size_t i = 0; i < n; i++) {
        struct cursor *cursor = &writer->cursors[i];
        cursor->log = &writer->view->logs[i];
        for (size_t s = 0; s < cursor->log->n_spans; s++)
            for (size_t k = 0; k < cursor->log->spans[s].n; k++) {
                const struct lb_event *event = &cursor->log->spans[s].events[k];
                if (event->process >= writer->next_process)
                    writer->next_process = event->process + 1;
            }
        while (cursor->span < cursor->log->n_spans && cursor->log->spans[cursor->span].n == 0)
            cursor->span++;
        const struct lb_event *event = event_at(cursor);
        if (event == NULL)
            continue;
        writer->heap[writer->n_heap++] = (uint32_t)i;
        if (event->time_ns < writer->zero_ns)
            writer->zero_ns = 0; /* a view that says nothing about its start */
    }
    for (size_t i = writer->n_heap; i-- > 0;)
        sift_down(writer, i);
}

/* --- keys and values --- */

static void put_key(struct writer *writer, const char *key)
{
    fputs(writer->first_key ? "{" : ", ", writer->out);
    writer->first_key = false;
    fprintf(writer->out, writer->edn ? ":%s " : "\"%s\":", key);
}

static void put_name(struct writer *writer, const char *key, const char *name)
{
    put_key(writer, key);
    fprintf(writer->out, writer->edn ? ":%s" : "\"%s\"", name);
}

static void put_unsigned(struct writer *writer, const char *key, uint64_t value)
{
    put_key(writer, key);
    fprintf(writer->out, "%" PRIu64, value);
}

static void put_signed(struct writer *writer, const char *key, uint64_t value)
{
    put_key(writer, key);
    fprintf(writer->out, "%" PRId64, (int64_t)value);
}

/* As Jepsen's fenced locks answer. */
static void put_fence(struct writer *writer, uint64_t token)
{
    put_key(writer, "value");
    fprintf(writer->out, writer->edn ? "{:fence %" PRId64 "}" : "{\"fence\": %" PRId64 "}",
            (int64_t)token);
}

static void put_flag(struct writer *writer, const char *key, bool value)
{
    put_key(writer, key);
    fputs(value ? "true" : "false", writer->out);
}

static void put_nil(struct writer *writer, const char *key)
{
    put_key(writer, key);
    fputs(writer->edn ? "nil" : "null", writer->out);
}

static void put_text(struct writer *writer, const char *key, const char *text)
{
    put_key(writer, key);
    putc('"', writer->out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(writer->out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", writer->out);
        else if ((unsigned char)*text < 32)
            fprintf(writer->out, "\\u%04x", *text);
        else
            putc(*text, writer->out);
    }
    putc('"', writer->out);
}

static void end_operation(struct writer *writer)
{
    fputs("}\n", writer->out);
    writer->first_key = true;
    writer->index++;
}

static void put_head(struct writer *writer, const struct lb_event *event, const char *type,
                     const char *f)
{
    put_name(writer, "type", type);
    put_name(writer, "f", f);
    if (event->type == LB_EV_NOTE)
        put_name(writer, "process", "nemesis");
    else
        put_unsigned(writer, "process", event->process);
    put_unsigned(writer, "time", event->time_ns - writer->zero_ns);
    put_unsigned(writer, "index", writer->index);
}

/* Everything that reading it again must find. */
static void write_full(struct writer *writer, uint32_t log, const struct lb_event *event)
{
    bool note = event->type == LB_EV_NOTE;
    put_head(writer, event, note ? "info" : lb_event_type_name(event->type), lb_op_name(event->op));
    if (event->flags & LB_EVF_TOKEN) {
        put_nil(writer, "value");
        put_signed(writer, "token", event->value);
    } else if (event->value != 0 || event->op >= LB_OP_PUT) {
        put_signed(writer, "value", event->value);
    } else {
        put_nil(writer, "value");
    }
    if (event->type != LB_EV_INVOKE &&
        (event->answer != LB_OK || event->type == LB_EV_FAIL || event->type == LB_EV_INFO))
        put_name(writer, "error", lb_answer_name(event->answer));
    if (event->object != 0)
        put_unsigned(writer, "object", event->object);
    if (event->arg != lb_usual_arg(event))
        put_unsigned(writer, "arg", event->arg);
    if (event->flags & LB_EVF_SHARED)
        put_flag(writer, "shared", true);
    bool is_effective = (event->flags & LB_EVF_EFFECTIVE) != 0;
    if (is_effective && !lb_usually_effective(event))
        put_flag(writer, "effective", true);
    else if (!is_effective && lb_usually_effective(event))
        put_nil(writer, "effective"); /* ok says no more than that it was answered */
    if (event->flags & LB_EVF_OVER)
        put_flag(writer, "over", true);
    if (event->flags & LB_EVF_FINAL)
        put_flag(writer, "final", true);
    if (event->flags & LB_EVF_COMMITTED)
        put_flag(writer, "committed", true);
    put_unsigned(writer, "log", log);
    if (note)
        put_unsigned(writer, "by", event->process);
    end_operation(writer);
}

/* --- the plain dialect --- */

static void write_plain(struct writer *writer, const struct lb_event *event, uint32_t process,
                        const char *f, bool has_value, uint64_t value)
{
    struct lb_event shown = *event;
    shown.process = process;
    put_head(writer, &shown, lb_event_type_name(event->type), f);
    if (has_value && (event->flags & LB_EVF_TOKEN) != 0) {
        put_fence(writer, value);
    } else if (has_value) {
        put_signed(writer, "value", value);
    } else {
        put_nil(writer, "value");
    }
    if (event->type == LB_EV_FAIL || event->type == LB_EV_INFO)
        put_name(writer, "error", lb_answer_name(event->answer));
    end_operation(writer);
}

/* How many items the claim that is invoked at the cursor will come back with. Before its end may
 * stand those of the items that were ended in the same round trip. */
static uint32_t items_ahead(struct cursor cursor)
{
    uint32_t n = 0;
    const struct lb_event *event;
    for (advance(&cursor); (event = event_at(&cursor)) != NULL; advance(&cursor)) {
        if (event->type == LB_EV_NOTE && event->op == LB_OP_ITEM)
            n++;
        else if (event->type == LB_EV_INVOKE ||
                 (event->type != LB_EV_NOTE && event->op == LB_OP_CLAIM))
            break;
    }
    return n;
}

/* Item i of n of the open operation of log: the first under the operation's own process. */
static uint32_t process_of(const struct writer *writer, uint32_t log, const struct lb_event *event,
                           uint32_t i)
{
    return i == 0 ? event->process : writer->extra[log] + i - 1;
}

static void write_put(struct writer *writer, uint32_t log, const struct lb_event *event)
{
    if (event->type == LB_EV_INVOKE && event->arg > 1) {
        writer->extra[log] = writer->next_process;
        writer->next_process += event->arg - 1;
    }
    for (uint32_t i = 0; i < event->arg; i++)
        write_plain(writer, event, process_of(writer, log, event, i), "enqueue", true,
                    event->value + i);
}

/* The items come as notes before the claim's end: the cursor of the log stands on that end, and
 * items were counted when it was invoked. */
static void write_claim(struct writer *writer, uint32_t log, const struct lb_event *event,
                        struct cursor *items, uint32_t *n_items)
{
    if (event->type == LB_EV_INVOKE) {
        *items = writer->cursors[log];
        *n_items = items_ahead(*items);
        if (*n_items > 1) {
            writer->extra[log] = writer->next_process;
            writer->next_process += *n_items - 1;
        }
        uint32_t n = *n_items > 0 ? *n_items : 1;
        for (uint32_t i = 0; i < n; i++)
            write_plain(writer, event, process_of(writer, log, event, i), "dequeue", false, 0);
        return;
    }
    if (*n_items == 0 || event->type != LB_EV_OK) {
        /* A claim that was granted nothing is no dequeue. */
        struct lb_event shown = *event;
        if (event->type == LB_EV_OK) {
            shown.type = LB_EV_FAIL;
            shown.answer = LB_EMPTY;
        }
        write_plain(writer, &shown, event->process, "dequeue", false, 0);
        return;
    }
    uint32_t i = 0;
    for (advance(items); i < *n_items; advance(items)) {
        const struct lb_event *item = event_at(items);
        if (item->type == LB_EV_NOTE && item->op == LB_OP_ITEM) {
            write_plain(writer, event, process_of(writer, log, event, i), "dequeue", true,
                        item->value);
            i++;
        }
    }
}

/* --- the whole --- */

struct open_claim {
    struct cursor items;
    uint32_t n_items;
};

static void write_event(struct writer *writer, uint32_t log, const struct lb_event *event,
                        struct open_claim *claims)
{
    if (!writer->plain)
        write_full(writer, log, event);
    else if (event->type == LB_EV_NOTE)
        return;
    else if (event->op == LB_OP_ACQUIRE || event->op == LB_OP_RELEASE)
        write_plain(writer, event, event->process, lb_op_name(event->op),
                    (event->flags & LB_EVF_TOKEN) != 0, event->value);
    else if (event->op == LB_OP_PUT)
        write_put(writer, log, event);
    else if (event->op == LB_OP_CLAIM)
        write_claim(writer, log, event, &claims[log].items, &claims[log].n_items);
}

/* The meta text, with the end of the run told as all other times are. */
static char *meta_text(const struct writer *writer)
{
    static const char key[] = "end_ns=";
    const char *meta = writer->view->meta, *line = meta;
    while (line != NULL && strncmp(line, key, sizeof key - 1) != 0)
        line = (line = strchr(line, '\n')) != NULL ? line + 1 : NULL;
    if (line == NULL)
        return lb_strdup(meta);
    char *rest;
    unsigned long long end = strtoull(line + sizeof key - 1, &rest, 10);
    end -= end < writer->zero_ns ? end : writer->zero_ns;
    return lb_format("%.*s%s%llu%s", (int)(line - meta), meta, key, end, rest);
}

/* It says how many events follow, so that one can see whether the end is missing. */
static void write_meta(struct writer *writer)
{
    const struct lb_history_view *view = writer->view;
    if (writer->plain || (*view->meta == '\0' && view->start_unix_ns == 0))
        return;
    char *text = meta_text(writer);
    put_name(writer, "type", "info");
    put_name(writer, "f", "meta");
    put_name(writer, "process", "nemesis");
    put_unsigned(writer, "time",
                 view->begin_ns > writer->zero_ns ? view->begin_ns - writer->zero_ns : 0);
    put_unsigned(writer, "index", writer->index);
    put_text(writer, "value", text);
    free(text);
    if (!view->truncated)
        put_unsigned(writer, "events", view->n_events);
    if (view->start_unix_ns <= INT64_MAX)
        put_unsigned(writer, "unix", view->start_unix_ns);
    end_operation(writer);
}

int lb_history_write(const struct lb_history_view *view, enum lb_history_format format,
                     enum lb_write_dialect dialect, FILE *out, struct lb_error *err)
{
    struct writer writer = {.view = view,
                            .out = out,
                            .edn = format == LB_HISTORY_EDN,
                            .plain = dialect == LB_WRITE_PLAIN,
                            .first_key = true};
    struct open_claim *claims = lb_calloc(view->n_logs + 1, sizeof *claims);
    start_merge(&writer);
    write_meta(&writer);
    while (writer.n_heap > 0) {
        uint32_t log = writer.heap[0];
        struct cursor *cursor = &writer.cursors[log];
        write_event(&writer, log, event_at(cursor), claims);
        advance(cursor);
        if (event_at(cursor) == NULL)
            writer.heap[0] = writer.heap[--writer.n_heap];
        sift_down(&writer, 0);
    }
    free(claims);
    free(writer.cursors);
    free(writer.heap);
    free(writer.extra);
    if (fflush(out) != 0 || ferror(out))
        return lb_fail(err, LB_E_ENV, "cannot write the history: %s", strerror(errno));
    return 0;
}
