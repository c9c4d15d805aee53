/* One operation of a text format (struct lb_raw_op) to an event. interchange.h defines its meaning;
 * the grammar of processes is checked in interchange.c. Private to bench/record.
 */
#ifndef LB_TRANSLATE_H
#define LB_TRANSLATE_H

#include "attribute.h"
#include "history.h"
#include "names.h"
#include "text_scan.h"

/* Items that are no integers, and integers below this, are numbered from the least integer on. */
#define LB_TEXT_ITEMS (INT64_C(1) << 62)

/* Below the largest number: a writer has to invent processes, too. */
#define LB_LARGEST_PROCESS (UINT32_C(3) << 30)

/* As far as times can be added without overflow. */
#define LB_LATEST_TIME (INT64_C(1) << 62)

enum { LB_UNKNOWN_NAMES = 12, LB_MEANINGS = 16, LB_LARGEST_OBJECT = (1 << 24) - 1 };

/* An unknown operation, for the one message about all of them. */
struct lb_unknown {
    const char *text;
    size_t length;
    const char *at; /* where it stands first */
    uint64_t n;
};

/* What an operation's name means. */
struct lb_meaning {
    const char *text;
    size_t length;
    int op; /* -1: unknown */
    bool is_ignored, is_dequeue, is_drain;
};

/* State carried from one operation to the next. */
struct lb_translator {
    const struct lb_scan *scan;
    const char *ignore; /* names; "*": all unknown */
    struct lb_names *names;
    struct lb_intern processes; /* names of processes */
    struct lb_meaning meanings[LB_MEANINGS];
    size_t n_meanings;
    struct lb_unknown unknown[LB_UNKNOWN_NAMES];
    size_t n_unknown;
    bool more_unknown;
    uint64_t n_ops; /* read, this one included */
    int64_t last_index;
    bool has_index, has_times, lacks_times, has_logs, lacks_logs, has_tuples, has_objects;
    bool has_large_process;         /* a number that names get */
    const char *untold_at;          /* an operation of a lock that names no resource */
    const char *lock_at, *queue_at; /* where the first operation of a lock, of a queue stands */
};

enum lb_translated_kind {
    LB_TR_OPERATION,
    LB_TR_NOTE,    /* event is complete: a note */
    LB_TR_META,    /* text about the whole history */
    LB_TR_NEMESIS, /* of the nemesis: nothing of the history */
    LB_TR_SKIPPED  /* unknown, or to be ignored */
};

struct lb_translated {
    enum lb_translated_kind kind;
    struct lb_event event;
    bool has_log;
    uint32_t log;
    bool is_dequeue, is_drain; /* a claim in Jepsen's form: its items are in the value */
};

/* Returns 0 or LB_E_FILE. */
int lb_translate(struct lb_translator *tr, const struct lb_raw_op *raw,
                 struct lb_translated *ret_translated);
/* The number of an item: itself, or a number of the upper half if it is no integer. Returns 0, 1
 * when value is missing or nil, or LB_E_FILE. */
int lb_translate_item(struct lb_translator *tr, const struct lb_raw *value, uint64_t *ret_item);
/* The attribute of a put's items. Returns 0, 1 when the put has no such value (other programs use
 * these keys for their own data), or LB_E_FILE. */
int lb_translate_attribute(struct lb_translator *tr, const struct lb_raw_op *raw,
                           enum lb_attribute attribute, uint32_t *ret_value);
/* At the end: LB_E_FILE when there were unknown operations; else 0. */
int lb_translate_finish(const struct lb_translator *tr);
void lb_translator_release(struct lb_translator *tr);

/* Defaults of keys that a writer may leave out. */
uint32_t lb_usual_arg(const struct lb_event *event);
bool lb_usually_effective(const struct lb_event *event);

#endif
