/* Tables of text with aligned columns. */
#ifndef LB_TABLE_H
#define LB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum lb_ink { LB_INK_PLAIN, LB_INK_GOOD, LB_INK_BAD, LB_INK_WARN, LB_INK_DIM };

struct lb_column {
    const char *title;
    bool right; /* numbers */
};

struct lb_table;

/* columns is borrowed. */
struct lb_table *lb_table_new(const struct lb_column *columns, size_t n_columns);
void lb_table_free(struct lb_table *table);
/* True if no cell was added. */
bool lb_table_is_empty(const struct lb_table *table);
/* Adds the next cell, row by row; text is copied. */
void lb_table_add(struct lb_table *table, const char *text, enum lb_ink ink);
/* Hides columns, by their titles in this order, until the table is at most this wide; never the
 * first. Returns buf with the titles of hidden columns, "" if all fits. */
char *lb_table_fit(struct lb_table *table, unsigned columns, const char *const *order, char *buf,
                   size_t size);
/* For prose: breaks cells into lines until the table is at most so wide. Columns for which there is
 * no room even then are hidden as lb_table_fit does; the first is never broken. */
char *lb_table_wrap(struct lb_table *table, unsigned columns, const char *const *order, char *buf,
                    size_t size);
/* The same in plain ink: a formatted text; a number as lb_format_count writes it; a time, "n/a" for
 * UINT64_MAX. */
void lb_table_addf(struct lb_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lb_table_add_number(struct lb_table *table, double value);
void lb_table_add_time(struct lb_table *table, uint64_t ns);
/* Adds the next cell as it is: text of ours that is Markdown. For lb_table_markdown only. */
void lb_table_add_markup(struct lb_table *table, const char *text);
/* Hides a column, by its title. */
void lb_table_hide(struct lb_table *table, const char *title);
/* Writes it as Markdown, and frees it. Markup characters are escaped; a line feed in a title begins
 * a new line in its cell. */
void lb_table_markdown(struct lb_table *table, FILE *out);
/* Writes it, two blanks between the columns, no trailing blanks. At most 32 columns. */
void lb_table_print(const struct lb_table *table, FILE *out, bool color);

/* Fits it (order NULL: does not), writes it, says below it which columns are hidden, and frees it.
 */
void lb_table_show(struct lb_table *table, unsigned width, const char *const *order, FILE *out,
                   bool color);

/* The same for prose, with lb_table_wrap. */
void lb_table_show_wrapped(struct lb_table *table, unsigned width, const char *const *order,
                           FILE *out);

/* text in ink, or plain if not color. */
void lb_print_ink(FILE *out, const char *text, enum lb_ink ink, bool color);
/* Writes text as paragraphs: wrapped at width columns, indented. */
void lb_print_wrapped(FILE *out, const char *text, unsigned indent, unsigned width);

/* Writes text with markup characters escaped. */
void lb_markdown_text(FILE *out, const char *text);

#endif
