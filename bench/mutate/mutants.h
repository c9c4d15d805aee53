/* Mutants of a file of statements: texts of the same file with one clause left out, or weakened.
 *
 * They are made of the tokens of each statement that the engine and the options choose. Clauses
 * that only make a protocol faster (an index that is not unique) have no mutant.
 */
#ifndef LB_MUTANTS_H
#define LB_MUTANTS_H

#include "program.h"

#include <stddef.h>

enum lb_mutant_kind {
    LB_MUTANT_CONDITION,   /* of WHERE, ON or HAVING, left out */
    LB_MUTANT_COMPARISON,  /* <= for <, and the like */
    LB_MUTANT_LOCK,        /* FOR UPDATE, SKIP LOCKED, NOWAIT */
    LB_MUTANT_ORDER,       /* ORDER BY */
    LB_MUTANT_LIMIT,       /* LIMIT */
    LB_MUTANT_CLOCK,       /* the transaction's clock, or the worker's, for the server's */
    LB_MUTANT_COUNT,       /* token = token + 1 left out */
    LB_MUTANT_STATEMENT,   /* a whole statement */
    LB_MUTANT_REQUIRE,     /* -- require: row */
    LB_MUTANT_TRANSACTION, /* tx=one */
    LB_MUTANT_KEY,         /* PRIMARY KEY, UNIQUE, REFERENCES, CHECK, a unique index's WHERE */
    LB_MUTANT_ISOLATION,   /* one level lower */
    LB_MUTANT_DELETE,      /* DELETE for UPDATE */
    LB_MUTANT_CHOICE,      /* CASE, IF: one of its values */
    LB_MUTANT_CONFLICT     /* ON CONFLICT, ON DUPLICATE KEY, INSERT IGNORE */
};

struct lb_mutant {
    enum lb_mutant_kind kind;
    enum lb_section_name section; /* LB_SECTIONS: the header */
    size_t statement;             /* in the file; SIZE_MAX: none */
    int line;                     /* the first that differs */
    char *text;                   /* the whole file */
    char *clause;                 /* the part that is left out or changed, on one line */
    char *diff;                   /* "- line\n+ line\n" */
    size_t at, length; /* the text that is left out, of a condition or a count; else length 0 */
};

struct lb_mutants {
    struct lb_mutant *at;
    size_t n;
};

/* The mutants of a user's file, which program was made of with these settings. Free with
 * lb_mutants_free. */
void lb_mutants_make(const struct lb_file *file, const struct lb_program *program,
                     const struct lb_setting *settings, size_t n_settings, struct lb_mutants *ret);
void lb_mutants_free(struct lb_mutants *mutants);

/* Can both be left out together? They are conditions of one statement, and none is a part of the
 * other; or one is a count (token = token + 1). */
bool lb_mutants_pair(const struct lb_mutant *a, const struct lb_mutant *b);
/* The file's text without both. Caller frees. */
char *lb_mutants_without(const struct lb_file *file, const struct lb_mutant *a,
                         const struct lb_mutant *b);

const char *lb_mutant_kind_name(enum lb_mutant_kind kind);

#endif
