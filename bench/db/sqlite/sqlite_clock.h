/* SQLite's date functions, and CURRENT_TIMESTAMP, with a clock that can be moved:
 * application-defined functions take the place of SQLite's own in one connection. They do the same,
 * but "now" is later by the milliseconds of the last SELECT lockbench_clock(MS); and
 * SELECT lockbench_still(MS) stops the clock at these milliseconds since 1970, whole seconds.
 * Source: sqlite.org/appfunc.html, sqlite.org/lang_datefunc.html.
 */
#ifndef LB_SQLITE_CLOCK_H
#define LB_SQLITE_CLOCK_H

#include "sqlite_library.h"

#include <stdbool.h>

/* A code of SQLite's. */
int lb_sqlite_clock_open(const struct lb_sqlite_api *api, sqlite3 *handle);
/* Statements that this thread runs from now on are of this library. Before any that may call one of
 * the functions. */
void lb_sqlite_clock_calls(const struct lb_sqlite_api *api);

#endif
