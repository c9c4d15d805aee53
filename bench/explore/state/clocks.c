/* Statements that ask for the clock of the server, where a step of the clock moves it: see reset.h.
 */
#include "reset.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Length of the word's call behind it, "(6)"; 0: none. */
static size_t call_at(const char *p)
{
    size_t blank = strspn(p, " ");
    const char *end = p[blank] == '(' ? strchr(p + blank, ')') : NULL;
    return end != NULL ? (size_t)(end - p) + 1 : 0;
}

static void write_word(FILE *out, const char *from, size_t n, const struct lb_clock_word *word,
                       int64_t ahead_ms)
{
    if (word->instead[0] != '+') {
        fprintf(out, "%s", word->instead);
        return;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(out, "(%.*s ", (int)n, from);
    fprintf(out, word->instead, (long long)ahead_ms * 1000);
    fprintf(out, ")");
#pragma GCC diagnostic pop
}

char *lb_clock_rewrite(const struct lb_server_clock *clock, const char *native, int64_t ahead_ms)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    for (const char *p = native; *p != '\0';) {
        const char *from = p;
        const struct lb_clock_word *word = clock->words;
        if (*p == '\'' || *p == '"' || *p == '`') {
            const char *end = strchr(p + 1, *p);
            p = end != NULL ? end + 1 : p + strlen(p);
        } else if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (isalpha((unsigned char)*p) || *p == '_') {
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
            size_t n = (size_t)(p - from);
            while (word->word != NULL &&
                   (strlen(word->word) != n || strncasecmp(word->word, from, n) != 0))
                word++;
            if (word->word != NULL) {
                p += call_at(p);
                write_word(out, from, (size_t)(p - from), word, ahead_ms);
                continue;
            }
        } else {
            p++;
        }
        fwrite(from, 1, (size_t)(p - from), out);
    }
    return fclose(out) == 0 ? text : NULL;
}
