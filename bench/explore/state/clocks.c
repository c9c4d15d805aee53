/* Statements that ask for the clock of the server, where a step of the clock moves it: see reset.h.
 */
#include "reset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* from: the word and its call, n characters, of which the word has n_word. */
static void write_word(FILE *out, const char *from, size_t n, size_t n_word, const char *instead,
                       int64_t ahead_ms, int64_t still_unix_ms)
{
    for (const char *c = instead; *c != '\0'; c++)
        if (*c == '@')
            fwrite(from, 1, n, out);
        else if (*c == '!')
            fwrite(from + n_word, 1, n - n_word, out);
        else if (*c == '#')
            fprintf(out, "%lld", (long long)ahead_ms * 1000);
        else if (*c == '$')
            fprintf(out, "%lld", (long long)still_unix_ms);
        else
            fputc(*c, out);
}

static const struct lb_clock_word *words_for(const struct lb_server_clock *clock,
                                             enum lb_dialect dialect, const char *native,
                                             int64_t still_unix_ms)
{
    static const char *const definitions[] = {"create", "alter", NULL};
    if (clock->default_words != NULL && lb_sql_begins(native, dialect, definitions))
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
    size_t size = 0;
    struct lb_lexer lexer;
    struct lb_token token;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    lb_lexer_init(&lexer, native, strlen(native), 1);
    lexer.dialect = dialect;
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END) {
        const struct lb_clock_word *word = find(words, &token);
        const char *end = token.kind == LB_T_BAD ? token.text + strlen(token.text) : lexer.at;
        if (word != NULL) {
            end = lexer.at = end_of_call(lexer);
            write_word(out, token.text, (size_t)(end - token.text), token.length, word->instead,
                       ahead_ms, still_unix_ms);
        } else {
            fwrite(token.text, 1, (size_t)(end - token.text), out);
        }
    }
    return fclose(out) == 0 ? text : NULL;
}
