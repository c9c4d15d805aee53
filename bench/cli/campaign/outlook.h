/* What `verify` tries on a protocol that it has never seen: --plan, --budget.
 *
 * An outlook is a list of asks, cheapest and most telling first: a scenario with keys, or an
 * exploration, each with the reason for this file. Features of the file that cannot be tested are
 * in the list too, as left out, with the reason.
 */
#ifndef LB_OUTLOOK_H
#define LB_OUTLOOK_H

#include "program_features.h"
#include "report.h"

#define LB_OUTLOOK_BUDGET_NS UINT64_C(60000000000) /* without --budget */

/* From here on three workers and lost answers are explored, and runs are repeated: it is used. */
#define LB_OUTLOOK_LONG_NS UINT64_C(120000000000)

enum {
    LB_ASKS = 48,
    LB_QUOTED = 64,         /* statements of a file */
    LB_DEFINED = 64,        /* lines of its setup */
    LB_OUTLOOK_RESERVE = 12 /* that part of a budget is for setting up and judging */
};

struct lb_ask {
    char name[40]; /* as the report calls it: "queue-overrun", "steady+kill", "explore+clock" */
    const char *scenario; /* of the build; NULL: it is explored */
    const char *fault;    /* that it is put under; NULL: none */
    char keys[300];       /* of the scenario, " hold=5ms ttl=1s"; of two values the last counts */
    struct lb_explored_ask explored;
    uint64_t cost_ns;
    bool is_left_out; /* not asked: why says the reason */
    bool is_deferred; /* left out for its time only: a longer budget asks it */
    char why[240];
};

/* A line of the file, for a verdict to speak of. */
struct lb_quote {
    int line; /* 0: there is none */
    int section;
    char text[100];
};

/* A column, key, index or sequence that setup makes, and the statements that use it: bits, by their
 * places in lb_outlook.statements. */
struct lb_definition {
    struct lb_quote quote;
    uint64_t used_by, compared_by; /* compared: or ordered by; of a key: its table's users */
    bool is_key;                   /* a key, an index or a trigger: shown before columns */
};

struct lb_outlook {
    const char *strategy, *path; /* borrowed */
    char engine[32];
    enum lb_shape shape;
    struct lb_quote statements[LB_QUOTED]; /* all, section by section */
    size_t n_statements;
    struct lb_definition definitions[LB_DEFINED];
    size_t n_definitions;
    struct lb_quote begin, begin_end; /* the first and the last statement of acquire or claim */
    struct lb_quote end, end_last;    /* those of release; the last only if it is another one */
    struct lb_quote unasked, renew, recover_first, recover, beat, sweep, clock, by_worker,
        by_server;
    struct lb_quote token, put, back, enqueue, operator, cancel, resource;
    struct lb_quote unique_index, trigger; /* of setup; trigger: or a function */
    /* the last statement of each that changes something; free: of retry if there is no free */
    struct lb_quote free, retry, error, leave, leave_line, stop;
    struct lb_quote isolation;   /* the directive, below serializable, on an engine with levels */
    struct lb_quote unknown;     /* the first comment that looks like a directive; text: its word */
    struct lb_features features; /* a file's; of a program nothing */
    bool is_guest;               /* it is a program: no line of it is known */
    uint32_t lease_unit_ms;      /* likewise; 0: of nothing */
    bool is_lease;
    uint64_t budget_ns;
    size_t n_asks;
    struct lb_ask asks[LB_ASKS];
};

/* Where it is to be tried. */
struct lb_outlook_site {
    const struct lb_db *db;
    bool has_several; /* servers, of which one may take another's place */
    bool fails_over;  /* --failover-command is there */
};

/* Fills *ret for a file, or a program that is the user's, on one engine. file, and its statements
 * for that engine: NULL of a program. */
void lb_outlook_make(const struct lb_strategy *strategy, const struct lb_file *file,
                     const struct lb_program *statements, const struct lb_outlook_site *site,
                     uint64_t budget_ns, struct lb_outlook *ret);
/* The scenario of an ask, its times stretched where the file's lease cannot be as short. 0 or an
 * error. */
int lb_ask_scenario(const struct lb_outlook *outlook, const struct lb_ask *ask,
                    struct lb_scenario *ret, struct lb_error *err);
/* After a test that ended because the server refuses a statement: the tests that are left of this
 * file are not run if they would end in the same way. */
void lb_outlook_give_up(struct lb_report *report, const struct lb_cell *failed);
/* The plan in short, as comments of TAP. */
void lb_outlook_tell_plan(const struct lb_outlook *outlook, FILE *out);
/* Adds the hints on broken guarantees to the cells that show them, for all outputs. */
void lb_outlook_add_hints(const struct lb_outlook *outlook, struct lb_report *report);
/* Prints the findings, with the hints on them and the command that shows them;
 * or the tests that were made, and their time. As comments of TAP. diagnostics: the stream on which
 * a harness shows failures; it gets the lines and the change as well; NULL: none. */
void lb_outlook_tell_end(const struct lb_outlook *outlook, const struct lb_report *report,
                         FILE *out, FILE *diagnostics);
/* For people: --plan. */
void lb_outlook_print(const struct lb_outlook *outlook, FILE *out);

#endif
