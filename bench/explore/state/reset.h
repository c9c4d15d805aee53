/* The space as it was after set-up, again and again.
 *
 * After set-up all tables are copied into temporary tables of the control session. Before each
 * schedule the tables that were written are emptied and filled from their copies, and what draws
 * numbers starts again where it stood. Triggers and rules do not act on that. There is no other DDL
 * in it (but MariaDB's counters): prepared statements of the sessions stay valid. The dead rows of
 * this are vacuumed every now and then while the tables are empty, so that rows come back at the
 * places where they were.
 */
#ifndef LB_RESET_H
#define LB_RESET_H

#include "exploring.h"
#include "footprint.h"
#include "session.h"

struct lb_reset_table {
    char *empty, *fill; /* statements */
    char *counter;      /* puts its counter back (MariaDB); NULL: it has none */
    struct lb_prepared empty_prepared, fill_prepared;
};

struct lb_reset {
    struct lb_session *session;
    const struct lb_exploring *exploring;
    struct lb_reset_table tables[LB_FOOTPRINT_TABLES];
    size_t n_tables;
    unsigned order[LB_FOOTPRINT_TABLES]; /* children before their parents */
    uint32_t group[LB_FOOTPRINT_TABLES];
    struct lb_reset_sequence {
        char *sql;
        struct lb_prepared prepared;
    } sequences[LB_FOOTPRINT_TABLES];
    size_t n_sequences;
    struct lb_reset_trigger {
        char *stop, *start; /* statements */
    } * triggers;
    size_t n_triggers;
    unsigned n_since; /* resets since the last vacuum */
};

/* Copies everything; fills tables. LB_E_UNSUPPORTED if the space cannot be put back this way.
 * Closed also after a failure. */
int lb_reset_open(struct lb_reset *reset, struct lb_session *session, struct lb_tables *ret_tables,
                  struct lb_error *err);
/* Runs a query of up to two columns over the reset's session; take is called per row. */
int lb_reset_query(const struct lb_reset *reset, const char *sql,
                   void (*take)(void *arg, const char *a, const char *b), void *arg,
                   struct lb_error *err);
/* Puts the tables of the groups in `written` back. */
int lb_reset_run(struct lb_reset *reset, uint32_t written, struct lb_error *err);
void lb_reset_close(struct lb_reset *reset);

/* clocks.c: the statement with what the clock replaces; caller frees. still_unix_ms: where it
 * stands still; 0: it runs. */
char *lb_clock_rewrite(const struct lb_server_clock *clock, enum lb_dialect dialect,
                       const char *native, int64_t ahead_ms, int64_t still_unix_ms);
/* The word that a quotation of the statement contains, where none is replaced; NULL: none does. */
const char *lb_clock_hidden(const struct lb_server_clock *clock, enum lb_dialect dialect,
                            const char *sql);
/* True for a definition in which such a word is replaced by a time of the statement's begin. */
bool lb_clock_is_default(const struct lb_server_clock *clock, enum lb_dialect dialect,
                         const char *sql);

#endif
