/* Errors and answers.
 *
 * Three different things are never mixed:
 *   answers   enum lb_answer, >= 0: the database's reply to a well-formed statement under
 *             contention. Counted, never fatal.
 *   errors    enum lb_errcode, < 0, with a struct lb_error that the caller owns.
 *   bugs      assert().
 *
 * A function that can fail returns int: an answer (or 0) when it worked, a negative
 * enum lb_errcode when it did not. On an error its ret_* parameters are untouched and *err is
 * filled; err is never NULL.
 */
#ifndef LB_ERROR_H
#define LB_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* What a statement, or a strategy's operation, was answered. */
enum lb_answer {
    LB_OK = 0,      /* done; for acquire and claim: granted */
    LB_EMPTY = 1,   /* claim: no item was eligible */
    LB_BUSY = 2,    /* refused at once: the lock, row or table is held (55P03, SQLITE_BUSY, 3572) */
    LB_REFUSED = 3, /* release, renew, complete, ...: not ours, or not in the right state */
    LB_TIMEOUT = 4, /* gave up waiting (1205, 57014, an acquire that ran out of tries) */
    LB_CONFLICT = 5,  /* serialization failure (40001, SQLITE_BUSY_SNAPSHOT): try again */
    LB_DEADLOCK = 6,  /* chosen as the victim of a deadlock (40P01, 1213) */
    LB_DUPLICATE = 7, /* a unique key exists already (23505, 1062, SQLITE_CONSTRAINT_UNIQUE) */
    LB_LOST = 8,      /* the connection ended; the outcome of the running statement is unknown */
    LB_OTHER = 9,     /* any other refusal by the engine; its code is kept beside it */
    LB_ANSWERS        /* how many there are */
};

/* Why a function could not do its work. The command line maps these to exit statuses. */
enum lb_errcode {
    LB_E_USAGE = -1,       /* a wrong option, name or value: exit 2 */
    LB_E_FILE = -2,        /* a file of the user's is missing or malformed: exit 2 */
    LB_E_ENV = -3,         /* cannot connect, no permission, disk full: exit 3 */
    LB_E_SQL = -4,         /* the engine rejected a statement's text: exit 3 */
    LB_E_UNSUPPORTED = -5, /* this engine cannot run this strategy: exit 2, or a SKIP */
    LB_E_MEMORY = -6,      /* shared memory, or that of a library, ran out: exit 3 */
    LB_E_INTERRUPTED = -7, /* the user asked to stop: exit 130 */
    LB_E_INTERNAL = -8,    /* an invariant of lockbench's own did not hold: exit 5 */
    LB_E_PROGRAM = -9,     /* a program of the user's ended, or did not answer: exit 3 */
    LB_E_RANK = -10,       /* one of several ranks that run together is gone: exit 5 */
    LB_E_LATE = -11        /* a statement did not end in the time of an exploration: exit 3 */
};

struct lb_error {
    int code;           /* enum lb_errcode; 0 while there is none */
    char native[24];    /* the engine's own code: SQLSTATE, extended SQLite code, errno; or "" */
    char message[1000]; /* one line, lower case: problem, place and remedy; no full stop */
};

/* Fills err (message formatted and made one line) and returns code. native is cleared. */
int lb_fail(struct lb_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the code in the compiler's sight: without it, it believes that a failed call may
 * have returned 0, and warns of ret_* parameters that were left untouched. */
static inline int lb_fail_code(int code, int filled)
{
    (void)filled;
    return code;
}
#define lb_fail(err, code, ...) lb_fail_code(code, lb_fail(err, code, __VA_ARGS__))

/* True if the cause is the server or the machine, and no text of the user's. */
static inline bool lb_error_is_outside(int code)
{
    return code == LB_E_ENV || code == LB_E_LATE;
}

/* Puts "prefix: " in front of err's message; returns err->code. */
int lb_fail_prefix(struct lb_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "ok", "empty", "busy", ...: stable names, used in results. */
const char *lb_answer_name(int answer);

#endif
