/* Mutants in the making. Private to bench/mutate. */
#ifndef LB_MAKING_H
#define LB_MAKING_H

#include "mutants.h"
#include "program_raw.h"

/* A part of the file's text that is replaced. */
struct lb_edit {
    size_t at, length;
    const char *with;
};

enum { LB_EDITS = 16 };

/* The statement that is looked at: its tokens, whose texts lie in a copy of it. */
struct lb_making {
    const struct lb_file *file;
    const struct lb_program *program;
    const struct lb_setting *settings;
    size_t n_settings;
    struct lb_mutants *mutants;
    const struct lb_raw_section *section;
    size_t statement; /* in the file; SIZE_MAX: none */
    const char *sql;  /* the copy */
    size_t base;      /* where the statement begins in the file */
    struct lb_tokens tokens;
};

/* Adds the mutant that the edits make, in the order of their places, unless the same text is there
 * or it cannot be read as a file. clause_at, clause_length: the part of the file that it is about.
 * Returns it, or NULL. */
struct lb_mutant *lb_making_add(struct lb_making *m, enum lb_mutant_kind kind,
                                const struct lb_edit *edits, size_t n_edits, size_t clause_at,
                                size_t clause_length);
/* The same, about tokens [from, to) of the statement. */
struct lb_mutant *lb_making_change(struct lb_making *m, enum lb_mutant_kind kind,
                                   const struct lb_edit *edits, size_t n_edits, size_t from,
                                   size_t to);

/* The text with the edits. Caller frees. */
char *lb_making_apply(const char *text, const struct lb_edit *edits, size_t n);

/* Where token i of the statement begins, and ends, in the file. */
size_t lb_making_begin(const struct lb_making *m, size_t i);
size_t lb_making_end(const struct lb_making *m, size_t i);
/* The token behind token i, or behind what it opens: parentheses, CASE ... END. */
size_t lb_making_skip(const struct lb_making *m, size_t i);
bool lb_making_is(const struct lb_making *m, size_t i, const char *word);
bool lb_making_is_sign(const struct lb_making *m, size_t i, const char *sign);
/* Removes tokens [from, to) with the blanks before them. */
struct lb_mutant *lb_making_cut(struct lb_making *m, enum lb_mutant_kind kind, size_t from,
                                size_t to);
/* Replaces tokens [from, to). */
struct lb_mutant *lb_making_replace(struct lb_making *m, enum lb_mutant_kind kind, size_t from,
                                    size_t to, const char *with);

/* conditions.c: those of the clause that token head begins, tokens [from, to). */
void lb_making_conditions(struct lb_making *m, size_t head, size_t from, size_t to);
/* The end of the condition that begins at token i. */
size_t lb_making_condition_end(const struct lb_making *m, size_t i);
/* Those of CASE or IF: each of several left out, each comparison changed. */
void lb_making_parts(struct lb_making *m, size_t from, size_t to);
/* choices.c: CASE or IF that token i begins, each of its values in place of it. */
void lb_making_choice(struct lb_making *m, size_t i);
/* ON CONFLICT, ON DUPLICATE KEY or IGNORE that token i begins. */
void lb_making_conflict(struct lb_making *m, size_t i);
/* clauses.c: all of a statement that workers run. */
void lb_making_clauses(struct lb_making *m);
/* declared.c: keys of a statement of setup. */
void lb_making_keys(struct lb_making *m);

#endif
