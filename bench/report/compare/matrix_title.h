/* Titles for both forms of a matrix, Markdown and JSON: of its columns and its time. Each writes
 * into buf, cut to size, and returns it.
 */
#ifndef LB_MATRIX_TITLE_H
#define LB_MATRIX_TITLE_H

#include "matrix.h"

/* "PostgreSQL 15.18 through a pooler (old)", with the name that the user gave; "PostgreSQL" if no
 * run told the version. */
char *lb_matrix_engine_title(const struct lb_matrix_column *column, char *buf, size_t size);

/* "read committed (default), kill" */
char *lb_matrix_level_title(const struct lb_matrix_column *column, char *buf, size_t size);

/* True if the column's level is the engine's default. */
bool lb_matrix_is_default(const struct lb_matrix_column *column);

/* The report's start in UTC, "2026-11-21T21:40:01Z". */
char *lb_matrix_utc(const struct lb_report *report, char *buf, size_t size);

#endif
