/* A matrix as JSON. See matrix.h. */
#include "json_object.h"
#include "matrix_title.h"

static json_t *column_json(const struct lb_matrix_column *column)
{
    struct lb_object object = lb_object_new();
    const bool has = column->db != NULL;
    lb_put_text(&object, "engine", column->engine);
    lb_put_text_or_null(&object, "product", has ? column->db->product : NULL);
    lb_put_text_or_null(&object, "version", has ? column->version : NULL);
    if (has)
        lb_put_flag(&object, "pooled", column->is_pooled);
    if (has && column->topology[0] != '\0')
        lb_put_text(&object, "topology", column->topology);
    lb_put_text_or_null(&object, "isolation",
                        has && column->level != LB_ISO_DEFAULT ? lb_isolation_name(column->level)
                                                               : NULL);
    lb_put_flag(&object, "default", has && lb_matrix_is_default(column));
    if (column->fault[0] != '\0')
        lb_put_text(&object, "fault", column->fault);
    return lb_object_end(&object);
}

static json_t *finding_json(const struct lb_finding *finding, const struct lb_cell *cell,
                            enum lb_guarantee guarantee)
{
    struct lb_object object = lb_object_new();
    bool has_witness = finding->verdict == LB_V_VIOLATED && finding->n_witnesses > 0;
    lb_put_text(&object, "verdict", lb_verdict_name(finding->verdict));
    lb_put_text(&object, "expectation", lb_expectation_name(lb_cell_expectation(cell, guarantee)));
    lb_put_text(&object, "scenario", cell->scenario.name);
    lb_put_count(&object, "violations", finding->n_violations);
    lb_put_count(&object, "tested", finding->n_tested);
    lb_put(&object, "witness", has_witness ? lb_json_text(finding->witness[0].text) : json_null());
    lb_put_text_or_null(&object, "known", lb_cell_why_broken(cell, guarantee));
    lb_put(&object, "reason",
           finding->verdict == LB_V_NOT_TESTED ? lb_json_text(finding->reason) : json_null());
    return lb_object_end(&object);
}

/* The text of the first cell of an entry that did not catch a known break; text has LB_MISSED. */
enum { LB_MISSED = 1000 };
static const char *missed_in(const struct lb_matrix *matrix, size_t row, size_t column, char *text)
{
    const struct lb_cell *cell = NULL;
    text[0] = '\0';
    while (text[0] == '\0' && (cell = lb_matrix_next(matrix, row, column, cell)) != NULL)
        lb_cell_missed(cell, text, LB_MISSED);
    return text;
}

static json_t *guarantees_json(const struct lb_matrix *matrix, size_t row, size_t column)
{
    struct lb_object object = lb_object_new();
    const struct lb_cell *cell = NULL;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *finding =
            lb_matrix_finding(matrix, row, column, (enum lb_guarantee)g, &cell);
        if (finding != NULL && finding->verdict != LB_V_NOT_CLAIMED)
            lb_put(&object, lb_guarantee_name((enum lb_guarantee)g),
                   finding_json(finding, cell, (enum lb_guarantee)g));
    }
    return lb_object_end(&object);
}

static json_t *entry_json(const struct lb_matrix *matrix, size_t row, size_t column)
{
    struct lb_object object = lb_object_new(), scenarios = lb_list_new();
    const struct lb_cell *first = lb_matrix_next(matrix, row, column, NULL);
    enum lb_standing standing = lb_matrix_standing(matrix, row, column);
    char text[LB_MISSED];
    lb_put_count(&object, "column", column);
    lb_put_text(&object, "verdict", lb_standing_name(standing));
    lb_put(&object, "reason",
           standing == LB_STANDS_HELD || standing == LB_STANDS_VIOLATED ? json_null()
           : standing == LB_STANDS_MISSED ? lb_json_text(missed_in(matrix, row, column, text))
                                          : lb_json_text(lb_matrix_reason(matrix, row, column)));
    for (const struct lb_cell *cell = first; cell != NULL;
         cell = lb_matrix_next(matrix, row, column, cell))
        lb_add(&scenarios, lb_json_text(cell->scenario.name));
    lb_put(&object, "scenarios", lb_object_end(&scenarios));
    lb_put(&object, "guarantees", guarantees_json(matrix, row, column));
    return lb_object_end(&object);
}

static json_t *row_json(const struct lb_matrix *matrix, size_t row)
{
    const struct lb_cell *first = matrix->rows[row];
    struct lb_object object = lb_object_new(), entries = lb_list_new();
    lb_put_text(&object, "strategy", first->name);
    lb_put_text(&object, "shape", lb_shape_name(first->strategy->shape));
    lb_put_flag(&object, "control", first->strategy->is_control);
    lb_put_text(&object, "summary", first->strategy->summary);
    for (size_t c = 0; c < matrix->n_columns; c++)
        if (first->strategy->no_database == (matrix->columns[c].db == NULL))
            lb_add(&entries, entry_json(matrix, row, c));
    lb_put(&object, "entries", lb_object_end(&entries));
    return lb_object_end(&object);
}

static void json_end(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    struct lb_matrix matrix;
    char time_text[32];
    lb_matrix_make(report, &matrix);
    struct lb_object object = lb_object_new(), columns = lb_list_new(), rows = lb_list_new();
    for (size_t c = 0; c < matrix.n_columns; c++)
        lb_add(&columns, column_json(&matrix.columns[c]));
    for (size_t r = 0; r < matrix.n_rows; r++)
        lb_add(&rows, row_json(&matrix, r));
    lb_put_text(&object, "schema", "lockbench-matrix");
    lb_put_count(&object, "schema_version", 1);
    lb_put_text(&object, "lockbench", LB_VERSION);
    lb_put_text(&object, "command", report->invocation);
    lb_put_text(&object, "started", lb_matrix_utc(report, time_text, sizeof time_text));
    lb_put_count(&object, "seed", report->seed);
    lb_put_flag(&object, "interrupted", report->interrupted);
    lb_put(&object, "columns", lb_object_end(&columns));
    lb_put(&object, "rows", lb_object_end(&rows));
    lb_matrix_release(&matrix);
    state->rc =
        lb_json_print(lb_object_end(&object), JSON_INDENT(2), "the matrix", state->out, state->err);
}

const struct lb_sink lb_matrix_json = {
    .name = "json", .summary = "the matrix as a document", .of = LB_OF_MATRICES, .end = json_end};
