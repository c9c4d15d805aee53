/* Proposing indexes: see aged_index.h. Names, constants and operators are all that is read; a
 * proposal that is none is refused by the server, and one that does not help is not printed. */
#include "aged_index.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOKENS = 400, COLUMNS = 8 };

struct token {
    const char *text;
    size_t n;
};

struct tokens {
    struct token list[TOKENS];
    size_t n;
};

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

static void read_tokens(struct tokens *tokens, const char *at)
{
    tokens->n = 0;
    while (tokens->n < TOKENS) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, "--", 2) == 0) {
            at += strcspn(at, "\n");
            continue;
        }
        if (*at == '\0')
            return;
        size_t n = 1;
        if (*at == '\'')
            n = strcspn(at + 1, "'") + 2;
        else if (isalnum((unsigned char)*at) || *at == '_' || *at == ':')
            while (isalnum((unsigned char)at[n]) || (at[n] != '\0' && strchr("_.:", at[n]) != NULL))
                n++;
        else if (strchr("<>=!", *at) != NULL)
            n = strspn(at, "<>=!");
        if (strlen(at) < n)
            return;
        tokens->list[tokens->n++] = (struct token){at, n};
        at += n;
    }
}

static bool is(const struct tokens *tokens, size_t i, const char *word)
{
    return i < tokens->n && tokens->list[i].n == strlen(word) &&
           strncasecmp(tokens->list[i].text, word, tokens->list[i].n) == 0;
}

static bool is_name(const struct tokens *tokens, size_t i)
{
    return i < tokens->n &&
           (isalpha((unsigned char)tokens->list[i].text[0]) || tokens->list[i].text[0] == '_');
}

/* The name without the table's in front. */
static void name_of(const struct token *token, char *buf, size_t size)
{
    const char *dot = memchr(token->text, '.', token->n);
    const char *from = dot != NULL ? dot + 1 : token->text;
    snprintf(buf, size, "%.*s", (int)(token->n - (size_t)(from - token->text)), from);
}

static void add(struct columns *columns, const struct token *token)
{
    char name[80];
    name_of(token, name, sizeof name);
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->names[i], name) == 0)
            return;
    if (columns->n < COLUMNS)
        memcpy(columns->names[columns->n++], name, sizeof name);
}

static void add_condition(struct wanted *wanted, const struct token *column, const char *rest,
                          size_t n)
{
    char name[80];
    size_t used = strlen(wanted->condition);
    name_of(column, name, sizeof name);
    snprintf(wanted->condition + used, sizeof wanted->condition - used, "%s%s %.*s",
             used > 0 ? " AND " : "", name, (int)n, rest);
}

/* One condition, which begins at i: a column, an operator, and the other side. */
static void read_condition(const struct tokens *tokens, size_t i, struct wanted *wanted)
{
    const struct token *column = &tokens->list[i];
    if (!is_name(tokens, i) || i + 2 >= tokens->n)
        return;
    const struct token *value = &tokens->list[i + 2];
    bool is_constant = value->text[0] == '\'' || isdigit((unsigned char)value->text[0]);
    if (is(tokens, i + 1, "=") && is_constant) {
        add(&wanted->constant, column);
        add_condition(wanted, column, tokens->list[i + 1].text,
                      (size_t)(value->text + value->n - tokens->list[i + 1].text));
    } else if (is(tokens, i + 1, "IS") && is(tokens, i + 2, "NULL")) {
        add(&wanted->constant, column);
        add_condition(wanted, column, "IS NULL", strlen("IS NULL"));
    } else if (is(tokens, i + 1, "=") && value->text[0] == ':') {
        add(&wanted->equal, column);
    } else if (strchr("<>", tokens->list[i + 1].text[0]) != NULL) {
        add(&wanted->range, column);
    }
}

/* From behind WHERE up to the end of the block. */
static void read_block(const struct tokens *tokens, size_t i, struct wanted *wanted)
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
            add(&wanted->order, &tokens->list[i]);
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
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", put->n > 0 ? ", " : "", columns->names[i]);
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
    size_t used = strlen(text);
    snprintf(text + used, size - used, is_partial ? ") WHERE %s" : ")", wanted->condition);
    for (size_t i = 0; i < indexes->n; i++)
        if (strcmp(indexes->words[i], text) == 0)
            return;
    indexes->n++;
}

void lb_aged_propose(struct lb_aged_indexes *indexes, const char *sql, bool is_partial)
{
    struct tokens tokens;
    read_tokens(&tokens, sql);
    for (size_t i = 0; i + 2 < tokens.n; i++) {
        struct wanted wanted = {.condition = ""};
        size_t where = i + 2;
        if ((!is(&tokens, i, "FROM") && !is(&tokens, i, "UPDATE")) || !is_name(&tokens, i + 1))
            continue;
        name_of(&tokens.list[i + 1], wanted.table, sizeof wanted.table);
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
}
