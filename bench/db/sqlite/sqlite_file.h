/* The file of a SQLite space: its owner, its users, the leftovers of dead runs.
 *
 * A file is ours if its header carries our application id (bytes 68..71, PRAGMA application_id) and
 * a lock file with our text lies beside it; any other file, an empty one too, is refused and never
 * written to. A run holds flock() on the lock file as long as it lives; the kernel drops it with
 * the process, so a file of ours whose lock is free is the leftover of a dead run and is removed.
 * A kept file says so in its header (bytes 60..63, PRAGMA user_version).
 *
 * The database itself is never opened but by SQLite while a run uses it: closing any descriptor of
 * it would drop the process's POSIX locks on it. (The probe opens it too, see sqlite_probe.h, and
 * closes it when there is no connection any more.)
 */
#ifndef LB_SQLITE_FILE_H
#define LB_SQLITE_FILE_H

#include "error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { LB_SQLITE_APPLICATION_ID = 0x4c42656e /* "LBen" */, LB_SQLITE_KEPT = 1 };

/* A parsed -d argument. */
struct lb_sqlite_place {
    char path[PATH_MAX - 32]; /* "": a temporary file; room for the suffixes */
    const char *journal;      /* "wal", "delete" */
    const char *synchronous;  /* "off", "normal", "full" */
    char library[PATH_MAX];   /* see sqlite_library.h; "": the linked one */
};

struct lb_sqlite_file {
    struct lb_sqlite_place place;
    char path[PATH_MAX];
    char folder[PATH_MAX]; /* the temporary directory; "" when the user gave a path */
    int lock_fd;
};

/* 0 or LB_E_USAGE. Pure. */
int lb_sqlite_place_parse(const char *uri, struct lb_sqlite_place *ret_place, struct lb_error *err);
/* Takes the lock and clears the way: afterwards there is no database at path. */
int lb_sqlite_file_open(const char *uri, struct lb_sqlite_file *ret_file, struct lb_error *err);
/* Removes the database (unless keep) and lets the lock go. */
void lb_sqlite_file_close(struct lb_sqlite_file *file, bool keep);
/* The current size of the write-ahead log. */
int64_t lb_sqlite_file_log_bytes(const struct lb_sqlite_file *file);

#endif
