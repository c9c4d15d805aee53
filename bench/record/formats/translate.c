/* One operation of a text format to an event: see translate.h. */
#include "translate.h"

#include "append.h"

#include <string.h>

/* --- single keys --- */

static int read_type(const struct lb_translator *tr, const struct lb_raw_op *raw)
{
    const struct lb_raw *type = &raw->keys[LB_KEY_TYPE];
    if (type->kind == LB_RAW_ABSENT)
        return lb_scan_fail(tr->scan, raw->at, "an operation without a type");
    static const int types[] = {LB_EV_OK, LB_EV_INVOKE, LB_EV_FAIL, LB_EV_INFO};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (lb_raw_is(type, lb_event_type_name(types[i])))
            return types[i];
    return lb_scan_fail(tr->scan, raw->at, "type must be invoke, ok, fail or info");
}

/* A number in [0, limit], or fallback when the key is missing. */
static int read_count(const struct lb_translator *tr, const struct lb_raw_op *raw,
                      enum lb_raw_key key, int64_t limit, uint32_t fallback, uint32_t *ret_value)
{
    const struct lb_raw *value = &raw->keys[key];
    if (lb_raw_is_nothing(value)) {
        *ret_value = fallback;
        return 0;
    }
    if (value->kind != LB_RAW_INTEGER || value->integer < 0 || value->integer > limit)
        return lb_scan_fail(tr->scan, raw->at, "%s must be a number from 0 to %lld",
                            lb_raw_key_names[key], (long long)limit);
    *ret_value = (uint32_t)value->integer;
    return 0;
}

/* Sets the flag of the event if the key is true. */
static int read_flag(const struct lb_translator *tr, const struct lb_raw_op *raw,
                     enum lb_raw_key key, bool fallback, uint8_t flag, struct lb_event *event)
{
    enum lb_raw_kind kind = raw->keys[key].kind;
    if (kind != LB_RAW_ABSENT && kind != LB_RAW_TRUE && kind != LB_RAW_FALSE)
        return lb_scan_fail(tr->scan, raw->at, "%s must be true or false", lb_raw_key_names[key]);
    if (kind == LB_RAW_ABSENT ? fallback : kind == LB_RAW_TRUE)
        event->flags |= flag;
    return 0;
}

/* The order of lines is the time when there are no times. */
static int read_time(struct lb_translator *tr, const struct lb_raw_op *raw, uint64_t *ret_ns)
{
    const struct lb_raw *time = &raw->keys[LB_KEY_TIME];
    bool lacks = lb_raw_is_nothing(time) || (time->kind == LB_RAW_INTEGER && time->integer == -1);
    if (!lacks && (time->kind != LB_RAW_INTEGER || time->integer < 0))
        return lb_scan_fail(tr->scan, raw->at, "time must be a whole number of nanoseconds");
    if (!lacks && time->integer > LB_LATEST_TIME)
        return lb_scan_fail(tr->scan, raw->at, "time %lld ns is beyond any clock's",
                            (long long)time->integer);
    if (lacks ? tr->has_times : tr->lacks_times)
        return lb_scan_fail(tr->scan, raw->at, "some operations have a time and others have none");
    if (lacks)
        tr->lacks_times = true;
    else
        tr->has_times = true;
    *ret_ns = lacks ? tr->n_ops : (uint64_t)time->integer;
    return 0;
}

static int check_index(struct lb_translator *tr, const struct lb_raw_op *raw)
{
    const struct lb_raw *index = &raw->keys[LB_KEY_INDEX];
    if (lb_raw_is_nothing(index))
        return 0;
    if (index->kind != LB_RAW_INTEGER)
        return lb_scan_fail(tr->scan, raw->at, "index must be a whole number");
    if (tr->has_index && index->integer <= tr->last_index)
        return lb_scan_fail(tr->scan, raw->at, "index %lld comes after index %lld",
                            (long long)index->integer, (long long)tr->last_index);
    tr->has_index = true;
    tr->last_index = index->integer;
    return 0;
}

/* Why an operation failed: lockbench's own words, Jepsen's, or the usual reason for the
 * operation. */
static uint8_t answer_of(const struct lb_raw *error, int op, int type)
{
    static const struct {
        const char *name;
        enum lb_answer answer;
    } others[] = {
        {"already-held", LB_BUSY},        {"not-held", LB_REFUSED},  {"not-lock-owner", LB_REFUSED},
        {"not-permit-owner", LB_REFUSED}, {"not-owner", LB_REFUSED}, {"exhausted", LB_EMPTY},
    };
    for (int i = 0; error->kind == LB_RAW_NAME && i < LB_ANSWERS; i++)
        if (lb_raw_is(error, lb_answer_name(i)))
            return (uint8_t)i;
    for (size_t i = 0; error->kind == LB_RAW_NAME && i < sizeof others / sizeof others[0]; i++)
        if (lb_raw_is(error, others[i].name))
            return (uint8_t)others[i].answer;
    if (type == LB_EV_OK)
        return LB_OK;
    if (type == LB_EV_INFO)
        return LB_LOST;
    if (!lb_raw_is_nothing(error))
        return LB_OTHER;
    return op == LB_OP_ACQUIRE   ? LB_BUSY
           : op == LB_OP_RELEASE ? LB_REFUSED
           : op == LB_OP_CLAIM   ? LB_EMPTY
                                 : LB_OTHER;
}

/* --- names of operations --- */

static bool is_listed(const char *list, const char *text, size_t length)
{
    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ",");
        if (n == length && memcmp(list, text, n) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static void note_unknown(struct lb_translator *tr, const struct lb_raw *f, const char *at)
{
    for (size_t i = 0; i < tr->n_unknown; i++) {
        struct lb_unknown *unknown = &tr->unknown[i];
        if (unknown->length == f->length && memcmp(unknown->text, f->text, f->length) == 0) {
            unknown->n++;
            return;
        }
    }
    if (tr->n_unknown == LB_UNKNOWN_NAMES)
        tr->more_unknown = true;
    else
        tr->unknown[tr->n_unknown++] = (struct lb_unknown){f->text, f->length, at, 1};
}

int lb_translate_finish(const struct lb_translator *tr)
{
    if (tr->n_unknown == 0)
        return 0;
    char list[600] = "";
    for (size_t i = 0; i < tr->n_unknown; i++) {
        const struct lb_unknown *unknown = &tr->unknown[i];
        int shown = unknown->length > 32 ? 32 : (int)unknown->length;
        lb_append(list, sizeof list, "%s%.*s (%llu)", i > 0 ? ", " : "", shown, unknown->text,
                  (unsigned long long)unknown->n);
    }
    return lb_scan_fail(tr->scan, tr->unknown[0].at,
                        "unknown operations: %s%s; name them with --ignore to skip them", list,
                        tr->more_unknown ? ", and more" : "");
}

void lb_translator_release(struct lb_translator *tr)
{
    lb_intern_release(&tr->processes);
}

/* The meaning of a name, from the few that were met before. */
static const struct lb_meaning *find_meaning(struct lb_translator *tr, const struct lb_raw *f)
{
    for (size_t i = 0; i < tr->n_meanings; i++) {
        const struct lb_meaning *known = &tr->meanings[i];
        if (known->length == f->length && memcmp(known->text, f->text, f->length) == 0)
            return known;
    }
    char name[24] = "";
    if (f->length < sizeof name) {
        memcpy(name, f->text, f->length);
        name[f->length] = '\0';
    }
    /* The last place is used again and again when there are more names than places. */
    struct lb_meaning *meaning = &tr->meanings[tr->n_meanings];
    if (tr->n_meanings < LB_MEANINGS - 1)
        tr->n_meanings++;
    *meaning = (struct lb_meaning){.text = f->text, .length = f->length};
    meaning->is_dequeue = strcmp(name, "dequeue") == 0;
    meaning->is_drain = strcmp(name, "drain") == 0;
    int op = meaning->is_dequeue || meaning->is_drain ? LB_OP_CLAIM : lb_op_parse(name);
    bool known = op >= 0 && op != LB_OP_ITEM && op < LB_OP_FAULT;
    meaning->op = known ? op : -1;
    meaning->is_ignored =
        is_listed(tr->ignore, f->text, f->length) || (!known && is_listed(tr->ignore, "*", 1));
    return meaning;
}

/* The operation, or -1: unknown, or to be ignored. */
static int find_op(struct lb_translator *tr, const struct lb_raw_op *raw,
                   struct lb_translated *translated)
{
    const struct lb_meaning *meaning = find_meaning(tr, &raw->keys[LB_KEY_F]);
    translated->is_dequeue = meaning->is_dequeue;
    translated->is_drain = meaning->is_drain;
    if (meaning->is_ignored)
        return -1;
    if (meaning->op < 0)
        note_unknown(tr, &raw->keys[LB_KEY_F], raw->at);
    return meaning->op;
}

/* Locks and queues have different models: a history is one of either. */
static int note_shape(struct lb_translator *tr, int op, const char *at)
{
    if (op == LB_OP_ENQUEUE || op == LB_OP_RECOVER || op == LB_OP_WRITE)
        return 0; /* either */
    bool queue = op >= LB_OP_PUT;
    if (queue && tr->queue_at == NULL)
        tr->queue_at = at;
    if (!queue && tr->lock_at == NULL)
        tr->lock_at = at;
    if (tr->lock_at == NULL || tr->queue_at == NULL)
        return 0;
    const char *first = queue ? tr->lock_at : tr->queue_at;
    return lb_scan_fail(tr->scan, at, "an operation of a %s in a history of a %s (line %zu)",
                        queue ? "queue" : "lock", queue ? "lock" : "queue",
                        lb_scan_line(tr->scan, first));
}

/* --- values --- */

/* 1.0 may be 1, or not: as a name it is of no use. */
static bool is_fraction(const struct lb_raw *value)
{
    return value->kind == LB_RAW_OTHER && value->length > 0 &&
           strchr("+-.0123456789", value->text[0]) != NULL;
}

static int intern_value(const struct lb_translator *tr, struct lb_intern *table,
                        const struct lb_raw *value, uint32_t *ret_number)
{
    if (is_fraction(value))
        return lb_scan_fail(tr->scan, value->text,
                            "%.*s: a number that names something must be a whole one",
                            value->length > 40 ? 40 : (int)value->length, value->text);
    *ret_number = lb_names_number(table, value);
    return 0;
}

int lb_translate_item(struct lb_translator *tr, const struct lb_raw *value, uint64_t *ret_item)
{
    uint32_t number;
    if (lb_raw_is_nothing(value))
        return 1;
    /* Our own export gives every id as it is. */
    if (value->kind == LB_RAW_INTEGER && (value->integer >= -LB_TEXT_ITEMS || tr->has_logs)) {
        *ret_item = (uint64_t)value->integer;
        return 0;
    }
    int code = intern_value(tr, &tr->names->items, value, &number);
    if (code == 0)
        *ret_item = (UINT64_C(1) << 63) + number;
    return code;
}

static bool is_lock_op(int op)
{
    return op == LB_OP_ACQUIRE || op == LB_OP_RENEW || op == LB_OP_RELEASE || op == LB_OP_CANCEL ||
           op == LB_OP_WRITE;
}

/* Value and resource of a lock's operation: nothing, {:fence N}, or [resource either]. */
static int read_lock_value(struct lb_translator *tr, const struct lb_raw_op *raw,
                           struct lb_event *event)
{
    const struct lb_raw *value = &raw->keys[LB_KEY_VALUE];
    if (value->kind == LB_RAW_VECTOR && raw->items.n == 2) {
        const struct lb_raw *items = raw->items.items;
        if (tr->has_objects)
            return lb_scan_fail(tr->scan, raw->at, "a tuple where others name their object");
        if (tr->untold_at != NULL)
            return lb_scan_fail(tr->scan, raw->at,
                                "a tuple names the resource, but line %zu names none",
                                lb_scan_line(tr->scan, tr->untold_at));
        int code = intern_value(tr, &tr->names->objects, &items[0], &event->object);
        if (code != 0)
            return code;
        tr->has_tuples = true;
        value = &items[1];
    } else if (tr->has_tuples) {
        return lb_scan_fail(tr->scan, raw->at,
                            "names no resource where others name theirs in a tuple");
    } else if (tr->untold_at == NULL) {
        tr->untold_at = raw->at;
    }
    if (value->kind == LB_RAW_INTEGER)
        event->value = (uint64_t)value->integer;
    if (is_fraction(&raw->fence))
        return lb_scan_fail(tr->scan, raw->at, "fence must be a whole number");
    /* A fenced lock answers 0 when it has no fence to give. */
    if (raw->fence.kind == LB_RAW_INTEGER && raw->fence.integer != 0) {
        event->value = (uint64_t)raw->fence.integer;
        event->flags |= LB_EVF_TOKEN;
    }
    return 0;
}

static int read_value(struct lb_translator *tr, const struct lb_raw_op *raw, struct lb_event *event)
{
    const struct lb_raw *token = &raw->keys[LB_KEY_TOKEN];
    if (token->kind == LB_RAW_INTEGER) {
        event->value = (uint64_t)token->integer;
        event->flags |= LB_EVF_TOKEN;
        return 0;
    }
    if (!lb_raw_is_nothing(token))
        return lb_scan_fail(tr->scan, raw->at, "token must be a whole number");
    if (is_lock_op(event->op))
        return read_lock_value(tr, raw, event);
    int code = lb_translate_item(tr, &raw->keys[LB_KEY_VALUE], &event->value);
    return code < 0 ? code : 0;
}

/* A name is numbered behind the numbers that are one. */
int lb_translate_attribute(struct lb_translator *tr, const struct lb_raw_op *raw,
                           enum lb_attribute attribute, uint32_t *ret_value)
{
    const struct lb_raw *value = &raw->keys[LB_KEY_KEY + (int)attribute];
    bool is_signed = attribute == LB_A_PRIORITY, is_number = value->kind == LB_RAW_INTEGER,
         is_name = is_number || value->kind == LB_RAW_NAME || value->kind == LB_RAW_STRING;
    if (is_number && value->integer >= (is_signed ? INT32_MIN : 0) && value->integer <= INT32_MAX) {
        *ret_value = (uint32_t)(int32_t)value->integer;
        return 0;
    }
    if (!is_name || attribute == LB_A_PRIORITY || attribute == LB_A_DUE)
        return 1;
    int code = intern_value(tr, &tr->names->keys, value, ret_value);
    *ret_value += UINT32_C(1) << 31;
    return code;
}

bool lb_usually_effective(const struct lb_event *event)
{
    return event->type == LB_EV_OK &&
           (event->op == LB_OP_RELEASE || event->op == LB_OP_COMPLETE || event->op == LB_OP_ERROR ||
            event->op == LB_OP_FREE || event->op == LB_OP_CLEAR_ERROR ||
            event->op == LB_OP_RENEW_ITEM);
}

uint32_t lb_usual_arg(const struct lb_event *event)
{
    if (event->op == LB_OP_CLAIM && event->type == LB_EV_OK)
        return event->value < UINT32_MAX ? (uint32_t)event->value : UINT32_MAX;
    return event->op == LB_OP_PUT || (event->op == LB_OP_ACQUIRE && event->type == LB_EV_INVOKE) ||
           (event->op == LB_OP_CLAIM && event->type == LB_EV_INVOKE);
}

/* An operation reported to have changed nothing did not happen. null means unknown: it may have
 * happened, but proves nothing. */
static int read_effective(const struct lb_translator *tr, const struct lb_raw_op *raw,
                          struct lb_event *event)
{
    const struct lb_raw *error = &raw->keys[LB_KEY_ERROR];
    bool is_usual = lb_usually_effective(event);
    if (raw->keys[LB_KEY_EFFECTIVE].kind == LB_RAW_NIL)
        return 0;
    int code = read_flag(tr, raw, LB_KEY_EFFECTIVE, is_usual, LB_EVF_EFFECTIVE, event);
    if (code != 0 || (event->flags & LB_EVF_EFFECTIVE) != 0 || !is_usual)
        return code;
    event->type = LB_EV_FAIL;
    event->answer =
        error->kind == LB_RAW_NAME ? answer_of(error, event->op, LB_EV_FAIL) : (uint8_t)LB_OTHER;
    return 0;
}

/* lockbench's own keys. */
static int read_own_keys(struct lb_translator *tr, const struct lb_raw_op *raw,
                         struct lb_event *event)
{
    uint32_t object = UINT32_MAX;
    int code = read_count(tr, raw, LB_KEY_ARG, UINT32_MAX, lb_usual_arg(event), &event->arg);
    if (code == 0)
        code = read_flag(tr, raw, LB_KEY_SHARED, false, LB_EVF_SHARED, event);
    if (code == 0)
        code = read_effective(tr, raw, event);
    if (code == 0)
        code = read_flag(tr, raw, LB_KEY_OVER, false, LB_EVF_OVER, event);
    if (code == 0)
        code = read_flag(tr, raw, LB_KEY_FINAL, false, LB_EVF_FINAL, event);
    if (code == 0)
        code = read_flag(tr, raw, LB_KEY_COMMITTED, false, LB_EVF_COMMITTED, event);
    if (code == 0)
        code = read_count(tr, raw, LB_KEY_OBJECT, LB_LARGEST_OBJECT, UINT32_MAX, &object);
    if (code != 0)
        return code;
    if (object == UINT32_MAX)
        return 0;
    if (tr->has_tuples)
        return lb_scan_fail(tr->scan, raw->at, "an object where others have a tuple");
    tr->has_objects = true;
    event->object = object;
    return 0;
}

/* Every operation says its log, or none does. */
static int read_log(struct lb_translator *tr, const struct lb_raw_op *raw,
                    struct lb_translated *translated)
{
    int code = read_count(tr, raw, LB_KEY_LOG, LB_MAX_LOGS - 1, UINT32_MAX, &translated->log);
    if (code != 0)
        return code;
    translated->has_log = translated->log != UINT32_MAX;
    if (translated->has_log ? tr->lacks_logs : tr->has_logs)
        return lb_scan_fail(tr->scan, raw->at, "some operations have a log and others have none");
    if (translated->has_log)
        tr->has_logs = true;
    else
        tr->lacks_logs = true;
    return 0;
}

static bool is_name(const struct lb_raw *raw)
{
    return raw->kind == LB_RAW_NAME || raw->kind == LB_RAW_STRING;
}

/* Names of processes are numbered from LB_NAMED_PROCESS on. */
static int read_name(struct lb_translator *tr, const struct lb_raw *name, uint32_t *ret_process)
{
    uint32_t number;
    int code = intern_value(tr, &tr->processes, name, &number);
    if (code == 0)
        *ret_process = LB_NAMED_PROCESS + number;
    return code;
}

/* A number, or a name. An export has the numbers of names, so they are read, too; beside names they
 * are ambiguous. */
static int read_process(struct lb_translator *tr, const struct lb_raw_op *raw,
                        uint32_t *ret_process)
{
    const struct lb_raw *process = &raw->keys[LB_KEY_PROCESS];
    bool has_name = is_name(process);
    if (!has_name && process->kind != LB_RAW_INTEGER)
        return lb_scan_fail(tr->scan, raw->at,
                            lb_raw_is_nothing(process)
                                ? "an operation without a process"
                                : "process must be a whole number or a name");
    int code = has_name ? read_name(tr, process, ret_process)
                        : read_count(tr, raw, LB_KEY_PROCESS, LB_LARGEST_PROCESS, 0, ret_process);
    if (code != 0)
        return code;
    if (!has_name)
        tr->has_large_process |= *ret_process >= LB_NAMED_PROCESS;
    if (tr->has_large_process && tr->processes.n > 0)
        return lb_scan_fail(tr->scan, raw->at,
                            "process must be a number below %u where others have names",
                            LB_NAMED_PROCESS);
    return 0;
}

/* Checks the fields of a note besides its time: a nonsensical number would be subtracted from
 * waits, or end an interval that still lasts. */
static int check_note(const struct lb_translator *tr, const struct lb_raw_op *raw,
                      const struct lb_event *event)
{
    const struct lb_raw *value = &raw->keys[LB_KEY_VALUE];
    bool has_value = !lb_raw_is_nothing(value);
    switch (event->op) {
    case LB_OP_ITEM:
        if (!has_value && (event->flags & LB_EVF_TOKEN) == 0)
            return lb_scan_fail(tr->scan, raw->at, "item must have its item as its value");
        return 0;
    case LB_OP_ATTRIBUTE:
        if (!has_value || event->object >= LB_ATTRIBUTES)
            return lb_scan_fail(
                tr->scan, raw->at,
                "attribute must have its item as its value, and object from 0 to %d",
                LB_ATTRIBUTES - 1);
        return 0;
    case LB_OP_PERMITS:
        if (value->kind != LB_RAW_INTEGER)
            return lb_scan_fail(tr->scan, raw->at,
                                "permits must have how many are free as its value, a whole number");
        return 0;
    case LB_OP_STALL:
    case LB_OP_RESTART:
    case LB_OP_CLOCK:
        if (event->value > (uint64_t)LB_LATEST_TIME) /* negative, or a text's number, too */
            return lb_scan_fail(tr->scan, raw->at,
                                "%s must have a length of time in ns as its value, a whole number "
                                "from 0 to 2^62",
                                lb_op_name(event->op));
        if (event->op == LB_OP_STALL && event->arg >= LB_STALLS)
            return lb_scan_fail(tr->scan, raw->at, "arg of stall must be a number from 0 to %d",
                                LB_STALLS - 1);
        if (event->op == LB_OP_CLOCK && event->object >= LB_CLOCKS)
            return lb_scan_fail(tr->scan, raw->at, "object of clock must be a number from 0 to %d",
                                LB_CLOCKS - 1);
        return 0;
    case LB_OP_DEATH:
    case LB_OP_SESSION_END:
        if (event->arg >= LB_MAX_LOGS)
            return lb_scan_fail(tr->scan, raw->at,
                                "arg of %s must be the number of a log, from 0 to %d",
                                lb_op_name(event->op), LB_MAX_LOGS - 1);
        return 0;
    default:
        return 0;
    }
}

/* Translates an operation of the nemesis: one of our notes, or a fault injected by another tool's
 * nemesis. */
static int translate_note(struct lb_translator *tr, const struct lb_raw_op *raw,
                          struct lb_translated *translated)
{
    struct lb_event *event = &translated->event;
    const struct lb_raw *f = &raw->keys[LB_KEY_F];
    if (lb_raw_is(f, "meta")) {
        translated->kind = LB_TR_META;
        return 0;
    }
    translated->kind = LB_TR_NEMESIS;
    if (raw->keys[LB_KEY_LOG].kind == LB_RAW_ABSENT) {
        if (lb_raw_is(f, lb_op_name(LB_OP_ITEM)))
            return lb_scan_fail(tr->scan, raw->at,
                                "item without the log of its claim: write a log in every line");
        return 0;
    }
    static const int notes[] = {LB_OP_ITEM,    LB_OP_FAULT,     LB_OP_DEATH,  LB_OP_SESSION_END,
                                LB_OP_WARM,    LB_OP_STALL,     LB_OP_WAITED, LB_OP_RESTART,
                                LB_OP_PERMITS, LB_OP_ATTRIBUTE, LB_OP_CLOCK};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (lb_raw_is(f, lb_op_name(notes[i])))
            event->op = (uint8_t)notes[i];
    if (event->op == 0)
        return lb_scan_fail(tr->scan, raw->at, "not a note that can have a log");
    translated->kind = LB_TR_NOTE;
    event->type = LB_EV_NOTE;
    event->answer = answer_of(&raw->keys[LB_KEY_ERROR], event->op, LB_EV_OK);
    int code = read_log(tr, raw, translated);
    const struct lb_raw *by = &raw->keys[LB_KEY_BY];
    if (code == 0)
        code = is_name(by) ? read_name(tr, by, &event->process)
                           : read_count(tr, raw, LB_KEY_BY, UINT32_MAX, 0, &event->process);
    if (code == 0)
        code = read_value(tr, raw, event);
    if (code == 0)
        code = read_own_keys(tr, raw, event);
    return code == 0 ? check_note(tr, raw, event) : code;
}

int lb_translate(struct lb_translator *tr, const struct lb_raw_op *raw,
                 struct lb_translated *ret_translated)
{
    const struct lb_raw *process = &raw->keys[LB_KEY_PROCESS];
    struct lb_translated translated = {.kind = LB_TR_OPERATION};
    struct lb_event *event = &translated.event;
    tr->n_ops++;
    int type = read_type(tr, raw);
    if (type < 0)
        return type;
    if (raw->keys[LB_KEY_F].kind != LB_RAW_NAME)
        return lb_scan_fail(tr->scan, raw->at, "an operation without an f that names it");
    int code = check_index(tr, raw);
    if (code == 0)
        code = read_time(tr, raw, &event->time_ns);
    if (code != 0)
        return code;
    if (process->kind == LB_RAW_NAME && lb_raw_is(process, "nemesis")) {
        code = translate_note(tr, raw, &translated);
        *ret_translated = translated;
        return code;
    }
    code = read_process(tr, raw, &event->process);
    if (code != 0)
        return code;
    int op = find_op(tr, raw, &translated);
    if (op < 0) {
        ret_translated->kind = LB_TR_SKIPPED;
        return 0;
    }
    event->op = (uint8_t)op;
    event->type = (uint8_t)type;
    event->answer = answer_of(&raw->keys[LB_KEY_ERROR], op, type);
    if (type == LB_EV_INVOKE)
        event->answer = LB_OK;
    code = note_shape(tr, op, raw->at);
    if (code == 0)
        code = read_log(tr, raw, &translated);
    if (code == 0 && !translated.is_dequeue && !translated.is_drain)
        code = read_value(tr, raw, event);
    if (code == 0)
        code = read_own_keys(tr, raw, event);
    if (code == 0 && op == LB_OP_PUT && type == LB_EV_INVOKE && event->arg > 0 &&
        event->value > UINT64_MAX - (event->arg - 1))
        code = lb_scan_fail(tr->scan, raw->at, "a put of more ids than there are");
    if (code == 0 && op == LB_OP_ACQUIRE && type == LB_EV_INVOKE && event->arg == 0)
        code = lb_scan_fail(tr->scan, raw->at, "arg of acquire is its permits, 1 or more");
    *ret_translated = translated;
    return code;
}
