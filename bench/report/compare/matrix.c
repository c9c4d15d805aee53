/* Rows, columns and entries of a matrix: see matrix.h. */
#include "matrix.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* --- columns --- */

static void describe_column(const struct lb_cell *cell, struct lb_matrix_column *column)
{
    const struct lb_scenario *scenario = &cell->scenario;
    *column = (struct lb_matrix_column){.engine = cell->engine, .level = scenario->isolation};
    if (cell->target != NULL)
        column->db = cell->target->db;
    else
        column->level = LB_ISO_DEFAULT;
    /* A requested fault, not the scenario's own: "mutex-hot+kill". */
    if (memchr(scenario->name, '+', lb_scenario_base(scenario->name)) != NULL)
        snprintf(column->fault, sizeof column->fault, "%s",
                 scenario->fault != LB_FAULT_NONE ? lb_fault_name(scenario->fault) : "skew");
}

static bool is_same_column(const struct lb_matrix_column *a, const struct lb_matrix_column *b)
{
    return a->level == b->level && strcmp(a->engine, b->engine) == 0 &&
           strcmp(a->fault, b->fault) == 0;
}

static void take_fact(struct lb_matrix_column *column, const struct lb_fact *fact)
{
    if (strcmp(fact->name, "version") == 0)
        snprintf(column->version, sizeof column->version, "%.*s", (int)strcspn(fact->value, " -"),
                 fact->value);
    else if (strcmp(fact->name, "pooled") == 0)
        column->is_pooled = strcmp(fact->value, "yes") == 0;
    else if (strcmp(fact->name, "topology") == 0)
        snprintf(column->topology, sizeof column->topology, "%s", fact->value);
}

static size_t column_of(struct lb_matrix *matrix, const struct lb_cell *cell)
{
    struct lb_matrix_column column;
    size_t i = 0;
    describe_column(cell, &column);
    while (i < matrix->n_columns && !is_same_column(&matrix->columns[i], &column))
        i++;
    if (i == matrix->n_columns)
        matrix->columns[matrix->n_columns++] = column;
    for (size_t run = 0; run < cell->n_runs; run++)
        for (size_t f = 0; f < cell->runs[run]->n_facts; f++)
            take_fact(&matrix->columns[i], &cell->runs[run]->facts[f]);
    return i;
}

static size_t row_of(struct lb_matrix *matrix, const struct lb_cell *cell)
{
    size_t i = 0;
    while (i < matrix->n_rows && strcmp(matrix->rows[i]->name, cell->name) != 0)
        i++;
    if (i == matrix->n_rows)
        matrix->rows[matrix->n_rows++] = cell;
    return i;
}

/* Columns of one target stand together, the levels in their order. */
static int compare_columns(const void *a, const void *b)
{
    const struct lb_matrix_column *x = a, *y = b;
    int engines = strcmp(x->engine, y->engine), faults = strcmp(x->fault, y->fault);
    if ((x->db == NULL) != (y->db == NULL))
        return x->db == NULL ? 1 : -1;
    return engines != 0 ? engines : faults != 0 ? faults : (int)x->level - (int)y->level;
}

void lb_matrix_make(const struct lb_report *report, struct lb_matrix *matrix)
{
    *matrix = (struct lb_matrix){.report = report};
    size_t n = report->n_cells + 1;
    matrix->columns = lb_calloc(n, sizeof *matrix->columns);
    matrix->rows = lb_calloc(n, sizeof(const struct lb_cell *));
    matrix->places = lb_calloc(n, sizeof *matrix->places);
    for (size_t i = 0; i < report->n_cells; i++)
        column_of(matrix, &report->cells[i]);
    qsort(matrix->columns, matrix->n_columns, sizeof *matrix->columns, compare_columns);
    for (size_t i = 0; i < report->n_cells; i++)
        matrix->places[i] = (struct lb_matrix_place){row_of(matrix, &report->cells[i]),
                                                     column_of(matrix, &report->cells[i])};
}

void lb_matrix_release(struct lb_matrix *matrix)
{
    free(matrix->columns);
    free(matrix->rows);
    free(matrix->places);
    *matrix = (struct lb_matrix){0};
}

/* --- entries --- */

const struct lb_cell *lb_matrix_next(const struct lb_matrix *matrix, size_t row, size_t column,
                                     const struct lb_cell *after)
{
    const struct lb_report *report = matrix->report;
    for (size_t i = after == NULL ? 0 : (size_t)(after - report->cells) + 1; i < report->n_cells;
         i++)
        if (matrix->places[i].row == row && matrix->places[i].column == column)
            return &report->cells[i];
    return NULL;
}

/* A known break of the entry that must show and was not tested; NULL: none. */
static const struct lb_finding *open_break(const struct lb_matrix *matrix, size_t row,
                                           size_t column)
{
    const struct lb_cell *cell = NULL;
    const struct lb_finding *finding = NULL;
    while (finding == NULL && (cell = lb_matrix_next(matrix, row, column, cell)) != NULL)
        finding = lb_cell_open_break(cell);
    return finding;
}

enum lb_standing lb_matrix_standing(const struct lb_matrix *matrix, size_t row, size_t column)
{
    static const int weight[] = {
        [LB_STANDS_VIOLATED] = 0, [LB_STANDS_FAILED] = 1,  [LB_STANDS_INCONCLUSIVE] = 2,
        [LB_STANDS_NOT_RUN] = 3,  [LB_STANDS_MISSED] = 4,  [LB_STANDS_HELD] = 5,
        [LB_STANDS_UNTESTED] = 6, [LB_STANDS_SKIPPED] = 7,
    };
    const struct lb_cell *cell = lb_matrix_next(matrix, row, column, NULL);
    enum lb_standing worst = LB_STANDS_SKIPPED;
    if (cell == NULL)
        return LB_STANDS_NOT_RUN;
    for (; cell != NULL; cell = lb_matrix_next(matrix, row, column, cell)) {
        enum lb_standing standing = lb_cell_standing(cell);
        if (weight[standing] < weight[worst])
            worst = standing;
    }
    if (worst == LB_STANDS_HELD && open_break(matrix, row, column) != NULL)
        return LB_STANDS_UNTESTED;
    return worst;
}

const struct lb_finding *lb_matrix_finding(const struct lb_matrix *matrix, size_t row,
                                           size_t column, enum lb_guarantee guarantee,
                                           const struct lb_cell **ret_cell)
{
    static const int weight[] = {
        [LB_V_VIOLATED] = 0, [LB_V_HELD] = 1, [LB_V_NOT_TESTED] = 2, [LB_V_NOT_CLAIMED] = 3};
    const struct lb_finding *worst = NULL;
    const struct lb_cell *cell = NULL;
    bool is_missed = false; /* among held cells, one with a missed break comes first */
    while ((cell = lb_matrix_next(matrix, row, column, cell)) != NULL) {
        const struct lb_outcome *run;
        const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
        bool misses = lb_cell_expectation(cell, guarantee) == LB_EXPECT_MISSED;
        if (finding == NULL ||
            (worst != NULL && weight[finding->verdict] >= weight[worst->verdict] &&
             !(misses && !is_missed && worst->verdict == LB_V_HELD)))
            continue;
        worst = finding;
        is_missed = misses;
        *ret_cell = cell;
    }
    return worst;
}

static const char *cell_reason(const struct lb_cell *cell)
{
    if (cell->state == LB_CELL_FAILED)
        return cell->error.message;
    if (cell->reason[0] != '\0')
        return cell->reason;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        if (run->reason[0] != '\0')
            return run->reason;
        for (int g = 0; g < LB_GUARANTEES; g++)
            if (run->judgement.findings[g].verdict == LB_V_NOT_TESTED)
                return run->judgement.findings[g].reason;
    }
    return cell->state == LB_CELL_PENDING ? "interrupted before its turn" : "nothing is claimed";
}

const char *lb_matrix_reason(const struct lb_matrix *matrix, size_t row, size_t column)
{
    const struct lb_finding *finding = open_break(matrix, row, column);
    const struct lb_cell *first = lb_matrix_next(matrix, row, column, NULL);
    if (lb_matrix_standing(matrix, row, column) == LB_STANDS_UNTESTED && finding != NULL)
        return finding->reason;
    return first != NULL ? cell_reason(first) : "not asked";
}
