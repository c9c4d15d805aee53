/* A matrix as JSON. See matrix.h. */
#include "matrix_title.h"

#include <jansson.h>
#include <string.h>

/* A server's message may be in any encoding; JSON is UTF-8. */
static json_t *text_json(const char *text)
{
    json_t *json = json_string(text);
    return json != NULL ? json : json_string("(not UTF-8)");
}

static json_t *column_json(const struct lb_matrix_column *column)
{
    if (column->db == NULL)
        return json_pack("{s:s, s:n, s:n, s:n, s:b, s:s*}", "engine", column->engine, "product",
                         "version", "isolation", "default", 0, "fault",
                         column->fault[0] != '\0' ? column->fault : NULL);
    return json_pack(
        "{s:s, s:s, s:s?, s:b, s:s*, s:s?, s:b, s:s*}", "engine", column->engine, "product",
        column->db->product, "version", column->version[0] != '\0' ? column->version : NULL,
        "pooled", column->is_pooled, "topology",
        column->topology[0] != '\0' ? column->topology : NULL, "isolation",
        column->level != LB_ISO_DEFAULT ? lb_isolation_name(column->level) : NULL, "default",
        lb_matrix_is_default(column), "fault", column->fault[0] != '\0' ? column->fault : NULL);
}

static json_t *finding_json(const struct lb_finding *finding, const struct lb_cell *cell,
                            enum lb_guarantee guarantee)
{
    const char *why = lb_cell_why_broken(cell, guarantee);
    bool has_witness = finding->verdict == LB_V_VIOLATED && finding->n_witnesses > 0;
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:o, s:s?, s:o}", "verdict", lb_verdict_name(finding->verdict),
        "expectation", lb_expectation_name(lb_cell_expectation(cell, guarantee)), "scenario",
        cell->scenario.name, "violations", (json_int_t)finding->n_violations, "tested",
        (json_int_t)finding->n_tested, "witness",
        has_witness ? text_json(finding->witness[0].text) : json_null(), "known",
        why[0] != '\0' ? why : NULL, "reason",
        finding->verdict == LB_V_NOT_TESTED ? text_json(finding->reason) : json_null());
}

/* What the first cell of an entry says that did not catch a known break; text has LB_MISSED. */
enum { LB_MISSED = 1000 };
static const char *missed_in(const struct lb_matrix *matrix, size_t row, size_t column, char *text)
{
    const struct lb_cell *cell = NULL;
    text[0] = '\0';
    while (text[0] == '\0' && (cell = lb_matrix_next(matrix, row, column, cell)) != NULL)
        lb_cell_missed(cell, text, LB_MISSED);
    return text;
}

static json_t *entry_json(const struct lb_matrix *matrix, size_t row, size_t column)
{
    const struct lb_cell *cell = NULL;
    json_t *guarantees = json_object(), *scenarios = json_array(), *reason = json_null();
    char text[LB_MISSED];
    enum lb_standing standing = lb_matrix_standing(matrix, row, column);
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *finding =
            lb_matrix_finding(matrix, row, column, (enum lb_guarantee)g, &cell);
        if (finding != NULL && finding->verdict != LB_V_NOT_CLAIMED)
            json_object_set_new(guarantees, lb_guarantee_name((enum lb_guarantee)g),
                                finding_json(finding, cell, (enum lb_guarantee)g));
    }
    cell = NULL;
    while ((cell = lb_matrix_next(matrix, row, column, cell)) != NULL)
        json_array_append_new(scenarios, json_string(cell->scenario.name));
    if (standing != LB_STANDS_HELD && standing != LB_STANDS_VIOLATED) {
        cell = lb_matrix_next(matrix, row, column, NULL);
        reason = text_json(standing == LB_STANDS_MISSED ? missed_in(matrix, row, column, text)
                           : cell != NULL               ? lb_cell_reason(cell)
                                                        : "not asked");
    }
    return json_pack("{s:I, s:s, s:o, s:o, s:o}", "column", (json_int_t)column, "verdict",
                     lb_standing_name(standing), "reason", reason, "scenarios", scenarios,
                     "guarantees", guarantees);
}

static json_t *row_json(const struct lb_matrix *matrix, size_t row)
{
    const struct lb_cell *first = matrix->rows[row];
    json_t *entries = json_array();
    for (size_t c = 0; c < matrix->n_columns; c++)
        if (first->strategy->no_database == (matrix->columns[c].db == NULL))
            json_array_append_new(entries, entry_json(matrix, row, c));
    return json_pack("{s:s, s:s, s:b, s:s, s:o}", "strategy", first->name, "shape",
                     lb_shape_name(first->strategy->shape), "control", first->strategy->is_control,
                     "summary", first->strategy->summary, "entries", entries);
}

static void json_end(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    struct lb_matrix matrix;
    char time_text[32];
    json_t *columns = json_array(), *rows = json_array();
    state->rc = lb_matrix_make(report, &matrix, state->err);
    for (size_t c = 0; c < matrix.n_columns && state->rc == 0; c++)
        json_array_append_new(columns, column_json(&matrix.columns[c]));
    for (size_t r = 0; r < matrix.n_rows && state->rc == 0; r++)
        json_array_append_new(rows, row_json(&matrix, r));
    json_t *json = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:I, s:b, s:o, s:o}", "schema", "lockbench-matrix",
        "schema_version", 1, "lockbench", LB_VERSION, "command", report->invocation, "started",
        lb_matrix_utc(report, time_text, sizeof time_text), "seed", (json_int_t)report->seed,
        "interrupted", report->interrupted, "columns", columns, "rows", rows);
    lb_matrix_release(&matrix);
    if (json == NULL)
        state->rc = lb_fail(state->err, LB_E_MEMORY, "out of memory");
    else if (json_dumpf(json, state->out, JSON_INDENT(2)) != 0 || fputc('\n', state->out) == EOF)
        state->rc = lb_fail(state->err, LB_E_ENV, "cannot write the matrix as JSON");
    json_decref(json);
}

const struct lb_sink lb_matrix_json = {
    .name = "json", .summary = "the matrix as a document", .of = LB_OF_MATRICES, .end = json_end};
