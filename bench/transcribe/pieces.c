/* See pieces.h. */
#include "pieces.h"

#include "program_lex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct lb_token token_at(const char *at, const char *end)
{
    struct lb_lexer lexer;
    lb_lexer_init(&lexer, at, (size_t)(end - at), 1);
    return lb_lexer_next(&lexer);
}

/* 4219.5 is one number. */
static size_t number_length(const char *at, const char *end)
{
    const char *p = at;
    while (p < end && isalnum((unsigned char)*p))
        p++;
    if (p + 1 < end && *p == '.' && isdigit((unsigned char)p[1]))
        for (p++; p < end && isalnum((unsigned char)*p);)
            p++;
    return (size_t)(p - at);
}

struct lb_piece lb_piece_next(struct lb_piece_reader *reader)
{
    for (;;) {
        struct lb_token token = token_at(reader->at, reader->end);
        struct lb_piece piece = {.text = token.text, .n = token.length, .kind = LB_PIECE_OTHER};
        if (token.kind == LB_T_BAD)
            piece.n = (size_t)(reader->end - reader->at);
        if (token.kind == LB_T_END)
            piece.kind = LB_PIECE_END;
        else if (token.kind == LB_T_POSITION && token.text[0] == '$')
            piece.kind = LB_PIECE_POSITION;
        else if (token.kind == LB_T_PARAM)
            piece.kind = LB_PIECE_COLON;
        else if (token.kind == LB_T_QUOTED &&
                 (token.text[0] == '\'' || token.text[0] == 'E' || token.text[0] == 'e'))
            piece.kind = LB_PIECE_LITERAL;
        else if (token.kind == LB_T_OTHER && isdigit((unsigned char)token.text[0])) {
            piece.n = number_length(reader->at, reader->end);
            piece.kind = LB_PIECE_LITERAL;
        }
        reader->at += piece.n;
        if (token.kind != LB_T_COMMENT && token.kind != LB_T_HINT)
            return piece;
    }
}

/* Are these the next words, with one blank between two of them? */
static bool follows(struct lb_piece_reader reader, const char *words)
{
    while (*words != '\0') {
        size_t n = strcspn(words, " ");
        struct lb_piece piece = lb_piece_word(&reader);
        if (piece.n != n || strncasecmp(piece.text, words, n) != 0)
            return false;
        words += n + (words[n] == ' ');
    }
    return true;
}

static bool has_words(struct lb_piece_reader reader, const char *words)
{
    do {
        if (follows(reader, words))
            return true;
    } while (lb_piece_word(&reader).kind != LB_PIECE_END);
    return false;
}

static struct lb_piece_reader reader_of(const struct lb_part *part)
{
    return (struct lb_piece_reader){.at = part->text, .end = part->text + part->n};
}

bool lb_part_begins(const struct lb_part *part, const char *words)
{
    return follows(reader_of(part), words);
}

bool lb_part_has(const struct lb_part *part, const char *words)
{
    return has_words(reader_of(part), words);
}

/* Begins and ends transactions, which a section does not say, or is the driver's own. */
static bool is_left_to_others(struct lb_parts *parts, struct lb_piece_reader reader)
{
    static const char *const ends[] = {"commit", "end", "rollback", "abort"};
    static const char *const drivers[] = {"deallocate", "discard", "close"};
    if (follows(reader, "begin") || follows(reader, "start transaction")) {
        parts->begins = true;
        parts->is_serializable |= has_words(reader, "serializable");
        parts->is_repeatable |= has_words(reader, "repeatable read");
        return true;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (follows(reader, ends[i]))
            return !has_words(reader, "to");
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        if (follows(reader, drivers[i]))
            return true;
    return false;
}

static void add(struct lb_parts *parts, const struct lb_recorded_statement *statement,
                const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (from < to && isspace((unsigned char)to[-1]))
        to--;
    struct lb_piece_reader reader = {.at = from, .end = to};
    struct lb_piece first = lb_piece_word(&reader);
    if (first.kind == LB_PIECE_END) /* nothing but comments: what drivers look with */
        return;
    size_t n = (size_t)(to - first.text);
    if (is_left_to_others(parts, (struct lb_piece_reader){.at = first.text, .end = to}))
        return;
    if (parts->n == LB_PARTS) {
        parts->n_left_out++;
        return;
    }
    parts->parts[parts->n++] =
        (struct lb_part){.statement = statement,
                         .text = first.text,
                         .n = n,
                         .is_last = true,
                         .is_mixed = statement->n_statements > 1 && statement->params[0] != '\0'};
}

/* The statements of one request. */
static void split(struct lb_parts *parts, const struct lb_recorded_statement *statement)
{
    const char *end = statement->sql + strlen(statement->sql), *from = statement->sql;
    struct lb_piece_reader reader = {.at = from, .end = end};
    size_t first = parts->n;
    for (;;) {
        struct lb_piece piece = lb_piece_next(&reader);
        bool is_end = piece.kind == LB_PIECE_END;
        bool is_semicolon = piece.kind == LB_PIECE_OTHER && piece.n == 1 && piece.text[0] == ';';
        if (is_end || is_semicolon) {
            add(parts, statement, from, is_end ? end : piece.text);
            from = reader.at;
        }
        if (is_end)
            break;
    }
    for (size_t i = first; i + 1 < parts->n; i++)
        parts->parts[i].is_last = false;
}

void lb_parts_of(const struct lb_recorded *sample, struct lb_parts *ret)
{
    *ret = (struct lb_parts){.n = 0};
    for (size_t i = 0; sample != NULL && i < sample->n; i++) {
        const struct lb_recorded_statement *statement = &sample->statements[i];
        ret->is_open = statement->in_tx;
        ret->has_sessions |= i > 0 && statement->session != sample->statements[0].session;
        if (statement->is_cut)
            ret->n_left_out++;
        else
            split(ret, statement);
    }
}

bool lb_piece_param(const struct lb_part *part, const char *lines, struct lb_piece piece, char *out,
                    size_t size)
{
    const char *line = lines;
    unsigned long number = strtoul(piece.text + 1, NULL, 10);
    for (unsigned long i = 1; i < number && *line != '\0'; i++) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    size_t n = strcspn(line, "\n");
    if (*line == '\0' || n >= size || part->is_mixed)
        return false;
    snprintf(out, size, "%.*s", (int)n, line);
    return true;
}

bool lb_piece_is_blank(struct lb_piece piece)
{
    return piece.kind == LB_PIECE_OTHER && piece.n > 0 && isspace((unsigned char)piece.text[0]);
}

struct lb_piece lb_piece_word(struct lb_piece_reader *reader)
{
    struct lb_piece piece;
    do
        piece = lb_piece_next(reader);
    while (lb_piece_is_blank(piece));
    return piece;
}

bool lb_parts_alike(const struct lb_part *a, const struct lb_part *b)
{
    struct lb_piece_reader one = reader_of(a), two = reader_of(b);
    for (;;) {
        struct lb_piece x = lb_piece_word(&one), y = lb_piece_word(&two);
        if (x.kind != y.kind)
            return false;
        if (x.kind == LB_PIECE_END)
            return true;
        if (x.kind != LB_PIECE_LITERAL && (x.n != y.n || strncasecmp(x.text, y.text, x.n) != 0))
            return false;
    }
}

static bool is_word(struct lb_piece piece, const char *word)
{
    return piece.n == strlen(word) && strncasecmp(piece.text, word, piece.n) == 0;
}

/* Reads on behind the parenthesis that ends the one that was read. */
static bool skip_parenthesis(struct lb_piece_reader *reader)
{
    for (unsigned depth = 1; depth > 0;) {
        struct lb_piece piece = lb_piece_word(reader);
        if (piece.kind == LB_PIECE_END)
            return false;
        depth += is_word(piece, "(");
        depth -= is_word(piece, ")");
    }
    return true;
}

size_t lb_piece_behind_with(const char *text, size_t n)
{
    struct lb_piece_reader reader = {.at = text, .end = text + n};
    if (!is_word(lb_piece_word(&reader), "with"))
        return 0;
    for (;;) {
        struct lb_piece piece = lb_piece_word(&reader);
        while (piece.kind != LB_PIECE_END && !is_word(piece, "as")) {
            if (is_word(piece, "(") && !skip_parenthesis(&reader)) /* names of columns */
                return 0;
            piece = lb_piece_word(&reader);
        }
        while (piece.kind != LB_PIECE_END && !is_word(piece, "("))
            piece = lb_piece_word(&reader); /* NOT MATERIALIZED */
        if (piece.kind == LB_PIECE_END || !skip_parenthesis(&reader))
            return 0;
        const char *behind = reader.at;
        if (!is_word(lb_piece_word(&reader), ","))
            return (size_t)(behind - text);
    }
}

/* True if the part writes to a table and does not only read. */
static bool is_written(const struct lb_part *part)
{
    return part->statement->answer == LB_OK && part->statement->n_changed > 0 &&
           !lb_part_begins(part, "select");
}

void lb_parts_drop_once(struct lb_parts *first, const struct lb_parts *second,
                        struct lb_parts *ret_once)
{
    bool is_of_both[LB_PARTS] = {false};
    size_t at = 0, n = 0;
    ret_once->n = 0;
    for (size_t i = 0; i < first->n; i++) {
        is_of_both[i] = at < second->n && lb_parts_alike(&first->parts[i], &second->parts[at]);
        at += is_of_both[i];
        if (!is_of_both[i] && is_written(&first->parts[i]))
            ret_once->parts[ret_once->n++] = first->parts[i];
    }
    /* Where the second one did something else, or the first one wrote nothing more, the first one's
     * stand as they are. */
    if (second->n == 0 || at < second->n || ret_once->n == 0) {
        ret_once->n = 0;
        return;
    }
    for (size_t i = 0; i < first->n; i++)
        if (is_of_both[i])
            first->parts[n++] = first->parts[i];
    first->n = n;
}
