/* Rows instead of tables: which rows a statement can tell from each other (PostgreSQL).
 *
 * The rules need two answers from the server, once: how each statement reads each table (its plan,
 * without indexes, so that it contains all conditions), and the constraints in the catalogue. A
 * statement that is not understood makes the tables that it names coarse: they count as wholes.
 * docs/design/explore.md has the rule and its argument; the tests of the relation compare it with
 * every order.
 *
 * Some of the rule's conditions are about what statements do later: they are taken for granted, and
 * each statement is watched. If one breaks them the search starts anew, by tables.
 */
#ifndef LB_ROWS_H
#define LB_ROWS_H

#include "program.h"
#include "reset.h"

enum { LB_ROW_KEYS = 3, LB_ROW_REFS = 6, LB_ROW_CONDITIONS = 32 };

/* How a statement reads a table: the rows of one key, or those that meet a condition. */
struct lb_row_ref {
    uint8_t table;
    bool is_keyed, is_joined; /* joined: to one key, that of the row which it changed */
    bool follows_lock; /* ... and which another scan has locked: the only one that it reads */
    int8_t condition;  /* number of it; -1: none that could be told */
    int8_t param[LB_ROW_KEYS]; /* the key's */
};

struct lb_row_statement {
    bool is_told;     /* refs say how it reads the tables that are not coarse */
    uint32_t changes; /* tables, one bit each */
    uint8_t n_refs;
    struct lb_row_ref refs[LB_ROW_REFS];
};

struct lb_row_table {
    size_t n_keys;
    char key[LB_ROW_KEYS][64];
    bool is_odd;      /* constraints, indexes or columns that are beyond the rule */
    bool has_numbers; /* a column draws one */
    uint32_t ordered; /* conditions of those who take the first row by an order */
    char order[300];  /* its columns but the key's, "a, b" */
};

struct lb_row_rules {
    uint32_t fine;  /* tables with distinguishable rows */
    uint32_t fixed; /* tables that no statement writes, or locks rows of */
    struct lb_row_table tables[LB_FOOTPRINT_TABLES];
    size_t n_conditions;
    uint8_t table_of[LB_ROW_CONDITIONS];
    char *condition[LB_ROW_CONDITIONS]; /* "item_1.status = 0" */
    char *alias[LB_ROW_CONDITIONS];
    struct lb_row_statement *statements; /* as the program's */
    char *own_sql;                       /* see lb_row_rules_open */
    char *committed_sql;
};

/* Looks at the statements of the sections in `played` (bit per enum lb_section_name). batch: the
 * value of :n. Leaves everything coarse if rows cannot be distinguished. Closed also after a
 * failure.
 *
 * own_sql, over a task's session in its transaction: rows (table, key, order, conditions met,
 * transaction) of the rows that it has inserted or updated so far; table -1 is a row of its own.
 * committed_sql, over any other session, with the transaction as $1: the same for the rows that it
 * has locked, changed or deleted, in their old form. */
int lb_row_rules_open(struct lb_row_rules *rules, struct lb_reset *reset,
                      const struct lb_tables *tables, const struct lb_program *program,
                      uint32_t played, uint32_t batch, struct lb_error *err);
void lb_row_rules_close(struct lb_row_rules *rules);

/* rows_plan.c: what the plan of statement `index` says. */
struct lb_row_reader {
    struct lb_row_rules *rules;
    const struct lb_tables *tables;
    const struct lb_statement *statement;
    struct lb_row_statement *told;
    uint32_t batch;
    uint32_t locks;               /* tables whose rows it locks or changes */
    bool fails;                   /* not understood */
    unsigned n_limits, n_sources; /* nodes that end after some rows; other sources of rows */
    unsigned n_conditional;       /* scans by a condition */
    bool has_more[LB_ROW_REFS];   /* the scan has conditions besides the join */
    bool is_locked[LB_ROW_REFS];  /* ... and its rows are locked before they are joined */
    bool has_others;              /* rows that come from no scan */
    char alias[LB_ROW_REFS][64], target[LB_ROW_REFS][64];
    unsigned n_targets;
};
enum { LB_ROW_PARAM_SHIFT = 40 }; /* of the statement's $1: those before are the planner's own */
void lb_row_read_plan(struct lb_row_reader *reader, const char *json);

#endif
