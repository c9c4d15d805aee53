/* The words of SQL, as statement files have them. */
#ifndef LB_PROGRAM_LEX_H
#define LB_PROGRAM_LEX_H

#include "db.h"

#include <stdbool.h>
#include <stddef.h>

enum lb_token_kind {
    LB_T_END,
    LB_T_BLANK,
    LB_T_COMMENT,  /* -- to the end of the line, without the newline */
    LB_T_HINT,     /* a comment in slashes and stars: kept, it may be a hint to the planner */
    LB_T_WORD,     /* identifier or keyword */
    LB_T_QUOTED,   /* '..' "..." `..` E'..' $tag$..$tag$ */
    LB_T_PARAM,    /* :name */
    LB_T_OPTION,   /* {name} */
    LB_T_POSITION, /* ? or $1: a placeholder of the engine's, which nothing fills */
    LB_T_SEMICOLON,
    LB_T_OTHER, /* anything else, operators included */
    LB_T_BAD    /* unterminated text; `what` names it */
};

struct lb_token {
    enum lb_token_kind kind;
    const char *text; /* in the input */
    size_t length;
    int line;
    bool first_on_line; /* nothing but blanks before it */
    bool is_name;       /* LB_T_QUOTED: it may be a name, and no text */
    const char *what;   /* LB_T_BAD: the mistake */
};

struct lb_lexer {
    const char *at, *end;
    int line;
    bool first_on_line;
    enum lb_dialect dialect; /* lb_lexer_init: any */
};

void lb_lexer_init(struct lb_lexer *lexer, const char *text, size_t length, int line);
struct lb_token lb_lexer_next(struct lb_lexer *lexer);
/* The next token that is neither a blank nor a comment. */
struct lb_token lb_lexer_next_word(struct lb_lexer *lexer);
/* Keyword or identifier, whatever its case. */
bool lb_token_is(const struct lb_token *token, const char *word);
/* The same of one of the words in a list that NULL ends. */
bool lb_token_is_any(const struct lb_token *token, const char *const *words);
/* Is the text of both the same, whatever its case? */
bool lb_token_equals(const struct lb_token *a, const struct lb_token *b);
/* True if it is the word of a statement that ends, or interrupts, the sessions of others. */
bool lb_token_ends_session(const struct lb_token *token);
/* An operator, or a number, that begins with this character; and any number. */
bool lb_token_begins(const struct lb_token *token, char c);
bool lb_token_is_number(const struct lb_token *token);
/* A plus or a minus by itself. */
bool lb_token_adds(const struct lb_token *token);
/* This operator or character. */
bool lb_token_is_sign(const struct lb_token *token, const char *sign);
/* The name of a table or a column, quoted or not, whatever its case. */
bool lb_token_names(const struct lb_token *token, const char *name);
/* The name in :name, in {name} or in quotes, or the word itself. Other tokens have the length 0. */
void lb_token_name(const struct lb_token *token, const char **ret_name, size_t *ret_length);

/* A statement's tokens, without blanks and comments. Operators of several characters are one token
 * each. LB_T_END follows the last one. */
struct lb_tokens {
    struct lb_token *at;
    size_t n;
    /* False if a quotation does not end, the engine gives a character no meaning, or what it means
     * depends on the server's settings. Conclude nothing from the tokens then. */
    bool is_understood;
};

void lb_tokens_read(struct lb_tokens *ret, const char *sql, enum lb_dialect dialect);
void lb_tokens_free(struct lb_tokens *tokens);

/* Has the statement one of the words, also in a function's body that it quotes? True if it is not
 * understood. */
bool lb_sql_has_any(const char *sql, enum lb_dialect dialect, const char *const *words);
/* Is the statement's first word, maybe in parentheses, one of these? False if it is not understood.
 */
bool lb_sql_begins(const char *sql, enum lb_dialect dialect, const char *const *words);

#endif
