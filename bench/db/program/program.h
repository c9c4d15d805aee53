/* Statement files: sql/<strategy>/<engine>.sql and users' own protocols.
 *
 * Plain SQL in named sections. The format is documented in lockbench-strategy(5); this is its one
 * reader, for built-in strategies (sections only) and for users' files (a header first).
 *
 * Reading happens in two stages:
 *   lb_file_parse   text -> struct lb_file: header, sections, statements, parameters; every mistake
 *                   is "file:line: what".
 *   lb_program_new  a file, an engine and option values -> struct lb_program: the sections that
 *                   apply, `{option}` replaced, `:name` turned into the engine's placeholders and
 *                   into slots. Immutable afterwards and shared by all threads.
 *
 * Slots: every parameter and every result column that a later statement wants has one slot; a bag
 * is an array of values, one per slot. A hold, or a claimed item, carries its bag from the
 * section that began it to the section that ends it.
 */
#ifndef LB_PROGRAM_H
#define LB_PROGRAM_H

#include "guarantee.h"
#include "random.h"
#include "session.h"

enum lb_shape { LB_LOCK, LB_QUEUE };

enum lb_section_name {
    LB_S_SETUP,    /* once per run, on the control session */
    LB_S_RESOURCE, /* lock: once per resource, on the control session */
    LB_S_ENQUEUE,  /* lock: once before acquire is polled; a column `ticket` is the place in line */
    LB_S_ACQUIRE,
    LB_S_RENEW,
    LB_S_RELEASE,
    LB_S_CANCEL, /* lock: a waiter gives up */
    LB_S_PUT,
    LB_S_CLAIM,
    LB_S_COMPLETE,
    LB_S_ERROR,
    LB_S_FREE,
    LB_S_RETRY, /* queue: failed, and due again after :delay_ms */
    LB_S_CLEAR_ERROR,
    LB_S_CLEAR_ALL_ERRORS,
    LB_S_RESET_ALL,
    LB_S_RECOVER,    /* what an operator, or the protocol, runs after a death */
    LB_S_REGISTER,   /* queue: a process begins, */
    LB_S_HEARTBEAT,  /* says that it is alive, */
    LB_S_UNREGISTER, /* and ends in order */
    LB_S_SWEEP,      /* queue: a process's clean-up after dead ones, before it registers */
    LB_S_STOP,       /* queue: a worker was asked to stop: gives back what it has */
    LB_S_COUNT,      /* queue: one row (pending, active, done, failed) */
    LB_S_AGE,        /* queue: makes :n copies of the rows of item :id, see lockbench age */
    LB_S_PERMITS,    /* lock: one row (free): how many permits the tables say can be taken */
    LB_S_MIGRATE,    /* once, from the tables of the version before to those of this one */
    LB_S_TEARDOWN,   /* once per run, on the control session */
    LB_SECTIONS
};

const char *lb_section_text(enum lb_section_name name); /* "clear-all-errors" */
/* Does it make, change or drop the tables: setup, migrate, teardown? */
bool lb_section_is_schema(enum lb_section_name name);
/* Does lockbench run it, and never a worker: count, permits, age? */
bool lb_section_is_for_lockbench(enum lb_section_name name);

/* When the transaction of a section begins and ends. */
enum lb_tx {
    LB_TX_EACH, /* each statement commits by itself */
    LB_TX_ONE,  /* one transaction around the section */
    LB_TX_HOLD  /* begun by this section, committed by the section that ends the hold */
};

/* What a contention code of the engine's makes of the section. */
enum lb_on_error {
    LB_ON_ERROR_ANSWER, /* the answer is the engine's: conflict, deadlock, duplicate, ... (default)
                         */
    LB_ON_ERROR_BUSY,   /* ... busy, whatever the engine called it */
    LB_ON_ERROR_RETRY,  /* the section is run again, up to LB_RETRIES times; then the answer */
    LB_ON_ERROR_FAIL    /* an error that ends the run: it must not happen here */
};

enum { LB_RETRIES = 3 };

/* A declared option: `-- option: name = default` (any value) or `name = a | b | c` (only these; the
 * first is the default). Only an option with a closed list may be used as {name}. */
struct lb_option {
    const char *name;
    const char *default_value;
    const char *const *choices; /* NULL-terminated; NULL: any value */
    const char *help;           /* may be NULL */
};

/* name=value pairs as given by --opt; the last of equal names wins. */
struct lb_setting {
    const char *name, *value;
};

enum { LB_SLOTS = 40, LB_PARAMS = 24 };

/* When a statement is run: always, or by the result of the last unconditional statement above it:
 * it returned or changed a row, or neither. */
enum lb_when { LB_WHEN_ALWAYS, LB_WHEN_ROW, LB_WHEN_NO_ROW };

struct lb_statement {
    const char *sql;    /* as written, options replaced, trimmed: can be pasted into psql once the
                           parameters are given */
    const char *native; /* with the engine's placeholders */
    size_t n_params;
    uint8_t param_slot[LB_PARAMS];
    enum lb_type param_type[LB_PARAMS];
    enum lb_when when;         /* -- if: row, -- else */
    enum lb_on_error on_error; /* the section's, unless it has its own */
    bool require_row;          /* -- require: row */
    bool is_write;             /* not a plain SELECT */
    bool on_replica;           /* -- on: replica */
    int line;
};

struct lb_section {
    bool present;
    enum lb_tx tx;
    bool keeps_session;  /* session=keep: part of the hold is the session's, until the hold ends */
    bool commits_always; /* commit=always: tx=one is committed also if no row answers */
    bool takes_batch;    /* it has :ids, :tokens or :items: all items of a claim at once */
    enum lb_begin begin;
    enum lb_on_error on_error;
    size_t n_statements;
    size_t answer; /* the statement that answers: the last one (of put, that has :id), or the one
                      below `-- answer: row`;
                      where its condition keeps it from being run, the last one above it that is.
                      Those behind it clean up: they run whatever it answered. */
    const struct lb_statement *statements;
    int line;
};

/* Slots that the harness fills; others (columns, options) come after them. */
enum lb_slot {
    LB_SLOT_WORKER,      /* :worker       text, unique per participant */
    LB_SLOT_RESOURCE,    /* :resource     text, "r0" */
    LB_SLOT_RESOURCE_NO, /* :resource_no  integer, from 0 */
    LB_SLOT_MODE,        /* :mode         text, "exclusive" or "shared" */
    LB_SLOT_CAPACITY,    /* :capacity     integer, the resource's limit */
    LB_SLOT_TTL_MS,      /* :ttl_ms       integer, lease length */
    LB_SLOT_NOW,         /* :now          integer, ms since 1970 by the worker's own clock */
    LB_SLOT_N,           /* :n            integer, items wanted by a claim */
    LB_SLOT_PAYLOAD,     /* :payload      text */
    LB_SLOT_ID,          /* :id           integer, the item */
    LB_SLOT_TOKEN,       /* :token        integer, the fence of the grant */
    LB_SLOT_PERIOD_MS,   /* :period_ms    integer, recurring work */
    LB_SLOT_SPACE_NO, /* :space_no     integer (int4), unique per run: first half of advisory keys
                       */
    LB_SLOT_CLASS,    /* :class        text, the task class (queues with several in one table) */
    LB_SLOT_TICKET,   /* :ticket       integer, what enqueue returned */
    LB_SLOT_IDS,      /* :ids          text, a list: the items that are ended together */
    LB_SLOT_TOKENS,   /* :tokens       text, a list: their tokens, in the same order */
    LB_SLOT_ITEMS,    /* :items        text, JSON: [{"id":1,"token":7},...] */
    LB_SLOT_GROUP,    /* :group        text, the group of the item that is put */
    LB_SLOT_PROCESS,  /* :process      text, the process of the worker, from register to its end */
    LB_SLOT_HOST,     /* :host         text, the machine that the process runs on */
    LB_SLOT_DELAY_MS, /* :delay_ms     integer, after how long a retried item is due */
    /* Attributes of the item that is put, in the order of enum lb_attribute: */
    LB_SLOT_KEY,        /* :key          text, "key7" */
    LB_SLOT_TENANT,     /* :tenant       text, "tenant0" */
    LB_SLOT_PRIORITY,   /* :priority     integer */
    LB_SLOT_DUE,        /* :due          integer, after how many ms it may be claimed */
    LB_SLOT_UNIQUE_KEY, /* :unique_key   text, "unique7" */
    LB_SLOT_FIXED       /* how many there are */
};

/* A fact that a verdict depends on, that the file does not state, and that its text hints at. */
enum lb_guessed {
    LB_GUESS_LEASE,
    LB_GUESS_ATTEMPTS,
    LB_GUESS_ROWS,
    LB_GUESS_DUE,
    LB_GUESS_CLOCK,
    LB_GUESS_LIMIT,
    LB_GUESSES
};
struct lb_guess {
    int line;           /* of the statement that hints at it; 0: there is no guess */
    char directive[64]; /* that states the fact: "-- attempts: 3" */
    uint32_t value;     /* attempts: how many; clock: ms */
};

/* The meaning of the hint and the directives to write, in words. Returns buf. */
char *lb_guess_text(enum lb_guessed guessed, const struct lb_guess *guess, char *buf, size_t size);

struct lb_program {
    const struct lb_db *db;
    enum lb_shape shape;
    struct lb_section sections[LB_SECTIONS];
    size_t n_slots;
    const char *slot_name[LB_SLOTS];
    struct lb_value defaults[LB_SLOTS]; /* options' values; LB_NULL elsewhere */
    enum lb_isolation isolation;        /* the file's level; LB_ISO_DEFAULT: none */
    size_t n_statements;                /* all sections together; statement k has the index k */
    const struct lb_statement *statements;
    const char *origin;     /* the file, for messages */
    uint64_t carries;       /* bit per slot: a column of that name is wanted by a later statement */
    uint32_t uses;          /* bit per fixed slot: some statement has it as parameter */
    int unique;             /* as the file says: 0: not, 1: until done, 2: until claimed */
    int priority;           /* ... 0: not, 1: the highest is the most urgent, 2: the lowest */
    uint32_t rate, rate_ms; /* items begun in that time at most, as the file says; 0: no limit */
    const char *rate_option; /* that sets how many, and may be 1; NULL: none does */
    uint32_t share_milli;    /* of its fair share, for each tenant, as the file says; 0: not said */
    uint32_t key_limit;      /* items of one key in hand at most, as the file says; 0: no limit */
    const char *key_limit_option; /* that sets it, and may be 1; NULL: none does */
    uint8_t attributes;           /* bit per enum lb_attribute: put has it as a parameter */
    bool puts_one;                /* put has no :n: it is run for each item */
    uint32_t attempts; /* how often an item is tried at most, as the file says; 0: no limit */
    const char *attempts_option; /* that sets them, and may be 1; NULL: none does */
    const char *attempts_text;   /* ... a number, or an option's name; NULL: it is not stated */
    bool own_rows;               /* a release changes a row of its worker's own, as the file says */
    bool is_due_said;            /* -- due: */
    bool due_later;   /* items may be due after the queue was drained, as the file says */
    uint32_t tick_ms; /* what the clock of its leases and limits counts, as the file says, or by
                         which it is inexact; 0: ms */
    struct lb_guess guesses[LB_GUESSES];
    int strangers_line; /* of a statement whose result depends on others' transactions under way; 0
                         */
    bool recovers_by_time; /* recover asks for the time: it need not take everything */
    bool ends_by_recover;  /* a lock: recover ends a hold, and acquire compares no time */
    bool reads_replica;    /* some statement is on a replica */
    bool sweeps_by_life;   /* sweep goes by time too, or by live processes, which beat */
    bool makes_schema;     /* setup makes a schema, and teardown drops it */
    uint64_t needs;        /* enum lb_cap bits of the file and of the chosen sections */
    const struct lb_setting *settings; /* the options as resolved, in declared order */
    size_t n_settings;
    struct lb_statement *appended; /* by lb_program_append; NULL: nothing was */
    void *memory;
};

/* A parsed file, before an engine is chosen. */
struct lb_file;

/* A length of time that the protocol uses: `-- lease:`, `-- limit:`, or inferred. */
struct lb_timing {
    const char *name;   /* an option of the file's, or "ttl_ms" */
    uint32_t unit_ms;   /* what it counts: 1, 1000 for seconds, ... */
    int64_t default_ms; /* 0: it has none */
    bool is_said;       /* by a directive; false: inferred */
    bool is_fixed;      /* it stands in the statements: `-- lease: fixed` */
    bool by_recover;    /* a lock's lease that ends when recover comes by, and not by itself */
    int line;           /* of the directive, or of the statement that it is inferred from */
};

/* The lengths of time that are used, and the options by which they reach the statements. */
enum { LB_SCALED = 18 }; /* lease, limit, and every option that is a delay */

struct lb_scaled {
    uint32_t lease_ms, limit_ms;
    struct lb_setting settings[LB_SCALED];
    size_t n_settings;
    char text[2][24];
};

/* origin is what error messages call the file. shape_hint: the shape of a built-in strategy's file,
 * which has no header; -1 for a user's file, which must state it in its header. LB_E_FILE with
 * "origin:line: what" for every mistake. Free with lb_file_free. */
int lb_file_parse(const char *origin, const char *text, size_t length, int shape_hint,
                  struct lb_file **ret_file, struct lb_error *err);
/* Reads the file at path; as lb_file_parse. */
int lb_file_read(const char *path, int shape_hint, struct lb_file **ret_file, struct lb_error *err);
void lb_file_free(struct lb_file *file);

/* The header of a user's file. */
const char *lb_file_text(const struct lb_file *file); /* all of it, as it was read */
const char *lb_file_path(const struct lb_file *file); /* what messages call it */
const char *lb_file_strategy(const struct lb_file *file);
const char *lb_file_summary(const struct lb_file *file); /* "" if it has none */
const char *lb_file_origin(const struct lb_file *file);  /* "" if it has none */
enum lb_isolation lb_file_isolation(const struct lb_file *file);
/* Does any statement have this parameter; does any engine's variant of the section exist? */
bool lb_file_uses(const struct lb_file *file, enum lb_slot slot);
/* ... in this section? slot: also of an option. */
bool lb_section_has_param(const struct lb_section *section, int slot);
/* True if a statement asks the server for the time. */
bool lb_section_reads_time(const struct lb_section *section);
/* True if its items are due again after a period. */
bool lb_program_recurs(const struct lb_program *program);
bool lb_file_has(const struct lb_file *file, enum lb_section_name name);
/* True if it has sections for some versions of an engine: "[postgres >= 17]". */
bool lb_file_names_versions(const struct lb_file *file);
enum lb_shape lb_file_shape(const struct lb_file *file);
bool lb_file_is_pipelined(const struct lb_file *file); /* `-- pipeline: yes` */
/* How long a hold lasts unless it is ended before; after how long `recover` takes a claim away.
 * NULL: the protocol has none. */
const struct lb_timing *lb_file_lease(const struct lb_file *file);
const struct lb_timing *lb_file_limit(const struct lb_file *file);
bool lb_file_is_lease_fixed(const struct lb_file *file); /* `-- lease: fixed` */
/* The lengths to use for a scenario's ttl_ms. settings have priority; then ttl_ms, if the user or
 * the scenario has set it (is_said); then the file's default; then ttl_ms. The limit keeps its
 * proportion to the lease. ret->settings borrow from ret: it is not copied. */
void lb_file_scale(const struct lb_file *file, uint64_t ttl_ms, bool is_said,
                   const struct lb_setting *settings, size_t n_settings, struct lb_scaled *ret);
/* Does the text of a statement ask for the time, the server's or the worker's? */
bool lb_sql_reads_time(const char *text, size_t length);
/* True if the statement's result can depend on unrelated open transactions. */
bool lb_sql_sees_strangers(const struct lb_db *db, const char *sql);
unsigned lb_file_claims(const struct lb_file *file); /* LB_G_BIT()s */
/* During a deploy the version before works on the same tables. The file takes it over, and claims
 * what both claim. 0; or LB_E_USAGE if the two cannot be judged as one, and `before` is not taken.
 */
int lb_file_take_before(struct lb_file *file, struct lb_file *before, struct lb_error *err);
const struct lb_file *lb_file_before(const struct lb_file *file); /* NULL: there is none */
uint64_t lb_file_needs(const struct lb_file *file); /* enum lb_cap bits, from `-- needs:` */
const struct lb_option *lb_file_options(const struct lb_file *file); /* ends with name NULL */
/* Is there an option of that name, and with this choice? options: may be NULL; value NULL: any. */
bool lb_options_have(const struct lb_option *options, const char *name, const char *value);
/* Does the file have what its shape requires for this engine? false with the reason in err. */
bool lb_file_supports(const struct lb_file *file, const struct lb_db *db, struct lb_error *err);

/* options: the strategy's declared options (name NULL ends; may be NULL) in addition to the file's
 * own. LB_E_USAGE for an unknown setting or a value outside of the list; LB_E_FILE for a parameter
 * that nothing fills. The program borrows nothing from file. Free with lb_program_free. */
int lb_program_new(const struct lb_file *file, const struct lb_db *db,
                   const struct lb_option *options, const struct lb_setting *settings,
                   size_t n_settings, struct lb_program **ret_program, struct lb_error *err);
void lb_program_free(struct lb_program *program);
/* One judge sees the workers of both versions, so both have to state the same facts. A hint of the
 * version before is one of the program. 0, or LB_E_USAGE. */
int lb_program_agree(struct lb_program *program, const struct lb_program *before,
                     struct lb_error *err);
/* From now on both have one array of statements: those of `before` come after those of the program.
 * `before` must be freed first. */
void lb_program_append(struct lb_program *program, struct lb_program *before);

/* Validates a file for every engine that it supports, with each choice of each option in turn, as
 * far as that goes without a server. 0, or the first mistake. */
int lb_file_check(const struct lb_file *file, const struct lb_option *options,
                  struct lb_error *err);

/* The next declared option, from number *from on, that no statement and no condition uses, and the
 * line that declares it; NULL: there is none. *from moves on. */
const struct lb_option *lb_file_unused(const struct lb_file *file, size_t *from, int *ret_line);

/* The next comment behind *line that looks like a directive and is none ("-- engines: postgres"),
 * with its first word; false: there is none. *line moves on, from 0. */
bool lb_file_unknown(const struct lb_file *file, int *line, char *word, size_t size);

/* A hold may be over after a length that stands in the statement of this line. */
void lb_program_guess_lease(struct lb_program *program, int line);

/* The slot of that name, or -1. */
int lb_program_slot(const struct lb_program *program, const char *name);

/* A bag: one value per slot, with room for short texts, so that a row's values outlive the result
 * they came from. */
struct lb_bag {
    struct lb_value value[LB_SLOTS];
    char text[512];
    size_t used;
};
void lb_bag_init(struct lb_bag *bag, const struct lb_program *program);
/* Stores a value; text is copied (cut at the remaining room: false then). */
bool lb_bag_set(struct lb_bag *bag, size_t slot, const struct lb_value *value);
/* A bag's texts lie in the bag itself: it is copied with this, never by assignment. */
void lb_bag_copy(struct lb_bag *into, const struct lb_bag *from);

/* One session's run-time state of a program: its prepared statements and column maps. */
struct lb_runner {
    const struct lb_program *program;
    struct lb_session *session;
    uint64_t tx_pause_ns;    /* mean wait before the commit of enqueue, put and claim if tx=one */
    struct lb_random random; /* for the pauses; whoever sets tx_pause_ns seeds it */
    struct lb_runner_statement *statements; /* private */
    unsigned ahead;                         /* private: the connection that all were prepared on */
    uint64_t n_parted; /* claims that changed something, committed it, and then met contention */
    uint64_t n_halves; /* the same of all sections */
};
int lb_runner_init(struct lb_runner *runner, const struct lb_program *program,
                   struct lb_session *session, struct lb_error *err);
void lb_runner_release(struct lb_runner *runner);
/* Makes the server prepare every statement that needs the tables, and executes none: 0, or
 * "file:line: what" of the first one that it rejects. After setup. */
int lb_runner_prepare(struct lb_runner *runner, struct lb_error *err);

/* The result of a section. */
struct lb_section_result {
    int64_t n_changed;  /* rows that the last statement which changed any changed */
    int64_t n_answered; /* rows that the answering statement returned, or else changed */
    bool by_engine;     /* the answer is a code of the engine's, not an absent row */
    bool contended;     /* an absent row means that others were in the way: `granted` was false, or
                           a candidate item had been seen by an earlier statement */
    bool is_over;       /* a column left_ms: no time is left of the lease */
    unsigned n_retries;
};

/* A section of a pipeline: its parameters and its result. */
struct lb_piped_section {
    enum lb_section_name name;
    struct lb_bag *bag;
    void (*each_row)(void *arg, const struct lb_bag *bag);
    void *arg;
    int answer;                      /* as of lb_runner_section */
    struct lb_section_result result; /* unless it is an error */
    struct lb_error err;             /* if it is one */
    uint64_t end_ns;                 /* when the answer had come */
};

/* Can this section be a part of a pipeline? NULL, or why not: "has 2 statements, ...". */
const char *lb_section_unpiped(const struct lb_section *section);
enum { LB_PIPED = 2 };
/* Runs sections in one round trip: all are sent before the first answer is waited for. Each is a
 * transaction of its own, and begins when the one before has ended. At most LB_PIPED, outside of a
 * transaction, on an engine that has LB_CAP_PIPELINE. */
void lb_runner_pipeline(struct lb_runner *runner, struct lb_piped_section *sections, size_t n);

/* Runs one section. The bag gives the parameters and receives the columns of each statement's first
 * row (columns with slots). each_row, if not NULL, is called for every row of the answering
 * statement, after the bag was filled from that row; with NULL when a retry starts over.
 * Answers: LB_OK when the answering statement returned or changed a row; LB_BUSY when it did
 * neither, or a required row was missing; any other answer as the engine gave it. A result with a
 * column `granted` that is false, 0 or null counts as no row. setup, resource, teardown and the
 * sections that work on a whole class need no row. A transaction that the section began is
 * committed (TX_ONE), left open (TX_HOLD, granted) or rolled back (anything else); with ends_hold a
 * transaction that is open on entry is committed after the section. */
int lb_runner_section(struct lb_runner *runner, enum lb_section_name name, struct lb_bag *bag,
                      bool ends_hold, void (*each_row)(void *arg, const struct lb_bag *bag),
                      void *arg, struct lb_section_result *ret, struct lb_error *err);

#endif
