/* Times that have whole seconds only, by the words of a statement: NOW() of MariaDB,
 * datetime('now') of SQLite, a column of type DATETIME. What goes by them ends up to a second early
 * or late, and a lease may be over in the moment in which it is granted. A hint, like all features:
 * see program_features.h.
 */
#include "program_features.h"

#include "program_raw.h"

#include <string.h>

static bool is_any_of(const struct lb_token *token, const char *const *words)
{
    for (; token->kind == LB_T_WORD && *words != NULL; words++)
        if (lb_token_is(token, *words))
            return true;
    return false;
}

/* The arguments behind a function's name, without the parentheses; *ret_length 0: there are none.
 */
static const char *arguments(const struct lb_token *name, size_t *ret_length)
{
    const char *at = name->text + name->length;
    unsigned depth = 0;
    *ret_length = 0;
    at += strspn(at, " \t\r\n");
    if (*at != '(')
        return at;
    const char *first = at + 1;
    for (; *at != '\0'; at++) {
        depth += *at == '(';
        if (*at == ')' && --depth == 0)
            break;
    }
    *ret_length = (size_t)(at - first);
    return first;
}

static bool has_word(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (strncmp(text + i, word, n) == 0)
            return true;
    return false;
}

static bool is_whole_in_mariadb(const struct lb_token *token)
{
    static const char *const clocks[] = {"now",       "current_timestamp", "sysdate",
                                         "localtime", "localtimestamp",    "utc_timestamp",
                                         NULL};
    size_t n;
    const char *args = arguments(token, &n);
    args += strspn(args, " ");
    if (lb_token_is(token, "unix_timestamp") && token->kind == LB_T_WORD)
        return n == 0;
    return is_any_of(token, clocks) && (n == 0 || *args < '1' || *args > '6');
}

static bool is_whole_in_sqlite(const struct lb_token *token)
{
    static const char *const clocks[] = {"current_timestamp", "datetime", "unixepoch", NULL};
    size_t n;
    const char *args = arguments(token, &n);
    if (lb_token_is(token, "strftime") && token->kind == LB_T_WORD)
        return has_word(args, n, "%s") && !has_word(args, n, "%f") && !has_word(args, n, "%J");
    return is_any_of(token, clocks) && !has_word(args, n, "subsec");
}

int lb_whole_seconds(const struct lb_statement *statement, const char *engine)
{
    bool (*const is_whole)(const struct lb_token *) =
        strcmp(engine, "mariadb") == 0  ? is_whole_in_mariadb
        : strcmp(engine, "sqlite") == 0 ? is_whole_in_sqlite
                                        : NULL;
    struct lb_lexer lexer;
    struct lb_token token;
    if (is_whole == NULL)
        return 0;
    lb_lexer_init(&lexer, statement->sql, strlen(statement->sql), statement->line);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD)
        if (token.kind == LB_T_WORD && is_whole(&token))
            return token.line;
    return 0;
}

int lb_whole_columns(const struct lb_statement *statement, const char *engine)
{
    static const char *const types[] = {"datetime", "timestamp", NULL};
    struct lb_lexer lexer;
    struct lb_token token, before = {0};
    if (strcmp(engine, "mariadb") != 0)
        return 0;
    lb_lexer_init(&lexer, statement->sql, strlen(statement->sql), statement->line);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        size_t n = 0;
        if (token.kind == LB_T_WORD && before.kind == LB_T_WORD && is_any_of(&token, types) &&
            (arguments(&token, &n), n == 0))
            return token.line;
        if (token.kind != LB_T_BLANK)
            before = token;
    }
    return 0;
}
