/* A migration beside the workers, in words: see migration.h. */
#include "migration.h"

#include "units.h"

#include <stdio.h>

static void add_waits(const struct lb_migration *migration, char *buf, size_t size)
{
    char sum[32], longest[32];
    if (!migration->is_watched)
        snprintf(buf, size, "; how long sessions waited for it is not known here");
    else if (migration->n_sessions == 0)
        snprintf(buf, size, "; no session was seen to wait for it");
    else if (migration->waited_ns == 0)
        snprintf(buf, size, "; %llu session%s waited for its locks, too briefly to measure",
                 (unsigned long long)migration->n_sessions, migration->n_sessions == 1 ? "" : "s");
    else
        snprintf(buf, size,
                 "; %llu session%s waited for its locks, at least %s in all and %s at a time",
                 (unsigned long long)migration->n_sessions, migration->n_sessions == 1 ? "" : "s",
                 lb_format_ns(migration->waited_ns, sum, sizeof sum),
                 lb_format_ns(migration->longest_ns, longest, sizeof longest));
}

char *lb_migration_text(const struct lb_migration *migration, char *buf, size_t size)
{
    char took[32], blocked[32], own[60] = "", tries[40] = "", waits[160];
    if (migration->blocked_ns > 0)
        snprintf(own, sizeof own, ", waiting for locks for at least %s",
                 lb_format_ns(migration->blocked_ns, blocked, sizeof blocked));
    if (migration->n_tries > 1)
        snprintf(tries, sizeof tries, " in %llu tries", (unsigned long long)migration->n_tries);
    add_waits(migration, waits, sizeof waits);
    snprintf(buf, size, "section migrate %s %s%s%s%s",
             migration->is_done ? "took" : "was not done after",
             lb_format_ns(migration->took_ns, took, sizeof took), tries, own, waits);
    return buf;
}
