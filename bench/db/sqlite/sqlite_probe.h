/* Does a SQLite database stand still? A disk that does not answer, or a stranger who has its lock.
 */
#ifndef LB_SQLITE_PROBE_H
#define LB_SQLITE_PROBE_H

#include <stdbool.h>

struct lb_probe;

/* path: of the database; it is opened at the first question. */
struct lb_probe *lb_sqlite_probe_open(const char *path);
/* Writes a byte to the database's disk, which may take its time; then: does a process that is
 * neither this one nor a child of it keep the others from writing? */
bool lb_sqlite_probe(struct lb_probe *probe);
/* Only when this process has no connection to the database: closing a descriptor of a file gives up
 * all of the process's POSIX locks on it. Accepts NULL. */
void lb_sqlite_probe_close(struct lb_probe *probe);

#endif
