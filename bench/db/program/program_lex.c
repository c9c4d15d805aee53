/* The lexer of SQL: of statement files, and of single statements.
 *
 * It knows just enough of SQL to tell words from string literals, quoted names, comments and
 * dollar-quoted bodies. `:name` and `{name}` have a meaning only outside of those. A file is read
 * before an engine is known. There a backslash escapes in E'..' only (write '' for a quote), and a
 * comment in a comment is an error, because the engines' own lexers disagree. A statement of a
 * known engine is read as that engine reads it.
 */
#include "program_raw.h"

#include "array.h"

#include <ctype.h>
#include <stdlib.h>
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

static void lex_block_comment(struct lb_token *token, const char *end, enum lb_dialect dialect)
{
    const char *at = token->text;
    if (dialect == LB_SQL_MARIADB && at + 3 < end &&
        (at[2] == '!' || memcmp(at + 2, "M!", 2) == 0)) {
        take(token, LB_T_BAD, NULL, "a comment that the server executes");
        return;
    }
    size_t depth = 1;
    for (const char *p = at + 2; p + 1 < end; p++) {
        if (p[0] == '*' && p[1] == '/') {
            p++;
            if (--depth > 0)
                continue;
            take(token, LB_T_HINT, p + 1, NULL);
            return;
        }
        if (p[0] != '/' || p[1] != '*')
            continue;
        if (dialect == LB_SQL_ANY) {
            take(token, LB_T_BAD, NULL, "a comment inside of a comment: engines differ on it");
            return;
        }
        depth += dialect == LB_SQL_POSTGRES;
        p += dialect == LB_SQL_POSTGRES;
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

/* A text in single quotes, or in those that MariaDB takes for the same. */
static void lex_text(struct lb_token *token, const char *end, enum lb_dialect dialect)
{
    const char *at = token->text;
    bool is_escaped = *at == 'e' || *at == 'E';
    const char *close = quoted_end(at + is_escaped, end, is_escaped || dialect == LB_SQL_MARIADB);
    take(token, LB_T_QUOTED, close, "a string that does not end");
    token->is_name = *at == '"' || dialect == LB_SQL_SQLITE; /* UPDATE 'item' SET 'owner' = 1 */
    for (const char *p = at;
         dialect == LB_SQL_POSTGRES && !is_escaped && close != NULL && p < close; p++)
        if (p[0] == '\\' && p[1] == '\'') /* standard_conforming_strings decides */
            take(token, LB_T_BAD, NULL, "a quote behind a backslash");
}

static bool begins_text(const char *at, const char *end, enum lb_dialect dialect)
{
    bool has_escapes = dialect == LB_SQL_ANY || dialect == LB_SQL_POSTGRES;
    return *at == '\'' || (*at == '"' && dialect == LB_SQL_MARIADB) ||
           (has_escapes && (*at == 'e' || *at == 'E') && at + 1 < end && at[1] == '\'');
}

static bool begins_comment(const char *at, const char *end, enum lb_dialect dialect)
{
    if (dialect == LB_SQL_MARIADB)
        return *at == '#' || (end - at > 1 && at[0] == '-' && at[1] == '-' &&
                              (end - at == 2 || isspace((unsigned char)at[2])));
    return end - at > 1 && at[0] == '-' && at[1] == '-';
}

static void lex_quoted_name(struct lb_token *token, const char *end)
{
    const char *at = token->text;
    if (*at == '[') {
        const char *close = memchr(at, ']', (size_t)(end - at));
        take(token, LB_T_QUOTED, close != NULL ? close + 1 : NULL,
             "a quoted name that does not end");
    } else {
        take(token, LB_T_QUOTED, quoted_end(at, end, false), "a quoted name that does not end");
    }
    token->is_name = true;
}

static bool begins_quoted_name(const char *at, enum lb_dialect dialect)
{
    return *at == '"' || (*at == '`' && dialect != LB_SQL_POSTGRES) ||
           (*at == '[' && dialect == LB_SQL_SQLITE);
}

static void lex_word(struct lb_token *token, const char *end, enum lb_dialect dialect)
{
    const char *p = skip_words(token->text, end);
    take(token, LB_T_WORD, p, NULL);
    if (dialect == LB_SQL_POSTGRES && lb_token_is(token, "u") && end - p > 1 && p[0] == '&' &&
        (p[1] == '"' || p[1] == '\''))
        take(token, LB_T_BAD, NULL, "a quotation with characters by number");
}

/* 10, 1e5, 0xff. In "1or 2" some engines see a number and a word, others a name. */
static bool is_number(const struct lb_token *token)
{
    const char *p = token->text, *end = p + token->length;
    if (end - p > 2 && *p == '0' && (p[1] == 'x' || p[1] == 'X')) {
        for (p += 2; p < end && isxdigit((unsigned char)*p); p++)
            ;
        return p == end;
    }
    while (p < end && isdigit((unsigned char)*p))
        p++;
    for (p += p < end && (*p == 'e' || *p == 'E'); p < end && isdigit((unsigned char)*p); p++)
        ;
    return p == end;
}

/* One character that is none of the above. */
static void lex_sign(struct lb_token *token, enum lb_dialect dialect)
{
    char c = *token->text;
    if (dialect != LB_SQL_ANY && (iscntrl((unsigned char)c) || c == '\\'))
        take(token, LB_T_BAD, NULL, "a character that means nothing outside of quotes");
    else if (c == '?')
        take(token, LB_T_POSITION, token->text + 1, NULL);
    else
        take(token, c == ';' ? LB_T_SEMICOLON : LB_T_OTHER, token->text + 1, NULL);
}

static void lex_one(struct lb_token *token, const char *end, enum lb_dialect dialect)
{
    const char *at = token->text, *p = at;
    char c = *at;
    if (isspace((unsigned char)c)) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        take(token, LB_T_BLANK, p, NULL);
    } else if (begins_comment(at, end, dialect)) {
        while (p < end && *p != '\n')
            p++;
        take(token, LB_T_COMMENT, p, NULL);
    } else if (c == '/' && at + 1 < end && at[1] == '*') {
        lex_block_comment(token, end, dialect);
    } else if (begins_text(at, end, dialect)) {
        lex_text(token, end, dialect);
    } else if (begins_quoted_name(at, dialect)) {
        lex_quoted_name(token, end);
    } else if (is_word_start(c)) {
        lex_word(token, end, dialect);
    } else if (isdigit((unsigned char)c)) {
        take(token, LB_T_OTHER, skip_words(at, end), NULL); /* 1e5 is no word e5 */
        if (dialect != LB_SQL_ANY && !is_number(token))
            take(token, LB_T_BAD, NULL, "a number with letters");
    } else if (c == '$') {
        lex_dollar(token, end);
    } else if (c == ':') {
        lex_colon(token, end);
    } else if (c == '{') {
        lex_brace(token, end);
    } else {
        lex_sign(token, dialect);
    }
}

struct lb_token lb_lexer_next(struct lb_lexer *lexer)
{
    struct lb_token token = {
        .text = lexer->at, .line = lexer->line, .first_on_line = lexer->first_on_line};
    if (lexer->at >= lexer->end)
        return token;
    lex_one(&token, lexer->end, lexer->dialect);
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

struct lb_token lb_lexer_next_word(struct lb_lexer *lexer)
{
    struct lb_token token;
    do
        token = lb_lexer_next(lexer);
    while (token.kind == LB_T_BLANK || token.kind == LB_T_COMMENT || token.kind == LB_T_HINT);
    return token;
}

bool lb_token_is(const struct lb_token *token, const char *word)
{
    return token->kind == LB_T_WORD && lb_slice_is(token->text, token->length, word);
}

bool lb_token_is_any(const struct lb_token *token, const char *const *words)
{
    return token->kind == LB_T_WORD && lb_slice_among(token->text, token->length, words) >= 0;
}

bool lb_token_equals(const struct lb_token *a, const struct lb_token *b)
{
    return a->length == b->length && strncasecmp(a->text, b->text, a->length) == 0;
}

bool lb_token_ends_session(const struct lb_token *token)
{
    static const char *const words[] = {"pg_terminate_backend", "pg_cancel_backend", "kill", NULL};
    return lb_token_is_any(token, words);
}

bool lb_token_begins(const struct lb_token *token, char c)
{
    return token->kind == LB_T_OTHER && token->length > 0 && *token->text == c;
}

bool lb_token_adds(const struct lb_token *token)
{
    return token->length == 1 && (lb_token_begins(token, '+') || lb_token_begins(token, '-'));
}

bool lb_token_is_number(const struct lb_token *token)
{
    return token->kind == LB_T_OTHER && token->length > 0 && isdigit((unsigned char)*token->text);
}

bool lb_token_is_sign(const struct lb_token *token, const char *sign)
{
    return (token->kind == LB_T_OTHER || token->kind == LB_T_SEMICOLON) &&
           token->length == strlen(sign) && memcmp(token->text, sign, token->length) == 0;
}

bool lb_token_names(const struct lb_token *token, const char *name)
{
    const char *bare;
    size_t length;
    lb_token_name(token, &bare, &length);
    return (token->kind == LB_T_WORD || token->kind == LB_T_QUOTED) &&
           lb_slice_is(bare, length, name);
}

void lb_token_name(const struct lb_token *token, const char **ret_name, size_t *ret_length)
{
    bool is_quoted = token->kind == LB_T_QUOTED && token->is_name && token->length > 2;
    size_t before = is_quoted || token->kind == LB_T_PARAM || token->kind == LB_T_OPTION;
    size_t behind = is_quoted || token->kind == LB_T_OPTION;
    *ret_name = token->text + before;
    *ret_length = before > 0 || token->kind == LB_T_WORD ? token->length - before - behind : 0;
}

/* --- the tokens of a statement --- */

/* Does the sign go on with the operator before it? "<>", "!=", "||", "->>", "=>". */
static bool goes_on(const struct lb_token *before, const struct lb_token *token)
{
    char c = *token->text;
    if (before->kind != LB_T_OTHER || token->kind != LB_T_OTHER || token->length != 1 ||
        before->text + before->length != token->text)
        return false;
    return strchr("<>=!|~&@#^", c) != NULL &&
           (strchr("<>=!|~&@#^", *before->text) != NULL || (*before->text == '-' && c == '>'));
}

/* E'a' goes on in a 'b' behind it, with escapes. */
static bool continues_escapes(const struct lb_token *before, const struct lb_token *token)
{
    return before->kind == LB_T_QUOTED && token->kind == LB_T_QUOTED && *token->text == '\'' &&
           (*before->text == 'e' || *before->text == 'E');
}

void lb_tokens_read(struct lb_tokens *ret, const char *sql, enum lb_dialect dialect)
{
    struct lb_array tokens = {0};
    struct lb_lexer lexer;
    struct lb_token *last = NULL;
    bool is_end = false;
    *ret = (struct lb_tokens){.is_understood = true};
    lb_lexer_init(&lexer, sql, strlen(sql), 1);
    lexer.dialect = dialect;
    while (!is_end) {
        struct lb_token token = lb_lexer_next(&lexer);
        if (token.kind == LB_T_BAD || (last != NULL && continues_escapes(last, &token)))
            ret->is_understood = false;
        is_end = token.kind == LB_T_END || token.kind == LB_T_BAD;
        if (token.kind == LB_T_BLANK || token.kind == LB_T_COMMENT || token.kind == LB_T_HINT)
            continue;
        if (last != NULL && goes_on(last, &token)) {
            last->length++;
            continue;
        }
        last = lb_array_push(&tokens, sizeof *last);
        *last = token;
    }
    last->kind = LB_T_END;
    ret->at = tokens.items;
    ret->n = tokens.n - 1;
}

void lb_tokens_free(struct lb_tokens *tokens)
{
    free(tokens->at);
    *tokens = (struct lb_tokens){0};
}

/* True if the statement has one of the words, also in a function's body: AS $$..$$, or AS '..' with
 * doubled quotes. All quotations of DO are code, whether LANGUAGE stands before the body or behind.
 * Other text in dollar quotes is a statement for EXECUTE, or a literal. A body with escapes may
 * hide any word. if_bad: the answer for a text that is not understood. */
static bool has_any(struct lb_lexer lexer, const char *const *words, bool if_bad)
{
    bool is_code = false, is_do = false;
    for (bool is_first = true;; is_first = false) {
        struct lb_token token = lb_lexer_next_word(&lexer);
        struct lb_lexer body = lexer;
        is_do = is_do || (is_first && lb_token_is(&token, "do"));
        is_code = is_code || is_do;
        if (token.kind == LB_T_END)
            return false;
        if (token.kind == LB_T_BAD)
            return if_bad;
        if (lb_token_is_any(&token, words))
            return true;
        bool is_quoted = token.kind == LB_T_QUOTED, is_dollar = is_quoted && *token.text == '$';
        if (is_quoted && is_code && (*token.text == 'e' || *token.text == 'E'))
            return true;
        size_t quote = is_dollar ? dollar_tag(token.text, token.text + token.length) : 1;
        body.at = token.text + quote;
        body.end = token.text + token.length - quote;
        if ((is_dollar || (is_quoted && *token.text == '\'' && is_code)) &&
            has_any(body, words, is_code))
            return true;
        is_code = lb_token_is(&token, "as");
    }
}

bool lb_sql_has_any(const char *sql, enum lb_dialect dialect, const char *const *words)
{
    struct lb_lexer lexer;
    lb_lexer_init(&lexer, sql, strlen(sql), 1);
    lexer.dialect = dialect;
    return has_any(lexer, words, true);
}

bool lb_sql_begins(const char *sql, enum lb_dialect dialect, const char *const *words)
{
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, sql, dialect);
    size_t i = 0;
    while (i < tokens.n && lb_token_is_sign(&tokens.at[i], "("))
        i++;
    bool begins = tokens.is_understood && i < tokens.n && lb_token_is_any(&tokens.at[i], words);
    lb_tokens_free(&tokens);
    return begins;
}

/* --- slices --- */

bool lb_slice_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

int lb_slice_among(const char *text, size_t length, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (lb_slice_is(text, length, words[i]))
            return i;
    return -1;
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
