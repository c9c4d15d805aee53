/* A program while it is built: its memory, its options, the sections that were chosen. Private to
 * program.c, program_building.c and program_space.c.
 */
#ifndef LB_PROGRAM_BUILDING_H
#define LB_PROGRAM_BUILDING_H

#include "program_raw.h"

struct lb_chunk {
    struct lb_chunk *next;
    size_t used, size;
    char bytes[];
};

/* The memory of a program, freed at once. */
struct lb_arena {
    struct lb_chunk *chunks;
};

void *lb_arena_alloc(struct lb_arena *arena, size_t size);
char *lb_arena_copy(struct lb_arena *arena, const char *text, size_t length);
void lb_arena_free(struct lb_chunk *chunk);

/* A growing text. */
struct lb_growing {
    char *bytes;
    size_t length, size;
};

void lb_growing_add(struct lb_growing *text, const char *bytes, size_t n);

struct lb_building {
    const struct lb_file *file;
    const struct lb_db *db;
    struct lb_program *program;
    struct lb_error *err;
    struct lb_arena arena;
    size_t n_options;
    const struct lb_option *options[2 * LB_FILE_OPTIONS];
    struct lb_setting resolved[2 * LB_FILE_OPTIONS];
    const struct lb_raw_section *chosen[LB_SECTIONS];
    struct lb_statement statements[LB_FILE_STATEMENTS];
    struct lb_growing sql, native;
};

bool lb_building_is_integer(const char *text, int64_t *ret);
/* -1: there is no such option. */
int lb_building_option(const struct lb_building *b, const char *name, size_t length);
int lb_building_add_options(struct lb_building *b, const struct lb_option *options);
int lb_building_set_option(struct lb_building *b, const struct lb_setting *setting);
/* Keeps the resolved options: the program borrows nothing. */
void lb_building_keep_settings(struct lb_building *b);
/* What the file states, and what its text hints at: see program_facts.c. With all sections built.
 */
void lb_building_settle_facts(struct lb_building *b);
/* Claims that need a number of the header have it. 0 or LB_E_FILE. */
int lb_building_check_promises(struct lb_building *b);
/* The line of a statement that sees others' transactions under way; 0: there is none. */
int lb_building_strangers_line(const struct lb_building *b);
/* Of each section the one variant that applies, into b->chosen. */
int lb_building_choose(struct lb_building *b);
/* Refuses a setup that makes something elsewhere than in its run's space. */
int lb_building_check_space(struct lb_building *b);

#endif
