/* The lexer of statement files.
 *
 * It knows just enough of SQL to find what must not be touched: string literals in the three
 * engines' notations, quoted identifiers, comments and dollar-quoted bodies. `:name` and `{name}`
 * mean something only outside of those. Limits, where the engines' own lexers disagree and a file
 * is read before an engine is known: a backslash escapes in E'..' only (write '' for a quote), and
 * a comment in a comment is an error rather than one thing here and another there.
 */
#include "program_raw.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

void lb_lexer_init(struct lb_lexer *lexer, const char *text, size_t length, int line)
{
    *lexer = (struct lb_lexer){.at = text, .end = text + length, .line = line};
    lexer->first_on_line = true;
}

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_word(char c)
{
    return is_word_start(c) || isdigit((unsigned char)c) || c == '$';
}

/* Both find the end of the quotation that starts at `at`; NULL: it has none. */
static const char *quoted_end(const char *at, const char *end, bool has_escapes)
{
    char quote = *at++;
    for (; at < end; at++) {
        if (has_escapes && *at == '\\')
            at++;
        else if (*at == quote) {
            if (at + 1 == end || at[1] != quote)
                return at + 1;
            at++;
        }
    }
    return NULL;
}

static const char *dollar_end(const char *at, const char *end, size_t tag_length)
{
    for (const char *p = at + tag_length; p + tag_length <= end; p++)
        if (memcmp(p, at, tag_length) == 0)
            return p + tag_length;
    return NULL;
}

/* The length of $tag$ at `at`, 0 if it is none. */
static size_t dollar_tag(const char *at, const char *end)
{
    const char *p = at + 1;
    if (p < end && isdigit((unsigned char)*p))
        return 0;
    while (p < end && is_word(*p) && *p != '$')
        p++;
    return p < end && *p == '$' ? (size_t)(p - at) + 1 : 0;
}

/* Fills kind and length, or LB_T_BAD. */
static void take(struct lb_token *token, enum lb_token_kind kind, const char *end,
                 const char *unterminated)
{
    token->kind = end != NULL ? kind : LB_T_BAD;
    token->length = end != NULL ? (size_t)(end - token->text) : 0;
    token->what = end != NULL ? NULL : unterminated;
}

static const char *skip_words(const char *at, const char *end)
{
    while (at < end && is_word(*at))
        at++;
    return at;
}

static void lex_block_comment(struct lb_token *token, const char *end)
{
    for (const char *p = token->text + 2; p + 1 < end; p++) {
        if (p[0] == '*' && p[1] == '/') {
            take(token, LB_T_HINT, p + 2, NULL);
            return;
        }
        if (p[0] == '/' && p[1] == '*') {
            take(token, LB_T_BAD, NULL, "a comment inside of a comment: engines differ on it");
            return;
        }
    }
    take(token, LB_T_BAD, NULL, "a comment that does not end: */ is missing");
}

static void lex_dollar(struct lb_token *token, const char *end)
{
    const char *at = token->text;
    size_t tag = dollar_tag(at, end);
    if (tag > 0)
        take(token, LB_T_QUOTED, dollar_end(at, end, tag),
             "a dollar-quoted text that does not end");
    else if (at + 1 < end && isdigit((unsigned char)at[1]))
        take(token, LB_T_POSITION, skip_words(at + 1, end), NULL);
    else
        take(token, LB_T_OTHER, at + 1, NULL);
}

static void lex_colon(struct lb_token *token, const char *end)
{
    const char *at = token->text;
    if (at + 1 < end && (at[1] == ':' || at[1] == '='))
        take(token, LB_T_OTHER, at + 2, NULL);
    else if (at + 1 < end && is_word_start(at[1]))
        take(token, LB_T_PARAM, skip_words(at + 1, end), NULL);
    else
        take(token, LB_T_OTHER, at + 1, NULL);
}

static void lex_brace(struct lb_token *token, const char *end)
{
    const char *at = token->text;
    const char *close = at + 1 < end && is_word_start(at[1]) ? skip_words(at + 1, end) : end;
    if (close < end && *close == '}')
        take(token, LB_T_OPTION, close + 1, NULL);
    else
        take(token, LB_T_OTHER, at + 1, NULL);
}

static void lex_one(struct lb_token *token, const char *end)
{
    const char *at = token->text, *p = at;
    char c = *at, next = at + 1 < end ? at[1] : '\0';
    if (isspace((unsigned char)c)) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        take(token, LB_T_BLANK, p, NULL);
    } else if (c == '-' && next == '-') {
        while (p < end && *p != '\n')
            p++;
        take(token, LB_T_COMMENT, p, NULL);
    } else if (c == '/' && next == '*') {
        lex_block_comment(token, end);
    } else if ((c == 'e' || c == 'E') && next == '\'') {
        take(token, LB_T_QUOTED, quoted_end(at + 1, end, true), "a string that does not end");
    } else if (c == '\'') {
        take(token, LB_T_QUOTED, quoted_end(at, end, false), "a string that does not end");
    } else if (c == '"' || c == '`') {
        take(token, LB_T_QUOTED, quoted_end(at, end, false), "a quoted name that does not end");
    } else if (is_word_start(c)) {
        take(token, LB_T_WORD, skip_words(at, end), NULL);
    } else if (isdigit((unsigned char)c)) {
        take(token, LB_T_OTHER, skip_words(at, end), NULL); /* 1e5 is no word e5 */
    } else if (c == '$') {
        lex_dollar(token, end);
    } else if (c == ':') {
        lex_colon(token, end);
    } else if (c == '{') {
        lex_brace(token, end);
    } else if (c == '?') {
        take(token, LB_T_POSITION, at + 1, NULL);
    } else {
        take(token, c == ';' ? LB_T_SEMICOLON : LB_T_OTHER, at + 1, NULL);
    }
}

struct lb_token lb_lexer_next(struct lb_lexer *lexer)
{
    struct lb_token token = {
        .text = lexer->at, .line = lexer->line, .first_on_line = lexer->first_on_line};
    if (lexer->at >= lexer->end)
        return token;
    lex_one(&token, lexer->end);
    if (token.kind == LB_T_BAD) {
        lexer->at = lexer->end;
        return token;
    }
    bool has_newline = false;
    for (size_t i = 0; i < token.length; i++)
        if (token.text[i] == '\n') {
            lexer->line++;
            has_newline = true;
        }
    if (token.kind == LB_T_BLANK)
        lexer->first_on_line = lexer->first_on_line || has_newline;
    else
        lexer->first_on_line = false;
    lexer->at += token.length;
    return token;
}

bool lb_token_is(const struct lb_token *token, const char *word)
{
    return token->kind == LB_T_WORD && lb_slice_is(token->text, token->length, word);
}

void lb_token_name(const struct lb_token *token, const char **ret_name, size_t *ret_length)
{
    *ret_name = token->text + 1;
    *ret_length = token->length - (token->kind == LB_T_OPTION ? 2 : 1);
}

bool lb_slice_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

void lb_slice_trim(const char **text, size_t *length)
{
    while (*length > 0 && isspace((unsigned char)**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && isspace((unsigned char)(*text)[*length - 1]))
        (*length)--;
}

bool lb_slice_next(const char **text, size_t *length, char separator, const char **ret_item,
                   size_t *ret_length)
{
    if (*text == NULL)
        return false;
    const char *cut = memchr(*text, separator, *length);
    *ret_item = *text;
    *ret_length = cut != NULL ? (size_t)(cut - *text) : *length;
    *length = cut != NULL ? *length - *ret_length - 1 : 0;
    *text = cut != NULL ? cut + 1 : NULL;
    lb_slice_trim(ret_item, ret_length);
    return true;
}
