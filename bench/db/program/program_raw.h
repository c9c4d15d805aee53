/* Statement files, inside: what the reader hands to lb_program_new.
 *
 * The parser keeps each statement as a slice of the file's text; whoever needs its parts runs the
 * lexer over the slice again. That costs a few microseconds per run and saves a second
 * representation that could disagree with the first.
 */
#ifndef LB_PROGRAM_RAW_H
#define LB_PROGRAM_RAW_H

#include "program.h"
#include "program_lex.h"

enum {
    LB_FILE_SECTIONS = 128,
    LB_FILE_STATEMENTS = 400,
    LB_FILE_OPTIONS = 16,
    LB_FILE_CHOICES = 64,
    LB_FILE_CONDITIONS = 4
};

/* `when name=a|b` or `name!=a`, as slices of the file's text. */
struct lb_condition {
    const char *name, *values;
    size_t name_length, values_length;
    bool negated;
};

struct lb_raw_statement {
    const char *text; /* trimmed, without the semicolon */
    size_t length;
    int line;
    enum lb_when when;
    enum lb_on_error on_error;
    bool has_on_error; /* its own */
    bool require_row;
    bool is_write, on_replica;
    bool has_rows;       /* SELECT, WITH, VALUES, or RETURNING */
    const char *columns; /* where column names start: behind RETURNING, or text */
};

struct lb_raw_section {
    enum lb_section_name name;
    const char *engines; /* inside of [..]; NULL: all */
    size_t engines_length;
    size_t n_conditions;
    struct lb_condition conditions[LB_FILE_CONDITIONS];
    enum lb_tx tx;
    bool keeps_session, commits_always;
    enum lb_begin begin;
    enum lb_on_error on_error;
    uint64_t needs;
    size_t first, n_statements; /* in lb_file.statements */
    size_t answer;              /* index of the one that answers; SIZE_MAX: the last */
    int line;
};

/* A fact that the file states: a word, a number, or the name of an option that says it. */
struct lb_stated {
    const char *text; /* NULL: it is not stated */
    int line;
};

struct lb_file {
    char *origin;
    char *text;    /* the file, NUL-terminated */
    char *strings; /* NUL-terminated copies of header values live here */
    size_t strings_used;
    bool is_built_in; /* sections only: no header */
    enum lb_shape shape;
    const char *strategy, *summary, *origin_text;
    unsigned claims;
    uint64_t needs;
    enum lb_isolation isolation;
    int isolation_line; /* 0: no line says it */
    bool is_pipelined;
    struct lb_stated attempts, rows, due, clock, key_limit, unique, priority, rate, rate_time,
        share;
    struct lb_file *before;        /* the version that shares the tables; NULL: none does. Owned */
    struct lb_timing lease, limit; /* name NULL: none */
    unsigned delays;               /* bit per option that only puts an item's next turn off */
    unsigned put_delays;           /* ... that put adds to a time: it may be when the item is due */
    size_t n_options;
    struct lb_option options[LB_FILE_OPTIONS + 1];
    int option_line[LB_FILE_OPTIONS];
    size_t n_choices;
    const char *choices[LB_FILE_CHOICES];
    size_t n_sections;
    struct lb_raw_section sections[LB_FILE_SECTIONS];
    size_t n_statements;
    struct lb_raw_statement statements[LB_FILE_STATEMENTS];
};

/* Directives: `-- key: value` lines. */
struct lb_directive {
    const char *key, *value; /* value trimmed, without the remark */
    size_t key_length, value_length;
    const char *remark; /* text in parentheses behind it; NULL: none */
    size_t remark_length;
    int line;
};
/* Is this comment a directive? 1, 0, or -1 with err for one that is nearly one. */
int lb_directive_read(const struct lb_file *file, const struct lb_token *comment,
                      struct lb_directive *ret, struct lb_error *err);
bool lb_directive_is(const struct lb_directive *directive, const char *key);
/* `-- strategy:`, `-- claims:`, ...: before the first section. 0 or LB_E_FILE. */
int lb_header_line(struct lb_file *file, const struct lb_directive *directive,
                   struct lb_error *err);
/* The ms of a unit by the ending of a name: window_ms, ttl_s. 0: it has none. */
uint32_t lb_unit_of_name(const char *name);
/* `-- lease:` and `-- limit:`. 0 or LB_E_FILE. */
int lb_timing_line(struct lb_file *file, const struct lb_directive *directive,
                   struct lb_error *err);
/* Looks up what they name, and infers what they do not say. With all sections read. */
int lb_timing_settle(struct lb_file *file, struct lb_error *err);

/* A statement's tokens without blanks and comments, as a window that slides: the one in the middle
 * is looked at. */
enum { LB_WINDOW = 8 }; /* tokens that are seen on both sides of it */
struct lb_window {
    struct lb_lexer lexer;
    struct lb_token token[2 * LB_WINDOW + 1];
};
void lb_window_start(struct lb_window *window, const char *text, size_t length, int line);
void lb_window_slide(struct lb_window *window);
bool lb_asks_for_time(const struct lb_token *token);
/* True if a time stands behind WHERE. A time that is only written (SET freed_at = now() WHERE ...)
 * is compared with nothing. */
bool lb_sql_compares_time(const char *sql, enum lb_dialect dialect);
/* The line by which what begins, prolongs or takes away a hold has whole seconds only, in one of
 * its forms; 0: none. */
int lb_file_whole_line(const struct lb_file *file, const struct lb_db *db);
/* Lengths of time in a statement's text that no option sets. Does the file have an option for one?
 * Then what is computed from columns alone is something else. */
struct lb_constant {
    int line;         /* 0: there is none */
    bool is_other;    /* one of them is no lease: a look ahead, or how young something has to be */
    bool looks_older; /* a condition asks for a past time, or an age above a length */
    int later_line;   /* of a future time set without a parameter; 0: none */
};
struct lb_constant lb_constant_length(const struct lb_raw_statement *statement, bool has_option);
/* Those of a section, as the file has it: where options are put in, a length of theirs would look
 * like one that is written. */
struct lb_constant lb_section_constant(const struct lb_file *file,
                                       const struct lb_section *section);
/* The line by which what is put is due only after a time that no option sets, as far as claim asks
 * whether a time is over; 0: there is none. */
int lb_put_off_line(const struct lb_file *file, const struct lb_program *program);

/* The number that a statement compares attempts with (attempts < :max_attempts); 0: it does not.
 * ret_option: the option that says it; left alone if none does. */
double lb_attempts_limit(const struct lb_file *file, const struct lb_raw_statement *statement,
                         const struct lb_setting *settings, size_t n_settings,
                         const char **ret_option);

/* What the header as a whole lacks. */
int lb_header_finish(struct lb_file *file, struct lb_error *err);
/* Names of capabilities, separated by commas. */
int lb_needs_read(const struct lb_file *file, const struct lb_directive *directive,
                  uint64_t *ret_needs, struct lb_error *err);
/* May a statement of this section be on a replica, and is `directive` how that is said? */
int lb_replica_line(const struct lb_file *file, const struct lb_directive *directive,
                    enum lb_section_name section, struct lb_error *err);

/* "origin:line: what". Returns LB_E_FILE. */
int lb_file_fail(const struct lb_file *file, int line, struct lb_error *err, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
/* A NUL-terminated copy that lives as long as the file. Room was made for every header value. */
const char *lb_file_string(struct lb_file *file, const char *text, size_t length);

bool lb_slice_is(const char *text, size_t length, const char *word);
/* Its place in a list that NULL ends; -1: it is none of these words. */
int lb_slice_among(const char *text, size_t length, const char *const *words);
/* Cuts the next item of a list at separator and trims it; false at the end. */
bool lb_slice_next(const char **text, size_t *length, char separator, const char **ret_item,
                   size_t *ret_length);
void lb_slice_trim(const char **text, size_t *length);
/* Is this slot one of the statement's parameters? */
bool lb_statement_has_param(const struct lb_statement *statement, int slot);
/* The section of the file that was chosen; NULL: none was. */
const struct lb_raw_section *lb_raw_of(const struct lb_file *file,
                                       const struct lb_section *section);
/* Does the section apply to this engine? */
bool lb_raw_section_for(const struct lb_raw_section *section, const struct lb_db *db);
/* " 17.4" of a connected target; else "". Returns buf. */
char *lb_raw_version(const struct lb_db *db, char *buf, size_t size);
/* Reads "postgres >= 15 < 17": the length of the engine's name, and if the condition holds for a
 * version of lb_db.version. False: it cannot be read. */
bool lb_raw_engine(const char *item, size_t length, int version, size_t *ret_name,
                   bool *ret_applies);
/* The sections that a file of this shape must have for an engine. */
const enum lb_section_name *lb_required_sections(enum lb_shape shape, size_t *ret_n);
bool lb_section_fits(enum lb_section_name name, enum lb_shape shape);

/* Properties of a section; see also lb_section_is_schema and lb_section_is_for_lockbench,
 * which are for all. */
enum lb_section_is {
    LB_SECTION_IS_SCHEMA = 1u << 0,
    LB_SECTION_IS_FOR_LOCKBENCH = 1u << 1,
    LB_SECTION_IS_OF_PROCESS = 1u << 2,  /* of a whole process, in which no item is meant */
    LB_SECTION_NEEDS_NO_ROW = 1u << 3,   /* its answer is not a row: it does its work or fails */
    LB_SECTION_HAS_BAG = 1u << 4,        /* it gets what the hold's or item's statements found */
    LB_SECTION_MAY_TAKE_BATCH = 1u << 5, /* it can end, or prolong, all items of a claim at once */
    LB_SECTION_CAN_READ_REPLICA = 1u << 6, /* its session has a replica */
};
bool lb_section_is(enum lb_section_name name, enum lb_section_is what);

/* The parameters that lockbench fills. */
extern const struct lb_fixed_slot {
    const char *name;
    enum lb_type type;
} lb_fixed_slots[LB_SLOT_FIXED];
/* -1: not one of the harness's. */
int lb_fixed_slot(const char *name, size_t length);

#endif
