/* The texts of mutants: see making.h. */
#include "making.h"

#include "array.h"
#include "memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t lb_making_begin(const struct lb_making *m, size_t i)
{
    return m->base + (size_t)(m->tokens.at[i].text - m->sql);
}

size_t lb_making_end(const struct lb_making *m, size_t i)
{
    return lb_making_begin(m, i) + m->tokens.at[i].length;
}

bool lb_making_is(const struct lb_making *m, size_t i, const char *word)
{
    return i < m->tokens.n && lb_token_is(&m->tokens.at[i], word);
}

bool lb_making_is_sign(const struct lb_making *m, size_t i, const char *sign)
{
    return i < m->tokens.n && lb_token_is_sign(&m->tokens.at[i], sign);
}

size_t lb_making_skip(const struct lb_making *m, size_t i)
{
    size_t depth = 0;
    for (; i < m->tokens.n; i++) {
        bool opens = lb_making_is_sign(m, i, "(") || lb_making_is(m, i, "case");
        bool closes = lb_making_is_sign(m, i, ")") || lb_making_is(m, i, "end");
        depth += opens;
        depth -= closes && depth > 0;
        if (depth == 0)
            return i + 1;
    }
    return m->tokens.n;
}

struct lb_mutant *lb_making_cut(struct lb_making *m, enum lb_mutant_kind kind, size_t from,
                                size_t to)
{
    size_t at = lb_making_end(m, from - 1);
    struct lb_edit edit = {at, lb_making_end(m, to - 1) - at, ""};
    return lb_making_change(m, kind, &edit, 1, from, to);
}

struct lb_mutant *lb_making_replace(struct lb_making *m, enum lb_mutant_kind kind, size_t from,
                                    size_t to, const char *with)
{
    size_t at = lb_making_begin(m, from);
    struct lb_edit edit = {at, lb_making_end(m, to - 1) - at, with};
    return lb_making_change(m, kind, &edit, 1, from, to);
}

/* --- texts --- */

char *lb_making_apply(const char *text, const struct lb_edit *edits, size_t n)
{
    char *made = NULL;
    size_t size, at = 0;
    FILE *out = lb_open_memory(&made, &size);
    for (size_t i = 0; i < n; i++) {
        fwrite(text + at, 1, edits[i].at - at, out);
        fputs(edits[i].with, out);
        at = edits[i].at + edits[i].length;
    }
    fputs(text + at, out);
    lb_close_memory(out);
    return made;
}

/* The text on one line, each run of blanks as one. */
static char *on_one_line(const char *text, size_t length)
{
    char *made = lb_malloc(length + 1);
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        bool is_blank = isspace((unsigned char)text[i]);
        if (!is_blank || (n > 0 && made[n - 1] != ' '))
            made[n++] = is_blank ? ' ' : text[i];
    }
    made[n - (n > 0 && made[n - 1] == ' ')] = '\0';
    return made;
}

static void add_line(FILE *out, char sign, const char *from, const char *stop)
{
    while (from < stop && isspace((unsigned char)*from))
        from++;
    if (from < stop)
        fprintf(out, "%c %.*s\n", sign, (int)(stop - from), from);
}

static const char *line_end(const char *from, const char *end)
{
    const char *newline = memchr(from, '\n', (size_t)(end - from));
    return newline != NULL ? newline : end;
}

static void add_lines(FILE *out, char sign, const char *from, const char *end)
{
    while (from < end) {
        const char *stop = line_end(from, end);
        add_line(out, sign, from, stop);
        from = stop + 1;
    }
}

static size_t count_lines(const char *from, const char *end)
{
    size_t n = 0;
    for (; from < end; n++)
        from = line_end(from, end) + 1;
    return n;
}

/* Those that differ, of two texts with the same number of lines. */
static void add_pairs(FILE *out, const char *was, const char *was_end, const char *is,
                      const char *is_end)
{
    while (was < was_end && is < is_end) {
        const char *was_stop = line_end(was, was_end), *is_stop = line_end(is, is_end);
        if (was_stop - was != is_stop - is || memcmp(was, is, (size_t)(was_stop - was)) != 0) {
            add_line(out, '-', was, was_stop);
            add_line(out, '+', is, is_stop);
        }
        was = was_stop + 1;
        is = is_stop + 1;
    }
}

/* The lines of `was` that are not in `is`, and the other way round. */
static char *compare_lines(const char *was, const char *is, int *ret_line)
{
    char *made = NULL;
    size_t size, from = 0, was_end = strlen(was), is_end = strlen(is);
    *ret_line = 1;
    for (size_t i = 0; was[i] != '\0' && was[i] == is[i]; i++)
        if (was[i] == '\n') {
            from = i + 1;
            ++*ret_line;
        }
    while (was_end > from && is_end > from && was[was_end - 1] == is[is_end - 1]) {
        was_end--;
        is_end--;
    }
    bool is_whole =
        (was_end == 0 || was[was_end - 1] == '\n') && (is_end == 0 || is[is_end - 1] == '\n');
    if (!is_whole) { /* the lines go on */
        was_end += strcspn(was + was_end, "\n");
        is_end += strcspn(is + is_end, "\n");
    }
    FILE *out = lb_open_memory(&made, &size);
    if (count_lines(was + from, was + was_end) == count_lines(is + from, is + is_end)) {
        add_pairs(out, was + from, was + was_end, is + from, is + is_end);
    } else {
        add_lines(out, '-', was + from, was + was_end);
        add_lines(out, '+', is + from, is + is_end);
    }
    lb_close_memory(out);
    return made;
}

/* --- the list --- */

static bool can_be_read(const struct lb_making *m, const char *text)
{
    struct lb_file *file = NULL;
    struct lb_program *program = NULL;
    struct lb_error ignored;
    bool can = lb_file_parse("mutant", text, strlen(text), -1, &file, &ignored) == 0 &&
               lb_program_new(file, m->program->db, NULL, m->settings, m->n_settings, &program,
                              &ignored) == 0;
    lb_program_free(program);
    lb_file_free(file);
    return can;
}

static bool is_new(const struct lb_mutants *mutants, const char *text)
{
    for (size_t i = 0; i < mutants->n; i++)
        if (strcmp(mutants->at[i].text, text) == 0)
            return false;
    return true;
}

struct lb_mutant *lb_making_add(struct lb_making *m, enum lb_mutant_kind kind,
                                const struct lb_edit *edits, size_t n_edits, size_t clause_at,
                                size_t clause_length)
{
    struct lb_mutants *mutants = m->mutants;
    char *text = lb_making_apply(m->file->text, edits, n_edits);
    if (!is_new(mutants, text) || !can_be_read(m, text)) {
        free(text);
        return NULL;
    }
    struct lb_mutant *mutant = lb_array_add(&mutants->at, &mutants->n, sizeof *mutant);
    mutant->kind = kind;
    mutant->section = m->section != NULL ? m->section->name : LB_SECTIONS;
    mutant->statement = m->statement;
    mutant->text = text;
    mutant->clause = on_one_line(m->file->text + clause_at, clause_length);
    mutant->diff = compare_lines(m->file->text, text, &mutant->line);
    if (kind == LB_MUTANT_CONDITION) {
        mutant->at = clause_at;
        mutant->length = clause_length;
    }
    return mutant;
}

struct lb_mutant *lb_making_change(struct lb_making *m, enum lb_mutant_kind kind,
                                   const struct lb_edit *edits, size_t n_edits, size_t from,
                                   size_t to)
{
    size_t at = lb_making_begin(m, from);
    return lb_making_add(m, kind, edits, n_edits, at, lb_making_end(m, to - 1) - at);
}
