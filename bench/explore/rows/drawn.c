/* Which numbers are drawn within an INSERT, from the words of the statements: see drawn.h. */
#include "drawn.h"

#include <stdio.h>
#include <string.h>

static bool has_name(const struct lb_tokens *words, const char *name)
{
    for (size_t i = 0; i < words->n; i++)
        if (lb_token_names(&words->at[i], name))
            return true;
    return false;
}

/* --- statements that use the number --- */

/* Does it ask for the order? */
static bool compares(const struct lb_token *token)
{
    static const char *const signs[] = {"<", ">", "<=", ">=", NULL};
    for (size_t i = 0; signs[i] != NULL; i++)
        if (lb_token_is_sign(token, signs[i]))
            return true;
    return lb_token_is(token, "between");
}

static bool ends_clause(const struct lb_token *token)
{
    static const char *const ends[] = {"and",    "or",   "where",     "from",   "order", "group",
                                       "limit",  "for",  "select",    "on",     "set",   "having",
                                       "when",   "then", "else",      "end",    "join",  "union",
                                       "offset", "into", "returning", "values", NULL};
    return token->kind == LB_T_SEMICOLON || lb_token_is_any(token, ends);
}

/* True if the name at i is compared by order, ordered by, or used in a minimum or maximum. Other
 * parentheses are skipped. */
static bool goes_by(const struct lb_tokens *words, size_t i)
{
    static const char *const extremes[] = {"min", "max", "least", "greatest", NULL};
    size_t depth = 0;
    for (size_t k = i + 1; k < words->n && (depth > 0 || !ends_clause(&words->at[k])); k++) {
        depth += lb_token_is_sign(&words->at[k], "(");
        if (lb_token_is_sign(&words->at[k], ")"))
            depth -= depth > 0;
        else if (depth == 0 && compares(&words->at[k]))
            return true;
    }
    depth = 0;
    for (size_t k = i; k-- > 0;) {
        const struct lb_token *token = &words->at[k];
        if (lb_token_is_sign(token, "(") && depth == 0 && k > 0 &&
            lb_token_is_any(token - 1, extremes))
            return true;
        depth += lb_token_is_sign(token, ")");
        depth -= lb_token_is_sign(token, "(") && depth > 0;
        if (depth > 0)
            continue;
        if (compares(&words->at[k]))
            return true;
        if (lb_token_is(token, "by"))
            return k > 0 && lb_token_is(token - 1, "order");
        if (ends_clause(token))
            return false;
    }
    return false;
}

static bool statement_goes_by(const char *sql, enum lb_dialect dialect,
                              const struct lb_drawn *drawn)
{
    struct lb_tokens words;
    lb_tokens_read(&words, sql, dialect);
    bool goes = false, has_table = has_name(&words, drawn->table);
    for (size_t k = 0; k < words.n && has_table && !goes; k++)
        goes = lb_token_names(&words.at[k], drawn->column) && goes_by(&words, k);
    lb_tokens_free(&words);
    return goes;
}

static bool is_gone_by(const struct lb_tables *tables, const struct lb_program *program,
                       uint32_t played, const struct lb_drawn *drawn)
{
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++)
            if (statement_goes_by(program->sections[s].statements[i].sql, tables->dialect, drawn))
                return true;
    return false;
}

/* --- who draws it --- */

/* Where the columns begin in "INSERT INTO table (a, b)", behind the parenthesis; 0: they are not
 * there. *ret_is_insert: it inserts into the table. */
static size_t columns_of(const struct lb_tokens *words, const char *table, bool *ret_is_insert)
{
    *ret_is_insert = false;
    for (size_t i = 1; i + 1 < words->n; i++) {
        if (!lb_token_is(&words->at[i - 1], "into") || !lb_token_names(&words->at[i], table))
            continue;
        *ret_is_insert = true;
        return lb_token_is_sign(&words->at[i + 1], "(") ? i + 2 : 0;
    }
    return 0;
}

/* Does the statement say what the column is to be? */
static bool is_given(const struct lb_tokens *words, size_t columns, const char *column)
{
    for (size_t i = columns; i < words->n && !lb_token_is_sign(&words->at[i], ")"); i++)
        if (lb_token_names(&words->at[i], column))
            return true;
    return false;
}

/* The column for which "VALUES (x, nextval('s'))", or SELECT, draws; NULL: none, or which one
 * cannot be told. */
static const struct lb_token *drawn_by_call(const struct lb_tokens *words, size_t columns)
{
    size_t i = columns, commas = 0, depth = 0;
    while (
        i < words->n && !lb_token_is(&words->at[i], "nextval") &&
        !(i > 0 && lb_token_is(&words->at[i], "value") && lb_token_is(&words->at[i - 1], "next")))
        i++;
    if (columns == 0 || i == words->n)
        return NULL;
    while (i-- > columns && !(depth == 0 && (lb_token_is_sign(&words->at[i], "(") ||
                                             lb_token_is(&words->at[i], "select")))) {
        depth += lb_token_is_sign(&words->at[i], ")");
        depth -= lb_token_is_sign(&words->at[i], "(") && depth > 0;
        commas += depth == 0 && lb_token_is_sign(&words->at[i], ",");
    }
    for (i = columns; commas > 0 && i < words->n && !lb_token_is_sign(&words->at[i], ")"); i++)
        commas -= lb_token_is_sign(&words->at[i], ",");
    return commas == 0 && i < words->n ? &words->at[i] : NULL;
}

static void set_column(struct lb_drawn *drawn, const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    snprintf(drawn->column, sizeof drawn->column, "%.*s", (int)length, name);
}

/* The statement draws a number for a column of the table: *ret, if a statement uses its order. */
static bool look_at_insert(const struct lb_tables *tables, size_t table,
                           const struct lb_program *program, uint32_t played,
                           const struct lb_tokens *words, struct lb_drawn *ret)
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
        if (is_drawn && is_gone_by(tables, program, played, ret))
            return true;
    }
    const struct lb_token *called = drawn_by_call(words, columns);
    if (called == NULL)
        return false;
    set_column(ret, called);
    return is_gone_by(tables, program, played, ret);
}

void lb_find_drawn(const struct lb_tables *tables, const struct lb_program *program,
                   uint32_t played, struct lb_drawn *ret)
{
    bool is_found = false;
    for (int s = 0; s < LB_SECTIONS && !tables->one_writer; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++) {
            struct lb_tokens words;
            lb_tokens_read(&words, program->sections[s].statements[i].sql, tables->dialect);
            for (size_t t = 0; t < tables->n && !is_found; t++)
                is_found = look_at_insert(tables, t, program, played, &words, ret);
            lb_tokens_free(&words);
            if (is_found)
                return;
        }
    *ret = (struct lb_drawn){.table = ""};
}

/* --- chance --- */

static bool is_random(const char *sql, enum lb_dialect dialect)
{
    static const char *const begins[] = {"where", "on",     "by",   "having",
                                         "limit", "offset", "when", NULL};
    static const char *const ends[] = {"select", "set",    "values", "returning",
                                       "then",   "update", NULL};
    static const char *const chance[] = {
        "random", "rand", "randomblob", "uuid", "gen_random_uuid", "uuid_generate_v4", NULL};
    struct lb_tokens words;
    bool decides = false, found = false;
    lb_tokens_read(&words, sql, dialect);
    for (size_t i = 0; i + 1 < words.n && !found; i++) {
        decides = (decides || lb_token_is_any(&words.at[i], begins)) &&
                  !lb_token_is_any(&words.at[i], ends);
        found = decides && lb_token_is_any(&words.at[i], chance) &&
                lb_token_is_sign(&words.at[i + 1], "(");
    }
    lb_tokens_free(&words);
    return found;
}

int lb_find_random(const struct lb_program *program, uint32_t played)
{
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++) {
            const struct lb_statement *statement = &program->sections[s].statements[i];
            if (is_random(statement->sql, program->db->dialect))
                return statement->line;
        }
    return 0;
}
