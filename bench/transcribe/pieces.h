/* A recorded operation as the statements that a section of a file has. Private to bench/transcribe.
 */
#ifndef LB_PIECES_H
#define LB_PIECES_H

#include "recording.h"

enum { LB_PARTS = 200 };

struct lb_part {
    const struct lb_recorded_statement *statement;
    const char *text; /* in its sql: one statement of it */
    size_t n;
    bool is_last;  /* of the request: the answer is its own */
    bool is_mixed; /* of several that were sent together with parameters: whose is not known */
};

struct lb_parts {
    struct lb_part parts[LB_PARTS];
    size_t n;
    size_t n_left_out; /* that failed, or are not whole, or more than there is room for */
    bool begins, is_open, is_serializable, is_repeatable; /* a transaction */
    bool has_sessions;                                    /* more than one */
};

/* sample may be NULL. Transactions' own statements, and what drivers send of their own accord, are
 * left out. */
void lb_parts_of(const struct lb_recorded *sample, struct lb_parts *ret);

/* The next word, number, literal or sign of a statement. */
struct lb_piece {
    const char *text;
    size_t n;
    enum { LB_PIECE_END, LB_PIECE_LITERAL, LB_PIECE_POSITION, LB_PIECE_COLON, LB_PIECE_OTHER } kind;
};
struct lb_piece_reader {
    const char *at, *end;
    bool is_behind_blank;
};
/* Comments are skipped. */
struct lb_piece lb_piece_next(struct lb_piece_reader *reader);

/* The line of lines, the part's params or types, that is the parameter's. false: there is none. */
bool lb_piece_param(const struct lb_part *part, const char *lines, struct lb_piece piece, char *out,
                    size_t size);

#endif
