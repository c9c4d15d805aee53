/* Statements that ask for the clock of the server, where a step of the clock moves it: see reset.h.
 */
#include "reset.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* from: the word and its call, n characters, of which the word has n_word. */
static void write_word(FILE *out, const char *from, size_t n, size_t n_word, const char *instead,
                       int64_t ahead_ms, int64_t still_unix_ms)
{
    for (const char *c = instead; *c != '\0'; c++)
        if (*c == '@')
            fwrite(from, 1, n, out);
        else if (*c == '!')
            fwrite(from + n_word, 1, n - n_word, out);
        else if (*c == '#' && ahead_ms % 1000 == 0)
            fprintf(out, "%lld", (long long)ahead_ms / 1000);
        else if (*c == '#')
            fprintf(out, "%lld.%03lld", (long long)ahead_ms / 1000, (long long)ahead_ms % 1000);
        else if (*c == '$')
            fprintf(out, "%lld", (long long)still_unix_ms / 1000);
        else
            fputc(*c, out);
}

/* Does it define a table? CREATE or ALTER need not be the first word: SET STATEMENT ... FOR CREATE
 * TABLE. */
static bool defines_table(enum lb_dialect dialect, const char *sql)
{
    static const char *const definitions[] = {"create", "alter", NULL}, *const between[] = {
                                                                            "or",        "replace",
                                                                            "temporary", "online",
                                                                            "ignore",    NULL};
    struct lb_tokens tokens;
    bool is = false, is_begun = false;
    lb_tokens_read(&tokens, sql, dialect);
    for (size_t i = 0; i < tokens.n && !is; i++) {
        is = is_begun && lb_token_is(&tokens.at[i], "table");
        is_begun = lb_token_is_any(&tokens.at[i], definitions) ||
                   (is_begun && lb_token_is_any(&tokens.at[i], between));
    }
    lb_tokens_free(&tokens);
    return is;
}

static const struct lb_clock_word *words_for(const struct lb_server_clock *clock,
                                             enum lb_dialect dialect, const char *native,
                                             int64_t still_unix_ms)
{
    if (clock->default_words != NULL && defines_table(dialect, native))
        return clock->default_words;
    return clock->still_words != NULL && still_unix_ms != 0 ? clock->still_words : clock->words;
}

/* The word that is replaced; NULL: the token stays. */
static const struct lb_clock_word *find(const struct lb_clock_word *words,
                                        const struct lb_token *token)
{
    for (const struct lb_clock_word *word = words; word->word != NULL; word++)
        if (lb_token_is(token, word->word))
            return word;
    return NULL;
}

/* The end of the word's call behind it, "(6)"; without one, the end of the word. */
static const char *end_of_call(struct lb_lexer behind)
{
    const char *end = behind.at;
    struct lb_token token = lb_lexer_next_word(&behind);
    if (!lb_token_is_sign(&token, "("))
        return end;
    while (token.kind != LB_T_END && token.kind != LB_T_BAD && !lb_token_is_sign(&token, ")"))
        token = lb_lexer_next(&behind);
    return lb_token_is_sign(&token, ")") ? behind.at : end;
}

char *lb_clock_rewrite(const struct lb_server_clock *clock, enum lb_dialect dialect,
                       const char *native, int64_t ahead_ms, int64_t still_unix_ms)
{
    const struct lb_clock_word *words = words_for(clock, dialect, native, still_unix_ms);
    char *text = NULL;
    size_t size;
    struct lb_lexer lexer;
    struct lb_token token;
    bool is_label = false;
    FILE *out = lb_open_memory(&text, &size);
    lb_lexer_init(&lexer, native, strlen(native), 1);
    lexer.dialect = dialect;
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END) {
        const struct lb_clock_word *word = is_label ? NULL : find(words, &token);
        const char *end = token.kind == LB_T_BAD ? token.text + strlen(token.text) : lexer.at,
                   *end_of_word = end_of_call(lexer);
        bool is_name = word != NULL && strpbrk(word->instead, "@!") != NULL && end_of_word == end;
        is_label = token.kind == LB_T_BLANK ? is_label : lb_token_is(&token, "as");
        if (word != NULL && !is_name) {
            end = lexer.at = end_of_word;
            write_word(out, token.text, (size_t)(end - token.text), token.length, word->instead,
                       ahead_ms, still_unix_ms);
        } else {
            fwrite(token.text, 1, (size_t)(end - token.text), out);
        }
    }
    lb_close_memory(out);
    return text;
}

static bool contains(const struct lb_token *token, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= token->length; i++)
        if (strncasecmp(token->text + i, word, n) == 0)
            return true;
    return false;
}

/* A text, and no name in quotation marks. */
static bool is_text(const struct lb_token *token, enum lb_dialect dialect)
{
    return token->kind == LB_T_QUOTED && *token->text != '`' &&
           !(token->is_name && dialect != LB_SQL_MARIADB);
}

/* PostgreSQL: 'now' and the like are times when they are cast, by the server's own clock. */
static const char *special_time(const struct lb_token *token)
{
    static const char *const special[] = {"now", "today", "tomorrow", "yesterday", NULL};
    size_t begin = 1, end = token->length;
    while (begin < end && strchr(" \t\n", token->text[begin]) != NULL)
        begin++;
    while (end > begin && strchr(" \t\n'", token->text[end - 1]) != NULL)
        end--;
    for (size_t i = 0; special[i] != NULL; i++)
        if (strlen(special[i]) == end - begin &&
            strncasecmp(token->text + begin, special[i], end - begin) == 0)
            return special[i];
    return NULL;
}

const char *lb_clock_hidden(const struct lb_server_clock *clock, enum lb_dialect dialect,
                            const char *sql)
{
    const char *hidden = NULL;
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, sql, dialect);
    for (size_t i = 0; i < tokens.n && dialect == LB_SQL_POSTGRES && hidden == NULL; i++)
        if (is_text(&tokens.at[i], dialect) && *tokens.at[i].text == '\'')
            hidden = special_time(&tokens.at[i]);
    for (size_t i = 0; i < tokens.n && clock->words != NULL && hidden == NULL; i++)
        for (const struct lb_clock_word *word = clock->words; word->word != NULL; word++)
            if (is_text(&tokens.at[i], dialect) && contains(&tokens.at[i], word->word))
                hidden = word->word;
    lb_tokens_free(&tokens);
    return hidden;
}

bool lb_clock_is_default(const struct lb_server_clock *clock, enum lb_dialect dialect,
                         const char *sql)
{
    bool is = false;
    struct lb_tokens tokens;
    if (clock->default_words == NULL || !defines_table(dialect, sql))
        return false;
    lb_tokens_read(&tokens, sql, dialect);
    for (size_t i = 0; i < tokens.n && !is; i++)
        is = find(clock->default_words, &tokens.at[i]) != NULL;
    lb_tokens_free(&tokens);
    return is;
}
