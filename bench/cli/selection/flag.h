/* A row of the table of flags: see args.c. */
#ifndef LB_FLAG_H
#define LB_FLAG_H

#include <stddef.h>

enum flag_kind {
    FLAG_SWITCH, /* bool */
    FLAG_TEXT,   /* char *: the last one wins */
    FLAG_WORDS   /* struct lb_words: may be given several times */
};

struct flag {
    const char *name;
    char letter;
    enum flag_kind kind;
    size_t offset; /* in struct lb_args */
    unsigned groups;
    const char *argument;
    const char *help; /* %s: the command's formats, see format_names.h */
};

#endif
