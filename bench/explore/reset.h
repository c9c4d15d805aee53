/* The space as it was after set-up, again and again.
 *
 * After set-up all tables are copied into temporary tables of the control session. Before each
 * schedule the tables that were written are emptied and filled from their copies, and what draws
 * numbers starts again where it stood. There is no DDL in it (but MariaDB's counters): what the
 * sessions have prepared stays valid. What grows by that, dead rows, is vacuumed every now and then
 * while the tables are empty, so that rows come back at the places where they were.
 */
#ifndef LB_RESET_H
#define LB_RESET_H

#include "footprint.h"
#include "session.h"

struct lb_reset_table {
    char *empty, *fill; /* statements */
    char *counter;      /* puts its counter back (MariaDB); NULL: it has none */
    struct lb_prepared empty_prepared, fill_prepared;
};

struct lb_reset {
    struct lb_session *session;
    const struct lb_dialect *dialect;
    struct lb_reset_table tables[LB_FOOTPRINT_TABLES];
    size_t n_tables;
    unsigned order[LB_FOOTPRINT_TABLES]; /* children before their parents */
    uint32_t group[LB_FOOTPRINT_TABLES];
    struct lb_reset_sequence {
        char *sql;
        struct lb_prepared prepared;
    } sequences[LB_FOOTPRINT_TABLES];
    size_t n_sequences;
    unsigned n_since; /* resets since the last vacuum */
};

/* Copies everything; fills tables. LB_E_UNSUPPORTED if the space cannot be put back this way.
 * Closed also after a failure. */
int lb_reset_open(struct lb_reset *reset, struct lb_session *session, struct lb_tables *ret_tables,
                  struct lb_error *err);
/* Runs a query of up to two columns over the reset's session; take is called per row. */
int lb_reset_query(const struct lb_reset *reset, const char *sql,
                   int (*take)(void *arg, const char *a, const char *b, struct lb_error *err),
                   void *arg, struct lb_error *err);
/* Rows (child, parent). */
const char *lb_reset_links_sql(const struct lb_reset *reset);
/* Puts the tables of the groups in `written` back. */
int lb_reset_run(struct lb_reset *reset, uint32_t written, struct lb_error *err);
void lb_reset_close(struct lb_reset *reset);

/* Run once on each session before anything else; NULL: nothing. */
const char *lb_reset_opening_sql(const struct lb_db *db);
/* The server's clock, if explore can move it. */
/* Statements are NULL where there is nothing to do. */
struct lb_server_clock {
    const char *create;         /* once, in the space, before set-up */
    const char *session;        /* on each session of the space; %s: the space's name */
    const char *set;            /* over the control session: the clock is so many ms ahead; %lld */
    const char *set_back;       /* ... and is not any more; NULL: set to 0 */
    const char *begin;          /* in each transaction, behind its begin: the same; %lld */
    const char *statement;      /* before each statement, while the clock is ahead; %lld */
    const char *statement_back; /* on the sessions, when it is not any more; NULL: with 0 */
    const struct lb_clock_word *words; /* that are replaced in statements; NULL: none */
    bool keeps_defaults;               /* of columns: they ask for the clock that stays */
    const char *const *moved;          /* words that ask for it, and are answered so */
};

/* instead: of the word and its call, or, with a + in front, behind them; %lld: microseconds. */
struct lb_clock_word {
    const char *word, *instead;
};

/* clocks.c: the statement with what the clock replaces; caller frees. NULL: out of memory. */
char *lb_clock_rewrite(const struct lb_server_clock *clock, const char *native, int64_t ahead_ms);
/* NULL: it cannot be moved. */
const struct lb_server_clock *lb_reset_clock(const struct lb_db *db);

/* Run on a session of its own before each schedule: until it is run again nothing is purged. What
 * was deleted in the schedule goes on taking locks, and not until a purge that nobody can wait for.
 * NULL: there is no such thing. */
const char *lb_reset_keep_sql(const struct lb_db *db);

/* A row: the session holds advisory locks beyond its transaction; NULL: it cannot be asked. */
const char *lb_reset_has_locks_sql(const struct lb_db *db);

/* Gives back what a session holds beyond its transaction (advisory locks); NULL: there is no such
 * thing. */
const char *lb_reset_session_sql(const struct lb_db *db);

#endif
