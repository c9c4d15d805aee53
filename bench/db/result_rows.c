/* Materialised results: see result_rows.h. Texts are kept as offsets, since their arena may move.
 */
#include "result_rows.h"

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

static struct lb_cell *add_cell(struct lb_result *result)
{
    if (result->n_cells == result->cells_size) {
        size_t size = result->cells_size > 0 ? result->cells_size * 2 : 64;
        struct lb_cell *grown = realloc(result->cells, size * sizeof *grown);
        if (grown == NULL)
            return NULL;
        result->cells = grown;
        result->cells_size = size;
    }
    return &result->cells[result->n_cells++];
}

bool lb_result_add_null(struct lb_result *result)
{
    struct lb_cell *cell = add_cell(result);
    if (cell != NULL)
        cell->type = LB_NULL;
    return cell != NULL;
}

bool lb_result_add_int(struct lb_result *result, int64_t integer)
{
    struct lb_cell *cell = add_cell(result);
    if (cell == NULL)
        return false;
    cell->type = LB_INT;
    cell->integer = integer;
    return true;
}

bool lb_result_add_real(struct lb_result *result, double real)
{
    struct lb_cell *cell = add_cell(result);
    if (cell == NULL)
        return false;
    cell->type = LB_REAL;
    cell->real = real;
    return true;
}

char *lb_result_add_space(struct lb_result *result, size_t length)
{
    size_t need = result->text_used + length + 1;
    if (need > result->text_size) {
        size_t size = need < 1024 ? 4096 : need * 2;
        char *grown = realloc(result->text, size);
        if (grown == NULL)
            return NULL;
        result->text = grown;
        result->text_size = size;
    }
    struct lb_cell *cell = add_cell(result);
    if (cell == NULL)
        return NULL;
    cell->type = LB_TEXT;
    cell->length = (uint32_t)length;
    cell->offset = result->text_used;
    result->text[need - 1] = '\0';
    result->text_used = need;
    return result->text + cell->offset;
}

bool lb_result_add_text(struct lb_result *result, const void *text, size_t length)
{
    char *space = lb_result_add_space(result, length);
    if (space != NULL && length > 0)
        memcpy(space, text, length);
    return space != NULL;
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
