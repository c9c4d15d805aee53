/* Verdicts on the mutants of a protocol: see lockbench mutate in lockbench(1). */
#ifndef LB_MUTATION_H
#define LB_MUTATION_H

#include "mutants.h"
#include "select.h"
#include "states.h"

#include <stdatomic.h>

enum { LB_MOST_EXPLORATIONS = 64 }; /* a bit each in struct lb_judged */
enum { LB_MOST_JOBS = 64 };         /* processes */

enum lb_need {
    LB_NEEDED,     /* without it a guarantee is violated, nothing works, or workers get other
                      answers, or leave other rows */
    LB_NOT_NEEDED, /* all explorations were complete, and came to the same */
    LB_REDUNDANT,  /* likewise, but not without another condition, too */
    LB_SLOWER,     /* not needed for any answer, but its statements read or lock more without it */
    LB_NOT_SHOWN,
    LB_NEEDS
};
extern const char *const lb_need_names[LB_NEEDS]; /* "needed", ..., with underscores */

struct lb_judged {
    enum lb_need need;
    bool is_incomplete; /* an exploration that could show a need did not come to its end */
    bool is_paired;     /* it was tried without others that can go */
    bool is_untried;    /* its only doubt: no exploration had the section change nothing */
    size_t turn;        /* processes take turns: lb_mutation_is_mine() */
    size_t n_asked;     /* of the questions: those before this one were asked */
    uint64_t differs;   /* explorations with other answers or end states: a bit for each, in
                           the order of the questions */
    uint64_t answers;   /* ... other answers, */
    uint64_t sought;    /* ... which were sought again */
    uint64_t rows;      /* ... the same answers, and other rows at the end */
    char what[32]; /* the guarantee; "does not run", "nothing works", "other answers", "other rows";
                      "" */
    char question[64]; /* by which it was shown */
    char witness[400]; /* in one line */
    char again[2600];  /* the command that shows it again, of mutant-N.sql */
    char reason[400];  /* for not shown; the compared questions for not needed; the figures
                          for slower */
    size_t with;       /* redundant: the index of the other one */
};

/* The mutants of a question, from all processes. */
struct lb_tally {
    atomic_size_t n_asked, n_shown; /* while they were open; those that it distinguished */
    _Atomic uint64_t spent_ns;      /* on them */
};

/* A question of the plan, and the result of the original. */
struct lb_mutation_question {
    struct lb_cell cell; /* borrows from the report's */
    bool is_extra;       /* not of the plan: it need not be complete */
    bool is_of_answers;  /* guarantees may be violated by the original, too: they do not count */
    unsigned only;       /* 1u << enum lb_section_name: it is for mutants of these; 0: for all */
    bool is_usable;      /* the original could be asked */
    bool is_complete;
    bool is_asked; /* of a run: the original has held */
    bool is_tried; /* the original's exploration got more than a first look */
    bool is_taken; /* it is explored once more in the time that is left, or would take too long */
    bool is_judged, has_deadlocks, is_distinct;
    uint64_t took_ns;       /* of the original */
    double share;           /* ... of whose search, roughly */
    struct lb_tally *tally; /* of the memory that all processes share */
    size_t place;           /* in the plan, from 1 */
    size_t larger; /* the place of the question that this one is a smaller case of; 0: none */
    bool has_fewer_items; /* ... than that one, or fewer rounds */
    struct lb_states states;
    bool has_distinct;
    struct lb_states distinct; /* where no two workers are taken to be alike */
};

/* What processes share: the results of each, and the verdicts on all mutants. */
struct lb_mutation_shared {
    int results[LB_MOST_JOBS];
    struct lb_error errors[LB_MOST_JOBS];
    struct lb_tally *tallies;
    struct lb_judged judged[];
};

struct lb_mutation {
    const struct lb_args *args;
    const struct lb_stop *stop;
    const char *name;     /* as -s takes it */
    struct lb_file *file; /* the original, for one engine where it is a built-in one */
    struct lb_strategy strategy;
    struct lb_protocol protocol;
    struct lb_place *place;
    struct lb_selection selection; /* of the file */
    struct lb_report report;
    struct lb_program *program;
    struct lb_mutation_question *questions;
    size_t n_questions, room;
    struct lb_mutation_question *missed; /* that is asked once more, since there is time left */
    struct lb_mutants mutants;
    struct lb_mutation_shared *shared;
    size_t shared_size;
    struct lb_judged *judged;       /* of shared: one for each mutant */
    unsigned n_jobs, part, n_parts; /* of n_parts parts of the mutants, this process has one */
    size_t counts[LB_NEEDS];
    uint64_t start_ns, end_ns;
    int64_t still_unix_ms; /* where the clocks of explorations stand */
    char refused[200];     /* why the first exploration that cannot be made cannot; "": all can */
    bool is_cut_short;     /* not all explorations of the original have begun */
    bool is_accused;       /* the original is violated: by `accused` */
    struct lb_judged accused;
    bool is_shown; /* progress, on a terminal */
};

/* Judges all mutants within the time. 0, or an error; is_accused: nothing was judged. */
int lb_mutation_judge(struct lb_mutation *mutation, struct lb_error *err);
void lb_mutation_release(struct lb_mutation *mutation); /* the verdicts */
/* The share of those that were distinguished, from 0 to 1. */
double lb_mutation_share(const struct lb_mutation *mutation);

void lb_mutation_print(const struct lb_mutation *mutation, FILE *out);
void lb_mutation_print_tap(const struct lb_mutation *mutation, FILE *out);
int lb_mutation_print_json(const struct lb_mutation *mutation, FILE *out, struct lb_error *err);

#endif
