/* Reading histories in the interchange formats: see interchange.h.
 *
 * One pass over the mapped text: each operation becomes an event of its log at once. Here the
 * grammar of each process is checked, and an error names its line, which is unknown later.
 * translate.c interprets the single operations.
 *
 * Time: Jepsen notes an operation's time before it is sent and after it was answered, and appends
 * it to the history after that, so the times of neighbouring lines may go back a little between
 * processes. That is no error; within one process it is.
 */
#include "interchange.h"

#include "array.h"
#include "builder.h"
#include "history_file.h"
#include "memory.h"
#include "text_clean.h"
#include "text_scan.h"
#include "translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One log on its way. */
struct track {
    const char *open_at; /* where its open operation was invoked; NULL: none is */
    uint64_t time_ns;    /* of its last event */
    uint32_t process;    /* of the last operation */
    struct lb_raw f;     /* of the open operation, as what follows */
    uint64_t value;
    uint32_t object;
    bool has_value;
    uint32_t n_items; /* claim: items that it has returned so far */
    uint32_t n_open;  /* how many it is: more than one of a batch */
    uint32_t n_ended; /* of these */
    bool has_claim;   /* one of these is a claim, which ends last: a pipeline */
    bool began, is_retired;
};

/* Room for one name, until the end of the block that asks. */
enum { NAME_BYTES = 56 };
#define PROCESS_NAME ((char[NAME_BYTES]){0})

/* The end of an operation on another item than requested. */
struct other_item {
    const char *at, *open_at; /* NULL: none */
    struct lb_raw f;
    char who[NAME_BYTES];
};

struct reader {
    struct lb_scan *scan;
    enum lb_history_format format;
    struct lb_edn edn;
    struct lb_translator tr;
    struct lb_builder builder;
    struct lb_intern processes; /* process -> log, where logs are not named */
    struct track *tracks;
    size_t tracks_size;
    char *meta;
    uint64_t start_unix_ns;
    uint64_t n_wanted; /* events, as the meta text has it */
    bool has_wanted;
    uint64_t n_events, last_ns;
    uint64_t begin_ns;       /* the meta's time, or that of the first event */
    struct other_item other; /* the first, if this is of a queue */
    bool has_put, has_drain;
    uint64_t last_put_ns, drain_ns; /* end of the last enqueue, invoke of the last good drain */
    struct lb_read_facts facts;
};

static struct track *track_of(struct reader *reader, uint32_t log)
{
    if (log >= reader->tracks_size)
        lb_array_extend(&reader->tracks, &reader->tracks_size, sizeof *reader->tracks,
                        2 * (size_t)log + 64);
    return &reader->tracks[log];
}

/* How many bytes of it a message shows. */
static int shown(const struct lb_raw *raw)
{
    return raw->length > 32 ? 32 : (int)raw->length;
}

static bool same_name(const struct lb_raw *a, const struct lb_raw *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* "process 7", "process w1": as the file has it. */
static const char *process_name(const struct lb_raw_op *raw, const struct lb_event *event,
                                char name[NAME_BYTES])
{
    enum { LONGEST = 40 };
    const struct lb_raw *process = &raw->keys[LB_KEY_PROCESS];
    int length = process->length < LONGEST ? (int)process->length : LONGEST;
    if (event->process < LB_NAMED_PROCESS)
        snprintf(name, NAME_BYTES, "process %u", event->process);
    else
        snprintf(name, NAME_BYTES, "process %.*s", length, process->text);
    return lb_clean_text(name);
}

static int refuse_other(const struct reader *reader, const struct other_item *other,
                        const char *what)
{
    return lb_scan_fail(reader->scan, other->at,
                        "%s ends %.*s of another %s than it invoked in line %zu", other->who,
                        shown(&other->f), other->f.text, what,
                        lb_scan_line(reader->scan, other->open_at));
}

/* Of one item, which its end may repeat. */
static bool names_an_item(const struct lb_event *event)
{
    return event->op == LB_OP_ENQUEUE || event->op == LB_OP_PUT ||
           (event->op >= LB_OP_COMPLETE && event->op <= LB_OP_CLEAR_ERROR) ||
           event->op == LB_OP_RENEW_ITEM;
}

static bool has_value(const struct lb_raw_op *raw)
{
    return !lb_raw_is_nothing(&raw->keys[LB_KEY_VALUE]);
}

/* An end that speaks of something else than the request: two recordings that were mixed up. An
 * enqueue may be a lock's, and its end has a ticket: that is correct. */
static int check_same(struct reader *reader, const struct track *track, const struct lb_raw_op *raw,
                      const struct lb_event *event)
{
    const struct lb_translator *tr = &reader->tr;
    bool is_other_object = event->object != track->object;
    if (!is_other_object &&
        (!names_an_item(event) || track->n_open > 1 || !has_value(raw) ||
         (track->has_value ? event->value == track->value : event->op != LB_OP_ENQUEUE)))
        return 0;
    struct other_item other = {.at = raw->at, .open_at = track->open_at, .f = track->f};
    process_name(raw, event, other.who);
    if (is_other_object)
        return refuse_other(reader, &other, tr->queue_at != NULL ? "class" : "resource");
    if (event->op != LB_OP_ENQUEUE || tr->queue_at != NULL)
        return refuse_other(reader, &other, "item");
    if (reader->other.at == NULL)
        reader->other = other;
    return 0;
}

/* A line about one item that does not say which. A lock's enqueue is of none. */
static bool leaves_item_out(const struct reader *reader, const struct lb_raw_op *raw,
                            const struct lb_event *event)
{
    bool may_be_lock = event->op == LB_OP_ENQUEUE && reader->tr.queue_at == NULL;
    return event->type != LB_EV_NOTE && names_an_item(event) && !has_value(raw) && !may_be_lock &&
           (event->flags & LB_EVF_TOKEN) == 0;
}

/* Items that one statement ends, or prolongs: their invokes, and then their ends. A claim may have
 * been sent behind an end, before its answer: it has the last end. */
static bool is_batched(const struct track *track, const struct lb_raw *f,
                       const struct lb_event *event)
{
    bool ends = lb_raw_is(&track->f, "complete") || lb_raw_is(&track->f, "error") ||
                lb_raw_is(&track->f, "free");
    bool goes_on = same_name(&track->f, f) && (ends || event->op == LB_OP_RENEW_ITEM);
    bool is_claim = ends && !track->has_claim && lb_raw_is(f, "claim");
    return track->open_at != NULL && track->n_ended == 0 && track->process == event->process &&
           (goes_on || is_claim);
}

/* Is it a claim's turn to end? */
static bool awaits_claim(const struct track *track)
{
    return track->open_at != NULL &&
           (track->has_claim ? track->n_ended + 1 == track->n_open : lb_raw_is(&track->f, "claim"));
}

/* Does the end belong to what is to end next? */
static bool is_awaited(const struct track *track, const struct lb_raw *f,
                       const struct lb_event *event)
{
    bool same =
        track->has_claim && awaits_claim(track) ? lb_raw_is(f, "claim") : same_name(&track->f, f);
    return same && track->process == event->process;
}

static void begin_operation(struct track *track, const struct lb_raw_op *raw,
                            const struct lb_event *event)
{
    *track = (struct track){.open_at = raw->at,
                            .time_ns = event->time_ns,
                            .process = event->process,
                            .f = raw->keys[LB_KEY_F],
                            .value = event->value,
                            .object = event->object,
                            .has_value = has_value(raw),
                            .n_open = 1,
                            .began = true};
}

/* The grammar of one log: see interchange.h. */
static int check_grammar(struct reader *reader, struct track *track, const struct lb_raw_op *raw,
                         const struct lb_event *event)
{
    struct lb_scan *scan = reader->scan;
    const struct lb_raw *f = &raw->keys[LB_KEY_F];
    if (track->began && event->time_ns < track->time_ns)
        return lb_scan_fail(scan, raw->at, "the time of %s goes back by %llu ns",
                            process_name(raw, event, PROCESS_NAME),
                            (unsigned long long)(track->time_ns - event->time_ns));
    track->began = true;
    track->time_ns = event->time_ns;
    if (event->type == LB_EV_NOTE) {
        bool needs_claim = event->op == LB_OP_ITEM;
        if (needs_claim ? !awaits_claim(track)
                        : event->op == LB_OP_WAITED && track->open_at == NULL)
            return lb_scan_fail(scan, raw->at, "%.*s outside of %s", shown(f), f->text,
                                needs_claim ? "a claim" : "an operation");
        return 0;
    }
    if (event->type == LB_EV_INVOKE) {
        if (is_batched(track, f, event)) {
            track->n_open++;
            track->has_claim = track->has_claim || event->op == LB_OP_CLAIM;
            track->has_value = false; /* of the first: which is whose, the judge looks at */
            return 0;
        }
        if (track->open_at != NULL)
            return lb_scan_fail(scan, raw->at,
                                "%s invokes %.*s, but what it invoked in line %zu has not "
                                "ended",
                                process_name(raw, event, PROCESS_NAME), shown(f), f->text,
                                lb_scan_line(scan, track->open_at));
        if (track->is_retired && track->process == event->process)
            return lb_scan_fail(scan, raw->at, "%s goes on after an unknown outcome",
                                process_name(raw, event, PROCESS_NAME));
        begin_operation(track, raw, event);
        return 0;
    }
    if (track->open_at == NULL)
        return lb_scan_fail(scan, raw->at, "%s ends %.*s, but has not invoked it",
                            process_name(raw, event, PROCESS_NAME), shown(f), f->text);
    if (!is_awaited(track, f, event))
        return lb_scan_fail(scan, raw->at, "%s ends %.*s, but invoked %.*s in line %zu",
                            process_name(raw, event, PROCESS_NAME), shown(f), f->text,
                            shown(&track->f), track->f.text, lb_scan_line(scan, track->open_at));
    int code = check_same(reader, track, raw, event);
    if (++track->n_ended == track->n_open)
        track->open_at = NULL;
    track->is_retired = track->is_retired || event->type == LB_EV_INFO;
    return code;
}

/* Notes of the items that a dequeue or a drain came back with, then its own event. */
static int add_jepsen_claim(struct reader *reader, uint32_t log, const struct lb_raw_op *raw,
                            const struct lb_translated *translated)
{
    struct lb_event event = translated->event;
    const struct lb_raw *items = &raw->keys[LB_KEY_VALUE];
    size_t n_items = 1;
    event.value = 0;
    if (event.type == LB_EV_INVOKE) {
        event.arg = translated->is_drain ? UINT32_MAX : 1;
        event.flags |= LB_EVF_FINAL;
    }
    if (translated->is_drain && event.type == LB_EV_OK) {
        if (items->kind != LB_RAW_VECTOR)
            return lb_scan_fail(reader->scan, raw->at, "drain must have a vector of items");
        items = raw->items.items;
        n_items = raw->items.n;
    }
    for (size_t i = 0; event.type == LB_EV_OK && i < n_items; i++) {
        struct lb_event item = {.time_ns = event.time_ns,
                                .process = event.process,
                                .op = LB_OP_ITEM,
                                .flags = LB_EVF_FINAL,
                                .type = LB_EV_NOTE};
        int code = lb_translate_item(&reader->tr, &items[i], &item.value);
        if (code < 0)
            return code;
        if (code > 0)
            return lb_scan_fail(reader->scan, raw->at, "an ok without the item it came back with");
        lb_builder_add(&reader->builder, log, &item);
        event.value++;
    }
    if (event.type == LB_EV_OK)
        event.arg = (uint32_t)event.value;
    lb_builder_add(&reader->builder, log, &event);
    return 0;
}

/* Was the queue drained after everything was put? */
static void note_drain(struct reader *reader, uint64_t invoke_ns,
                       const struct lb_translated *translated)
{
    const struct lb_event *event = &translated->event;
    if (event->op == LB_OP_ENQUEUE || event->op == LB_OP_PUT) {
        reader->has_put = true;
        /* One that never ends may still take effect after any drain. */
        reader->last_put_ns = event->type == LB_EV_INFO              ? UINT64_MAX
                              : event->time_ns > reader->last_put_ns ? event->time_ns
                                                                     : reader->last_put_ns;
    }
    if (translated->is_drain && event->type == LB_EV_OK &&
        (!reader->has_drain || invoke_ns > reader->drain_ns)) {
        reader->has_drain = true;
        reader->drain_ns = invoke_ns;
    }
}

/* Of a line that does not say its item: an end is of its request's. */
static int find_item(struct reader *reader, const struct track *track, const struct lb_raw_op *raw,
                     struct lb_event *event)
{
    const struct lb_raw *f = &raw->keys[LB_KEY_F];
    if (event->type == LB_EV_INVOKE)
        return lb_scan_fail(reader->scan, raw->at, "%s invokes %.*s without an item",
                            process_name(raw, event, PROCESS_NAME), shown(f), f->text);
    if (track->n_open > 1)
        return lb_scan_fail(
            reader->scan, raw->at,
            "%s ends %.*s of one item of a batch of %u, but does not say which: each "
            "end of a batch must name its item as its value",
            process_name(raw, event, PROCESS_NAME), shown(f), f->text, track->n_open);
    event->value = track->value;
    return 0;
}

/* The ok of a claim need not count its items, nor the rows that it marked. */
static void complete_claim(const struct track *track, const struct lb_raw_op *raw,
                           struct lb_event *event)
{
    if (!has_value(raw) && (event->flags & LB_EVF_TOKEN) == 0)
        event->value = track->n_items;
    if (lb_raw_is_nothing(&raw->keys[LB_KEY_ARG]))
        event->arg = lb_usual_arg(event);
}

/* Of a put's request, before it. */
static int add_attributes(struct reader *reader, uint32_t log, const struct lb_raw_op *raw,
                          const struct lb_event *put)
{
    enum { MOST = 1 << 16 };
    const uint32_t n = put->op == LB_OP_PUT ? put->arg : 1;
    for (int a = 0; a < LB_ATTRIBUTES; a++) {
        struct lb_event note = {.time_ns = put->time_ns,
                                .process = put->process,
                                .object = (uint32_t)a,
                                .op = LB_OP_ATTRIBUTE,
                                .type = LB_EV_NOTE};
        int code = lb_translate_attribute(&reader->tr, raw, (enum lb_attribute)a, &note.arg);
        if (code < 0)
            return code;
        if (code > 0 || n > MOST)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            note.value = put->value + i;
            lb_builder_add(&reader->builder, log, &note);
        }
    }
    return 0;
}

static int add_operation(struct reader *reader, const struct lb_raw_op *raw,
                         struct lb_translated *translated)
{
    struct lb_event *event = &translated->event;
    uint32_t log = translated->log;
    if (!translated->has_log)
        log = lb_intern_number(&reader->processes, event->process);
    if (log >= LB_MAX_LOGS)
        return lb_scan_fail(reader->scan, raw->at, "more than %d processes", LB_MAX_LOGS);
    struct track *track = track_of(reader, log);
    uint64_t invoke_ns = track->time_ns;
    bool is_new = !track->began && !translated->has_log;
    int code = check_grammar(reader, track, raw, event);
    if (code == 0 && is_new) /* a witness names the processes as the file does */
        lb_builder_name(&reader->builder, log, process_name(raw, event, PROCESS_NAME));
    if (code == 0 && leaves_item_out(reader, raw, event))
        code = find_item(reader, track, raw, event);
    if (code != 0)
        return code;
    note_drain(reader, invoke_ns, translated);
    if (event->time_ns < reader->begin_ns)
        reader->begin_ns = event->time_ns;
    if (event->time_ns > reader->last_ns)
        reader->last_ns = event->time_ns;
    if (event->object >= reader->facts.n_objects && translated->kind == LB_TR_OPERATION)
        reader->facts.n_objects = event->object + 1;
    if (event->op == LB_OP_ITEM)
        track->n_items++;
    if (event->op == LB_OP_CLAIM && event->type == LB_EV_OK)
        complete_claim(track, raw, event);
    if (event->type == LB_EV_INVOKE && (event->op == LB_OP_PUT || event->op == LB_OP_ENQUEUE))
        code = add_attributes(reader, log, raw, event);
    if (code != 0)
        return code;
    if (translated->is_dequeue || translated->is_drain)
        return add_jepsen_claim(reader, log, raw, translated);
    lb_builder_add(&reader->builder, log, event);
    return 0;
}

/* --- the text about the whole history --- */

static bool is_absent_or_count(const struct lb_raw *value)
{
    return lb_raw_is_nothing(value) || (value->kind == LB_RAW_INTEGER && value->integer >= 0);
}

static int read_meta(struct reader *reader, const struct lb_raw_op *raw)
{
    const struct lb_raw *value = &raw->keys[LB_KEY_VALUE];
    const struct lb_raw *unix_ns = &raw->keys[LB_KEY_UNIX];
    const struct lb_raw *events = &raw->keys[LB_KEY_EVENTS];
    if (!is_absent_or_count(unix_ns) || !is_absent_or_count(events))
        return lb_scan_fail(reader->scan, raw->at, "%s of meta must be a number from 0 on",
                            is_absent_or_count(unix_ns) ? "events" : "unix");
    if (unix_ns->kind == LB_RAW_INTEGER)
        reader->start_unix_ns = (uint64_t)unix_ns->integer;
    reader->has_wanted = events->kind == LB_RAW_INTEGER;
    reader->n_wanted = (uint64_t)events->integer;
    const struct lb_raw *time = &raw->keys[LB_KEY_TIME];
    if (time->kind == LB_RAW_INTEGER && time->integer >= 0)
        reader->begin_ns = (uint64_t)time->integer;
    if (value->kind != LB_RAW_STRING && value->kind != LB_RAW_NAME)
        return 0;
    if (reader->meta != NULL)
        return lb_scan_fail(reader->scan, raw->at, "a second meta");
    reader->facts.meta_line = lb_scan_line(reader->scan, raw->at);
    reader->meta = lb_malloc(value->length + 1);
    reader->meta[lb_names_unescape(value->text, value->length, reader->meta)] = '\0';
    return 0;
}

/* --- the whole --- */

static int read_operations(struct reader *reader, struct lb_raw_op *raw)
{
    for (;;) {
        struct lb_translated translated;
        memset(raw->keys, 0, sizeof raw->keys);
        raw->fence.kind = LB_RAW_ABSENT;
        raw->items.n = 0;
        int code = reader->format == LB_HISTORY_EDN ? lb_edn_next(reader->scan, &reader->edn, raw)
                                                    : lb_jsonl_next(reader->scan, raw);
        if (code <= 0)
            return code;
        code = lb_translate(&reader->tr, raw, &translated);
        if (code != 0)
            return code;
        switch (translated.kind) {
        case LB_TR_NEMESIS:
            reader->facts.n_nemesis++;
            break;
        case LB_TR_SKIPPED:
            reader->facts.n_ignored++;
            break;
        case LB_TR_META:
            code = read_meta(reader, raw);
            break;
        case LB_TR_OPERATION:
        case LB_TR_NOTE:
            code = add_operation(reader, raw, &translated);
            break;
        }
        if (code != 0)
            return code;
        reader->n_events += translated.kind != LB_TR_META;
        bool is_late = reader->n_events > reader->n_wanted;
        if (reader->has_wanted && is_late)
            return lb_scan_fail(reader->scan, raw->at,
                                "one more than the %llu events that the meta record speaks of",
                                (unsigned long long)reader->n_wanted);
    }
}

/* In a history of a queue, "enqueue" is Jepsen's name for put. An end that names no item, read
 * before that was known, is of its request's. */
static void enqueues_are_puts(struct lb_builder *builder)
{
    uint64_t item = 0;
    for (size_t i = 0; i < builder->n_logs; i++)
        for (size_t b = 0; b < builder->logs[i].n_blocks; b++)
            for (size_t k = 0; k < builder->logs[i].blocks[b].n; k++) {
                struct lb_event *event = &builder->logs[i].blocks[b].events[k];
                if (event->op == LB_OP_ENQUEUE) {
                    event->op = LB_OP_PUT;
                    event->arg = 1;
                    if (event->type == LB_EV_INVOKE)
                        item = event->value;
                    else if (event->value == 0)
                        event->value = item;
                }
            }
}

static int finish(struct reader *reader, struct lb_history_view *ret_view,
                  struct lb_read_facts *ret_facts)
{
    int code = lb_translate_finish(&reader->tr);
    if (code != 0)
        return code;
    if (reader->tr.n_ops == 0)
        return lb_fail(reader->scan->err, LB_E_FILE, "%s: no operations", reader->scan->name);
    struct lb_read_facts *facts = &reader->facts;
    facts->format = reader->format;
    facts->is_lock = reader->tr.lock_at != NULL;
    facts->first_line = facts->is_lock ? lb_scan_line(reader->scan, reader->tr.lock_at)
                        : reader->tr.queue_at != NULL
                            ? lb_scan_line(reader->scan, reader->tr.queue_at)
                            : 1;
    facts->is_queue = !facts->is_lock && (reader->tr.queue_at != NULL || reader->has_put);
    if (facts->is_queue && reader->other.at != NULL)
        return refuse_other(reader, &reader->other, "item");
    facts->is_drained = reader->has_drain && reader->drain_ns >= reader->last_put_ns;
    for (size_t i = 0; i < reader->tracks_size; i++) {
        const struct track *track = &reader->tracks[i];
        if (track->open_at == NULL)
            continue;
        facts->n_open++;
        if (lb_raw_is(&track->f, "enqueue") || lb_raw_is(&track->f, "put"))
            facts->is_drained = false;
    }
    if (facts->is_queue)
        enqueues_are_puts(&reader->builder);
    lb_builder_finish(&reader->builder, reader->meta != NULL ? reader->meta : "", ret_view);
    ret_view->start_unix_ns = reader->start_unix_ns;
    ret_view->begin_ns = reader->begin_ns == UINT64_MAX ? 0 : reader->begin_ns;
    /* Events are written in order of time: all is there up to the last. */
    ret_view->truncated =
        reader->has_wanted ? reader->n_events < reader->n_wanted : reader->meta != NULL;
    ret_view->whole_ns = ret_view->truncated ? reader->last_ns : 0;
    *ret_facts = *facts;
    return 0;
}

/* Not the NUL, of which a file with a hole has any number. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The first character that says something. */
static enum lb_history_format guess_format(const struct lb_scan *scan)
{
    const char *p = scan->start;
    while (p < scan->end && is_blank(*p))
        p++;
    if (*p != '{')
        return LB_HISTORY_EDN;
    p++;
    while (p < scan->end && (*p == ' ' || *p == '\t'))
        p++;
    return *p == '"' ? LB_HISTORY_JSONL : LB_HISTORY_EDN;
}

/* For a file that is nearly a history, the message says how to convert it. */
static int refuse_wrapped(struct lb_scan *scan)
{
    size_t size = (size_t)(scan->end - scan->start);
    if (size >= 3 && memcmp(scan->start, "\xef\xbb\xbf", 3) == 0)
        return lb_scan_fail(scan, scan->start,
                            "a byte order mark: save the file as UTF-8 without one");
    if (size >= 2 &&
        (memcmp(scan->start, "\xff\xfe", 2) == 0 || memcmp(scan->start, "\xfe\xff", 2) == 0))
        return lb_scan_fail(scan, scan->start, "this is UTF-16: save the file as UTF-8");
    if (size >= 2 && memcmp(scan->start, "\x1f\x8b", 2) == 0)
        return lb_fail(scan->err, LB_E_FILE,
                       "%s: compressed by gzip: unpack it first (zcat FILE | lockbench check -)",
                       scan->name);
    const char *p = scan->start;
    for (const char *wanted = "[{\""; *wanted != '\0'; wanted++, p++) {
        while (p < scan->end && is_blank(*p))
            p++;
        if (p == scan->end || *p != *wanted)
            return 0;
    }
    return lb_scan_fail(scan, scan->start,
                        "a JSON array: write one operation a line (jq -c '.[]' FILE)");
}

static int read_text(struct lb_scan *scan, const struct lb_read_options *options,
                     struct lb_history_view *ret_view, struct lb_read_facts *ret_facts)
{
    struct reader reader = {
        .scan = scan, .format = options->format, .tr = {.scan = scan}, .begin_ns = UINT64_MAX};
    struct lb_raw_op raw = {.at = NULL};
    reader.tr.ignore = options->ignore;
    if (reader.format == LB_HISTORY_AUTO)
        reader.format = guess_format(scan);
    struct lb_names *own = options->names == NULL ? lb_names_new() : NULL;
    reader.tr.names = own != NULL ? own : options->names;
    int code = refuse_wrapped(scan);
    if (code == 0)
        code = read_operations(&reader, &raw);
    if (code == 0)
        code = finish(&reader, ret_view, ret_facts);
    if (code == 0)
        ret_view->names = options->names;
    lb_names_free(own);
    free(raw.items.items);
    free(reader.tracks);
    free(reader.meta);
    lb_intern_release(&reader.processes);
    lb_translator_release(&reader.tr);
    lb_builder_release(&reader.builder);
    return code;
}

static const struct lb_read_options no_options = {.format = LB_HISTORY_AUTO};

int lb_history_parse(const char *bytes, size_t size, const char *name,
                     const struct lb_read_options *options, struct lb_history_view *ret_view,
                     struct lb_read_facts *ret_facts, struct lb_error *err)
{
    struct lb_scan scan;
    lb_scan_memory(&scan, bytes, size, name, err);
    return read_text(&scan, options != NULL ? options : &no_options, ret_view, ret_facts);
}

int lb_history_read(const char *path, const struct lb_read_options *options,
                    struct lb_history_view *ret_view, struct lb_read_facts *ret_facts,
                    struct lb_error *err)
{
    struct lb_scan scan;
    if (options == NULL)
        options = &no_options;
    int code = lb_scan_open(&scan, path, err);
    if (code != 0)
        return code;
    size_t size = (size_t)(scan.end - scan.start);
    bool magic = size >= sizeof LB_HISTORY_MAGIC - 1 &&
                 memcmp(scan.start, LB_HISTORY_MAGIC, sizeof LB_HISTORY_MAGIC - 1) == 0;
    if (options->format == LB_HISTORY_BINARY || (options->format == LB_HISTORY_AUTO && magic)) {
        /* The view takes the mapping over, its unused end included. */
        code = lb_history_view_mapping(
            &(struct lb_mapped_file){.base = scan.memory,
                                     .mapped = scan.mapped,
                                     .size = size,
                                     .name = scan.name,
                                     .kind = scan.is_copy ? LB_MAPPED_COPY : LB_MAPPED_FILE,
                                     .threads = options->threads},
            ret_view, err);
        if (code == 0)
            *ret_facts = (struct lb_read_facts){.format = LB_HISTORY_BINARY};
        return code;
    }
    code = size > 0 ? read_text(&scan, options, ret_view, ret_facts)
                    : lb_fail(err, LB_E_FILE, "%s: empty", scan.name);
    lb_scan_close(&scan);
    return code;
}
