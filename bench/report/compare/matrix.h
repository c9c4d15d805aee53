/* A report as a matrix: strategies down, engines and isolation levels across.
 *
 * A row is a strategy, with the options that are part of its name. A column is a target at one
 * isolation level, under no fault or one. Their entry is what all cells of that row and column came
 * to, whatever their scenarios: the worst of them. Another dimension is one more member of struct
 * lb_matrix_column, compared in matrix.c and named in its title.
 */
#ifndef LB_MATRIX_H
#define LB_MATRIX_H

#include "report.h"

struct lb_matrix_column {
    const struct lb_db *db;  /* NULL: no database */
    const char *engine;      /* "postgres:2" */
    enum lb_isolation level; /* LB_ISO_DEFAULT: no database, or none requested */
    char fault[16];          /* "kill"; "": none */
    char version[32];        /* of the server, "15.18"; "": no run has told it */
    char topology[16];       /* of its servers, "async"; "": one server, or no run has told it */
    bool is_pooled;          /* through a transaction pooler, as the runs found out */
};

struct lb_matrix {
    const struct lb_report *report;
    struct lb_matrix_column *columns;
    size_t n_columns;
    const struct lb_cell **rows; /* the first cell of each */
    size_t n_rows;
    struct lb_matrix_place {
        size_t row, column;
    } * places; /* one per cell of the report */
};

/* Borrows the report. */
void lb_matrix_make(const struct lb_report *report, struct lb_matrix *matrix);
void lb_matrix_release(struct lb_matrix *matrix);

/* The next cell of an entry behind `after` (NULL: the first); NULL: no more. */
const struct lb_cell *lb_matrix_next(const struct lb_matrix *matrix, size_t row, size_t column,
                                     const struct lb_cell *after);

/* The result of the entry. A violation comes first; then errors and interrupted cells; "held" needs
 * a cell that held, and no known break that must show and was not tested; a SKIP is one only if all
 * are. */
enum lb_standing lb_matrix_standing(const struct lb_matrix *matrix, size_t row, size_t column);

/* The worst finding of the entry about a guarantee: violated, held, not tested. NULL: no run. */
const struct lb_finding *lb_matrix_finding(const struct lb_matrix *matrix, size_t row,
                                           size_t column, enum lb_guarantee guarantee,
                                           const struct lb_cell **ret_cell);

/* Why an entry that came to no verdict did not; never "". */
const char *lb_matrix_reason(const struct lb_matrix *matrix, size_t row, size_t column);

#endif
