/* Materialised results: see result_rows.h. Texts are kept as offsets, since their arena may move.
 */
#include "result_rows.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct lb_cell {
    enum lb_type type;
    uint32_t length;
    union {
        int64_t integer;
        double real;
        size_t offset; /* of the text in the arena */
    };
};

void lb_result_begin(struct lb_result *result, size_t n_columns)
{
    result->n_columns = n_columns;
    result->n_cells = 0;
    result->text_used = 0;
}

static struct lb_cell *add_cell(struct lb_result *result, enum lb_type type)
{
    if (result->n_cells == result->cells_size) {
        result->cells_size = result->cells_size > 0 ? result->cells_size * 2 : 64;
        result->cells = lb_realloc(result->cells, result->cells_size, sizeof *result->cells);
    }
    struct lb_cell *cell = &result->cells[result->n_cells++];
    cell->type = type;
    return cell;
}

void lb_result_add_null(struct lb_result *result)
{
    add_cell(result, LB_NULL);
}

void lb_result_add_int(struct lb_result *result, int64_t integer)
{
    add_cell(result, LB_INT)->integer = integer;
}

void lb_result_add_real(struct lb_result *result, double real)
{
    add_cell(result, LB_REAL)->real = real;
}

char *lb_result_add_space(struct lb_result *result, size_t length)
{
    size_t need = result->text_used + length + 1;
    if (need > result->text_size) {
        result->text_size = need < 1024 ? 4096 : need * 2;
        result->text = lb_realloc(result->text, result->text_size, 1);
    }
    struct lb_cell *cell = add_cell(result, LB_TEXT);
    cell->length = (uint32_t)length;
    cell->offset = result->text_used;
    result->text[need - 1] = '\0';
    result->text_used = need;
    return result->text + cell->offset;
}

void lb_result_add_text(struct lb_result *result, const void *text, size_t length)
{
    char *space = lb_result_add_space(result, length);
    if (length > 0)
        memcpy(space, text, length);
}

struct lb_value lb_result_value(const struct lb_result *result, size_t row, size_t column)
{
    const struct lb_cell *cell = &result->cells[row * result->n_columns + column];
    switch (cell->type) {
    case LB_INT:
        return lb_int(cell->integer);
    case LB_REAL:
        return (struct lb_value){.type = LB_REAL, .real = cell->real};
    case LB_TEXT:
        return lb_text(result->text + cell->offset, cell->length);
    case LB_NULL:
    default:
        return lb_null();
    }
}

void lb_result_release(struct lb_result *result)
{
    free(result->cells);
    free(result->text);
    memset(result, 0, sizeof *result);
}
