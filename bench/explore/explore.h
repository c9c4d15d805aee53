/* Systematic interleavings of one strategy on one engine: see docs/design/explore.md.
 *
 * A run states its coverage: the number of workers and rounds, every order of their steps that
 * matters, or its bounds. The first violation is made as short as it gets, replayed, and shown.
 */
#ifndef LB_EXPLORE_H
#define LB_EXPLORE_H

#include "check.h"
#include "run.h"
#include "search.h"

/* Which orders are taken for the same. */
enum lb_relation {
    LB_RELATION_ROWS,   /* moves that touch different rows, where that can be told; else: */
    LB_RELATION_TABLES, /* moves that touch different tables */
    LB_RELATION_MOVES,  /* none: every order of the moves */
    LB_RELATION_STEPS   /* ... and of every single step */
};

/* For tests of the relation: rules that are left out. */
enum {
    LB_WITHOUT_CONDITIONS = 1, /* a scan sees the rows of its key only */
    LB_WITHOUT_ORDER = 2,      /* no statement uses the order of stored times */
    LB_WITHOUT_REAL_TIME =
        4, /* the history does not show which operation ended before another began */
    LB_WITHOUT_COMMITS = 8, /* no session sees another's commit */
    LB_WITHOUT_NAMES = 16,  /* workers are alike, even if statements use their names */
};

/* The result of each judged schedule: for tests of the relation, and to compare two protocols.
 * state: the answers of each worker's operations, "w0: ...", one worker a line, and the rows of
 * `sql` behind them. A violation is then not made shorter: that would show schedules that the
 * search has left out. */
struct lb_explore_watch {
    const char *sql;  /* NULL: the rows of all tables, each behind its table's name */
    bool tells_holds; /* an answer of a lock also is how many others hold it */
    void (*ended)(void *arg, const char *state, int violated);
    void (*anew)(void *arg); /* the search starts again: its results so far are void */
    void *arg;
    const bool *enough; /* the search ends when it is true; NULL: it never is */
};

enum { LB_EXPLORE_RESOURCES = 4 };
enum { LB_EXPLORE_FAR = 5 }; /* leases: wrong clocks, and periods; a step of the clock is two */

/* The plan of an exploration. Borrowed. */
struct lb_explore_plan {
    const struct lb_strategy *strategy;
    const struct lb_file *file; /* its statements for this engine */
    const struct lb_target *target;
    const struct lb_setting *settings; /* --opt */
    size_t n_settings;
    enum lb_isolation isolation;
    uint32_t workers;   /* 1 .. LB_MAX_WORKERS; queue: consumers */
    uint32_t rounds;    /* operations of each: acquire to release, or claim to complete */
    uint32_t readers;   /* lock: how many of the workers ask in shared mode */
    uint32_t capacity;  /* lock: how many may hold it */
    uint32_t resources; /* lock: how many each worker acquires one after the other, and releases in
                           the opposite order; 0: one */
    uint32_t items;     /* queue: put before the start; 0: as many as there are claims */
    uint32_t putters;   /* queue: workers that put, `rounds` items each, beside the consumers */
    uint32_t rescuers;  /* that run `recover`, `rounds` times each, at any time */
    uint32_t late;      /* queue: workers that claim an item each when all others have ended, keep
                           it, and complete it when each of them has claimed. Then all items have
                           one key: a limit of it that was miscounted is exceeded */
    uint32_t blockers;  /* that lock all rows, change none, and let them go, `rounds` times each */
    uint32_t renewals;  /* heartbeats of each hold, or of each item that was claimed */
    uint32_t frees; /* queue: rounds of each worker that give the items back, before the others */
    bool errors;    /* queue: all other rounds but the last of several end with error, if there is
                       one; an operator's sections clear it, and reset what is done */
    bool
        cancels; /* lock: a worker that is refused gives up, except in the last of several rounds */
    bool others; /* queue: items of another class lie in the table, one in each state */
    uint32_t batch; /* queue: items that a worker claims before it ends them */
    bool again;     /* queue: each by a claim of its own, also if a claim could take several */
    bool apart;     /* lock: each worker acquires one of the resources, another one than the worker
                       before it, and keeps it */
    bool whole; /* a transaction is one step: its locks keep no other worker waiting. Not for holds
                   that are transactions */
    uint32_t polls; /* tries of one operation that change something and are refused */
    uint32_t ttl_ms, period_ms;
    int64_t skew_ms; /* of the workers' own clocks: the first is ahead by this, the next behind */
    bool skews_all;  /* ... all of them are ahead by it, and agree with each other */
    int64_t still_unix_ms; /* all clocks stand still there but for their steps; 0: they run */
    uint32_t tick_ms;      /* of a step of the clocks; 0: two leases */
    uint32_t deaths;       /* maximum number of workers that die */
    uint32_t ticks;        /* maximum number of moves of the clocks, by tick_ms */
    uint32_t cuts; /* maximum number of commits that lose their answer with the connection */
    bool keep;
    unsigned claims; /* requested LB_G_BIT()s, a subset of the strategy's */

    double audit;     /* share of the search's time in which schedules that it left out are run; 0:
                         none is */
    uint64_t time_ns; /* the search ends after so long; 0: no limit */
    struct lb_search_options search; /* interrupt and progress included; deadline_ns and unreduced
                                        are not used */
    enum lb_relation relation;
    bool distinct;                        /* workers are not taken to be alike */
    unsigned without;                     /* for tests: LB_WITHOUT_ bits of the omitted rules */
    const struct lb_explore_watch *watch; /* NULL: none */
    const struct lb_schedule *replay;     /* run this one only */
};

/* One row of a schedule as it was played. */
struct lb_explored_step {
    uint32_t move; /* from 0: the number in the schedule */
    int worker;    /* -1: the clock */
    enum lb_step_kind kind;
    bool is_death;
    bool is_late;     /* the answer to a statement that was blocked: given in another's move */
    bool was_blocked; /* no answer yet */
    int answer;       /* enum lb_answer */
    size_t n_rows;
    int64_t n_changed;
    char *sql;  /* with parameters filled in */
    char *rows; /* "id=1 owner='w0'" */
    char *note; /* what it means for the worker; "" */
};

struct lb_explored_table {
    struct lb_explored_step *steps;
    size_t n_steps;
    size_t n_statements; /* executed by the workers: statements, commits and rollbacks */
};

enum { LB_CHOICE_REPLAYS = 10 }; /* unless said otherwise */

/* The result of an exploration. Free with lb_explored_free. */
struct lb_explored {
    char strategy[64], engine[64], target[256];
    uint32_t workers, rounds;
    uint64_t elapsed_ns;
    struct lb_search_result search;
    uint64_t n_statements; /* executed, of all schedules */
    bool complete;         /* every schedule that matters, and no bound cut any */
    bool stopped_at_first; /* at the first violation, as requested */
    bool is_distinct;      /* no two workers were taken to be alike */
    char bounds[400];      /* the bounds that cut the search, in words; "" */
    char random[100];      /* why one schedule may be answered in several ways, in words; "" */
    char inside[500];      /* violations that the inside of a statement may hide, in words; "" */
    uint64_t n_replays;    /* while shrinking */
    uint64_t n_audited;    /* schedules that were left out, run afterwards and found the same */

    struct lb_finding findings[LB_GUARANTEE_ROOM];
    uint64_t n_deadlocks, n_stuck; /* schedules */
    char deadlock[600];            /* the first, in words; "" */
    char stuck[600];

    bool has_witness;
    uint32_t witness_workers, witness_rounds; /* the smallest case that shows it */
    uint32_t witness_items;                   /* queue: that were put before its start */
    int violated;                             /* bits of the witness: enum lb_guarantee */
    struct lb_schedule schedule;              /* the shortest that violates */
    /* Likewise for guarantees that that one does not violate: the first schedule found; length 0:
     * none. */
    struct lb_schedule others[LB_GUARANTEE_ROOM];
    struct lb_explored_table table;
    bool confirmed;           /* a second replay gave the same answers and the same verdict */
    bool is_nondeterministic; /* ... or none did */
    unsigned n_confirming;    /* replays that it took: two, but where the engine had a choice */
    char words[1500];         /* the violation in plain words */
    char *setup;              /* the statements that came before the schedule */
    char *spec;               /* PostgreSQL's isolationtester: the schedule; NULL: another engine */
};

/* Lets all clocks stand still, near that time, but for their steps. Leases become 1/128 of a day:
 * then no arithmetic on them rounds, in Julian days either. */
void lb_explore_stand_still(struct lb_explore_plan *plan, int64_t unix_ms);
/* ... and steps and periods become one lease: a time that was stored a lease ago equals now. */
void lb_explore_equal_times(struct lb_explore_plan *plan, int64_t unix_ms);
/* Of a lock: steps of the clocks become a little more than half a lease, and two of them may come.
 * An operation that is requested between them begins within the lease. */
void lb_explore_half_leases(struct lb_explore_plan *plan);
/* Explores. 0, or an error when there is nothing to report (LB_E_UNSUPPORTED: cannot be explored).
 */
int lb_explore(const struct lb_explore_plan *plan, struct lb_explored **ret, struct lb_error *err);
void lb_explored_free(struct lb_explored *explored);

#endif
