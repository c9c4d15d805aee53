/* Indexes that a statement's own conditions and order ask for. */
#ifndef LB_AGED_INDEX_H
#define LB_AGED_INDEX_H

#include "program_lex.h"

enum { LB_AGED_INDEXES = 12 };

struct lb_aged_indexes {
    char words[LB_AGED_INDEXES][600]; /* "job (class, run_at) WHERE status = 'new'" */
    size_t n;
};

/* Adds an index for each FROM table WHERE conditions [ORDER BY columns] of sql, and each UPDATE. Of
 * conditions in several terms those are read that are joined by AND: column = parameter, column =
 * constant, column IS NULL, and comparisons. is_partial: an index may have a condition. */
void lb_aged_propose(struct lb_aged_indexes *indexes, const char *sql, enum lb_dialect dialect,
                     bool is_partial);

#endif
