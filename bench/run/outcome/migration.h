/* Section migrate, run while the workers were at work: its time, and the waits for its locks. */
#ifndef LB_MIGRATION_H
#define LB_MIGRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lb_migration {
    uint64_t took_ns; /* 0: none was run */
    uint64_t n_tries; /* it was given up, for contention, and begun again */
    bool is_done;     /* else the run ended before */
    /* Seen by looking again and again, so these are lower bounds. */
    bool is_watched;
    uint64_t blocked_ns; /* it waited for a lock itself */
    uint64_t waited_ns;  /* sessions waited for its locks: the sum */
    uint64_t longest_ns; /* one session, in one piece */
    uint64_t n_sessions; /* that waited */
};

/* The same in a sentence. Returns buf. */
char *lb_migration_text(const struct lb_migration *migration, char *buf, size_t size);

#endif
