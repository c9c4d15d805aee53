/* Proposing indexes: see aged_index.h. Names, constants and operators are all that is read; a
 * proposal that is none is refused by the server, and one that does not help is not printed. */
#include "aged_index.h"

#include "append.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 8 };

struct columns {
    char names[COLUMNS][80];
    size_t n;
};

/* The parts of an index. */
struct wanted {
    char table[80];
    struct columns equal, constant, range, order;
    char condition[300]; /* with the constants */
};

static bool is(const struct lb_tokens *tokens, size_t i, const char *word)
{
    return i < tokens->n &&
           (lb_token_is(&tokens->at[i], word) || lb_token_is_sign(&tokens->at[i], word));
}

static bool is_text(const struct lb_token *token)
{
    return token->kind == LB_T_QUOTED && (!token->is_name || *token->text == '\'');
}

static bool is_name(const struct lb_tokens *tokens, size_t i)
{
    const struct lb_token *token = &tokens->at[i];
    return i < tokens->n && !is_text(token) &&
           (token->kind == LB_T_WORD || token->kind == LB_T_QUOTED);
}

/* The place of the column in table.column, which begins at i. */
static size_t behind_table(const struct lb_tokens *tokens, size_t i)
{
    while (is(tokens, i + 1, ".") && is_name(tokens, i + 2))
        i += 2;
    return i;
}

static void name_of(const struct lb_token *token, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s", (int)token->length, token->text);
}

static void add(struct columns *columns, const struct lb_token *token)
{
    char name[80];
    name_of(token, name, sizeof name);
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->names[i], name) == 0)
            return;
    if (columns->n < COLUMNS)
        memcpy(columns->names[columns->n++], name, sizeof name);
}

static void add_condition(struct wanted *wanted, const struct lb_token *column, const char *rest,
                          size_t n)
{
    char name[80];
    name_of(column, name, sizeof name);
    lb_append(wanted->condition, sizeof wanted->condition, "%s%s %.*s",
              wanted->condition[0] != '\0' ? " AND " : "", name, (int)n, rest);
}

/* One condition, which begins at i: a column, an operator, and the other side. */
static void read_condition(const struct lb_tokens *tokens, size_t i, struct wanted *wanted)
{
    i = behind_table(tokens, i);
    if (!is_name(tokens, i) || i + 2 >= tokens->n)
        return;
    const struct lb_token *column = &tokens->at[i], *sign = column + 1, *value = column + 2;
    bool is_number = lb_token_is_number(value) && !is(tokens, i + 3, "."); /* no 0.5 */
    if (is(tokens, i + 1, "=") && (is_text(value) || is_number)) {
        add(&wanted->constant, column);
        add_condition(wanted, column, sign->text,
                      (size_t)(value->text + value->length - sign->text));
    } else if (is(tokens, i + 1, "IS") && is(tokens, i + 2, "NULL")) {
        add(&wanted->constant, column);
        add_condition(wanted, column, "IS NULL", strlen("IS NULL"));
    } else if (is(tokens, i + 1, "=") && value->kind == LB_T_PARAM) {
        add(&wanted->equal, column);
    } else if (lb_token_begins(sign, '<') || lb_token_begins(sign, '>')) {
        add(&wanted->range, column);
    }
}

/* From behind WHERE up to the end of the block. */
static void read_block(const struct lb_tokens *tokens, size_t i, struct wanted *wanted)
{
    bool is_order = false, is_first = true;
    for (int depth = 0; i < tokens->n; i++) {
        if (is(tokens, i, ")") && depth-- == 0)
            return;
        if (is(tokens, i, "("))
            depth++;
        if (depth > 0)
            continue;
        if (is(tokens, i, "LIMIT") || is(tokens, i, "FOR") || is(tokens, i, "RETURNING") ||
            is(tokens, i, ";"))
            return;
        if (is(tokens, i, "ORDER") && is(tokens, i + 1, "BY")) {
            is_order = is_first = true;
            i++;
            continue;
        }
        if (is_first && is_order && is_name(tokens, i))
            add(&wanted->order, &tokens->at[behind_table(tokens, i)]);
        else if (is_first && !is_order)
            read_condition(tokens, i, wanted);
        is_first = is_order ? is(tokens, i, ",") : is(tokens, i, "AND");
    }
}

/* --- the words --- */

static void put_columns(char *text, size_t size, const struct columns *columns, struct columns *put)
{
    for (size_t i = 0; i < columns->n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < put->n; k++)
            is_there = is_there || strcmp(put->names[k], columns->names[i]) == 0;
        if (is_there || put->n == COLUMNS)
            continue;
        lb_append(text, size, "%s%s", put->n > 0 ? ", " : "", columns->names[i]);
        memcpy(put->names[put->n++], columns->names[i], sizeof put->names[0]);
    }
}

static void propose(struct lb_aged_indexes *indexes, const struct wanted *wanted, bool is_partial,
                    bool is_range_first)
{
    struct columns put = {.n = 0};
    if (indexes->n == LB_AGED_INDEXES)
        return;
    char *text = indexes->words[indexes->n];
    const size_t size = sizeof indexes->words[0];
    snprintf(text, size, "%s (", wanted->table);
    put_columns(text, size, &wanted->equal, &put);
    if (!is_partial)
        put_columns(text, size, &wanted->constant, &put);
    put_columns(text, size, is_range_first ? &wanted->range : &wanted->order, &put);
    put_columns(text, size, is_range_first ? &wanted->order : &wanted->range, &put);
    if (put.n == 0)
        return;
    lb_append(text, size, is_partial ? ") WHERE %s" : ")", wanted->condition);
    for (size_t i = 0; i < indexes->n; i++)
        if (strcmp(indexes->words[i], text) == 0)
            return;
    indexes->n++;
}

void lb_aged_propose(struct lb_aged_indexes *indexes, const char *sql, enum lb_dialect dialect,
                     bool is_partial)
{
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, sql, dialect);
    for (size_t i = 0; tokens.is_understood && i + 2 < tokens.n; i++) {
        struct wanted wanted = {.condition = ""};
        size_t where = i + 2;
        if ((!is(&tokens, i, "FROM") && !is(&tokens, i, "UPDATE")) || !is_name(&tokens, i + 1))
            continue;
        name_of(&tokens.at[behind_table(&tokens, i + 1)], wanted.table, sizeof wanted.table);
        while (where < tokens.n && !is(&tokens, where, "WHERE") && !is(&tokens, where, "FROM") &&
               !is(&tokens, where, "(") && !is(&tokens, where, ")"))
            where++;
        if (!is(&tokens, where, "WHERE"))
            continue;
        read_block(&tokens, where + 1, &wanted);
        for (int is_range_first = 0; is_range_first < 2; is_range_first++) {
            if (is_partial && wanted.condition[0] != '\0')
                propose(indexes, &wanted, true, is_range_first);
            propose(indexes, &wanted, false, is_range_first);
        }
    }
    lb_tokens_free(&tokens);
}
