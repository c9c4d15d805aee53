/* A materialised result: values row by row, texts in one arena.
 *
 * For engines whose client library hands out one row at a time (PostgreSQL's keeps whole results by
 * itself). The buffers grow and are used again: no allocation per row once they are large enough.
 */
#ifndef LB_RESULT_ROWS_H
#define LB_RESULT_ROWS_H

#include "db.h"

struct lb_cell; /* private */

struct lb_result {
    struct lb_cell *cells;
    size_t n_columns, n_cells, cells_size;
    char *text;
    size_t text_used, text_size;
};

/* Empties it for a result of n_columns. */
void lb_result_begin(struct lb_result *result, size_t n_columns);
/* Append the next value of the current row. Text is copied. */
void lb_result_add_null(struct lb_result *result);
void lb_result_add_int(struct lb_result *result, int64_t integer);
void lb_result_add_real(struct lb_result *result, double real);
void lb_result_add_text(struct lb_result *result, const void *text, size_t length);
/* Appends a text of that length to be written by the caller. The pointer is good until the next
 * call. */
char *lb_result_add_space(struct lb_result *result, size_t length);
/* A value, as long as the result is not begun again. */
struct lb_value lb_result_value(const struct lb_result *result, size_t row, size_t column);
void lb_result_release(struct lb_result *result);

#endif
