/* Which numbers are drawn within an INSERT, from the words of the statements: see drawn.h. */
#include "drawn.h"

#include "program_lex.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_WORDS = 1500 };

struct words {
    struct lb_token at[MOST_WORDS];
    size_t n;
};

static void split(const char *sql, struct words *ret)
{
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, sql, strlen(sql), 1);
    ret->n = 0;
    do {
        token = lb_lexer_next(&lexer);
        if (token.kind != LB_T_BLANK && token.kind != LB_T_COMMENT && token.kind != LB_T_HINT)
            ret->at[ret->n++] = token;
    } while (token.kind != LB_T_END && token.kind != LB_T_BAD && ret->n < MOST_WORDS);
}

static bool is_any(const struct lb_token *token, const char *const *list)
{
    for (; *list != NULL; list++)
        if (lb_token_is(token, *list))
            return true;
    return false;
}

static bool is_char(const struct lb_token *token, char c)
{
    return token->kind == LB_T_OTHER && token->length == 1 && *token->text == c;
}

/* A table or a column, quoted or not. */
static bool is_name(const struct lb_token *token, const char *name)
{
    bool is_quoted = token->kind == LB_T_QUOTED && *token->text != '\'' && token->length > 2;
    size_t n = token->length - (is_quoted ? 2 : 0);
    return (is_quoted || token->kind == LB_T_WORD) && strlen(name) == n &&
           strncasecmp(token->text + is_quoted, name, n) == 0;
}

static bool has_name(const struct words *words, const char *name)
{
    for (size_t i = 0; i < words->n; i++)
        if (is_name(&words->at[i], name))
            return true;
    return false;
}

/* --- who goes by the number --- */

/* An operator that asks for the order: not "<>", "->", "->>", "=>". */
static bool compares(const struct words *words, size_t i)
{
    const struct lb_token *token = &words->at[i];
    bool is_first = i == 0, is_last = i + 1 == words->n;
    if (is_char(token, '<'))
        return is_last || !is_char(token + 1, '>');
    if (is_char(token, '>'))
        return is_first || !(is_char(token - 1, '<') || is_char(token - 1, '-') ||
                             is_char(token - 1, '>') || is_char(token - 1, '='));
    return lb_token_is(token, "between");
}

static bool ends_clause(const struct lb_token *token)
{
    static const char *const ends[] = {"and",    "or",   "where",     "from",   "order", "group",
                                       "limit",  "for",  "select",    "on",     "set",   "having",
                                       "when",   "then", "else",      "end",    "join",  "union",
                                       "offset", "into", "returning", "values", NULL};
    return token->kind == LB_T_SEMICOLON || is_any(token, ends);
}

/* Is the name at i compared with what is less or more, ordered by, or the least or greatest asked
 * for? What other parentheses have in them is passed over. */
static bool goes_by(const struct words *words, size_t i)
{
    static const char *const extremes[] = {"min", "max", "least", "greatest", NULL};
    size_t depth = 0;
    for (size_t k = i + 1; k < words->n && (depth > 0 || !ends_clause(&words->at[k])); k++) {
        depth += is_char(&words->at[k], '(');
        if (is_char(&words->at[k], ')'))
            depth -= depth > 0;
        else if (depth == 0 && compares(words, k))
            return true;
    }
    depth = 0;
    for (size_t k = i; k-- > 0;) {
        const struct lb_token *token = &words->at[k];
        if (is_char(token, '(') && depth == 0 && k > 0 && is_any(token - 1, extremes))
            return true;
        depth += is_char(token, ')');
        depth -= is_char(token, '(') && depth > 0;
        if (depth > 0)
            continue;
        if (compares(words, k))
            return true;
        if (lb_token_is(token, "by"))
            return k > 0 && lb_token_is(token - 1, "order");
        if (ends_clause(token))
            return false;
    }
    return false;
}

static bool is_gone_by(const struct lb_program *program, uint32_t played,
                       const struct lb_drawn *drawn)
{
    struct words words;
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++) {
            split(program->sections[s].statements[i].sql, &words);
            if (!has_name(&words, drawn->table))
                continue;
            for (size_t k = 0; k < words.n; k++)
                if (is_name(&words.at[k], drawn->column) && goes_by(&words, k))
                    return true;
        }
    return false;
}

/* --- who draws it --- */

/* Where the columns begin in "INSERT INTO table (a, b)", behind the parenthesis; 0: they are not
 * there. *ret_is_insert: it inserts into the table. */
static size_t columns_of(const struct words *words, const char *table, bool *ret_is_insert)
{
    *ret_is_insert = false;
    for (size_t i = 1; i + 1 < words->n; i++) {
        if (!lb_token_is(&words->at[i - 1], "into") || !is_name(&words->at[i], table))
            continue;
        *ret_is_insert = true;
        return is_char(&words->at[i + 1], '(') ? i + 2 : 0;
    }
    return 0;
}

/* Does the statement say what the column is to be? */
static bool is_given(const struct words *words, size_t columns, const char *column)
{
    for (size_t i = columns; i < words->n && !is_char(&words->at[i], ')'); i++)
        if (is_name(&words->at[i], column))
            return true;
    return false;
}

/* The column for which "VALUES (x, nextval('s'))", or SELECT, draws; NULL: none, or which one
 * cannot be told. */
static const struct lb_token *drawn_by_call(const struct words *words, size_t columns)
{
    size_t i = columns, commas = 0, depth = 0;
    while (
        i < words->n && !lb_token_is(&words->at[i], "nextval") &&
        !(i > 0 && lb_token_is(&words->at[i], "value") && lb_token_is(&words->at[i - 1], "next")))
        i++;
    if (columns == 0 || i == words->n)
        return NULL;
    while (i-- > columns &&
           !(depth == 0 && (is_char(&words->at[i], '(') || lb_token_is(&words->at[i], "select")))) {
        depth += is_char(&words->at[i], ')');
        depth -= is_char(&words->at[i], '(') && depth > 0;
        commas += depth == 0 && is_char(&words->at[i], ',');
    }
    for (i = columns; commas > 0 && i < words->n && !is_char(&words->at[i], ')'); i++)
        commas -= is_char(&words->at[i], ',');
    return commas == 0 && i < words->n ? &words->at[i] : NULL;
}

static void set_column(struct lb_drawn *drawn, const struct lb_token *name)
{
    bool is_quoted = name->kind == LB_T_QUOTED && name->length > 2;
    snprintf(drawn->column, sizeof drawn->column, "%.*s", (int)name->length - (is_quoted ? 2 : 0),
             name->text + is_quoted);
}

/* The statement draws a number for a column of the table: *ret, if somebody goes by it. */
static bool look_at_insert(const struct lb_tables *tables, size_t table,
                           const struct lb_program *program, uint32_t played,
                           const struct words *words, struct lb_drawn *ret)
{
    bool is_insert;
    size_t columns = columns_of(words, tables->name[table], &is_insert);
    if (!is_insert)
        return false;
    snprintf(ret->table, sizeof ret->table, "%s", tables->name[table]);
    for (size_t i = 0; i < tables->n_numbers; i++) {
        const char *column = tables->number[i].column;
        bool is_drawn = tables->number[i].table == table &&
                        (!is_given(words, columns, column) || has_name(words, "default"));
        snprintf(ret->column, sizeof ret->column, "%s", column);
        if (is_drawn && is_gone_by(program, played, ret))
            return true;
    }
    const struct lb_token *called = drawn_by_call(words, columns);
    if (called == NULL)
        return false;
    set_column(ret, called);
    return is_gone_by(program, played, ret);
}

void lb_find_drawn(const struct lb_tables *tables, const struct lb_program *program,
                   uint32_t played, struct lb_drawn *ret)
{
    struct words words;
    for (int s = 0; s < LB_SECTIONS && !tables->one_writer; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++) {
            split(program->sections[s].statements[i].sql, &words);
            for (size_t t = 0; t < tables->n; t++)
                if (look_at_insert(tables, t, program, played, &words, ret))
                    return;
        }
    *ret = (struct lb_drawn){.table = ""};
}
