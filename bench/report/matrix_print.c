/* A matrix, written: Markdown and JSON. See matrix.h.
 *
 * Markdown: a table for locks, one for queues, one for what needs no database; what each
 * violation's witness and each SKIP's reason is stands in a numbered line below, the same text
 * once.
 */
#include "matrix.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "PostgreSQL 15.18 through a pooler"; where no run told the version, "PostgreSQL" */
static char *engine_title(const struct lb_matrix_column *column, char *buf, size_t size)
{
    if (column->db == NULL)
        snprintf(buf, size, "no database");
    else
        snprintf(buf, size, "%s%s%s%s", column->db->product, column->version[0] != '\0' ? " " : "",
                 column->version, column->is_pooled ? " through a pooler" : "");
    return buf;
}

static bool is_default(const struct lb_matrix_column *column)
{
    return column->db != NULL && column->level == column->db->default_isolation;
}

/* "read committed (default), kill" */
static char *level_title(const struct lb_matrix_column *column, char *buf, size_t size)
{
    bool has_level = column->level != LB_ISO_DEFAULT, has_fault = column->fault[0] != '\0';
    snprintf(buf, size, "%s%s%s%s", has_level ? lb_isolation_name(column->level) : "",
             is_default(column) ? " (default)" : "", has_level && has_fault ? ", " : "",
             column->fault);
    return buf;
}

/* --- Markdown --- */

struct notes {
    char **texts;
    size_t n;
    bool failed;
};

/* The number of a text, from 1; the same text has one number. */
static size_t note(struct notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->texts[i], text) == 0)
            return i + 1;
    char **grown = realloc(notes->texts, (notes->n + 1) * sizeof *grown);
    char *copy = strdup(text);
    if (grown != NULL)
        notes->texts = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        notes->failed = true;
        return 0;
    }
    notes->texts[notes->n++] = copy;
    return notes->n;
}

static void release_notes(struct notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->texts[i]);
    free(notes->texts);
}

/* What is to be said of a guarantee in this entry, "" if nothing: a witness, or that a known break
 * did not show, where it must or where another level may have mended it. */
static void describe(const struct lb_finding *finding, const struct lb_cell *cell,
                     enum lb_guarantee guarantee, char *buf, size_t size)
{
    enum lb_expectation expectation = lb_cell_expectation(cell, guarantee);
    const char *name = lb_guarantee_name(guarantee), *why = lb_cell_why_broken(cell, guarantee);
    int base = (int)lb_scenario_base(cell->scenario.name);
    buf[0] = '\0';
    if (expectation == LB_EXPECT_MISSED)
        snprintf(buf, size,
                 "%s: **known to be broken, but not caught** in %llu tested in %.*s: %s.", name,
                 (unsigned long long)finding->n_tested, base, cell->scenario.name, why);
    else if (expectation == LB_EXPECT_KEPT && why[0] != '\0')
        snprintf(buf, size, "%s: known to be broken elsewhere (%s), and not seen here.", name, why);
    if (finding->verdict != LB_V_VIOLATED)
        return;
    snprintf(buf, size, "%s violated %llu times in %llu, in %.*s: %s%s%s%s", name,
             (unsigned long long)finding->n_violations, (unsigned long long)finding->n_tested, base,
             cell->scenario.name,
             finding->n_witnesses > 0 ? finding->witness[0].text : "(no witness)",
             why[0] != '\0' ? ". Known: " : ". **Not known to be broken.**", why,
             why[0] != '\0' ? "." : "");
}

/* The entry's word, and its notes. */
static void print_entry(FILE *out, const struct lb_matrix *matrix, size_t row, size_t column,
                        struct notes *notes)
{
    enum lb_standing standing = lb_matrix_standing(matrix, row, column);
    const struct lb_matrix_column *at = &matrix->columns[column];
    const struct lb_cell *cell;
    char text[1600], what[1300], engine[120], level[80];
    bool is_known = true;
    size_t numbers[LB_GUARANTEES + 2], n = 0, missed[LB_GUARANTEES], n_missed = 0;
    engine_title(at, engine, sizeof engine);
    level_title(at, level, sizeof level);
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *finding =
            lb_matrix_finding(matrix, row, column, (enum lb_guarantee)g, &cell);
        if (finding == NULL)
            continue;
        is_known &= lb_cell_expectation(cell, (enum lb_guarantee)g) != LB_EXPECT_BROKEN;
        describe(finding, cell, (enum lb_guarantee)g, what, sizeof what);
        if (what[0] == '\0')
            continue;
        snprintf(text, sizeof text, "`%s`, %s%s%s: %s", matrix->rows[row]->name, engine,
                 level[0] != '\0' ? ", " : "", level, what);
        if (lb_cell_expectation(cell, (enum lb_guarantee)g) == LB_EXPECT_MISSED)
            missed[n_missed++] = note(notes, text);
        else
            numbers[n++] = note(notes, text);
    }
    bool is_proof_told = false;
    for (cell = NULL; (cell = lb_matrix_next(matrix, row, column, cell)) != NULL;) {
        const struct lb_outcome *run;
        enum lb_expectation expectation = lb_cell_proof(cell, &run);
        if (is_proof_told || (expectation != LB_EXPECT_CAUGHT && expectation != LB_EXPECT_BROKEN))
            continue;
        is_proof_told = true;
        is_known &= expectation == LB_EXPECT_CAUGHT;
        snprintf(text, sizeof text, "`%s`, %s%s%s, %.*s: %s: %s", matrix->rows[row]->name, engine,
                 level[0] != '\0' ? ", " : "", level, (int)lb_scenario_base(cell->scenario.name),
                 cell->scenario.name, run->proof.name, run->proof.text);
        numbers[n++] = note(notes, text);
    }
    if (standing != LB_STANDS_HELD && standing != LB_STANDS_VIOLATED &&
        standing != LB_STANDS_MISSED) {
        cell = lb_matrix_next(matrix, row, column, NULL);
        snprintf(text, sizeof text, "%s: %s.", lb_standing_name(standing),
                 cell != NULL ? lb_cell_reason(cell) : "not asked");
        numbers[n++] = note(notes, text);
    }
    fputs(standing == LB_STANDS_SKIPPED                 ? "SKIP"
          : standing == LB_STANDS_VIOLATED && !is_known ? "**VIOLATED**"
                                                        : lb_standing_name(standing),
          out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " [%zu]", numbers[i]);
    if (n_missed > 0 && standing != LB_STANDS_MISSED)
        fputs(", not caught", out);
    for (size_t i = 0; i < n_missed; i++)
        fprintf(out, " [%zu]", missed[i]);
}

/* One table: the rows of a shape that have, or need not have, a database. */
struct group {
    const char *title;
    enum lb_shape shape;
    bool no_database;
};

static bool is_in_group(const struct group *group, const struct lb_cell *row)
{
    return row->strategy->no_database == group->no_database &&
           (group->no_database || row->strategy->shape == group->shape);
}

static bool has_column(const struct lb_matrix *matrix, const struct group *group, size_t column)
{
    for (size_t row = 0; row < matrix->n_rows; row++)
        if (is_in_group(group, matrix->rows[row]) &&
            lb_matrix_next(matrix, row, column, NULL) != NULL)
            return true;
    return false;
}

static void print_heading(FILE *out, const struct lb_matrix *matrix, const struct group *group)
{
    char engine[120], level[80];
    fprintf(out, "\n## %s\n\n| strategy |", group->title);
    for (size_t c = 0; c < matrix->n_columns; c++) {
        if (!has_column(matrix, group, c))
            continue;
        level_title(&matrix->columns[c], level, sizeof level);
        fprintf(out, " %s%s%s |", engine_title(&matrix->columns[c], engine, sizeof engine),
                level[0] != '\0' ? "<br>" : "", level);
    }
    fputs("\n| --- |", out);
    for (size_t c = 0; c < matrix->n_columns; c++)
        if (has_column(matrix, group, c))
            fputs(" --- |", out);
    fputc('\n', out);
}

static bool print_group(FILE *out, const struct lb_matrix *matrix, const struct group *group)
{
    struct notes notes = {0};
    bool is_begun = false;
    for (size_t row = 0; row < matrix->n_rows; row++) {
        const struct lb_cell *first = matrix->rows[row];
        if (!is_in_group(group, first))
            continue;
        if (!is_begun)
            print_heading(out, matrix, group);
        is_begun = true;
        fprintf(out, "| `%s`%s |", first->name, first->strategy->is_control ? " (control)" : "");
        for (size_t c = 0; c < matrix->n_columns; c++) {
            if (!has_column(matrix, group, c))
                continue;
            fputc(' ', out);
            print_entry(out, matrix, row, c, &notes);
            fputs(" |", out);
        }
        fputc('\n', out);
    }
    for (size_t i = 0; i < notes.n; i++)
        fprintf(out, "%s%zu. %s\n", i == 0 ? "\n" : "", i + 1, notes.texts[i]);
    bool complete = !notes.failed;
    release_notes(&notes);
    return complete;
}

static char *utc(const struct lb_report *report, char *buf, size_t size)
{
    struct tm tm;
    time_t seconds = (time_t)(report->start_unix_ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return buf;
}

static void markdown_end(struct lb_sink_state *state)
{
    static const struct group groups[] = {{"Locks", LB_LOCK, false},
                                          {"Queues", LB_QUEUE, false},
                                          {"Without a database", LB_LOCK, true}};
    const struct lb_report *report = state->report;
    struct lb_matrix matrix;
    char time_text[32];
    state->rc = lb_matrix_make(report, &matrix, state->err);
    bool complete = state->rc == 0;
    if (complete)
        fprintf(
            state->out,
            "# Verdicts by strategy, engine and isolation level\n\n"
            "    %s\n\nlockbench %s, seed %llu, %s%s. **held**: every guarantee that was "
            "tested; **violated**: a break that is\nknown, with its witness below the table; "
            "**VIOLATED**: one that is not known; **not caught**: a break that is known,\nand must "
            "show here, did not.\n",
            report->invocation, LB_VERSION, (unsigned long long)report->seed,
            utc(report, time_text, sizeof time_text), report->interrupted ? ", interrupted" : "");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0] && complete; i++)
        complete = print_group(state->out, &matrix, &groups[i]);
    lb_matrix_release(&matrix);
    if (!complete && state->rc == 0)
        state->rc = lb_fail(state->err, LB_E_MEMORY, "out of memory");
}

/* --- JSON --- */

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
        "{s:s, s:s, s:s?, s:b, s:s?, s:b, s:s*}", "engine", column->engine, "product",
        column->db->product, "version", column->version[0] != '\0' ? column->version : NULL,
        "pooled", column->is_pooled, "isolation",
        column->level != LB_ISO_DEFAULT ? lb_isolation_name(column->level) : NULL, "default",
        is_default(column), "fault", column->fault[0] != '\0' ? column->fault : NULL);
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
        utc(report, time_text, sizeof time_text), "seed", (json_int_t)report->seed, "interrupted",
        report->interrupted, "columns", columns, "rows", rows);
    lb_matrix_release(&matrix);
    if (json == NULL)
        state->rc = lb_fail(state->err, LB_E_MEMORY, "out of memory");
    else if (json_dumpf(json, state->out, JSON_INDENT(2)) != 0 || fputc('\n', state->out) == EOF)
        state->rc = lb_fail(state->err, LB_E_ENV, "cannot write the matrix as JSON");
    json_decref(json);
}

static const struct lb_sink markdown = {.name = "markdown", .end = markdown_end};
static const struct lb_sink json = {.name = "json", .end = json_end};

const struct lb_sink *const lb_matrix_sinks[] = {&markdown, &json, NULL};
