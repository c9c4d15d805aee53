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
    bool is_mixed; /* one of several sent together with parameters: the owner of each parameter is
                      unknown */
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
};
/* Comments are skipped. */
struct lb_piece lb_piece_next(struct lb_piece_reader *reader);

/* The next one that is no blank. */
struct lb_piece lb_piece_word(struct lb_piece_reader *reader);
bool lb_piece_is_blank(struct lb_piece piece);
/* Has the part these words at its begin, or one behind the other anywhere? */
bool lb_part_begins(const struct lb_part *part, const char *words);
bool lb_part_has(const struct lb_part *part, const char *words);
/* Where the main statement begins, behind WITH name AS (...), ...; 0: it has no WITH, or is not
 * understood. */
size_t lb_piece_behind_with(const char *text, size_t n);
/* Do both have the same words, but for literals? */
bool lb_parts_alike(const struct lb_part *a, const struct lb_part *b);
/* If the second worker sent only a part of the first one's statements, and the first one wrote
 * something more: removes these writes, and the first one's reads around them, from first. The
 * writes go to *ret_once. */
void lb_parts_drop_once(struct lb_parts *first, const struct lb_parts *second,
                        struct lb_parts *ret_once);

/* The line of lines, the part's params or types, that is the parameter's. false: there is none. */
bool lb_piece_param(const struct lb_part *part, const char *lines, struct lb_piece piece, char *out,
                    size_t size);

#endif
