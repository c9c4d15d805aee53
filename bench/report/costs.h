/* What a success costs: on the server, on its disk, and here. Medians over the runs of a cell. */
#ifndef LB_COSTS_H
#define LB_COSTS_H

#include "report.h"

enum lb_cost {
    LB_COST_STATEMENTS,
    LB_COST_WAL_BYTES,
    LB_COST_DEAD_ROWS, /* row versions that updates and deletes left behind */
    LB_COST_ROWS_READ,
    LB_COST_GROWTH_BYTES, /* of tables and indexes, or of the database's file */
    LB_COST_RETRIES,      /* SQLite: tries for a lock that was taken */
    LB_COST_LOCK_WAITS,   /* MariaDB: waits for a row's lock */
    LB_COST_CPU_NS,       /* lockbench's own */
    LB_COST_SWITCHES,     /* of context, lockbench's own */
    LB_COSTS
};
/* "statements", "WAL", ... as a column is headed. */
const char *lb_cost_name(enum lb_cost cost);
/* "wal_bytes", ...: as JSON names it. */
const char *lb_cost_key(enum lb_cost cost);
char *lb_cost_format(enum lb_cost cost, double value, char *buf, size_t size);

struct lb_costs {
    double values[LB_COSTS]; /* per success; negative: not known */
};
void lb_cell_costs(const struct lb_cell *cell, struct lb_costs *ret);

/* The kinds of wait of all runs together, most frequent first: sessions per sample. Returns how
 * many were written. */
struct lb_wait_share {
    const char *name; /* of the outcome */
    double sessions;
};
size_t lb_cell_waits(const struct lb_cell *cell, struct lb_wait_share *ret, size_t room);

#endif
