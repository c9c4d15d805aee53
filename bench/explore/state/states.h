/* States that were met before: what a schedule's rest can depend on, as a digest.
 *
 * docs/design/explore.md says what is in it, why nothing else counts, and where no states are told.
 */
#ifndef LB_STATES_H
#define LB_STATES_H

#include "program.h"
#include "reset.h"
#include "search.h"

#include <stdio.h>

struct lb_testbed;

struct lb_states {
    bool is_on;
    char *committed_sql; /* over the control session: rows (table, its rows) */
    char *own_sql;       /* over a task's, in its transaction: what it has changed or locked */
    char *sequences_sql; /* NULL: there are none */
    struct lb_prepared committed, locks, sequences, own[LB_MAX_WORKERS];
    struct lb_prepared by_one[LB_MAX_WORKERS], by_two[LB_MAX_WORKERS]; /* advisory locks' counts */
};

/* Looks at the statements of the sections in `played`, and at the catalogue. Leaves is_on false
 * where states cannot be told apart. Closed also after a failure. */
int lb_states_open(struct lb_states *states, struct lb_reset *reset, const struct lb_tables *tables,
                   const struct lb_program *program, uint32_t played, struct lb_error *err);
void lb_states_close(struct lb_states *states);

/* Part of the testbed's system: see search.h. */
int lb_testbed_state(void *arg, struct lb_state *ret, struct lb_error *err);

/* states_told.c: adds what the history so far tells; where only operations on one object are
 * compared, object by object. */
void lb_states_tell_history(const struct lb_testbed *testbed, FILE *out);
/* The digest of a text in which times stand for their places in time: numbers that are a time of
 * about now, in ms or us. */
void lb_states_digest(const char *text, size_t size, uint64_t now_ms, uint64_t ret[2]);
/* Have two rows of one table stored the same time? rows: see committed_sql. */
bool lb_states_tie(const char *rows, uint64_t now_ms);

/* states_words.c: may where rows stand in their table decide what the statement does, or may it do
 * what the digest does not hold? ordering: names of columns that put rows in order, NULL ends it.
 */
bool lb_states_is_orderly(const struct lb_tables *tables, const char *sql,
                          const char *const *ordering);

#endif
