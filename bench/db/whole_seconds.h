/* The times of an engine that have whole seconds only: see program_clock.c, which looks for them in
 * a file's statements. One const struct per engine, which lb_db.whole_seconds names.
 */
#ifndef LB_WHOLE_SECONDS_H
#define LB_WHOLE_SECONDS_H

#include "program_lex.h"

struct lb_whole_seconds {
    /* True if the word is a time of whole seconds. args: the arguments behind it, without the
     * parentheses. Required. */
    bool (*is_time)(const struct lb_token *word, const char *args, size_t n_args);
    /* True if this type, DATETIME, TIMESTAMP or TIMESTAMPTZ, is such a time with these arguments.
     * NULL: the engine has no such types. */
    bool (*is_column)(const struct lb_token *type, const char *args, size_t n_args);
    bool divides_wholly; /* the quotient of two integers is an integer */
    bool has_epoch;      /* extract(epoch FROM time) */
};

#endif
