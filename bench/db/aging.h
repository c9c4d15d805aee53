/* What age needs of an engine, beside db.h: the SQL that multiplies rows, and the exact cost of one
 * statement. One const struct per engine, in a file of its own (postgres_aging.c, ...), which
 * lb_db.aging names.
 *
 * In expressions %c stands for the column, and %s for a number of seconds. g.n is the number of the
 * copy, from 1.
 */
#ifndef LB_AGING_H
#define LB_AGING_H

#include "db.h"

/* What one statement read, and how. */
struct lb_touched {
    bool is_dead_asked;  /* set by the caller: cost is in lb_aging.dead_unit */
    double locked;       /* rows that the transaction has locked by now; below 0: not known */
    double cost;         /* in lb_aging.unit */
    double settled_cost; /* after some executions, where the engine may change its plan then */
    double scanned;      /* rows that a full scan went to, and sorts; see lb_aging.counts_scans */
    double sorts;
    char plan[600]; /* how the tables are read, without numbers; "": not known */
    char settled_plan[600];
    /* The planner's estimate for the cheapest other plan that it finds, in estimates for its own;
     * 0: not known, or there is none. */
    double margin;
    char other_plan[600];
};

/* Where a column's values may go: see lb_aging.columns. */
enum lb_aged_kind { LB_AGED_OTHER, LB_AGED_INT, LB_AGED_TEXT, LB_AGED_UUID, LB_AGED_TIME };

struct lb_aging {
    const char *unit;      /* "pages" */
    const char *dead_unit; /* in which dead rows are seen; NULL: the engine keeps none */
    bool counts_scans;     /* touch counts rows of full scans, and sorts */
    /* Rows (table, column, kind as a number, is a part of a unique or foreign key, place in the
     * primary key or 0), without generated columns. */
    const char *columns;
    const char *same;       /* an operator between two values that may be NULL */
    const char *overriding; /* between the columns and SELECT of an INSERT; "" */
    const char *series;     /* a table g with a column n, %llu down to %llu */
    const char *text;       /* a text, another one for each g.n */
    const char *uuid;
    const char *time;     /* a time that is %s earlier, or later if it is an hour ahead now */
    const char *tomorrow; /* a time a day from now */
    bool is_untyped;      /* a time has no type of its own: any column may have one */
    const char *freeze;   /* %s: the table; nothing in the background changes its statistics */
    const char *analyse;  /* %s: the table */
    /* Where the planner reads its statistics from a table that can be written, and nothing else.
     * Both are executed in the session that is measured, which keeps those of the last analyse as
     * of %s items, and reads them; or reads what the last two that it kept predict for %s items.
     * NULL: it is not so. */
    const char *keep_statistics, *predict_statistics;
    bool drops_from_table; /* DROP INDEX names the table */
    /* Around the removal of many rows: an index for each foreign key, made and dropped; NULL: the
     * engine has them. */
    const char *index_keys, *drop_keys;
    /* The number of transactions of other sessions in the database that are older than %s ms: the
     * last analyse left the rows that they keep. NULL: it leaves none. */
    const char *open_since;
    /* Executes one statement inside of an open transaction, undoes it, and reports what it read.
     * An answer, or an error. */
    int (*touch)(struct lb_conn *conn, const char *sql, size_t n_params,
                 const struct lb_value *params, struct lb_touched *ret, struct lb_error *err);
};

/* For touch: the types of parameters, as prepare takes them. types has room for n. */
static inline void lb_types_of(const struct lb_value *params, size_t n, enum lb_type *types)
{
    for (size_t i = 0; i < n; i++)
        types[i] = params[i].type;
}

#endif
