/* Histories in the interchange formats: Jepsen's EDN, and JSON Lines with the same keys.
 *
 * An operation is a map with the keys
 *   type     invoke, ok, fail (certainly did not happen), info (outcome unknown)
 *   f        the operation, see below
 *   process  a number; an operation of anything else ("nemesis") is not one of the history
 *   time     ns since the start; -1 or missing in all: the order of the lines is the time
 *   index    position; if there, it must grow
 *   value    see below
 *   error    of fail and info: why; "empty", "not-held", "already-held", ... and lockbench's
 * answers and, written by lockbench so that nothing is lost, token, object (resource or class),
 * arg, shared, effective, log, by. Other keys are skipped.
 *
 * Operations that Jepsen's own tests of locks and queues use:
 *   - acquire, release: mutex, semaphore, fenced lock. value: none, or {:fence N} (0: no fence), or
 *     a tuple [resource value] of jepsen.independent
 *   - enqueue v: put of item v (any value; it is compared as text if it is no integer)
 *   - dequeue: claim of one item; ok has it as value; fail: there was none
 *   - drain: claim of all items; ok has them as a vector
 * and lockbench's own, by the names of lb_op_name ("enqueue" is a ticket when the history is one of
 * a lock). Other operations are refused, all their names in one message, unless told to be ignored.
 *
 * Every process is one log (or "log" says so). Within a log: invoke, then one end of the same
 * operation (or a batch or pipeline, see history.h), times that do not go back, and no further
 * operation after an info.
 */
#ifndef LB_INTERCHANGE_H
#define LB_INTERCHANGE_H

#include "history.h"

#include <stdio.h>

enum lb_history_format {
    LB_HISTORY_AUTO, /* told by the first bytes */
    LB_HISTORY_BINARY,
    LB_HISTORY_EDN,
    LB_HISTORY_JSONL
};

struct lb_read_options {
    enum lb_history_format format;
    struct lb_names *names; /* of items and resources, shared by all files judged together; must
                               outlive the views; NULL: the file's own */
    unsigned threads;       /* that check the binary format: 2, else one */
    const char *ignore; /* operations to skip, separated by commas; "*": all unknown; NULL: none */
};

/* A table of names; free accepts NULL. */
struct lb_names *lb_names_new(void);
void lb_names_free(struct lb_names *names);

/* What a reader found beside the events. */
struct lb_read_facts {
    enum lb_history_format format;
    bool is_lock, is_queue; /* which operations there are; not set for binary */
    size_t first_line;      /* of an operation that says which; text formats */
    bool is_drained;        /* queue: a drain began after the last enqueue ended, and succeeded */
    uint32_t n_objects;     /* resources or classes: the largest number plus 1 */
    uint64_t n_ignored;     /* events skipped because they were to be ignored */
    uint64_t n_nemesis;     /* events of the nemesis */
    uint64_t n_open;        /* operations that never ended */
    size_t meta_line;       /* of the meta record; 0: none, or not a text */
};

/* Reads a history of any of the three formats; path "-" is standard input. options may be NULL.
 * Every malformed input is LB_E_FILE, "file:line: what" ("path: what" for binary). */
int lb_history_read(const char *path, const struct lb_read_options *options,
                    struct lb_history_view *ret_view, struct lb_read_facts *ret_facts,
                    struct lb_error *err);
/* The same over size bytes in memory (text formats only); bytes[size] must be 0. */
int lb_history_parse(const char *bytes, size_t size, const char *name,
                     const struct lb_read_options *options, struct lb_history_view *ret_view,
                     struct lb_read_facts *ret_facts, struct lb_error *err);

enum lb_write_dialect {
    LB_WRITE_FULL, /* everything; reading it gives the same events */
    LB_WRITE_PLAIN /* what Knossos' and Jepsen's models know: acquire, release, enqueue, dequeue.
                      A token is {:fence N}. Items of one put or claim become operations of their
                      own, concurrent under process numbers of their own; everything else is left
                      out */
};

/* Writes a view as EDN or JSON Lines, in the order of time; times are relative to start_ns. Returns
 * 0, or LB_E_ENV when out cannot be written. */
int lb_history_write(const struct lb_history_view *view, enum lb_history_format format,
                     enum lb_write_dialect dialect, FILE *out, struct lb_error *err);

#endif
