/* A statement's tokens, without blanks and comments, as a window that slides; and the words by
 * which a statement asks for the time.
 */
#include "program_raw.h"

#include <string.h>

/* Makes "owner", `owner` and [owner] the word owner; but no subscript a[i]. */
static struct lb_token next_token(struct lb_lexer *lexer, const struct lb_token *before)
{
    struct lb_token token = lb_lexer_next_word(lexer);
    struct lb_lexer ahead = *lexer;
    struct lb_token name = token;
    if (token.kind == LB_T_QUOTED && token.is_name && token.length > 2) {
        name.text++;
        name.length -= 2;
    } else if (lb_token_is_sign(&token, "[") &&
               !(before->length > 0 && before->text + before->length == token.text)) {
        name = lb_lexer_next(&ahead);
        struct lb_token close = lb_lexer_next(&ahead);
        if (name.kind != LB_T_WORD || !lb_token_is_sign(&close, "]"))
            return token;
        *lexer = ahead;
    } else {
        return token;
    }
    name.kind = LB_T_WORD;
    return name;
}

void lb_window_slide(struct lb_window *window)
{
    struct lb_token *token = window->token;
    memmove(token, token + 1, 2 * LB_WINDOW * sizeof *token);
    token[2 * LB_WINDOW] = next_token(&window->lexer, &token[2 * LB_WINDOW - 1]);
}

void lb_window_start(struct lb_window *window, const char *text, size_t length, int line)
{
    *window = (struct lb_window){0};
    lb_lexer_init(&window->lexer, text, length, line);
    for (int i = 0; i < LB_WINDOW; i++)
        lb_window_slide(window);
}

bool lb_asks_for_time(const struct lb_token *token)
{
    static const char *const words[] = {
        "now",       "current_timestamp", "clock_timestamp", "statement_timestamp",
        "localtime", "current_time",      "localtimestamp",  "transaction_timestamp",
        "julianday", "unixepoch",         "unix_timestamp",  "utc_timestamp",
        "sysdate",   "strftime",          "datetime",        "timeofday",
        NULL};
    return lb_token_is_any(token, words) ||
           (token->kind == LB_T_PARAM && lb_slice_is(token->text + 1, token->length - 1, "now"));
}

bool lb_sql_compares_time(const char *sql, enum lb_dialect dialect)
{
    struct lb_tokens tokens;
    bool is_behind = false, asks = false; /* behind WHERE */
    lb_tokens_read(&tokens, sql, dialect);
    for (size_t i = 0; i < tokens.n && !asks; i++) {
        asks = is_behind && lb_asks_for_time(&tokens.at[i]);
        is_behind = is_behind || lb_token_is(&tokens.at[i], "where");
    }
    lb_tokens_free(&tokens);
    return asks;
}

bool lb_sql_reads_time(const char *text, size_t length)
{
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, text, length, 1);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD)
        if (lb_asks_for_time(&token))
            return true;
    return false;
}
