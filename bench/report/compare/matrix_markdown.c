/* A matrix as Markdown. See matrix.h.
 *
 * One table for locks, one for queues, one for strategies without a database. Below each table
 * stands one line for each hazard that its entries show, and each reason of a SKIP; the witnesses
 * of each hazard are folded away behind them.
 */
#include "array.h"
#include "matrix_title.h"
#include "memory.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* A note below a table: a line for each hazard, and its witnesses, which are folded. */
struct note {
    char *text;
    char *witnesses; /* Markdown list items, a line each; NULL: none */
};

struct notes {
    struct note *notes;
    size_t n;
};

/* The number of a text, from 1; the same text has one number. */
static size_t note(struct notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->notes[i].text, text) == 0)
            return i + 1;
    struct note *new = lb_array_add(&notes->notes, &notes->n, sizeof *new);
    new->text = lb_strdup(text);
    return notes->n;
}

static void add_witness(struct notes *notes, size_t number, const char *where, const char *text)
{
    struct note *of = &notes->notes[number - 1];
    char *joined =
        lb_format("%s   - %s: %s\n", of->witnesses != NULL ? of->witnesses : "", where, text);
    free(of->witnesses);
    of->witnesses = joined;
}

static void print_notes(FILE *out, const struct notes *notes)
{
    bool has_witnesses = false;
    for (size_t i = 0; i < notes->n; i++) {
        fprintf(out, "%s%zu. %s\n", i == 0 ? "\n" : "", i + 1, notes->notes[i].text);
        has_witnesses |= notes->notes[i].witnesses != NULL;
    }
    if (!has_witnesses)
        return;
    fputs("\n<details><summary>Witnesses</summary>\n\n", out);
    for (size_t i = 0; i < notes->n; i++)
        if (notes->notes[i].witnesses != NULL)
            fprintf(out, "%zu. %s\n%s", i + 1, notes->notes[i].text, notes->notes[i].witnesses);
    fputs("\n</details>\n", out);
}

static void release_notes(struct notes *notes)
{
    for (size_t i = 0; i < notes->n; i++) {
        free(notes->notes[i].text);
        free(notes->notes[i].witnesses);
    }
    free(notes->notes);
}

/* An entry of the table on its way: the numbers of its notes, those of known breaks that were not
 * caught apart. */
struct entry {
    struct notes *notes;
    const char *strategy, *where; /* "PostgreSQL 15.18, read committed (default)" */
    size_t numbers[LB_GUARANTEE_ROOM + 2], n;
    size_t missed[LB_GUARANTEE_ROOM], n_missed;
    bool is_known; /* no violation but those that are known */
};

static void note_violation(struct entry *entry, const struct lb_finding *finding,
                           const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    const char *why = lb_cell_why_broken(cell, guarantee);
    char text[700], witness[1000];
    snprintf(text, sizeof text, "`%s`, %s: %s.", entry->strategy, lb_guarantee_name(guarantee),
             why[0] != '\0' ? why : "**not known to be broken**");
    snprintf(witness, sizeof witness, "violated %llu times in %llu, in %.*s: %s",
             (unsigned long long)finding->n_violations, (unsigned long long)finding->n_tested,
             (int)lb_scenario_base(cell->scenario.name), cell->scenario.name,
             finding->n_witnesses > 0 ? finding->witness[0].text : "(no witness)");
    size_t number = note(entry->notes, text);
    add_witness(entry->notes, number, entry->where, witness);
    entry->numbers[entry->n++] = number;
}

/* A known break that did not show: where it must, or where another level may have fixed it. */
static void note_kept(struct entry *entry, const struct lb_finding *finding,
                      const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    enum lb_expectation expectation = lb_cell_expectation(cell, guarantee);
    const char *name = lb_guarantee_name(guarantee), *why = lb_cell_why_broken(cell, guarantee);
    char text[700];
    if (expectation == LB_EXPECT_MISSED) {
        snprintf(text, sizeof text,
                 "`%s`, %s, %s: **known to be broken, but not caught** in %llu tested in %.*s: %s.",
                 entry->strategy, entry->where, name, (unsigned long long)finding->n_tested,
                 (int)lb_scenario_base(cell->scenario.name), cell->scenario.name, why);
        entry->missed[entry->n_missed++] = note(entry->notes, text);
    } else if (expectation == LB_EXPECT_KEPT && why[0] != '\0') {
        snprintf(text, sizeof text,
                 "`%s`, %s: known to be broken elsewhere (%s), and not seen here.", entry->strategy,
                 name, why);
        entry->numbers[entry->n++] = note(entry->notes, text);
    }
}

static void note_findings(struct entry *entry, const struct lb_matrix *matrix, size_t row,
                          size_t column)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_cell *cell;
        enum lb_guarantee guarantee = (enum lb_guarantee)g;
        const struct lb_finding *finding = lb_matrix_finding(matrix, row, column, guarantee, &cell);
        if (finding == NULL)
            continue;
        entry->is_known &= lb_cell_expectation(cell, guarantee) != LB_EXPECT_BROKEN;
        if (finding->verdict == LB_V_VIOLATED)
            note_violation(entry, finding, cell, guarantee);
        else
            note_kept(entry, finding, cell, guarantee);
    }
}

/* The first proof of a scenario that failed. */
static void note_proof(struct entry *entry, const struct lb_matrix *matrix, size_t row,
                       size_t column)
{
    const struct lb_cell *cell = NULL;
    while ((cell = lb_matrix_next(matrix, row, column, cell)) != NULL) {
        const struct lb_outcome *run;
        char text[1600];
        enum lb_expectation expectation = lb_cell_proof(cell, &run);
        if (expectation != LB_EXPECT_CAUGHT && expectation != LB_EXPECT_BROKEN)
            continue;
        entry->is_known &= expectation == LB_EXPECT_CAUGHT;
        snprintf(text, sizeof text, "`%s`, %s, %.*s: %s: %s", entry->strategy, entry->where,
                 (int)lb_scenario_base(cell->scenario.name), cell->scenario.name, run->proof.name,
                 run->proof.text);
        entry->numbers[entry->n++] = note(entry->notes, text);
        return;
    }
}

/* Why there is no verdict. */
static void note_reason(struct entry *entry, const struct lb_matrix *matrix, size_t row,
                        size_t column, enum lb_standing standing)
{
    char text[1600];
    snprintf(text, sizeof text, "%s: %s.", lb_standing_name(standing),
             lb_matrix_reason(matrix, row, column));
    entry->numbers[entry->n++] = note(entry->notes, text);
}

/* The entry's word, and the numbers of its notes. */
static void add_entry(struct lb_table *table, const struct lb_matrix *matrix, size_t row,
                      size_t column, struct notes *notes)
{
    char *text = NULL;
    size_t size;
    FILE *out = lb_open_memory(&text, &size);
    enum lb_standing standing = lb_matrix_standing(matrix, row, column);
    const struct lb_matrix_column *at = &matrix->columns[column];
    char engine[120], level[80], where[210];
    lb_matrix_engine_title(at, engine, sizeof engine);
    lb_matrix_level_title(at, level, sizeof level);
    snprintf(where, sizeof where, "%s%s%s", engine, level[0] != '\0' ? ", " : "", level);
    struct entry entry = {
        .notes = notes, .strategy = matrix->rows[row]->name, .where = where, .is_known = true};
    note_findings(&entry, matrix, row, column);
    note_proof(&entry, matrix, row, column);
    if (standing != LB_STANDS_HELD && standing != LB_STANDS_VIOLATED &&
        standing != LB_STANDS_MISSED)
        note_reason(&entry, matrix, row, column, standing);
    fputs(standing == LB_STANDS_SKIPPED                       ? "SKIP"
          : standing == LB_STANDS_VIOLATED && !entry.is_known ? "**VIOLATED**"
                                                              : lb_standing_name(standing),
          out);
    for (size_t i = 0; i < entry.n; i++)
        fprintf(out, " [%zu]", entry.numbers[i]);
    if (entry.n_missed > 0 && standing != LB_STANDS_MISSED)
        fputs(", not caught", out);
    for (size_t i = 0; i < entry.n_missed; i++)
        fprintf(out, " [%zu]", entry.missed[i]);
    lb_close_memory(out);
    lb_table_add_markup(table, text);
    free(text);
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

enum { TITLE = 210 };

/* The columns that the group has: strategies, then engines and levels. */
static size_t make_columns(const struct lb_matrix *matrix, const struct group *group,
                           struct lb_column *columns, char (*titles)[TITLE])
{
    size_t n = 0;
    char engine[120], level[80];
    columns[n++] = (struct lb_column){"strategy", false};
    for (size_t c = 0; c < matrix->n_columns; c++) {
        if (!has_column(matrix, group, c))
            continue;
        lb_matrix_engine_title(&matrix->columns[c], engine, sizeof engine);
        lb_matrix_level_title(&matrix->columns[c], level, sizeof level);
        snprintf(titles[n], TITLE, "%s%s%s", engine, level[0] != '\0' ? "\n" : "", level);
        columns[n] = (struct lb_column){titles[n], false};
        n++;
    }
    return n;
}

static void add_row(struct lb_table *table, const struct lb_matrix *matrix,
                    const struct group *group, size_t row, struct notes *notes)
{
    const struct lb_cell *first = matrix->rows[row];
    char name[200];
    snprintf(name, sizeof name, "`%s`%s", first->name,
             first->strategy->is_control ? " (control)" : "");
    lb_table_add_markup(table, name);
    for (size_t c = 0; c < matrix->n_columns; c++)
        if (has_column(matrix, group, c))
            add_entry(table, matrix, row, c, notes);
}

static void print_group(FILE *out, const struct lb_matrix *matrix, const struct group *group)
{
    struct notes notes = {0};
    struct lb_column *columns = lb_calloc(matrix->n_columns + 1, sizeof *columns);
    char(*titles)[TITLE] = lb_calloc(matrix->n_columns + 1, TITLE);
    struct lb_table *table = lb_table_new(columns, make_columns(matrix, group, columns, titles));
    for (size_t row = 0; row < matrix->n_rows; row++)
        if (is_in_group(group, matrix->rows[row]))
            add_row(table, matrix, group, row, &notes);
    if (!lb_table_is_empty(table)) {
        fprintf(out, "\n## %s\n\n", group->title);
        lb_table_markdown(table, out);
        print_notes(out, &notes);
    } else {
        lb_table_free(table);
    }
    free(columns);
    free(titles);
    release_notes(&notes);
}

static void markdown_end(struct lb_sink_state *state)
{
    static const struct group groups[] = {{"Locks", LB_LOCK, false},
                                          {"Queues", LB_QUEUE, false},
                                          {"Without a database", LB_LOCK, true}};
    const struct lb_report *report = state->report;
    struct lb_matrix matrix;
    char time_text[32];
    lb_matrix_make(report, &matrix);
    fprintf(state->out,
            "# Verdicts by strategy, engine and isolation level\n\n"
            "    %s\n\nlockbench %s, seed %llu, %s%s. **held**: every guarantee that was "
            "tested; **violated**: a known\nbreak; **VIOLATED**: one that was not known; **not "
            "caught**: "
            "a known break that must show here, and did not.\nThe numbers lead to the lines below "
            "each table.\n",
            report->invocation, LB_VERSION, (unsigned long long)report->seed,
            lb_matrix_utc(report, time_text, sizeof time_text),
            report->interrupted ? ", interrupted" : "");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        print_group(state->out, &matrix, &groups[i]);
    lb_matrix_release(&matrix);
}

const struct lb_sink lb_matrix_markdown = {.name = "markdown",
                                           .summary = "the matrix as a table",
                                           .of = LB_OF_MATRICES,
                                           .end = markdown_end};
