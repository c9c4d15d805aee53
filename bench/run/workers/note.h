/* Notes during a run: events of its history that are no operations, and the first of each kind of
 * unexpected answer. Private to bench/run. */
#ifndef LB_NOTE_H
#define LB_NOTE_H

#include "history.h"
#include "session.h"

#include <stdatomic.h>

/* The first of its kind, and how many there were. */
struct lb_first {
    atomic_int state; /* 0: none; 1: being written; 2: can be read */
    _Atomic uint64_t n;
    uint64_t at_ns;
    char text[280]; /* the server's, one line, behind where the statement stands */
};
/* Notes the session's last answer; is_statement: of a statement of a file. Any worker, of any
 * process. */
void lb_first_note(struct lb_first *first, const struct lb_session *session, bool is_statement);

/* Into the history; log NULL: none is written. */
void lb_note_append(struct lb_log *log, uint32_t process, enum lb_op op, uint64_t value,
                    uint32_t target, uint32_t phase);

#endif
