/* What the literals of a program's statements stand for, told by how they differ between workers.
 * Private to bench/transcribe. */
#ifndef LB_VALUES_H
#define LB_VALUES_H

#include "recording.h"

enum { LB_VALUE_SAMPLES = 3, LB_VALUE_TEXT = 160, LB_VALUES = 64 };

/* One value as each of the three had it, as text; "": not had. */
struct lb_value_of {
    char had[LB_VALUE_SAMPLES][LB_VALUE_TEXT];
    char text[100]; /* its placeholder in the file: ":worker" */
    bool is_weak;   /* a number that may match by chance: it counts if it differs */
    bool is_param;  /* ... or as a parameter */
};

struct lb_values {
    struct lb_value_of known[LB_VALUES];
    size_t n;
    size_t n_own;      /* of them, those of the operation that is being written, are at the end */
    bool has_ttl;      /* the length of the lease was found */
    uint64_t now_ms;   /* since 1970, when the operation began */
    bool is_claim;     /* the operation takes an item */
    bool wants_number; /* the next literal must be a number */
};

/* Sets the known values of an operation's three samples, in place of the last operation's. Samples
 * may be NULL. */
void lb_values_begin(struct lb_values *values,
                     const struct lb_recorded *const samples[LB_VALUE_SAMPLES], bool is_lock);
/* Learns a column of an answer: the names of those that follow. */
void lb_values_learn(struct lb_values *values, const char *const had[LB_VALUE_SAMPLES],
                     const char *text);
/* Writes to out the placeholder for a literal that the samples have at the same place (NULL: not
 * present). note, if not empty, is a remark for the reader. false: out has the first sample's own
 * literal. */
bool lb_values_resolve(struct lb_values *values, const char *const literals[LB_VALUE_SAMPLES],
                       bool is_param, bool is_lock, char *out, size_t size, char *note,
                       size_t note_size);

/* A literal's value; at most size - 1 bytes. */
void lb_value_plain(const char *literal, size_t n, char *plain, size_t size);
/* The nth column of the first of rows as the gate writes them: "id=1 owner='w0'; id=2". false:
 * there is none. */
bool lb_value_column(const char *rows, size_t nth, char *name, size_t name_size, char *literal,
                     size_t literal_size);

#endif
