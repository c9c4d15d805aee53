/* Tables of text with aligned columns, and the few other things that text output needs. Widths are
 * counted in characters, not bytes: UTF-8 continuation bytes take no column.
 */
#include "table.h"

#include "append.h"
#include "memory.h"
#include "text_clean.h"
#include "units.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 32 }; /* but in Markdown */

struct lb_table {
    const struct lb_column *columns;
    size_t n_columns, n_cells, room;
    struct entry {
        char *text;
        enum lb_ink ink;
        bool is_markup;
    } * cells;
    bool hidden[MOST_COLUMNS];
    size_t limit[MOST_COLUMNS]; /* wider cells take several lines; 0: no limit */
};

static bool is_hidden(const struct lb_table *table, size_t column)
{
    return column < MOST_COLUMNS && table->hidden[column];
}

struct lb_table *lb_table_new(const struct lb_column *columns, size_t n_columns)
{
    struct lb_table *table = lb_calloc(1, sizeof *table);
    table->columns = columns;
    table->n_columns = n_columns;
    return table;
}

void lb_table_free(struct lb_table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table);
}

bool lb_table_is_empty(const struct lb_table *table)
{
    return table->n_cells == 0;
}

/* Takes the text. */
static void take(struct lb_table *table, char *text, enum lb_ink ink, bool is_markup)
{
    if (table->n_cells == table->room) {
        table->room = table->room * 2 + 64;
        table->cells = lb_realloc(table->cells, table->room, sizeof *table->cells);
    }
    table->cells[table->n_cells++] = (struct entry){text, ink, is_markup};
}

void lb_table_add(struct lb_table *table, const char *text, enum lb_ink ink)
{
    take(table, lb_clean_copy(text, SIZE_MAX), ink, false);
}

void lb_table_addf(struct lb_table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    take(table, lb_clean_text(lb_vformat(format, args)), LB_INK_PLAIN, false);
    va_end(args);
}

void lb_table_add_number(struct lb_table *table, double value)
{
    char text[32];
    lb_table_add(table, lb_format_count(value, text, sizeof text), LB_INK_PLAIN);
}

void lb_table_add_time(struct lb_table *table, uint64_t ns)
{
    char text[32];
    lb_table_add(table, ns != UINT64_MAX ? lb_format_ns(ns, text, sizeof text) : "n/a",
                 LB_INK_PLAIN);
}

void lb_table_add_markup(struct lb_table *table, const char *text)
{
    take(table, lb_strdup(text), LB_INK_PLAIN, true);
}

void lb_table_hide(struct lb_table *table, const char *title)
{
    for (size_t c = 0; c < table->n_columns && c < MOST_COLUMNS; c++)
        if (strcmp(table->columns[c].title, title) == 0)
            table->hidden[c] = true;
}

static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void lb_print_ink(FILE *out, const char *text, enum lb_ink ink, bool color)
{
    static const char *const codes[] = {[LB_INK_PLAIN] = "",
                                        [LB_INK_GOOD] = "\033[32m",
                                        [LB_INK_BAD] = "\033[1;31m",
                                        [LB_INK_WARN] = "\033[33m",
                                        [LB_INK_DIM] = "\033[2m"};
    if (!color || ink == LB_INK_PLAIN || *text == '\0')
        fputs(text, out);
    else
        fprintf(out, "%s%s\033[0m", codes[ink], text);
}

static void print_field(FILE *out, const char *text, enum lb_ink ink, size_t width, bool right,
                        bool last, bool color)
{
    size_t own = width_of(text);
    int padding = width > own ? (int)(width - own) : 0;
    if (right)
        fprintf(out, "%*s", padding, "");
    lb_print_ink(out, text, ink, color);
    if (!right && !last)
        fprintf(out, "%*s", padding, "");
}

static void measure(const struct lb_table *table, size_t *width)
{
    size_t n = table->n_columns;
    for (size_t c = 0; c < n; c++)
        width[c] = width_of(table->columns[c].title);
    for (size_t i = 0; i < table->n_cells; i++) {
        size_t own = width_of(table->cells[i].text);
        if (own > width[i % n])
            width[i % n] = own;
    }
}

char *lb_table_fit(struct lb_table *table, unsigned columns, const char *const *order, char *buf,
                   size_t size)
{
    size_t width[MOST_COLUMNS], total = 0;
    buf[0] = '\0';
    measure(table, width);
    for (size_t c = 0; c < table->n_columns; c++)
        total += width[c] + (c > 0 && width[c] > 0 ? 2 : 0);
    for (; *order != NULL && total > columns; order++)
        for (size_t c = 1; c < table->n_columns; c++) {
            if (table->hidden[c] || width[c] == 0 || strcmp(table->columns[c].title, *order) != 0)
                continue;
            table->hidden[c] = true;
            total -= width[c] + 2;
            if ((*order)[0] != '\0')
                lb_append(buf, size, "%s%s", buf[0] != '\0' ? ", " : "", *order);
        }
    return buf;
}

/* A line may end after these characters, as well as before a blank: for lists of names, and
 * URIs. */
#define LB_BREAKS ",&]"

/* Where a text of more characters than width is best broken: bytes of the first line, after one of
 * LB_BREAKS or before a blank if there is any. All of it if it fits. */
static size_t break_at(const char *text, size_t width)
{
    size_t n = 0, bytes = 0, best = 0;
    if (width == 0 || width_of(text) <= width)
        return strlen(text);
    for (; text[bytes] != '\0'; bytes++) {
        bool starts = ((unsigned char)text[bytes] & 0xc0) != 0x80;
        if (starts && text[bytes] == ' ' && bytes > 0)
            best = bytes; /* a blank may stand beyond the edge */
        if (starts && n++ == width)
            break;
        if (strchr(LB_BREAKS, text[bytes]) != NULL)
            best = bytes + 1;
    }
    return best > 0 ? best : bytes;
}

/* The widest piece that is never broken. */
static size_t longest_word(const char *text)
{
    size_t longest = 0;
    while (*text != '\0') {
        size_t n = strcspn(text, " " LB_BREAKS);
        n += text[n] != '\0' && text[n] != ' ';
        if (n > longest)
            longest = n;
        text += n + (text[n] == ' ');
    }
    return longest;
}

/* How narrow a column may become. The last one is prose. */
static size_t narrowest(const struct lb_table *table, size_t column, size_t widest)
{
    enum { PROSE = 30 };
    size_t least = width_of(table->columns[column].title);
    if (column == 0)
        return widest;
    if (column + 1 == table->n_columns && least < PROSE)
        least = widest < PROSE ? widest : PROSE;
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        size_t word = longest_word(table->cells[i].text);
        least = word > least ? word : least;
    }
    return least < widest ? least : widest;
}

static size_t sum_of(const struct lb_table *table, const size_t *width)
{
    size_t sum = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        sum += table->hidden[c] ? 0 : width[c] + (c > 0 ? 2 : 0);
    return sum;
}

char *lb_table_wrap(struct lb_table *table, unsigned columns, const char *const *order, char *buf,
                    size_t size)
{
    size_t width[MOST_COLUMNS], least[MOST_COLUMNS], n = table->n_columns;
    buf[0] = '\0';
    measure(table, width);
    for (size_t c = 0; c < n; c++)
        least[c] = narrowest(table, c, width[c]);
    for (; *order != NULL && sum_of(table, least) > columns; order++)
        for (size_t c = 1; c < n; c++)
            if (strcmp(table->columns[c].title, *order) == 0) {
                table->hidden[c] = true;
                lb_append(buf, size, "%s%s", buf[0] != '\0' ? ", " : "", *order);
            }
    while (sum_of(table, width) > columns) {
        size_t widest = n;
        for (size_t c = 0; c < n; c++)
            if (!table->hidden[c] && width[c] > least[c] &&
                (widest == n || width[c] > width[widest]))
                widest = c;
        if (widest == n)
            break; /* no narrower */
        width[widest]--;
        table->limit[widest] = width[widest];
    }
    return buf;
}

/* One line of a row: of each cell what fits. The cells go on at rest; false: nothing is left. */
static bool print_line(const struct lb_table *table, const struct entry *row, const char **rest,
                       const size_t *width, FILE *out, bool color)
{
    size_t used = table->n_columns;
    bool more = false;
    while (used > 1 && (rest[used - 1][0] == '\0' || table->hidden[used - 1]))
        used--; /* no blanks at the end of a line */
    for (size_t c = 0; c < used; c++) {
        if (table->hidden[c])
            continue;
        size_t n = break_at(rest[c], table->limit[c]);
        char *piece = lb_strndup(rest[c], n);
        fputs(c > 0 ? "  " : "", out);
        print_field(out, piece, row[c].ink, width[c], table->columns[c].right, c + 1 == used,
                    color);
        free(piece);
        rest[c] += n + (rest[c][n] == ' ');
        more |= rest[c][0] != '\0';
    }
    fputc('\n', out);
    return more;
}

void lb_table_print(const struct lb_table *table, FILE *out, bool color)
{
    size_t width[MOST_COLUMNS], n = table->n_columns;
    assert(n > 0 && n <= MOST_COLUMNS);
    measure(table, width);
    for (size_t c = 0; c < n; c++)
        if (table->limit[c] > 0)
            width[c] = table->limit[c];
    size_t n_titled = n;
    while (n_titled > 1 &&
           (table->columns[n_titled - 1].title[0] == '\0' || table->hidden[n_titled - 1]))
        n_titled--;
    for (size_t c = 0; c < n_titled; c++) {
        if (table->hidden[c])
            continue;
        fputs(c > 0 ? "  " : "", out);
        print_field(out, table->columns[c].title, LB_INK_DIM, width[c], table->columns[c].right,
                    c + 1 == n_titled, color);
    }
    fputc('\n', out);
    for (size_t first = 0; first + n <= table->n_cells; first += n) {
        const struct entry *row = table->cells + first;
        const char *rest[MOST_COLUMNS] = {NULL};
        for (size_t c = 0; c < n; c++)
            rest[c] = row[c].text;
        while (print_line(table, row, rest, width, out, color)) {
        }
    }
}

/* Writes the table, and below it the titles that were hidden, unless there are none; frees it. */
static void show(struct lb_table *table, const char *hidden, unsigned width, FILE *out, bool color)
{
    char text[300];
    lb_table_print(table, out, color);
    lb_table_free(table);
    snprintf(text, sizeof text, "(no room for %s: use a wider terminal, or --format json)", hidden);
    if (hidden[0] != '\0')
        lb_print_wrapped(out, text, 0, width);
}

void lb_table_show(struct lb_table *table, unsigned width, const char *const *order, FILE *out,
                   bool color)
{
    char hidden[200] = "";
    if (order != NULL)
        lb_table_fit(table, width, order, hidden, sizeof hidden);
    show(table, hidden, width, out, color);
}

void lb_table_show_wrapped(struct lb_table *table, unsigned width, const char *const *order,
                           FILE *out)
{
    char hidden[200];
    lb_table_wrap(table, width, order, hidden, sizeof hidden);
    show(table, hidden, width, out, false);
}

void lb_print_wrapped(FILE *out, const char *text, unsigned indent, unsigned width)
{
    unsigned column = 0;
    while (*text != '\0') {
        size_t n = strcspn(text, " \n");
        bool newline = text[n] == '\n';
        if (n > 0) {
            if (column > 0 && column + 1 + n > width) {
                fputc('\n', out);
                column = 0;
            }
            if (column == 0) {
                fprintf(out, "%*s", (int)indent, "");
                column = indent;
            } else {
                fputc(' ', out);
                column++;
            }
            char *word = lb_clean_copy(text, n);
            fputs(word, out);
            free(word);
            column += (unsigned)n;
        }
        text += n + (text[n] != '\0');
        if (newline && column > 0) {
            fputc('\n', out);
            column = 0;
        }
    }
    if (column > 0)
        fputc('\n', out);
}

void lb_markdown_text(FILE *out, const char *text)
{
    static const char *const escaped[] = {"\\|", "\\<", "\\>", "\\\\", "\\`",
                                          "\\*", "\\_", "\\[", "\\]"};
    lb_print_clean(out, text, "|<>\\`*_[]", escaped);
}

/* "| text " */
static void markdown_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        char *line = lb_strndup(text, n);
        lb_markdown_text(out, line);
        free(line);
        text += n + (text[n] != '\0');
        fputs(*text != '\0' ? "<br>" : " ", out);
    }
}

void lb_table_markdown(struct lb_table *table, FILE *out)
{
    size_t n = table->n_columns;
    for (size_t c = 0; c < n; c++)
        if (!is_hidden(table, c))
            markdown_cell(out, table->columns[c].title);
    fputs("|\n", out);
    for (size_t c = 0; c < n; c++)
        if (!is_hidden(table, c))
            fputs(table->columns[c].right ? "| ---: " : "| --- ", out);
    fputs("|\n", out);
    for (size_t first = 0; first + n <= table->n_cells; first += n) {
        for (size_t c = 0; c < n; c++) {
            const struct entry *cell = &table->cells[first + c];
            if (is_hidden(table, c))
                continue;
            if (cell->is_markup)
                fprintf(out, "| %s ", cell->text);
            else
                markdown_cell(out, cell->text);
        }
        fputs("|\n", out);
    }
    lb_table_free(table);
}
