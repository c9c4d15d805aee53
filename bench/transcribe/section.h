/* One section of the file that a recording becomes. Private to bench/transcribe. */
#ifndef LB_SECTION_H
#define LB_SECTION_H

#include "pieces.h"
#include "values.h"

#include <stdio.h>

/* One section that is being written. */
struct lb_section_writer {
    FILE *file;
    const struct lb_recording *recording;
    struct lb_values values;
    const struct lb_recorded *samples[LB_VALUE_SAMPLES];
    struct lb_parts parts[LB_VALUE_SAMPLES];
    struct lb_parts once; /* what the first one sent and the second one had no need to */
    bool is_lock, has_granted;
    bool names_item; /* an answer of the claim has the item's number as id */
    size_t n_open;
};

/* A remark in the file; is_open: help is needed. */
void lb_section_note(struct lb_section_writer *w, bool is_open, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The following parts belong to that operation. */
void lb_section_take(struct lb_section_writer *w, const char *operation);
/* The literal, or the parameter's, that the piece is. false: it is none. */
bool lb_section_literal(const struct lb_part *part, struct lb_piece piece, char *out, size_t size);
/* The sample's statement number i, behind directive. decides: it answers the section. */
void lb_section_statement(struct lb_section_writer *w, size_t sample, size_t i, bool decides,
                          const char *directive);
/* The first line of a section; more: behind its name. It is for the engine on which it was
 * recorded. */
void lb_section_begin(struct lb_section_writer *w, const char *name, const char *more);
/* All that the operation sent, or nothing: enough for a section that must be there. more: behind
 * its name. */
void lb_section_write(struct lb_section_writer *w, const char *operation, const char *more);

#endif
