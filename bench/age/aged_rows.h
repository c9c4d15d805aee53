/* Aged rows: the rows that a protocol itself has left for a few items, multiplied.
 *
 * How: lb_aged_open keeps a copy of all tables of the space. The caller then puts, claims and ends
 * a few items (see aged_items.h). lb_aged_learn takes the rows that were not there before, the
 * samples, and decides for each column how its value differs from copy to copy. lb_aged_fill
 * inserts copies, by one INSERT ... SELECT for each table, unless the file has a section age, which
 * makes them in its own words.
 *
 *   keys     An integer that differs among the samples and is the item's number, or a part of a
 *            unique or foreign key, is lowered by the same amount in all tables: references hold,
 *            the copies stand in front of items that are put later, and sequences go on as they
 * are. A text or uuid is made another one in the same way everywhere. times    are spread over an
 * age: back, or forth if they are ahead by an hour. others   stay as they are.
 *
 * The space belongs to the run: no table outside of it is read or written.
 */
#ifndef LB_AGED_ROWS_H
#define LB_AGED_ROWS_H

#include "aging.h"
#include "strategy.h"

#include <stdatomic.h>
#include <stdio.h>

struct lb_aged_column {
    char *name; /* quoted */
    enum lb_aged_kind kind;
    bool is_key;
    int primary;   /* place in the primary key, from 1; 0: none */
    bool varies;   /* another value in each copy */
    int64_t epoch; /* a number that is a time since 1970: its units in a second; 0: none */
    int64_t least, most;
    size_t n_distinct;
    uint64_t sum; /* of the hashes of its values: equal for equal sets */
};

struct lb_aged_table {
    char *name; /* without quotes */
    /* Quoted: the table, its rows at the start, and those that were not there then. */
    char *quoted, *copy, *sample;
    struct lb_aged_column *columns;
    size_t n_columns;
    size_t n_samples; /* its rows that were not there before; 0: none to multiply */
    bool is_done;
    size_t order; /* in which it was filled: after its parents */
};

struct lb_aged {
    const struct lb_db *db;
    const struct lb_aging *aging;
    struct lb_conn *conn; /* its own: not in a transaction */
    struct lb_aged_table *tables;
    size_t n_tables;
    uint32_t n_items;        /* that the samples are of */
    int64_t stride;          /* by which keys differ from copy to copy */
    int64_t lowered;         /* by which the keys of all copies are less, beside that */
    int64_t first;           /* the number of the first item that the samples are of */
    struct lb_actor *author; /* runs section age; NULL: there is none */
    bool is_dead; /* copies are removed again, and the items, too: a snapshot keeps them */
    bool is_removed;
    const atomic_int *interrupt; /* ends a fill; NULL: nothing does */
};

/* Opens a connection in the space. Release in any case. */
int lb_aged_open(struct lb_aged *aged, const struct lb_db *db, struct lb_space *space,
                 struct lb_error *err);
void lb_aged_release(struct lb_aged *aged);
/* Switches off what the server does to statistics in the background. */
int lb_aged_freeze(struct lb_aged *aged, struct lb_error *err);
/* Makes the server look at the tables as they are now: statistics, and vacuum if the engine has it.
 */
int lb_aged_analyse(struct lb_aged *aged, struct lb_error *err);
/* Is a transaction open in the database that began before since_ns? Dead rows of then are kept. */
int lb_aged_open_since(struct lb_aged *aged, uint64_t since_ns, bool *ret_is, struct lb_error *err);
/* The items first to first + n - 1 have left their rows. LB_E_UNSUPPORTED with the reason if they
 * cannot be multiplied; *ret_has_rows: is there any? */
int lb_aged_learn(struct lb_aged *aged, int64_t first, uint32_t n, bool *ret_has_rows,
                  struct lb_error *err);
/* Inserts the copies from + 1 to to, of total. age_s: the oldest one's; 0: times stay. An interrupt
 * ends it within about a second. */
int lb_aged_fill(struct lb_aged *aged, uint64_t from, uint64_t to, uint64_t total, int64_t age_s,
                 struct lb_error *err);
/* Writes an expression or statement of lb_aging: %c is the column, %s the word, %% a per cent sign.
 */
void lb_aged_expression(char *buf, size_t size, const char *format, const char *column,
                        const char *word);
/* Runs a statement, which must succeed. */
int lb_aged_run(struct lb_aged *aged, const char *sql, struct lb_error *err);

#endif
